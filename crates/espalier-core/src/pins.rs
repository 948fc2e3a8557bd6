//! Versions that packages name exactly, and the documents of these versions.
//!
//! The version for an exact spec is known before the packument arrives. The document of the version
//! then takes the packument's place: it is short, and it is complete. Packages for platforms are an
//! example. One package names dozens of them exactly, and their packuments are long.
//!
//! Registries that stand before others may not correct the addresses in these documents. So a
//! document counts only if its tarball is where the packuments of this resolution say that tarballs
//! are. Otherwise the packument is requested, and no more documents of this scope, which may have a
//! registry of its own. This module doesn't know when a document is requested.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use crate::error::ResolveError;
use crate::manifest::Manifest;
use crate::names::Name;
use crate::spec::{Spec, SpecKind};

/// A manifest. Documents that don't count are no errors: this is the type of other choices.
type Chosen = Result<Rc<Manifest>, Rc<ResolveError>>;

/// A package and one of its versions.
pub type Pin = (Name, Rc<str>);

/// The documents so far. Hash maps of these types exist anyway: another one weighs two kilobytes in
/// wasm.
#[derive(Default)]
pub struct Pins {
    /// The specs that wait for a document of a package.
    awaited: FxHashMap<Name, Vec<Rc<Spec>>>,
    /// The manifests of the documents that count.
    manifests: FxHashMap<Pin, Chosen>,
    /// The few beginnings of the addresses of tarballs, up to the name of the package.
    places: Vec<Box<str>>,
    /// The scopes of packages whose documents don't count. Empty for packages without a scope.
    useless: Vec<Box<str>>,
}

/// The version that an exact spec names.
pub fn exact(spec: &Spec) -> Option<Rc<str>> {
    match &spec.kind {
        SpecKind::Version { version, .. } => Some(version.to_string().into()),
        _ => None,
    }
}

impl Pins {
    /// Whether the documents of a package's versions may count.
    pub fn may_count(&self, name: &str) -> bool {
        !self.places.is_empty() && !contains(&self.useless, scope(name))
    }

    /// The manifest of a version, if its document has arrived and counts.
    pub fn manifest(&self, pin: &Pin) -> Option<Chosen> {
        self.manifests.get(pin).cloned()
    }

    /// Adds a spec that waits for a document.
    pub fn wait(&mut self, package: Name, spec: Rc<Spec>) {
        match self.awaited.get_mut(&package) {
            Some(specs) => specs.push(spec),
            None => drop(self.awaited.insert(package, vec![spec])),
        }
    }

    /// Learns from a packument where tarballs are.
    pub fn learn(&mut self, manifest: &Manifest) {
        if let Some(place) = place(manifest)
            && !contains(&self.places, place)
        {
            self.places.push(place.into());
        }
    }

    /// Takes in the manifest of a document, or `None` if there is none. Returns the specs that
    /// waited for a document of this package.
    pub fn absorb(&mut self, pin: Pin, name: &str, manifest: Option<Manifest>) -> Vec<Rc<Spec>> {
        let waiting = self.awaited.remove(&pin.0).unwrap_or_default();
        let counts = |manifest: &Manifest| {
            let is_it = manifest.name.as_deref() == Some(name) && manifest.version.as_deref() == Some(&*pin.1);
            is_it && place(manifest).is_some_and(|place| contains(&self.places, place))
        };
        if let Some(manifest) = manifest.filter(counts) {
            self.manifests.insert(pin, Ok(Rc::new(manifest)));
        } else {
            self.useless.push(scope(name).into());
        }
        waiting
    }
}

fn contains(list: &[Box<str>], text: &str) -> bool {
    list.iter().any(|one| **one == *text)
}

fn scope(name: &str) -> &str {
    name.split_once('/').map_or("", |(scope, _)| scope)
}

/// The beginning of the tarball's address, if the rest is as in npm's registry:
/// `@scope/name/-/name-1.0.0.tgz`.
fn place(manifest: &Manifest) -> Option<&str> {
    let (name, version) = (manifest.name.as_deref()?, manifest.version.as_deref()?);
    let base = name.split_once('/').map_or(name, |(_, base)| base);
    let rest = manifest.resolved.as_deref()?.strip_suffix(".tgz")?.strip_suffix(version)?.strip_suffix('-')?;
    rest.strip_suffix(base)?.strip_suffix("/-/")?.strip_suffix(name)
}
