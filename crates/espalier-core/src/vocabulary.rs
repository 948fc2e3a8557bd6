//! The tables that all parts of a resolution share: names, specs and values.

use crate::names::Names;
use crate::spec::Specs;
use crate::values::Values;

/// The tables for parsing manifests and choosing versions. Entries are only ever added, so a shared
/// reference is enough to intern a text.
#[derive(Default)]
pub struct Vocabulary {
    /// All names.
    pub names: Names,
    /// All specs.
    pub specs: Specs,
    /// The values of manifests' other fields.
    pub values: Values,
}
