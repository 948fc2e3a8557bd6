//! What is noted about a `node_modules`: the hidden lockfile `node_modules/.package-lock.json`, by which npm knows what it
//! installed. Whether the note is still true is not known here.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::layout::{Origin, Package};

/// The packages that are noted as installed.
#[derive(Debug, Default, Deserialize)]
pub struct Noted {
    #[serde(default)]
    packages: IndexMap<String, Entry>,
}

/// One of them.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// Its version.
    pub version: Option<String>,
    /// Where it came from.
    pub resolved: Option<String>,
    /// What its tarball was.
    pub integrity: Option<String>,
    /// Whether it is a link.
    pub link: bool,
    /// The patch that was applied to it.
    patched: Option<Patched>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Patched {
    integrity: String,
}

impl Noted {
    /// Reads the file's text; nothing, if it isn't a lockfile.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Every location that is noted.
    pub fn locations(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }

    /// What is noted of a location.
    pub fn get(&self, location: &str) -> Option<&Entry> {
        self.packages.get(location)
    }

    /// Whether this very package is noted at a location.
    pub fn has(&self, location: &str, package: &Package) -> bool {
        self.get(location).is_some_and(|entry| entry.is(package))
    }
}

impl Entry {
    /// The integrity of the patch that was applied to it.
    pub fn patch(&self) -> Option<&str> {
        self.patched.as_ref().map(|patch| patch.integrity.as_str())
    }

    /// Whether it is this package.
    pub fn is(&self, package: &Package) -> bool {
        let (resolved, integrity) = match &package.origin {
            Origin::Tarball { resolved, integrity } => (Some(resolved), integrity),
            Origin::Bundle { resolved, integrity } => (resolved.as_ref(), integrity),
            Origin::Link(_) | Origin::Folder => return false,
        };
        self.version == package.version
            && !self.link
            && self.integrity == *integrity
            && (integrity.is_some() || self.resolved.as_ref() == resolved)
    }
}
