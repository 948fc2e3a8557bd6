//! Reading: a lockfile's entries, whatever its version.

use serde_json::{Map, Value};

use crate::error::ResolveError;
use crate::json;

/// The newest version that this npm understands.
const NEWEST_VERSION: u64 = 4;

/// A lockfile that a resolution starts from.
#[derive(Debug, Default)]
pub struct Lock {
    /// The version that stands in it; 1 where none does.
    pub version: u64,
    /// The entries of `packages`, which version 1 doesn't have.
    pub packages: Map<String, Value>,
}

impl Lock {
    /// Reads a lockfile's text. npm ignores one that is no JSON and starts afresh, and so does this: `None`.
    pub fn parse(text: &str) -> Result<Option<Self>, ResolveError> {
        let Ok(Value::Object(mut document)) = json::parse("package-lock.json", text) else {
            return Ok(None);
        };
        let version = document.get("lockfileVersion").and_then(Value::as_u64).unwrap_or(1);
        if version > NEWEST_VERSION {
            return Err(ResolveError::Refused {
                code: "ELOCKFILEVERSION",
                message: format!(
                    "package-lock.json is of version {version}, and npm reads up to {NEWEST_VERSION}: it was written \
                     by a newer npm"
                ),
                chain: Vec::new(),
            });
        }
        let packages = match document.remove("packages") {
            Some(Value::Object(packages)) => packages,
            _ => Map::new(),
        };
        Ok(Some(Self { version, packages }))
    }
}
