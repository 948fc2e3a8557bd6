//! The tables that all parts of a resolution share: names and specs.

use crate::names::Names;
use crate::spec::Specs;

/// The tables for parsing manifests and choosing versions. Entries are only ever added, so a shared
/// reference is enough to intern a text.
#[derive(Default)]
pub struct Vocabulary {
    /// All names.
    pub names: Names,
    /// All specs.
    pub specs: Specs,
}
