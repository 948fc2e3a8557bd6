//! The tables that a resolution shares: the names and specs that manifests are read into, and the root's override rules.

use serde_json::Value;

use crate::manifest::Manifest;
use crate::names::Names;
use crate::overrides::Overrides;
use crate::spec::Specs;

/// What reading manifests and choosing versions needs to know. The tree refers to it, and the catalog works with it alone.
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
    /// Reads a package.json or an entry of a lockfile.
    pub fn manifest(&mut self, value: &Value) -> Manifest {
        Manifest::from_value(value, &mut self.names, &mut self.specs)
    }
}
