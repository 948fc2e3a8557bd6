//! Writes a lockfile: which nodes get an entry, and the content of each.

use serde_json::{Map, Value};

use super::DEFAULT_VERSION;
use super::document::{self, Document};
use super::legacy;
use crate::collation;
use crate::json::{Format, Written};
use crate::manifest::Dependencies;
use crate::names::Names;
use crate::order;
use crate::tree::{NodeId, Tree};

/// The entries of `packages` by their keys, in npm's order. The first one is the root's, whose key
/// is empty.
pub fn entries(tree: &Tree) -> Vec<(String, NodeId)> {
    let mut entries: Vec<(String, NodeId)> = tree
        .members(tree.root)
        .filter(|&node| node != tree.root && has_entry(tree, node))
        .map(|node| (tree[node].path.as_deref().unwrap_or_default().to_owned(), node))
        .collect();
    order::sort_by(&mut entries, |(a, _), (b, _)| collation::compare(a, b));
    entries.insert(0, (String::new(), tree.root));
    entries
}

fn has_entry(tree: &Tree, node: NodeId) -> bool {
    let path = tree[node].path.as_deref().unwrap_or_default();
    let installed = path.starts_with("node_modules/") || path.contains("/node_modules/");
    // Nothing refers to this folder of the project any more.
    let stale =
        tree[node].flags.extraneous && !installed && tree[node].fs_parent.is_none_or(|parent| parent == tree.root);
    // A package that failed to load has no content.
    let unknown = tree[node].inert && tree.package(node).version.is_none();
    !stale && !unknown
}

/// The lockfile to write.
pub struct Target<'a> {
    /// The version of the previous lockfile, or the requested one. Facts that older versions of npm
    /// must not ignore raise it to
    /// 4.
    pub version: u64,
    /// The other values at the top of the previous lockfile.
    pub others: &'a Map<String, Value>,
    /// The hash of the root's `packageExtensions`.
    pub extensions_hash: Option<&'a str>,
    /// Whether registry packages have no `resolved`.
    pub omit_resolved: bool,
}

/// The lockfile of a resolved tree. Empty if the tree was only read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct PackageLock {
    /// The text of version 1, which has no list of packages, if that version is written.
    old: Option<String>,
    document: Document,
}

impl PackageLock {
    /// Writes a tree with these entries.
    pub fn new(tree: &Tree, entries: &[(String, NodeId)], target: &Target<'_>, format: &Format) -> Self {
        let marked = |node: NodeId| tree[node].patch.is_some() || tree[node].extension.is_some();
        let needs_new = target.extensions_hash.is_some() || entries.iter().any(|&(_, node)| marked(node));
        let version = if needs_new { target.version.max(4) } else { target.version };
        let is_old = version < 2;
        let old = is_old.then(|| document::without_packages(&head(tree, version, target), format));
        let head = head(tree, if is_old { DEFAULT_VERSION } else { version }, target);
        let entry = |index: usize| {
            let (key, node) = &entries[index];
            let mut entry = entry(tree, *node, target.omit_resolved);
            if let Some(hash) = target.extensions_hash.filter(|_| key.is_empty()) {
                entry.push(("packageExtensionsHash", Written::Text(hash.into())));
            }
            (!key.is_empty() || !entry.is_empty()).then_some(Written::Object(entry))
        };
        let locations: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        Self { old, document: Document::new(head, &locations, &entry, format) }
    }

    /// The text of package-lock.json, with npm's exact bytes.
    pub fn text(&self) -> &str {
        self.old.as_deref().unwrap_or_else(|| self.document.text())
    }

    /// The text of `node_modules/.package-lock.json`. `named` says whether it states the project's
    /// name and version, which npm knows only if it read or wrote a lockfile. `installed` says
    /// whether a location is on disk.
    pub fn hidden(&self, named: bool, installed: &dyn Fn(&str) -> bool) -> String {
        self.document.hidden(named, installed)
    }
}

/// The values at the top of a lockfile of this version, without the packages.
fn head(tree: &Tree, version: u64, target: &Target<'_>) -> Map<String, Value> {
    let root = &tree[tree.root];
    let mut head = target.others.clone();
    // Up to version 3, npm updates these along with the nested `dependencies`, whether it writes
    // those or not.
    if version <= 3 {
        let name = root.manifest.name.as_deref().unwrap_or_else(|| tree.words.names.text(root.name));
        head.insert("name".into(), name.into());
        if let Some(version) = root.manifest.version.as_deref() {
            head.insert("version".into(), version.into());
        }
    }
    head.insert("lockfileVersion".into(), version.into());
    head.insert("requires".into(), true.into());
    if version <= 2
        && let Some(dependencies) = legacy::dependencies(tree, target.omit_resolved)
    {
        head.insert("dependencies".into(), dependencies);
    }
    head
}

/// The entry of a node (`metaFromNode`), unsorted.
fn entry(tree: &Tree, node: NodeId, omit_resolved: bool) -> Vec<(&str, Written<'_>)> {
    let data = &tree[node];
    let realpath = data.realpath.as_deref().unwrap_or_default();
    if data.is_link {
        return vec![("resolved", Written::Text(realpath.into())), ("link", Written::True)];
    }
    let manifest = &data.manifest;
    let mut entry = Vec::with_capacity(16);
    let mut put = |key, value| entry.push((key, value));
    if let Some(version) = manifest.version.as_deref() {
        put("version", Written::Text(version.into()));
    }
    for (key, block) in [
        ("dependencies", &manifest.dependencies),
        ("peerDependencies", &manifest.peer_dependencies),
        ("optionalDependencies", &manifest.optional_dependencies),
        ("acceptDependencies", &manifest.accept_dependencies),
    ] {
        if !block.is_empty() {
            put(key, dependencies(&tree.words.names, block));
        }
    }
    if !manifest.bundled.is_empty() {
        let names = manifest.bundled.iter().map(|&name| tree.words.names.text(name));
        put("bundleDependencies", Written::Texts(names.collect()));
    }
    for (key, value) in manifest.fields() {
        put(key, Written::Value(value));
    }
    if manifest.has_install_script {
        put("hasInstallScript", Written::True);
    }
    if let Some(name) = manifest.name.as_deref()
        && (node == tree.root || name != tree.words.names.text(data.name) || tree.folder_name(realpath) != name)
    {
        put("name", Written::Text(name.into()));
    }
    if tree.is_top(node) && manifest.has_dev_dependencies {
        put("devDependencies", dependencies(&tree.words.names, &manifest.dev_dependencies));
    }
    if let Some(integrity) = data.integrity.as_deref().or(manifest.integrity.as_deref()) {
        put("integrity", Written::Text(integrity.into()));
    }
    for (key, mark) in [("patched", &data.patch), ("packageExtensionsApplied", &data.extension)] {
        if let Some(mark) = mark {
            put(key, Written::Object(mark.iter().map(|(key, value)| (key.as_str(), Written::Value(value))).collect()));
        }
    }
    if tree.in_bundle(node) {
        put("inBundle", Written::True);
    }
    if let Some(resolved) = data.resolved.as_deref()
        // npm needs every spec here, and fails at a reference without a target, so this is
        // evaluated in any case.
        && !(tree.is_from_registry(node) & omit_resolved)
    {
        let relative = resolved.strip_prefix("file:").map(|path| format!("file:{}", tree.relative(path)).into());
        put("resolved", Written::Text(relative.unwrap_or_else(|| resolved.into())));
    }
    let flags = data.flags;
    for (key, set) in [
        ("extraneous", flags.extraneous),
        ("peer", flags.peer && !flags.extraneous),
        ("dev", flags.dev && !flags.extraneous),
        ("optional", flags.optional && !flags.extraneous),
        ("devOptional", flags.dev_optional && !flags.dev && !flags.optional && !flags.extraneous),
    ] {
        if set {
            put(key, Written::True);
        }
    }
    entry
}

fn dependencies<'a>(names: &'a Names, block: &'a Dependencies) -> Written<'a> {
    Written::Object(block.iter().map(|(name, spec)| (names.text(*name), Written::Text((&*spec.raw).into()))).collect())
}
