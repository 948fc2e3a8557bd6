//! Reads the entries of a lockfile of any version.

use serde_json::{Map, Value};

use super::entries::{LockEntries, LockText};
use super::old;
use super::text::Text;
use crate::json;
use crate::spec::Specs;

/// The newest version that npm understands.
pub const NEWEST_VERSION: u64 = 4;
/// The version that npm writes by default.
pub const DEFAULT_VERSION: u64 = 3;

/// The number of a `lockfileVersion`. npm compares a text like the number in it, and keeps it.
pub fn version(stated: &Value) -> Option<u64> {
    match stated.as_str().map(str::as_bytes) {
        Some([digit @ b'0'..=b'9']) => Some(u64::from(digit - b'0')),
        _ => stated.as_u64(),
    }
}

/// The lockfile that a resolution starts from.
#[derive(Debug, Default)]
pub struct ParsedLock<'t> {
    /// Its version, if it states one.
    pub version: Option<u64>,
    /// The entries of `packages`. Those of version 1 are converted.
    pub packages: LockEntries<'t>,
    /// The other values at the top, which npm keeps.
    pub others: Map<String, Value>,
}

impl<'t> ParsedLock<'t> {
    /// Parses a lockfile and merges conflict markers. `None` if it isn't JSON, because npm then
    /// starts afresh. `project` is the absolute folder of the project.
    pub fn parse(text: impl Into<Text<'t>>, project: &str) -> Option<Self> {
        let LockText { text, packages, others } = LockText::parse(text.into())?;
        let version = others.get("lockfileVersion").and_then(version);
        let packages = match packages {
            Some(places) => LockEntries::at(text, places),
            None => {
                let Ok(Value::Object(document)) = serde_json::from_str(&text) else { return None };
                let entries = Value::Object(old::entries(&document, project, &Specs::default())).to_string();
                LockEntries::of_object(entries).unwrap_or_default()
            }
        };
        Some(Self { version, packages, others })
    }

    /// Its version, if it is newer than those that npm understands.
    pub fn too_new(&self) -> Option<u64> {
        self.version.filter(|&version| version > NEWEST_VERSION)
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
