//! The hidden lockfile `node_modules/.package-lock.json`, in which npm records what it installed.
//! The caller decides whether it is up to date.

use std::borrow::Cow;

use espalier_core::{LockEntries, LockEntry};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::entry::owned;
use crate::layout::{Origin, Package};

/// The recorded packages.
#[derive(Debug, Default)]
pub struct Noted(IndexMap<String, Entry, FxBuildHasher>);

/// A recorded package.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its version.
    pub version: Option<String>,
    /// Its source.
    pub resolved: Option<String>,
    /// Its integrity.
    pub integrity: Option<String>,
    /// Whether it is a link.
    pub link: bool,
    /// The integrity of its patch.
    patch: Option<String>,
}

impl Noted {
    /// Reads the file's text. `None` if it isn't a JSON object. An entry that isn't an object is not
    /// recorded.
    pub fn read(text: &str) -> Option<Self> {
        let entries = LockEntries::read(text)?;
        Some(Self(entries.iter().map(|(location, entry)| (location.to_owned(), Entry::read(&entry))).collect()))
    }

    /// Every recorded location.
    pub fn locations(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The recorded targets of links.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.0.values().filter(|entry| entry.link).filter_map(|entry| entry.resolved.as_deref())
    }

    /// The package that is recorded at a location.
    pub fn get(&self, location: &str) -> Option<&Entry> {
        self.0.get(location)
    }

    /// Whether this package is recorded at a location, patched or not.
    pub fn has(&self, location: &str, package: &Package) -> bool {
        self.get(location).is_some_and(|entry| entry.is(package))
    }

    /// Whether this package is recorded at a location, with the same patch.
    pub fn has_patched(&self, location: &str, package: &Package) -> bool {
        self.get(location).is_some_and(|entry| entry.is(package) && entry.is_patched_as(package))
    }
}

impl Entry {
    fn read(entry: &LockEntry<'_>) -> Self {
        let text = |field| entry.text(field).map(Cow::into_owned);
        Self {
            version: text("version"),
            resolved: text("resolved"),
            integrity: text("integrity"),
            link: entry.flag("link"),
            patch: owned(&entry.value("patched"), "integrity"),
        }
    }

    /// Whether its patch is that of this package.
    pub fn is_patched_as(&self, package: &Package) -> bool {
        self.patch == package.patch.as_ref().map(|patch| patch.integrity.clone())
    }

    /// Whether it is this package.
    pub fn is(&self, package: &Package) -> bool {
        let (resolved, integrity) = match &package.origin {
            Origin::Tarball { resolved, integrity } => (Some(resolved), integrity),
            Origin::Bundle { resolved, integrity } => (resolved.as_ref(), integrity),
            Origin::Unknown => return self.version == package.version && !self.link,
            Origin::Link(_) | Origin::Folder => return false,
        };
        // npm's record of a package whose lock entry has only a version.
        let is_only_a_version = self.integrity.is_none() && self.resolved.is_none();
        let is_same = self.integrity == *integrity && (integrity.is_some() || self.resolved.as_ref() == resolved);
        self.version == package.version && !self.link && (is_same || is_only_a_version)
    }
}
