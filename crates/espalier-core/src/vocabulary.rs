//! The tables that a resolution shares: names, specs, and the root's override rules.

use serde_json::Value;

use crate::manifest::{Manifest, Member};
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

    /// Parses the members of a lockfile's entry.
    pub fn manifest_of(&mut self, members: &[Member<'_>]) -> Manifest {
        Manifest::from_members(members, &mut self.names, &mut self.specs)
    }
}
