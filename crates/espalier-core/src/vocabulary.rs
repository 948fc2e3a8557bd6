//! What names, specs and override rules mean: all that reading manifests and choosing versions needs to know of a tree.

use crate::names::Names;
use crate::overrides::Overrides;
use crate::spec::Specs;

/// The tables that manifests are read into, and the rules that apply to specs.
pub struct Vocabulary<'a> {
    /// All names.
    pub names: &'a mut Names,
    /// All specs.
    pub specs: &'a mut Specs,
    /// The root's override rules.
    pub overrides: &'a Overrides,
}
