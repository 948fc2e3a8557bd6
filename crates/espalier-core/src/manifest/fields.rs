//! The fields of a manifest: which are read, and what they are before that.
//!
//! A registry's manifest is text, and most of its strings are copied once, into the tables of names
//! and specs. So they are read from the text, without a [`Value`] in between. What a field means is
//! not known here.

use serde_json::{Error, Map, Value};
use std::borrow::Cow;
use std::rc::Rc;

use crate::json;
use crate::plain;
use crate::spec::{InvalidSpec, Spec};
use crate::values::Values;
use crate::vocabulary::Vocabulary;

use super::{Dependencies, Dependency};

/// Lists fields, and finds the place of a key in the list. Comparing with each literal in turn is
/// faster than comparing with the elements of a list, whose lengths the compiler doesn't know.
macro_rules! listed {
    ($(#[$about:meta])* $list:ident, $find:ident: $($key:literal),+ $(,)?) => {
        $(#[$about])*
        pub(crate) const $list: [&str; [$($key),+].len()] = [$($key),+];

        fn $find(key: &str) -> Option<usize> {
            $(if key == $key {
                return Some(const { place($key) });
            })+
            None
        }
    };
}

listed! {
    /// The fields that are read from every manifest.
    READ, find:
    "name",
    "version",
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "acceptDependencies",
    "bundleDependencies",
    "bundledDependencies",
    "funding",
    "engines",
    "os",
    "cpu",
    "libc",
    "license",
    "bin",
    "deprecated",
    "workspaces",
    "overrides",
    "devEngines",
    "patchedDependencies",
    "scripts",
    "hasInstallScript",
    "dist",
}

/// Those of them that are written into the lock almost unchanged.
pub(super) const WRITTEN: [&str; 14] = [
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "acceptDependencies",
    "peerDependenciesMeta",
    "funding",
    "engines",
    "os",
    "cpu",
    "libc",
    "license",
    "bin",
    "deprecated",
    "workspaces",
];

/// The number of blocks of dependencies at the start of them. A block is written as it is only if it
/// isn't an object.
pub(super) const BLOCKS: usize = 4;

/// This field isn't read from registry manifests, because it is long and rarely used.
pub(super) const DEV: &str = "devDependencies";

/// The fields that are going to be read, in the order of [`READ`], and `devDependencies`.
#[derive(Default)]
pub(super) struct Unread<'a> {
    pub read: [Field<'a>; READ.len()],
    pub dev: Field<'a>,
}

impl<'a> Unread<'a> {
    /// Takes a field if it is one of those that are read. If it is repeated, the last one counts,
    /// as in JavaScript.
    pub fn take(&mut self, key: &str, field: Field<'a>) {
        if let Some(place) = find(key) {
            self.read[place] = field;
        } else if key == DEV {
            self.dev = field;
        }
    }
}

/// The places of [`WRITTEN`] in [`READ`].
pub(super) const WRITTEN_PLACES: [usize; WRITTEN.len()] = {
    let mut places = [0; WRITTEN.len()];
    let mut index = 0;
    while index < places.len() {
        places[index] = place(WRITTEN[index]);
        index += 1;
    }
    places
};

/// The place of a field in [`READ`], for constants.
pub(super) const fn place(key: &str) -> usize {
    let mut place = 0;
    while !are_equal(READ[place].as_bytes(), key.as_bytes()) {
        place += 1;
    }
    place
}

const fn are_equal(a: &[u8], b: &[u8]) -> bool {
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

/// A field, as text or parsed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Field<'a> {
    #[default]
    Missing,
    /// JSON text whose end is known and whose content is unchecked.
    Text(&'a str),
    Value(&'a Value),
}

/// Lists with more entries are read as values, which find repeated keys faster.
const FEW: usize = 64;

impl<'a> Field<'a> {
    pub fn is_missing(self) -> bool {
        matches!(self, Self::Missing)
    }

    pub fn is_object(self) -> bool {
        match self {
            Self::Missing => false,
            Self::Text(text) => text.starts_with('{'),
            Self::Value(value) => value.is_object(),
        }
    }

    /// The value. Null if the field is missing.
    pub fn value(self) -> Result<Value, Error> {
        match self {
            Self::Missing => Ok(Value::Null),
            Self::Text(text) => serde_json::from_str(text),
            Self::Value(value) => Ok(value.clone()),
        }
    }

    /// The value, which manifests with the same text share. Null if the field is missing.
    pub fn shared(self, values: &Values) -> Result<Rc<Value>, Error> {
        match self {
            Self::Text(text) => values.parse(text),
            other => other.value().map(Rc::new),
        }
    }

    /// The string. `None` if it is anything else.
    pub fn string(self) -> Result<Option<Cow<'a, str>>, Error> {
        match self {
            Self::Missing => Ok(None),
            Self::Text(text) => match plain(text) {
                Some(plain) => Ok(Some(Cow::Borrowed(plain))),
                None => match serde_json::from_str(text)? {
                    Value::String(text) => Ok(Some(Cow::Owned(text))),
                    _ => Ok(None),
                },
            },
            Self::Value(value) => Ok(value.as_str().map(Cow::Borrowed)),
        }
    }

    /// The number. `None` if it is anything but a whole number that isn't negative.
    pub fn number(self) -> Result<Option<u64>, Error> {
        Ok(self.value()?.as_u64())
    }

    /// Whether the value is truthy in JavaScript.
    pub fn truthy(self) -> Result<bool, Error> {
        Ok(!self.is_missing() && json::truthy(&self.value()?))
    }

    /// Calls `read` for each member of an object, in the order of the text. The last one of a
    /// repeated key counts. Any other value has no members.
    pub fn members(self, read: &mut dyn FnMut(&str, Field<'a>) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Missing => Ok(()),
            Self::Text(text) if text.starts_with('{') => {
                json::each_member(text, &mut |key, value| read(key, Field::Text(value)))
            }
            Self::Text(text) => serde_json::from_str::<Value>(text).map(drop),
            Self::Value(value) => {
                let mut members = value.as_object().into_iter().flatten();
                members.try_for_each(|(key, value)| read(key, Field::Value(value)))
            }
        }
    }

    /// The dependencies of a block, in JavaScript's order. The names in a list are its indexes, as in
    /// `Object.entries`. There, a string gives a dependency for each letter. Here it gives one, named
    /// `0`, because neither can be what its author meant.
    pub fn dependencies(self, vocabulary: &Vocabulary) -> Result<Dependencies, Error> {
        match self {
            Self::Missing => return Ok(Dependencies::new()),
            Self::Text(text) => {
                if let Some(few) = few_dependencies(text, vocabulary)? {
                    return Ok(few);
                }
            }
            Self::Value(_) => {}
        }
        let block = match self.value()? {
            Value::Object(object) => object,
            Value::Array(list) => indexed(list),
            Value::String(text) if !text.is_empty() => indexed(vec![text.into()]),
            _ => Map::new(),
        };
        let mut found = Dependencies::new();
        for (name, spec) in json::entries(&block) {
            found.push(dependency(name, Field::Value(spec), vocabulary)?);
        }
        Ok(found)
    }
}

/// A list as an object.
fn indexed(list: Vec<Value>) -> Map<String, Value> {
    let mut object = Map::new();
    for value in list {
        object.insert(object.len().to_string(), value);
    }
    object
}

/// The content of a string that has no escapes.
fn plain(text: &str) -> Option<&str> {
    let [b'"', .., b'"'] = text.as_bytes() else { return None };
    let inner = &text[1..text.len() - 1];
    plain::needs_no_escapes(inner).then_some(inner)
}

/// The dependencies of a block with few entries. `None` if there are many, or if their order isn't
/// that of the text.
fn few_dependencies(text: &str, vocabulary: &Vocabulary) -> Result<Option<Dependencies>, Error> {
    let mut found = Dependencies::new();
    let mut is_simple = text.starts_with('{');
    Field::Text(text).members(&mut |key, spec| {
        is_simple &= found.len() < FEW && !json::is_array_index(key);
        if is_simple {
            let dependency = dependency(key, spec, vocabulary)?;
            is_simple = found.iter().all(|(other, _)| *other != dependency.0);
            found.push(dependency);
        }
        Ok(())
    })?;
    Ok(is_simple.then_some(found))
}

/// A dependency. npm refuses a spec that isn't a string.
fn dependency(key: &str, spec: Field<'_>, vocabulary: &Vocabulary) -> Result<Dependency, Error> {
    let name = vocabulary.names.intern(key);
    let spec = match spec.string()? {
        Some(text) => vocabulary.spec(name, &text),
        None => Spec::invalid(&spec.value()?.to_string(), InvalidSpec::not_a_string()),
    };
    Ok((name, spec))
}
