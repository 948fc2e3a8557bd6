//! Writes a lockfile: which nodes get an entry, and the content of each.

use serde_json::{Map, Value};
use std::borrow::Cow;

use super::DEFAULT_VERSION;
use super::document::{self, Document};
use super::legacy;
use crate::collation;
use crate::json::Format;
use crate::manifest::Dependencies;
use crate::order;
use crate::tree::{NodeId, Tree};
use crate::writer::Written;

/// The entries of `packages` by their keys, in npm's order. The first one is the root's, whose key
/// is empty.
pub fn entries(tree: &Tree) -> Vec<(String, NodeId)> {
    // A tree that was read from a lockfile is nearly in this order.
    let mut entries: Vec<(String, NodeId)> = tree
        .inventory(tree.root)
        .into_iter()
        .filter(|&node| node != tree.root && has_entry(tree, node))
        .map(|node| (tree[node].path.as_deref().unwrap_or_default().to_owned(), node))
        .collect();
    order::sort_by_key(&mut entries, |(path, _)| collation::Key::of(path));
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
        let name = root.manifest.name.as_deref().unwrap_or_else(|| tree.text(root.name));
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

/// The entry of a node (`metaFromNode`).
fn entry(tree: &Tree, node: NodeId, omit_resolved: bool) -> Vec<(&str, Written<'_>)> {
    let data = &tree[node];
    let realpath = data.realpath.as_deref().unwrap_or_default();
    if data.is_link {
        return vec![("resolved", Written::Text(realpath.into())), ("link", Written::True)];
    }
    let manifest = &data.manifest;
    let name = manifest
        .name
        .as_deref()
        .filter(|&name| node == tree.root || name != tree.text(data.name) || tree.folder_name(realpath) != name);
    // npm needs every spec here, and fails at a reference without a target, so this is evaluated in
    // any case.
    let is_omitted = tree.is_from_registry(node) & omit_resolved;
    let resolved = data.resolved.as_deref().filter(|_| !is_omitted).map(|resolved| {
        let relative = resolved.strip_prefix("file:").map(|path| format!("file:{}", tree.relative(path)).into());
        relative.unwrap_or(Cow::Borrowed(resolved))
    });
    let integrity = data.integrity.as_deref().or(manifest.integrity.as_deref());
    let bundled: Vec<&str> = manifest.bundled.iter().map(|&name| tree.text(name)).collect();
    let flags = data.flags;
    let flag = |key, is_set: bool| (key, is_set.then_some(Written::True));
    let needed_as = |key, is_set: bool| flag(key, is_set && !flags.extraneous);
    let field = |key| (key, manifest.field(key).map(Written::Value));
    let has_devs = tree.is_top(node) && manifest.has_dev_dependencies;
    let devs = has_devs.then(|| dependencies(tree, &manifest.dev_dependencies));
    // This is npm's order, so there is little to sort.
    let members = [
        text("name", name),
        text("version", manifest.version.as_deref()),
        text("resolved", resolved),
        text("integrity", integrity),
        ("bundleDependencies", (!bundled.is_empty()).then_some(Written::Texts(bundled))),
        field("cpu"),
        field("deprecated"),
        needed_as("dev", flags.dev),
        needed_as("devOptional", flags.dev_optional && !flags.dev && !flags.optional),
        flag("extraneous", flags.extraneous),
        flag("hasInstallScript", manifest.has_install_script),
        flag("inBundle", tree.in_bundle(node)),
        field("libc"),
        field("license"),
        needed_as("optional", flags.optional),
        field("os"),
        needed_as("peer", flags.peer),
        field("workspaces"),
        block("acceptDependencies", tree, &manifest.accept_dependencies),
        field("bin"),
        block("dependencies", tree, &manifest.dependencies),
        ("devDependencies", devs),
        field("engines"),
        field("funding"),
        block("optionalDependencies", tree, &manifest.optional_dependencies),
        mark("packageExtensionsApplied", data.extension.as_deref()),
        mark("patched", data.patch.as_deref()),
        block("peerDependencies", tree, &manifest.peer_dependencies),
        field("peerDependenciesMeta"),
    ];
    members.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// A member of an entry, if there is one.
type Member<'a> = (&'static str, Option<Written<'a>>);

fn text<'a>(key: &'static str, text: Option<impl Into<Cow<'a, str>>>) -> Member<'a> {
    (key, text.map(|text| Written::Text(text.into())))
}

fn block<'a>(key: &'static str, tree: &'a Tree, block: &'a Dependencies) -> Member<'a> {
    (key, (!block.is_empty()).then(|| dependencies(tree, block)))
}

fn mark<'a>(key: &'static str, mark: Option<&'a Map<String, Value>>) -> Member<'a> {
    let object = |mark: &'a Map<String, Value>| mark.iter().map(|(key, value)| (key.as_str(), Written::Value(value)));
    (key, mark.map(|mark| Written::Object(object(mark).collect())))
}

fn dependencies<'a>(tree: &'a Tree, block: &'a Dependencies) -> Written<'a> {
    Written::Pairs(block.iter().map(|(name, spec)| (tree.text(*name), &*spec.raw)).collect())
}
