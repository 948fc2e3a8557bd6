//! Uses a yarn.lock if there is no package-lock.json: for versions, and for the sources of installed packages (`checkYarnLock`
//! and `addEdge` of `shrinkwrap.js`).

use std::rc::Rc;

use super::locked::absolute_resolved;
use super::search::Search;
use super::sources::{failed, invalid};
use crate::catalog::Choice;
use crate::integrity;
use crate::lockfile::name_and_version_of_tarball;
use crate::lockfile::yarn::{Entry, YarnLock};
use crate::manifest::Manifest;
use crate::names::Name;
use crate::spec::Spec;
use crate::tree::{NodeId, Tree};

impl Search {
    /// The entry of a spec, if it applies.
    pub(super) fn yarn_entry(&self, name: Name, spec: &Spec) -> Option<Entry> {
        let lock = self.yarn.lock.as_ref()?;
        let entry = lock.get(&format!("{}@{}", self.tree.words.names.text(name), spec.raw))?;
        (entry.version.is_some() && entry.resolved.is_some()).then(|| entry.clone())
    }

    /// The manifest that yarn chose, from the registry or another source.
    pub(super) async fn manifest_from_yarn(&mut self, name: Name, spec: &Rc<Spec>, entry: &Entry) -> Choice {
        let (Some(version), Some(resolved)) = (&entry.version, &entry.resolved) else {
            return Err(failed(&self.tree.words.names, name, invalid(&spec.raw, "yarn.lock has no version for it")));
        };
        let own_name = self.tree.words.names.text(name).to_owned();
        let from_registry = spec.is_registry() && self.is_public_registry(resolved);
        let tarball = from_registry.then(|| name_and_version_of_tarball(&own_name, resolved)).flatten();
        let locked = match tarball {
            Some((package, found)) if package == own_name && found == *version => found,
            Some((package, found)) => format!("npm:{package}@{found}"),
            None => resolved.clone(),
        };
        let locked = self.tree.words.specs.intern(&locked);
        // npm also caches the result for the exact version.
        let key = (name, locked.raw.clone());
        if let Some(known) = self.yarn.manifests.get(&key) {
            return known.clone();
        }
        let base = self.tree.project.to_string();
        let manifest = match self.sources.manifest_for(&mut self.tree.words, name, &locked, &base).await {
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
            let (name_text, version) = (self.tree.words.names.text(name), entry.version.as_deref().unwrap_or_default());
            let message = format!("{name_text}@{version} differs from yarn.lock in its hashes");
            let address = entry.resolved.as_deref().unwrap_or_default();
            return Err(failed(&self.tree.words.names, name, invalid(address, &message)));
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

/// The URL at npm's registry. npm writes it instead of that of yarn's mirror.
fn without_mirror(url: &str, default_registry_host: &str) -> String {
    match split_url(url).filter(|(host, _)| is_mirror(host)) {
        Some((_, path)) => format!("https://{default_registry_host}/{path}"),
        None => url.to_owned(),
    }
}

/// Completes installed packages without a source by yarn.lock.
pub(super) fn decorate(tree: &mut Tree, lock: &YarnLock, default_registry_host: &str) {
    for node in tree.inventory(tree.root) {
        let Some(entry) = entry_of_installed(tree, lock, node) else { continue };
        if tree[node].integrity.is_none() {
            tree[node].integrity = entry.integrity.as_deref().map(Rc::from);
        }
        if tree[node].resolved.is_none() {
            let resolved = entry.resolved.as_deref().map(|resolved| without_mirror(resolved, default_registry_host));
            tree[node].resolved = resolved.map(|resolved| absolute_resolved(tree, &resolved));
        }
    }
}

fn entry_of_installed(tree: &Tree, lock: &YarnLock, node: NodeId) -> Option<Entry> {
    let known = &tree[node];
    if known.is_link || (known.resolved.is_some() && known.integrity.is_some()) {
        return None;
    }
    let name = tree.words.names.text(known.name);
    let differs = |own: Option<&str>, other: Option<&str>| own.zip(other).is_some_and(|(own, other)| own != other);
    let valid = known.edges_in.iter().filter(|&&edge| tree.is_valid(edge));
    let mut entries = valid.filter_map(|&edge| lock.get(&format!("{name}@{}", tree.spec(edge).raw)));
    let entry = entries.find(|entry| {
        !differs(tree.package(node).version.as_deref(), entry.version.as_deref())
            && !differs(known.integrity.as_deref(), entry.integrity.as_deref())
            && !differs(known.resolved.as_deref(), entry.resolved.as_deref())
    })?;
    Some(entry.clone())
}

/// The host and path of an http URL.
fn split_url(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    rest.split_once('/')
}

/// Whether a host is yarn's mirror of npm's registry.
fn is_mirror(host: &str) -> bool {
    host.starts_with("registry.yarn")
}
