//! The entries of a lockfile, as text until somebody reads them.
//!
//! Most fields of an entry are needed once or never. As values, the entries of a large lockfile take
//! more memory than the rest of its tree, and most of the time of reading it.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

use super::conflict;
use crate::cursor::{Cursor, Malformed};
use crate::json;
use crate::manifest::Field;

/// Most entries have at most this number of fields.
const USUAL_FIELDS: usize = 12;

/// The entries of `packages`, by location, in the order of the text.
#[derive(Debug, Default)]
pub struct LockEntries<'t> {
    text: Cow<'t, str>,
    places: IndexMap<String, Range<usize>, FxBuildHasher>,
}

/// An entry: its fields in the order of the text. Anything but an object has none.
#[derive(Debug, Default)]
pub struct LockEntry<'t>(Vec<(Cow<'t, str>, &'t str)>);

/// A lockfile, with text in the place of its packages.
pub(super) struct LockText<'t> {
    pub text: Cow<'t, str>,
    /// The place of `packages`, if it is an object.
    pub packages: Option<Range<usize>>,
    /// The other values, without the nested tree of older versions.
    pub others: Map<String, Value>,
}

impl<'t> LockText<'t> {
    /// Parses a lockfile, and merges conflict markers. `None` if it isn't a JSON object.
    pub fn parse(text: Cow<'t, str>) -> Option<Self> {
        let text = conflict::merged(text)?;
        let (mut packages, mut others) = (None, Map::new());
        let mut read = |key: Cow<'_, str>, place: Range<usize>| {
            let value = &text[place.clone()];
            match &*key {
                "packages" => packages = value.starts_with('{').then_some(place),
                "dependencies" => {}
                _ => {
                    others.insert(key.into_owned(), serde_json::from_str(value).unwrap_or_default());
                }
            }
        };
        each_member(&text, 0..text.len(), &mut read).ok()?;
        Some(Self { text, packages, others })
    }
}

impl<'t> LockEntries<'t> {
    /// Reads the entries of a lockfile. `None` if it isn't a JSON object.
    pub fn read(lockfile: impl Into<Cow<'t, str>>) -> Option<Self> {
        let LockText { text, packages, .. } = LockText::parse(lockfile.into())?;
        Some(Self::at(text, packages.unwrap_or_default()))
    }

    /// The members of the object at this place, which is JSON. Anything else has none.
    pub(super) fn at(text: Cow<'t, str>, place: Range<usize>) -> Self {
        let mut places = IndexMap::default();
        let mut read = |location: Cow<'_, str>, place| {
            places.insert(location.into_owned(), place);
        };
        let _ = each_member(&text, place, &mut read);
        Self { text, places }
    }

    /// The entry at a location.
    pub fn get(&self, location: &str) -> Option<LockEntry<'_>> {
        self.places.get(location).map(|place| LockEntry::read(&self.text[place.clone()]))
    }

    /// Whether an entry can have a field with this key. Looking through the text is faster than
    /// reading the entries.
    pub fn mention(&self, key: &str) -> bool {
        self.text.contains(key)
    }

    /// Locations and their entries, in JavaScript's order. An entry that isn't an object is left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, LockEntry<'_>)> {
        let is_object = |place: &Range<usize>| self.text[place.clone()].starts_with('{');
        let mut places: Vec<_> = self.places.iter().filter(|(_, place)| is_object(place)).collect();
        json::in_javascript_order(&mut places, |(location, _)| location);
        places.into_iter().map(|(location, place)| (location.as_str(), LockEntry::read(&self.text[place.clone()])))
    }
}

impl<'t> LockEntry<'t> {
    fn read(text: &'t str) -> Self {
        let mut fields = Vec::with_capacity(USUAL_FIELDS);
        let _ = each_member(text, 0..text.len(), &mut |key, place| fields.push((key, &text[place])));
        Self(fields)
    }

    /// Whether there is a field.
    pub fn has(&self, key: &str) -> bool {
        !self.field(key).is_missing()
    }

    /// A string. `None` if the field is missing or anything else.
    pub fn text(&self, key: &str) -> Option<Cow<'t, str>> {
        self.field(key).string().ok().flatten()
    }

    /// Whether a field is `true`.
    pub fn flag(&self, key: &str) -> bool {
        self.value(key) == Value::Bool(true)
    }

    /// A field's value. Null if it is missing.
    pub fn value(&self, key: &str) -> Value {
        self.field(key).value().unwrap_or_default()
    }

    /// Whether a field is truthy in JavaScript.
    pub(crate) fn is_truthy(&self, key: &str) -> bool {
        self.field(key).truthy().unwrap_or_default()
    }

    /// All fields. Of a repeated one, the last counts.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, Field<'t>)> {
        self.0.iter().map(|(key, text)| (&**key, Field::Text(text)))
    }

    pub(crate) fn field(&self, key: &str) -> Field<'t> {
        let found = self.0.iter().rfind(|(other, _)| other == key);
        found.map_or(Field::Missing, |(_, text)| Field::Text(text))
    }
}

/// Calls `read` for each member of the object at a place, in the order of the text.
fn each_member<'t>(
    text: &'t str,
    place: Range<usize>,
    read: &mut dyn FnMut(Cow<'t, str>, Range<usize>),
) -> Result<(), Malformed> {
    let start = place.start;
    let mut cursor = Cursor::new(&text[place]);
    if !cursor.enter() {
        return Err(Malformed);
    }
    let mut is_first = true;
    while let Some(key) = cursor.key(is_first)? {
        let value = cursor.value()?;
        read(key, start + value.start..start + value.end);
        is_first = false;
    }
    cursor.end()
}
