//! The tables that all parts of a resolution share: names, specs and values.

use std::rc::Rc;

use crate::names::{Name, Names};
use crate::spec::{InvalidSpec, Spec, Specs};
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

impl Vocabulary {
    /// The spec of a dependency. npm refuses it if no package can have its name.
    pub fn spec(&self, name: Name, text: &str) -> Rc<Spec> {
        if name.is_valid() {
            self.specs.intern(text)
        } else {
            Spec::invalid(text, InvalidSpec::name(self.names.text(name)))
        }
    }
}
