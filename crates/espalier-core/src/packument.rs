//! A packument: what a registry states about all versions of a package.
//!
//! Parsing records the position of each version's manifest and leaves it as text, because a
//! resolution reads one or two of several hundred. It is independent of a resolution, so the
//! fetching thread can do it.

#[cfg(feature = "summaries")]
mod summary;
mod text;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use crate::cursor::{self, Cursor, Malformed};
use crate::date;
use crate::json::{self, Fields};
use crate::semver::Version;
use text::Text;

#[cfg(feature = "settling")]
pub use text::Source;

/// A parsed packument.
#[derive(Debug)]
pub struct Packument {
    /// The tags with their versions, in the registry's order.
    pub dist_tags: Vec<(String, String)>,
    /// The versions with their publication times. Empty in abbreviated documents, and where the
    /// completeness is unstated: whoever needs the times requests the full document.
    pub time: Vec<(String, String)>,
    /// The completeness of its manifests.
    pub detail: Detail,
    text: Text,
    /// The length in bytes of the whole text, or 0 if only a summary was read.
    length: usize,
    versions: Versions,
    semver: OnceLock<Vec<Option<Version>>>,
}

/// The versions, and the positions of their manifests in the text.
#[derive(Debug, Default)]
struct Versions {
    /// The names of all versions, without separators.
    names: String,
    entries: Vec<Entry>,
}

/// Its numbers are small, because there are hundreds of entries in a packument. No document is
/// longer than 4 GiB.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The end of its name. The name begins where the one before ends.
    name_end: u32,
    start: u32,
    end: u32,
}

/// The parts of a body.
struct Read {
    dist_tags: Vec<(String, String)>,
    time: Vec<(String, String)>,
    detail: Detail,
    length: usize,
    versions: Versions,
}

/// The completeness of the manifests in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, Deserialize))]
pub enum Detail {
    /// All that the registry has.
    Whole,
    /// What an installation needs, without some fields that npm writes into the lock (such as
    /// `license`).
    Abbreviated,
    /// The registry didn't say. Each manifest shows it.
    Unstated,
}

/// Fields of complete manifests only. Registries add and omit fields in abbreviated ones as they
/// like, but none of them adds these. npm's registry puts `maintainers` into every complete
/// manifest.
const ONLY_WHOLE: [&str; 4] = ["license", "licenses", "maintainers", "_npmUser"];

/// Fields that npm's registry leaves in abbreviated manifests, as far as they are long.
const ABBREVIATED: [&str; 11] = [
    "name",
    "version",
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "bin",
    "dist",
    "engines",
    "funding",
];

/// How many manifests show how long the others are.
const SAMPLES: usize = 4;

/// Why a body is not a packument.
#[derive(Debug, thiserror::Error)]
pub enum PackumentError {
    /// Not UTF-8.
    #[error("not a packument: {0}")]
    NotText(#[from] std::str::Utf8Error),
    /// Not JSON, or not an object of the expected shape.
    #[error("not a packument: {0}")]
    NotJson(#[from] serde_json::Error),
}

/// The expected types of fields.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether it can be read, and why not, is of interest")]
struct Shape {
    #[serde(default, rename = "dist-tags")]
    dist_tags: Texts,
    versions: Option<Map<String, Value>>,
    #[serde(default)]
    time: Texts,
}

/// The entries of an object of strings. Any other value is its JSON, because `Date.parse` makes a text
/// of it, too. A falsy one is missing.
#[derive(Default)]
struct Texts(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Texts;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of strings")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    match map.next_value()? {
                        Value::String(text) => entries.push((key, text)),
                        value if json::truthy(&value) => entries.push((key, value.to_string())),
                        _ => {}
                    }
                }
                Ok(Texts(entries))
            }
            fn visit_unit<E>(self) -> Result<Texts, E> {
                Ok(Texts::default())
            }
        }
        deserializer.deserialize_any(Entries)
    }
}

impl Read {
    fn of(body: &str, detail: Detail) -> Result<Self, PackumentError> {
        let (length, versions) = (body.len(), Versions::default());
        let mut read = Self { dist_tags: Vec::new(), time: Vec::new(), detail, length, versions };
        match read.fields(body) {
            Ok(()) => Ok(read),
            Err(Malformed) => Err(cursor::complaint::<Shape>(body).into()),
        }
    }

    /// Reads the fields that a resolution needs. If a field is repeated, the last one counts, as in
    /// JavaScript.
    fn fields(&mut self, body: &str) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(body);
        if !cursor.enter() {
            // An array has no fields, as in JavaScript.
            let place = cursor.value()?;
            return if body[place].starts_with('[') { cursor.end() } else { Err(Malformed) };
        }
        let (mut is_first, mut has_modified, mut has_time) = (true, false, false);
        while let Some(key) = cursor.key(is_first)? {
            is_first = false;
            if key == "versions" {
                self.versions = Versions::read(&mut cursor, body)?;
                continue;
            }
            let value = &body[cursor.value()?];
            match &*key {
                "dist-tags" => self.dist_tags = texts(value)?,
                // Reading the times takes as long as everything else.
                "time" if self.detail == Detail::Unstated => has_time = value.len() > "null".len(),
                "time" => self.time = texts(value)?,
                // Abbreviated documents have this instead of `time`.
                "modified" => has_modified = value != "null",
                _ => {}
            }
        }
        if self.detail == Detail::Unstated && has_modified && !has_time {
            self.detail = Detail::Abbreviated;
        }
        cursor.end()
    }

    fn with(self, text: Text) -> Packument {
        let Self { dist_tags, time, detail, length, versions } = self;
        Packument { dist_tags, time, detail, text, length, versions, semver: OnceLock::new() }
    }
}

fn texts(value: &str) -> Result<Vec<(String, String)>, Malformed> {
    serde_json::from_str(value).map(|Texts(texts)| texts).map_err(|_| Malformed)
}

impl Versions {
    /// Reads the versions at the cursor. `null` and an array have none.
    fn read(cursor: &mut Cursor<'_>, body: &str) -> Result<Self, Malformed> {
        let mut versions = Self::default();
        if !cursor.enter() {
            let value = &body[cursor.value()?];
            return if value == "null" || value.starts_with('[') { Ok(versions) } else { Err(Malformed) };
        }
        while let Some(key) = cursor.key(versions.entries.is_empty())? {
            versions.names.push_str(&key);
            let Range { start, end } = cursor.value()?;
            let [name_end, start, end] = [versions.names.len(), start, end].map(u32::try_from);
            let in_range = |_| Malformed;
            let (name_end, start, end) =
                (name_end.map_err(in_range)?, start.map_err(in_range)?, end.map_err(in_range)?);
            versions.entries.push(Entry { name_end, start, end });
        }
        Ok(versions)
    }

    fn name(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.entries[before].name_end);
        &self.names[start as usize..self.entries[index].name_end as usize]
    }

    fn names(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        (0..self.entries.len()).map(|index| self.name(index))
    }

    fn place(&self, index: usize) -> Range<usize> {
        let Entry { start, end, .. } = self.entries[index];
        start as usize..end as usize
    }
}

impl Packument {
    /// Parses a body. `detail` is what the registry says about it.
    pub fn parse(body: &[u8], detail: Detail) -> Result<Self, PackumentError> {
        let body = std::str::from_utf8(body)?;
        Ok(Read::of(body, detail)?.with(Text::new(body)))
    }

    /// Parses a body at the beginning of a piece of memory, and keeps that memory.
    #[cfg(feature = "settling")]
    pub fn parse_in(memory: Vec<u8>, length: usize, detail: Detail) -> Result<Self, PackumentError> {
        Ok(Read::of(std::str::from_utf8(&memory[..length])?, detail)?.with(Text::inside(memory)))
    }

    /// The number of versions.
    pub fn len(&self) -> usize {
        self.versions.entries.len()
    }

    /// Whether there are no versions.
    pub fn is_empty(&self) -> bool {
        self.versions.entries.is_empty()
    }

    /// The version at an index, as text.
    pub fn version(&self, index: usize) -> &str {
        self.versions.name(index)
    }

    /// The length in bytes of its versions, and of what it has beside them. `None` if only a summary
    /// was read.
    pub fn lengths(&self) -> Option<(usize, usize)> {
        let entries = &self.versions.entries;
        let versions = entries.first().zip(entries.last()).map_or(0, |(first, last)| (last.end - first.start) as usize);
        Some((versions, self.length.checked_sub(versions)?))
    }

    /// The length in bytes of the complete ones among its last manifests, and the length that they
    /// would have in an abbreviated packument. Both are 0 if the text was dropped.
    pub fn sample(&self) -> (usize, usize) {
        let (mut whole, mut abbreviated) = (0, 0);
        for index in self.len().saturating_sub(SAMPLES)..self.len() {
            self.text.look(&self.versions.place(index), &mut |manifest| {
                let (mut length, mut is_whole) = (0, false);
                // The text was checked when the packument was parsed.
                let _ = json::each_member(manifest, &mut |key, value| {
                    is_whole |= ONLY_WHOLE.contains(&key);
                    if ABBREVIATED.contains(&key) {
                        // The quotation marks, the colon and the comma count, too.
                        length += key.len() + value.len() + 4;
                    }
                    Ok(())
                });
                if is_whole {
                    whole += manifest.len();
                    abbreviated += length;
                }
            });
        }
        (whole, abbreviated)
    }

    /// The manifest at an index, as text.
    pub fn manifest(&self, index: usize) -> &str {
        self.text.part(&self.versions.place(index))
    }

    /// Drops the text, except for the manifests that were read and those that are likely to be
    /// needed: of the highest release of each compatible line. The source gives the text again if
    /// another manifest is needed. Returns the memory of the text.
    #[cfg(feature = "settling")]
    pub fn settle(&self, source: Source) -> Option<Vec<u8>> {
        let mut highest = rustc_hash::FxHashMap::<_, ([u64; 3], usize)>::default();
        for (index, version) in self.versions.names().enumerate() {
            let Some(numbers @ [major, minor, _]) = crate::semver::release_numbers(version) else { continue };
            let line = (major, if major == 0 { minor } else { 0 });
            let found = highest.entry(line).or_insert((numbers, index));
            if numbers > found.0 {
                *found = (numbers, index);
            }
        }
        for (_, index) in highest.into_values() {
            self.manifest(index);
        }
        self.let_go(|_| source)
    }

    /// Drops the text, except for the manifests that were read, and returns its memory. The source
    /// gives the text again if another manifest is needed. It is made of the text if there is none
    /// yet.
    #[cfg(feature = "settling")]
    pub fn let_go(&self, source: impl FnOnce(&[u8]) -> Source) -> Option<Vec<u8>> {
        self.text.let_go(source)
    }

    /// The number of manifests in its [summary](Self::summary).
    #[cfg(feature = "summaries")]
    pub fn known_manifests(&self) -> usize {
        self.text.known_count()
    }

    /// Whether the manifest at an index may lack fields that npm writes into the lock. If in doubt,
    /// it may: a wrong yes costs a request, and a wrong no would cost a license.
    pub fn is_abbreviated(&self, index: usize) -> bool {
        let shows_all = || {
            let read = Fields::read(self.manifest(index), &ONLY_WHOLE);
            read.is_ok_and(|fields| ONLY_WHOLE.iter().any(|field| !fields.get(field).is_null()))
        };
        match self.detail {
            Detail::Whole => false,
            Detail::Abbreviated => true,
            Detail::Unstated => !shows_all(),
        }
    }

    /// The versions as parsed by npm's loose rules, by index.
    pub fn semver(&self) -> &[Option<Version>] {
        self.semver.get_or_init(|| self.versions.names().map(Version::parse_loose).collect())
    }

    /// The index of a version. If a key is repeated, the last one counts, as in JavaScript.
    pub fn find(&self, version: &str) -> Option<usize> {
        self.versions.names().rposition(|other| other == version)
    }

    /// The version of a tag.
    pub fn tagged(&self, tag: &str) -> Option<&str> {
        self.dist_tags.iter().rev().find(|(name, _)| name == tag).map(|(_, version)| version.as_str())
    }

    /// Whether a version was published by a moment, in milliseconds since the epoch. A version
    /// without a time was, and one whose time isn't a date wasn't (`isBefore` of
    /// `npm-pick-manifest`).
    pub fn is_published_by(&self, version: &str, moment: i64) -> bool {
        let time = self.time.iter().rev().find(|(name, _)| name == version).map(|(_, time)| time.as_str());
        time.is_none_or(|time| time.is_empty() || date::parse(time).is_some_and(|published| published <= moment))
    }
}

#[cfg(test)]
mod tests {
    use super::{Detail, Packument};

    /// Whether the single version of a document counts as abbreviated.
    fn is_abbreviated(detail: Detail, top: &str, manifest: &str) -> bool {
        let body = format!(r#"{{{top}"versions":{{"1.0.0":{manifest}}}}}"#);
        Packument::parse(body.as_bytes(), detail).expect("a packument").is_abbreviated(0)
    }

    #[test]
    fn a_document_shows_what_its_registry_does_not_say() {
        let plain = r#"{"name":"a","version":"1.0.0","description":"","dist":{}}"#;
        for whole in ["license", "licenses", "maintainers", "_npmUser"] {
            let manifest = format!(r#"{{"{whole}":["x"]}}"#);
            assert!(!is_abbreviated(Detail::Unstated, "", &manifest), "{whole}");
        }
        // Verdaccio keeps `time` and descriptions, GitLab has neither, and npm has `modified`.
        for top in [r#""time":{"1.0.0":"x"},"modified":"x","#, "", r#""modified":"x","#] {
            assert!(is_abbreviated(Detail::Unstated, top, plain), "{top}");
        }
        assert!(is_abbreviated(Detail::Unstated, r#""modified":"x","#, r#"{"license":"MIT"}"#));
    }

    #[test]
    fn a_version_whose_time_is_no_date_was_published_by_no_moment() {
        let moment = 1_793_519_156_000;
        // The answers for this moment and for the one before are those of `Date.parse`.
        for (time, published) in [
            ("\"2026-11-01T07:45:56+00:00\"", [true, false]),
            ("\"soon\"", [false, false]),
            ("2026", [true, true]),
            ("1793519156000", [false, false]),
            ("true", [false, false]),
            ("{\"at\":1}", [false, false]),
            ("\"\"", [true, true]),
            ("0", [true, true]),
            ("null", [true, true]),
        ] {
            let body = format!("{{\"versions\":{{}},\"time\":{{\"1.0.0\":{time}}}}}");
            let packument = Packument::parse(body.as_bytes(), Detail::Whole).expect("a packument");
            let by = |moment| packument.is_published_by("1.0.0", moment);
            assert_eq!([by(moment), by(moment - 1)], published, "{time}");
            assert!(packument.is_published_by("2.0.0", moment));
        }
    }

    #[cfg(feature = "settling")]
    #[test]
    fn what_was_let_go_is_had_again() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};
        let body = r#"{"versions":{"1.0.0":{"a":1},"1.1.0":{"a":2},"2.0.0-x":{"a":3},"x":{"a":4}}}"#;
        let packument = Packument::parse(body.as_bytes(), Detail::Whole).expect("a packument");
        assert_eq!(packument.manifest(2), r#"{"a":3}"#);
        let asked = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&asked);
        packument.settle(super::Source::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Some(body.into())
        }));
        // This is the highest version of its line, and a manifest that was read before.
        assert_eq!((packument.manifest(1), packument.manifest(2)), (r#"{"a":2}"#, r#"{"a":3}"#));
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        assert_eq!((packument.manifest(0), packument.manifest(3)), (r#"{"a":1}"#, r#"{"a":4}"#));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[cfg(feature = "settling")]
    #[test]
    fn a_text_that_is_gone_is_asked_for_once() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};
        let body = br#"{"versions":{"1.0.0":{"a":1},"1.1.0":{"a":2},"1.2.0":{"a":3}}}"#;
        let packument = Packument::parse(body, Detail::Whole).expect("a packument");
        let asked = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&asked);
        packument.settle(super::Source::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            None
        }));
        assert_eq!([0, 1, 2].map(|index| packument.manifest(index)), ["", "", r#"{"a":3}"#]);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_a_registry_says_of_its_document_is_not_doubted() {
        assert!(is_abbreviated(Detail::Abbreviated, "", r#"{"license":"MIT"}"#));
        assert!(!is_abbreviated(Detail::Whole, "", r#"{"name":"a"}"#));
    }
}
