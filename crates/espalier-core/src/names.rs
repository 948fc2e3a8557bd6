//! Interned package names.
//!
//! npm looks names up without regard to case, because file systems may ignore it, but preserves
//! them as written. So every name knows its folded form, which lookups use.

use elsa::FrozenVec;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::spec::is_valid_name;

/// A package or folder name. Equal names have equal numbers, so only the numbers are compared.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    number: u32,
    /// The number of its folded form. It is kept here so that a lookup in the tree needs no table.
    /// [`INVALID`] is added if no package can have this name.
    folded: u32,
}

/// A bit that no number of a name has.
const INVALID: u32 = 1 << 31;

/// A name without its case, which is the key of npm's case-insensitive maps
/// (`case-insensitive-map.js`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FoldedName(u32);

impl Name {
    /// The name without its case.
    pub fn fold(self) -> FoldedName {
        FoldedName(self.folded)
    }

    /// Whether a package can have this name.
    pub fn is_valid(self) -> bool {
        self.folded & INVALID == 0
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

/// All names of a resolution. Names are only ever added, so sharing them is safe: nobody can change
/// a name that another part of the resolution has.
#[derive(Default)]
pub struct Names {
    /// The texts, by number.
    texts: FrozenVec<Rc<str>>,
    /// The numbers of the folded forms, by number.
    folded: FrozenVec<u32>,
    /// The numbers, by text.
    index: RefCell<FxHashMap<Rc<str>, u32>>,
}

/// A text in lower case.
fn in_lower_case(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return unicode_in_lower_case(text).into();
    }
    let has_upper_case = text.bytes().any(|byte| byte.is_ascii_uppercase());
    if has_upper_case { text.to_ascii_lowercase().into() } else { text.into() }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn unicode_in_lower_case(text: &str) -> String {
    text.to_lowercase()
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn unicode_in_lower_case(text: &str) -> String {
    js_sys::JsString::from(text).to_lower_case().into()
}

impl Names {
    /// Interns a text.
    pub fn intern(&self, text: &str) -> Name {
        self.find(text).unwrap_or_else(|| self.add(text))
    }

    /// Interns a text, and returns the text that all who have this name share.
    pub fn intern_shared(&self, text: &str) -> (Name, Rc<str>) {
        let known = |(shared, &number): (&Rc<str>, &u32)| (self.numbered(number), shared.clone());
        if let Some(known) = self.index.borrow().get_key_value(text).map(known) {
            return known;
        }
        self.add(text);
        self.intern_shared(text)
    }

    fn add(&self, text: &str) -> Name {
        // Names that need Unicode normalisation can't be published, so folding the case is
        // sufficient.
        let folded = in_lower_case(text);
        let folded = (*folded != *text).then(|| self.intern(&folded).number);
        let number = u32::try_from(self.texts.len()).expect("fewer than four billion names");
        let folded = folded.unwrap_or(number) | if is_valid_name(text) { 0 } else { INVALID };
        let text: Rc<str> = text.into();
        self.texts.push(text.clone());
        self.folded.push(folded);
        self.index.borrow_mut().insert(text, number);
        Name { number, folded }
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.texts.get(name.number as usize).expect("a name of these")
    }

    fn numbered(&self, number: u32) -> Name {
        Name { number, folded: self.folded.get_copy(number as usize).expect("a number of these") }
    }

    /// The name with this text, if it was interned.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.index.borrow().get(text).map(|&number| self.numbered(number))
    }
}
