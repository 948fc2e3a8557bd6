//! Interned package names.
//!
//! npm looks names up without regard to case, because file systems may ignore it, but preserves
//! them as written. So every name knows its folded form, which lookups use.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A package or folder name. Equal names have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

/// A name without its case, which is the key of npm's case-insensitive maps
/// (`case-insensitive-map.js`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FoldedName(Name);

/// All names of a resolution.
#[derive(Default)]
pub struct Names {
    entries: Vec<(Rc<str>, FoldedName)>,
    index: FxHashMap<Rc<str>, Name>,
}

impl Names {
    /// Interns a text.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&name) = self.index.get(text) {
            return name;
        }
        // Names that need Unicode normalisation can't be published, so folding the case is
        // sufficient.
        let folded = text.to_lowercase();
        let folded = (folded != text).then(|| FoldedName(self.intern(&folded)));
        let name = Name(u32::try_from(self.entries.len()).expect("fewer than four billion names"));
        let text: Rc<str> = text.into();
        self.entries.push((text.clone(), folded.unwrap_or(FoldedName(name))));
        self.index.insert(text, name);
        name
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        &self.entries[name.0 as usize].0
    }

    /// The name without its case.
    pub fn fold(&self, name: Name) -> FoldedName {
        self.entries[name.0 as usize].1
    }

    /// The name with this text, if it was interned.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.index.get(text).copied()
    }
}
