//! The content of the recorded registry for the generator of projects: names, versions, and whether
//! everything that a version needs is recorded, too.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Context;
use espalier_core::Packument;
use espalier_core::semver::Range;
use serde_json::Value;

use crate::parity::drive::Recording;

/// The packages of the registry.
pub struct Catalog {
    /// All recorded packages, sorted.
    pub names: Vec<String>,
    /// Packages whose peers conflict, with ranges that the registry has versions for.
    pub zoo: Vec<(String, Vec<String>)>,
    recording: Arc<Recording>,
    manifests: RefCell<HashMap<(String, String), Rc<Value>>>,
    closed: RefCell<HashMap<(String, String), bool>>,
}

impl Catalog {
    /// Reads a corpus, and its `zoo.json` if it has one.
    pub fn read(corpus: &Path, recording: Arc<Recording>) -> anyhow::Result<Self> {
        let zoo = corpus.join("zoo.json");
        let zoo: HashMap<String, Vec<String>> = if zoo.exists() {
            serde_json::from_slice(&std::fs::read(&zoo)?).with_context(|| format!("cannot read {}", zoo.display()))?
        } else {
            HashMap::new()
        };
        let mut zoo: Vec<_> = zoo.into_iter().collect();
        zoo.sort();
        let mut names: Vec<String> = recording.names().map(str::to_owned).collect();
        names.sort();
        Ok(Self { names, zoo, recording, manifests: RefCell::default(), closed: RefCell::default() })
    }

    /// A package's packument.
    pub fn packument(&self, name: &str) -> Option<Arc<Packument>> {
        self.recording.packument(name, true).ok()
    }

    /// Whether a tarball is recorded.
    pub fn has_tarball(&self, name: &str, file: &str) -> bool {
        self.recording.has_tarball(name, file)
    }

    /// The version that npm would probably choose. It predicts what will be needed.
    pub fn pick(&self, name: &str, spec: &str) -> Option<String> {
        let packument = self.packument(name)?;
        if let Some(tagged) = packument.tagged(spec) {
            return packument.find(tagged).map(|_| tagged.to_owned());
        }
        let range = Range::parse_loose(spec)?;
        let allowed =
            |index: &usize| packument.semver()[*index].as_ref().is_some_and(|version| range.satisfied_by(version));
        if let Some(latest) = packument.tagged("latest").and_then(|latest| packument.find(latest)).filter(allowed) {
            return Some(packument.version(latest).to_owned());
        }
        let highest = (0..packument.len()).filter(allowed).max_by(|one, other| {
            let [one, other] = [one, other].map(|index| packument.semver()[*index].as_ref());
            one.zip(other).map_or(std::cmp::Ordering::Equal, |(one, other)| one.compare(other))
        });
        highest.map(|index| packument.version(index).to_owned())
    }

    /// The dependencies of a version on the registry: name and range, of all kinds that npm
    /// installs.
    pub fn dependencies(&self, name: &str, version: &str) -> Vec<(String, String)> {
        let manifest = self.manifest(name, version);
        let optional = |name: &str| manifest["peerDependenciesMeta"][name]["optional"] == Value::Bool(true);
        let mut found = Vec::new();
        for kind in ["dependencies", "optionalDependencies", "peerDependencies"] {
            for (name, spec) in manifest[kind].as_object().into_iter().flatten() {
                if kind != "peerDependencies" || !optional(name) {
                    found.push(in_registry(name, spec.as_str().unwrap_or_default()));
                }
            }
        }
        found
    }

    /// Whether everything that a version needs, directly or indirectly, is recorded.
    pub fn is_closed(&self, name: &str, version: &str) -> bool {
        let key = (name.to_owned(), version.to_owned());
        if let Some(&known) = self.closed.borrow().get(&key) {
            return known;
        }
        // It counts as recorded until something is missing. Otherwise, circles of dependencies
        // would never end.
        self.closed.borrow_mut().insert(key.clone(), true);
        let needs = self.dependencies(name, version);
        let closed = needs
            .iter()
            .all(|(name, spec)| self.pick(name, spec).is_some_and(|version| self.is_closed(name, &version)));
        self.closed.borrow_mut().insert(key, closed);
        closed
    }

    fn manifest(&self, name: &str, version: &str) -> Rc<Value> {
        let key = (name.to_owned(), version.to_owned());
        if let Some(known) = self.manifests.borrow().get(&key) {
            return Rc::clone(known);
        }
        let packument = self.packument(name);
        let text = packument.as_ref().and_then(|packument| Some(packument.manifest(packument.find(version)?)));
        let manifest: Rc<Value> = Rc::new(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default());
        self.manifests.borrow_mut().insert(key, Rc::clone(&manifest));
        manifest
    }
}

/// The package that a dependency asks for, and the range, with aliases followed.
fn in_registry(name: &str, spec: &str) -> (String, String) {
    let Some(alias) = spec.strip_prefix("npm:") else { return (name.to_owned(), spec.to_owned()) };
    match alias.rfind('@') {
        Some(at) if at > 0 => (alias[..at].to_owned(), alias[at + 1..].to_owned()),
        _ => (alias.to_owned(), "*".to_owned()),
    }
}
