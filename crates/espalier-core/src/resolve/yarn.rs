//! Takes versions from a yarn.lock if there is no package-lock.json (`checkYarnLock` of
//! `shrinkwrap.js`).

use std::rc::Rc;

use super::search::Search;
use super::sources::invalid;
use super::yarn_origins::{is_mirror, split_url};
use crate::catalog::Choice;
use crate::integrity;
use crate::lockfile::yarn::Entry;
use crate::manifest::Manifest;
use crate::names::Name;
use crate::parsed_lock::name_and_version_of_tarball;
use crate::spec::Spec;

impl Search {
    /// The entry of a spec, if it applies.
    pub(super) fn yarn_entry(&self, name: Name, spec: &Spec) -> Option<Entry> {
        let lock = self.yarn.lock.as_ref()?;
        let entry = lock.get(&format!("{}@{}", self.tree.text(name), spec.raw))?;
        (entry.version.is_some() && entry.resolved.is_some()).then(|| entry.clone())
    }

    /// The manifest that yarn chose, from the registry or another source.
    pub(super) async fn manifest_from_yarn(&mut self, name: Name, spec: &Rc<Spec>, entry: &Entry) -> Choice {
        let (Some(version), Some(resolved)) = (&entry.version, &entry.resolved) else {
            return Err(self.sources.failed(name, invalid(&spec.raw, "yarn.lock has no version for it")));
        };
        let own_name = self.tree.text(name).to_owned();
        let from_registry = spec.is_registry() && self.is_public_registry(resolved);
        let tarball = from_registry.then(|| name_and_version_of_tarball(&own_name, resolved)).flatten();
        let locked = match tarball {
            Some((package, found)) if package == own_name && found == *version => found,
            Some((package, found)) => format!("npm:{package}@{found}"),
            None => resolved.clone(),
        };
        let locked = self.sources.vocabulary.specs.intern(&locked);
        // npm also caches the result for the exact version.
        let key = (name, locked.raw.clone());
        if let Some(known) = self.yarn.manifests.get(&key) {
            return known.clone();
        }
        let base = self.tree.project.to_string();
        let manifest = match self.sources.manifest_for(name, &locked, &base).await {
            Ok(manifest) => self.with_integrity(name, entry, manifest),
            error => error,
        };
        self.yarn.manifests.insert(key, manifest.clone());
        manifest
    }

    /// The manifest with yarn's integrity, which must not contradict its own.
    fn with_integrity(&self, name: Name, entry: &Entry, manifest: Rc<Manifest>) -> Choice {
        let Some(expected) = entry.integrity.as_deref() else { return Ok(manifest) };
        let published = manifest.integrity.as_deref();
        if published.is_some_and(|published| !integrity::are_compatible(expected, published)) {
            let (name_text, version) = (self.tree.text(name), entry.version.as_deref().unwrap_or_default());
            let message = format!("{name_text}@{version} differs from yarn.lock in its hashes");
            let address = entry.resolved.as_deref().unwrap_or_default();
            return Err(self.sources.failed(name, invalid(address, &message)));
        }
        let mut merged = (*manifest).clone();
        merged.integrity = Some(integrity::merge(expected, published.unwrap_or_default()).into());
        Ok(Rc::new(merged))
    }

    /// Whether a tarball's URL is at npm's default registry or at yarn's mirror of it.
    fn is_public_registry(&self, url: &str) -> bool {
        let own = &self.sources.options.default_registry_host;
        split_url(url).is_some_and(|(host, _)| (!own.is_empty() && host == own) || is_mirror(host))
    }
}
