//! Reading: a lockfile's entries, whatever its version.

use serde_json::{Map, Value};

use super::{conflict, old};
use crate::error::ResolveError;
use crate::json;
use crate::refusal::Refusal;
use crate::spec::Specs;

/// The newest version that this npm understands.
const NEWEST_VERSION: u64 = 4;
/// What npm writes where nothing speaks for another version.
pub const DEFAULT_VERSION: u64 = 3;

/// A lockfile that a resolution starts from.
#[derive(Debug, Default)]
pub struct ParsedLock {
    /// The version that stands in it, if any.
    pub version: Option<u64>,
    /// The entries of `packages`; those of version 1 are converted.
    pub packages: Map<String, Value>,
    /// The other values at the top, which npm keeps.
    pub others: Map<String, Value>,
}

impl ParsedLock {
    /// Reads a lockfile's text, with both sides of conflict markers. npm ignores one that is no JSON and starts afresh, and
    /// so does this: `None`. `project` is the project's folder, absolute.
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

    /// What a lockfile says, for those who only want to know: nothing of what can't be read.
    pub fn read(text: &str, project: &str) -> Self {
        Self::parse(text, project, &mut Specs::default()).ok().flatten().unwrap_or_default()
    }

    /// Whether it is from before npm 5 said which package requires what (`ancientLockfile`); npm then takes what is missing from
    /// the registry.
    pub fn is_ancient(&self) -> bool {
        self.is_old() && !self.others.get("requires").is_some_and(json::truthy)
    }

    /// Whether it is of version 1, and knows too little of its packages.
    pub fn is_old(&self) -> bool {
        self.version.is_none_or(|version| version < 2)
    }

    /// The version that npm writes in its place.
    pub fn version_to_write(&self) -> u64 {
        self.version.filter(|&version| version != 1).unwrap_or(DEFAULT_VERSION)
    }
}
