//! Reads the entries of a lockfile of any version.

use serde_json::{Map, Value};

use super::{conflict, old};
use crate::error::ResolveError;
use crate::json;
use crate::refusal::Refusal;
use crate::spec::Specs;

/// The newest version that npm understands.
const NEWEST_VERSION: u64 = 4;
/// The version that npm writes by default.
pub const DEFAULT_VERSION: u64 = 3;

/// The lockfile that a resolution starts from.
#[derive(Debug, Default)]
pub struct ParsedLock {
    /// Its version, if it states one.
    pub version: Option<u64>,
    /// The entries of `packages`. Those of version 1 are converted.
    pub packages: Map<String, Value>,
    /// The other values at the top, which npm keeps.
    pub others: Map<String, Value>,
}

impl ParsedLock {
    /// Parses a lockfile and merges conflict markers. `None` if it isn't JSON, because npm then
    /// starts afresh. `project` is the absolute folder of the project.
    pub fn parse(text: &str, project: &str, specs: &mut Specs) -> Result<Option<Self>, ResolveError> {
        if text.is_empty() {
            return Ok(None);
        }
        let Some(Value::Object(mut document)) = conflict::parse(text) else {
            return Ok(None);
        };
        let version = document.get("lockfileVersion").and_then(Value::as_u64);
        if let Some(version) = version.filter(|&version| version > NEWEST_VERSION) {
            return Err(Refusal::NewerLockfile { version, newest: NEWEST_VERSION }.into());
        }
        let packages = match document.shift_remove("packages") {
            Some(Value::Object(packages)) => packages,
            _ => old::entries(&document, project, specs),
        };
        document.shift_remove("dependencies");
        Ok(Some(Self { version, packages, others: document }))
    }

    /// Reads as much of a lockfile as can be parsed.
    pub fn read(text: &str, project: &str) -> Self {
        Self::parse(text, project, &mut Specs::default()).ok().flatten().unwrap_or_default()
    }

    /// Whether it is older than npm 5 and lacks `requires` (`ancientLockfile`). npm then gets the
    /// missing facts from the registry.
    pub fn is_ancient(&self) -> bool {
        self.is_old() && !self.others.get("requires").is_some_and(json::truthy)
    }

    /// Whether it has version 1, which lacks facts about its packages.
    pub fn is_old(&self) -> bool {
        self.version.is_none_or(|version| version < 2)
    }

    /// The version that npm writes instead.
    pub fn version_to_write(&self) -> u64 {
        self.version.filter(|&version| version != 1).unwrap_or(DEFAULT_VERSION)
    }
}
