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
use crate::cursor;
use crate::json;
use crate::manifest::{Field, Member};

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
pub struct LockEntry<'t>(Vec<Member<'t>>);

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
                    others.extend(serde_json::from_str(value).ok().map(|value: Value| (key.into_owned(), value)));
                }
            }
        };
        cursor::each_member(&text, &mut read).ok()?;
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
        let start = place.start;
        let mut read = |location: Cow<'_, str>, place: Range<usize>| {
            places.insert(location.into_owned(), start + place.start..start + place.end);
        };
        let _ = cursor::each_member(&text[place], &mut read);
        Self { text, places }
    }

    /// The number of entries.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The entry at a location.
    pub fn get(&self, location: &str) -> Option<LockEntry<'_>> {
        self.places.get(location).map(|place| LockEntry::read(&self.text[place.clone()]))
    }

    /// Whether an entry may have a field with this key. Looking through the text is faster than
    /// reading the entries.
    pub fn may_have(&self, key: &str) -> bool {
        self.text.contains(key) || self.text.contains("\\u")
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
        let _ = cursor::each_member(text, &mut |key, place| fields.push((key, &text[place])));
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

    /// All members. Of a repeated one, the last counts.
    pub(crate) fn members(&self) -> &[Member<'t>] {
        &self.0
    }

    pub(crate) fn field(&self, key: &str) -> Field<'t> {
        let found = self.0.iter().rfind(|(other, _)| other == key);
        found.map_or(Field::Missing, |(_, text)| Field::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::LockEntries;
    use crate::manifest::Manifest;
    use crate::vocabulary::Vocabulary;

    fn shown(entries: &LockEntries<'_>) -> Vec<(String, Option<String>)> {
        let entries = entries.iter();
        entries.map(|(location, entry)| (location.to_owned(), entry.text("version").map(Into::into))).collect()
    }

    #[test]
    fn of_a_repeated_key_the_last_counts_in_the_first_place() {
        let text = r#"{"packages":{"a":{"version":"1","version":"2"},"b":{},"a":{"version":"3","version":"4"}}}"#;
        let entries = LockEntries::read(text).expect("a lockfile");
        assert_eq!(shown(&entries), [("a".to_owned(), Some("4".to_owned())), ("b".to_owned(), None)]);
    }

    #[test]
    fn escapes_are_read_wherever_they_are() {
        let text =
            "\u{feff}{ \"p\\u0061ckages\": { \"\\u0061\": { \"v\\u0065rsion\": \"\\u0031\", \"link\": true } } }";
        let entries = LockEntries::read(text).expect("a lockfile");
        let entry = entries.get("a").expect("the entry");
        assert_eq!((entry.text("version").as_deref(), entry.flag("link")), (Some("1"), true));
    }

    #[test]
    fn an_entry_that_is_no_object_has_no_fields() {
        let entries = LockEntries::read(r#"{"packages":{"a":"version","b":[{"version":"1"}],"1":{"link":1}}}"#);
        let entries = entries.expect("a lockfile");
        assert_eq!(shown(&entries), [("1".to_owned(), None)]);
        assert!(entries.get("b").is_some_and(|entry| !entry.has("version")));
        let entry = entries.get("1").expect("the entry");
        assert_eq!((entry.flag("link"), entry.is_truthy("link"), entry.value("link")), (false, true, json!(1)));
    }

    #[test]
    fn a_text_with_a_damaged_place_is_no_lockfile() {
        for damaged in [r#"{"packages":{"a":{"b":01}}}"#, r#"{"a":"\ud800"}"#, r#"{"packages":{}"#, "[]", ""] {
            assert!(LockEntries::read(damaged).is_none(), "{damaged}");
        }
        // npm reads this number, and no entry of a lockfile has one.
        let entries = LockEntries::read(r#"{"packages":{"a":{"version":"1","engines":1e999}}}"#).expect("a lockfile");
        let manifest = Manifest::from_members(entries.get("a").expect("the entry").members(), &Vocabulary::default());
        assert_eq!(manifest.version.as_deref(), Some("1"));
        assert!(LockEntries::read(r#"{"packages":[{"a":1}]}"#).is_some_and(|entries| shown(&entries).is_empty()));
    }
}
