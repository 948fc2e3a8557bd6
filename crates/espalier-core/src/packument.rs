//! A packument: what a registry says about all versions of a package.
//!
//! Parsing notes where each version's manifest lies in the body and leaves it as text, because a resolution
//! looks at one or two of a few hundred versions. It needs nothing of a resolution, so it can run on the
//! thread that fetched the body.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use crate::semver::Version;

/// A parsed packument.
#[derive(Debug)]
pub struct Packument {
    /// Tag and version, as the registry lists them.
    pub dist_tags: Vec<(String, String)>,
    /// Version and publication time; empty in abbreviated documents.
    pub time: Vec<(String, String)>,
    /// Whether fields that npm writes into the lock (such as `license`) are left out.
    pub abbreviated: bool,
    body: Box<str>,
    versions: Vec<(Box<str>, Range<usize>)>,
    semver: OnceLock<Vec<Option<Version>>>,
}

/// A body that is not a packument.
#[derive(Debug, thiserror::Error)]
pub enum PackumentError {
    /// Not UTF-8.
    #[error("not a packument: {0}")]
    NotText(#[from] std::str::Utf8Error),
    /// Not JSON, or not an object of the expected shape.
    #[error("not a packument: {0}")]
    NotJson(#[from] serde_json::Error),
}

/// The fields that are read; anything else, and anything of another shape, is passed over.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(default, rename = "dist-tags")]
    dist_tags: Texts,
    #[serde(default, borrow)]
    versions: Manifests<'a>,
    #[serde(default)]
    time: Texts,
}

/// The entries of an object whose values are strings.
#[derive(Default)]
struct Texts(Vec<(String, String)>);

/// The entries of an object, each value as text.
#[derive(Default)]
struct Manifests<'a>(Vec<(Box<str>, &'a RawValue)>);

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
                    if let serde_json::Value::String(text) = map.next_value()? {
                        entries.push((key, text));
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

impl<'de: 'a, 'a> Deserialize<'de> for Manifests<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Manifests<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of manifests")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Manifests<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<Box<str>>()? {
                    entries.push((key, map.next_value::<&'de RawValue>()?));
                }
                Ok(Manifests(entries))
            }
            fn visit_unit<E>(self) -> Result<Manifests<'de>, E> {
                Ok(Manifests::default())
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Manifests<'de>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Manifests::default())
            }
        }
        deserializer.deserialize_any(Entries)
    }
}

impl Packument {
    /// Reads a body. `abbreviated` says whether it is of the content type
    /// `application/vnd.npm.install-v1+json`.
    pub fn parse(body: &[u8], abbreviated: bool) -> Result<Self, PackumentError> {
        let body = std::str::from_utf8(body)?;
        let wire: Wire<'_> = serde_json::from_str(body)?;
        let start = body.as_ptr() as usize;
        let place = |manifest: &str| {
            let offset = manifest.as_ptr() as usize - start;
            offset..offset + manifest.len()
        };
        let versions =
            wire.versions.0.into_iter().map(|(version, manifest)| (version, place(manifest.get()))).collect();
        Ok(Self {
            dist_tags: wire.dist_tags.0,
            time: wire.time.0,
            abbreviated,
            versions,
            body: body.into(),
            semver: OnceLock::new(),
        })
    }

    /// How many versions there are.
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Whether there is no version at all.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// The version at an index, as text.
    pub fn version(&self, index: usize) -> &str {
        &self.versions[index].0
    }

    /// The manifest at an index, as text.
    pub fn manifest(&self, index: usize) -> &str {
        &self.body[self.versions[index].1.clone()]
    }

    /// The versions as npm's loose rules read them, by index.
    pub fn semver(&self) -> &[Option<Version>] {
        self.semver.get_or_init(|| self.versions.iter().map(|(version, _)| Version::parse_loose(version)).collect())
    }

    /// The index of a version's text. Of a repeated key the last counts, as in JavaScript.
    pub fn find(&self, version: &str) -> Option<usize> {
        self.versions.iter().rposition(|(other, _)| **other == *version)
    }

    /// The version that a tag points to.
    pub fn tagged(&self, tag: &str) -> Option<&str> {
        self.dist_tags.iter().rev().find(|(name, _)| name == tag).map(|(_, version)| version.as_str())
    }

    /// When a version was published, in milliseconds since the epoch.
    pub fn published(&self, version: &str) -> Option<i64> {
        self.time.iter().rev().find(|(name, _)| name == version).and_then(|(_, time)| crate::date::parse(time))
    }
}
