//! The entries of a lockfile, as text until somebody reads them.
//!
//! Most fields of an entry are needed once or never. As values, the entries of a large lockfile take
//! more memory than the rest of its tree, and most of the time of reading it. So a single walk
//! through the text checks it and notes where the fields are.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

use super::conflict;
use super::text::Text;
use crate::cursor::{Cursor, Malformed, Quoted};
use crate::json;
use crate::manifest::{Field, Member};

/// The entries of `packages`, by location, in the order of the text.
#[derive(Debug, Default)]
pub struct LockEntries<'t> {
    text: Text<'t>,
    places: Places,
}

/// Where the fields of all entries are in the text.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The fields of each entry. `None` if it isn't an object.
    entries: IndexMap<String, Option<Range<usize>>, FxBuildHasher>,
    fields: Vec<FieldPlace>,
}

/// The usual numbers of bytes per entry and per field.
const USUAL_ENTRY: usize = 512;
const USUAL_FIELD: usize = 72;

/// Where a field is. A large lockfile has 40,000 of them, so this is small.
#[derive(Debug)]
struct FieldPlace {
    /// The key. Only one with escapes has its quotes.
    key: Range<u32>,
    value: Range<u32>,
}

/// An entry: its fields in the order of the text. Anything but an object has none.
#[derive(Debug, Default)]
pub struct LockEntry<'t>(Vec<Member<'t>>);

/// A lockfile, with places instead of its packages.
pub(super) struct LockText<'t> {
    pub text: Text<'t>,
    /// The entries of `packages`, if it is an object.
    pub packages: Option<Places>,
    /// The other values, without the nested tree of older versions.
    pub others: Map<String, Value>,
}

impl<'t> LockText<'t> {
    /// Parses a lockfile, and merges conflict markers. `None` if it isn't a JSON object.
    pub fn parse(text: Text<'t>) -> Option<Self> {
        let text = conflict::merged(text)?;
        let (mut packages, mut others) = (None, Map::new());
        let mut cursor = Cursor::new(&text);
        // Only the first of repeated `packages` gets room. A text can consist of repetitions.
        let mut room = text.len();
        let mut read = |cursor: &mut Cursor<'_>, key: Quoted| {
            let key = key.read(&text)?;
            match &*key {
                "packages" if cursor.is_at_object() => {
                    packages = Some(Places::read(&text, cursor, std::mem::take(&mut room))?);
                }
                "packages" => {
                    packages = None;
                    cursor.checked()?;
                }
                "dependencies" => {
                    cursor.checked()?;
                }
                _ => {
                    let value = serde_json::from_str(&text[cursor.checked()?]).ok();
                    others.extend(value.map(|value: Value| (key.into_owned(), value)));
                }
            }
            Ok(())
        };
        cursor.members(&mut read).and_then(|()| cursor.end()).ok()?;
        Some(Self { text, packages, others })
    }
}

impl Places {
    /// Reads the object that comes next in this text, with room for entries of `length` bytes.
    fn read(text: &str, cursor: &mut Cursor<'_>, length: usize) -> Result<Self, Malformed> {
        let entries = IndexMap::with_capacity_and_hasher(length / USUAL_ENTRY, FxBuildHasher);
        let mut places = Self { entries, fields: Vec::with_capacity(length / USUAL_FIELD) };
        cursor.members(&mut |cursor, key| {
            let location = key.read(text)?.into_owned();
            let fields = if cursor.is_at_object() {
                let first = places.fields.len();
                cursor.members(&mut |cursor, key| {
                    key.check(text)?;
                    let key = if key.is_plain { key.inside() } else { key.place };
                    let value = cursor.checked()?;
                    places.fields.push(FieldPlace { key: small(&key)?, value: small(&value)? });
                    Ok(())
                })?;
                Some(first..places.fields.len())
            } else {
                cursor.checked()?;
                None
            };
            places.entries.insert(location, fields);
            Ok(())
        })?;
        Ok(places)
    }
}

/// A place in a text of less than 4 GB. No lockfile is longer.
fn small(place: &Range<usize>) -> Result<Range<u32>, Malformed> {
    let small = |at| u32::try_from(at).map_err(|_| Malformed);
    Ok(small(place.start)?..small(place.end)?)
}

impl<'t> LockEntries<'t> {
    /// Reads the entries of a lockfile. `None` if it isn't a JSON object.
    pub fn read(lockfile: impl Into<Text<'t>>) -> Option<Self> {
        let LockText { text, packages, .. } = LockText::parse(lockfile.into())?;
        Some(Self { text, places: packages.unwrap_or_default() })
    }

    /// The entries that were found in a text.
    pub(super) fn at(text: Text<'t>, places: Places) -> Self {
        Self { text, places }
    }

    /// The members of the object that is this text.
    pub(super) fn of_object(text: String) -> Option<Self> {
        let places = Places::read(&text, &mut Cursor::new(&text), text.len()).ok()?;
        Some(Self { text: text.into(), places })
    }

    /// The number of entries.
    pub fn count(&self) -> usize {
        self.places.entries.len()
    }

    /// The entry at a location.
    pub fn get(&self, location: &str) -> Option<LockEntry<'_>> {
        self.places.entries.get(location).map(|fields| self.entry(fields.clone().unwrap_or_default()))
    }

    /// Whether an entry may have a field with this key. Looking through the text is faster than
    /// reading the entries.
    pub fn may_have(&self, key: &str) -> bool {
        self.text.contains(key) || self.text.contains("\\u")
    }

    /// Locations and their entries, in JavaScript's order. An entry that isn't an object is left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, LockEntry<'_>)> {
        let objects = self.places.entries.iter().filter_map(|(location, fields)| Some((location, fields.clone()?)));
        let mut objects: Vec<_> = objects.collect();
        json::in_javascript_order(&mut objects, |(location, _)| location);
        objects.into_iter().map(|(location, fields)| (location.as_str(), self.entry(fields)))
    }

    fn entry(&self, fields: Range<usize>) -> LockEntry<'_> {
        let text = |place: &Range<u32>| &self.text[place.start as usize..place.end as usize];
        let member = |FieldPlace { key, value }: &FieldPlace| {
            let key = text(key);
            let with_quotes = key.starts_with('"').then(|| serde_json::from_str(key).ok()).flatten();
            (with_quotes.map_or(Cow::Borrowed(key), Cow::Owned), text(value))
        };
        LockEntry(self.places.fields[fields].iter().map(member).collect())
    }
}

impl<'t> LockEntry<'t> {
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
    use proptest::prelude::*;
    use serde_json::{Value, json};

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
        for damaged in [r#"{"packages":{"a":{"b":01}}}"#, r#"{"a":"\ud800"}"#, r#"{"packages":{}"#, "[]", "", "no JSON"]
        {
            assert!(LockEntries::read(damaged).is_none(), "{damaged}");
        }
        // npm reads this number, and no entry of a lockfile has one.
        let entries = LockEntries::read(r#"{"packages":{"a":{"version":"1","engines":1e999}}}"#).expect("a lockfile");
        let manifest = Manifest::from_members(entries.get("a").expect("the entry").members(), &Vocabulary::default());
        assert_eq!(manifest.version.as_deref(), Some("1"));
        assert!(LockEntries::read(r#"{"packages":[{"a":1}]}"#).is_some_and(|entries| shown(&entries).is_empty()));
    }

    proptest! {
        #[test]
        fn a_text_is_a_lockfile_if_a_parser_reads_an_object(
            at in 0..200_usize,
            with in prop_oneof![r#"[{}\[\]",:\\/u0 \x00-\x1f]{0,2}"#, "true|1e|-|null|é"],
        ) {
            let mut text = concat!(
                r#"{"lockfileVersion": 3, "packages": {"": {"dependencies": {"a": "^1.0.0", "b": "*"}}, "#,
                r#""node_modules/a": {"version": "1.0.0", "dev": true, "os": ["x", "\n"]}, "n": null}, "#,
                r#""x": {"y": [1.5, false]}}"#
            ).to_owned();
            let at = at % text.len();
            text.replace_range(at..=at, &with);
            let is_object = serde_json::from_str(&text).is_ok_and(|value: Value| value.is_object());
            prop_assert_eq!(LockEntries::read(&*text).is_some(), is_object, "{}", text);
        }
    }
}
