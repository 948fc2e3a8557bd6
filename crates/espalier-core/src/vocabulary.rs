//! The tables that a resolution shares: names, specs, and the root's override rules.

use serde_json::Value;

use crate::lockfile::LockEntry;
use crate::manifest::Manifest;
use crate::names::Names;
use crate::overrides::Overrides;
use crate::spec::Specs;

/// The tables for parsing manifests and choosing versions. The tree refers to them, and the catalog
/// uses nothing else of it.
#[derive(Default)]
pub struct Vocabulary {
    /// All names.
    pub names: Names,
    /// All specs.
    pub specs: Specs,
    /// The root's override rules.
    pub overrides: Overrides,
}

impl Vocabulary {
    /// Parses a package.json.
    pub fn manifest(&mut self, value: &Value) -> Manifest {
        Manifest::from_value(value, &mut self.names, &mut self.specs)
    }

    /// Parses an entry of a lockfile.
    pub fn entry(&mut self, entry: &LockEntry<'_>) -> Manifest {
        Manifest::from_entry(entry, &mut self.names, &mut self.specs)
    }
}
