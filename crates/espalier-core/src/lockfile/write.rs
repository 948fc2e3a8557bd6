//! Writes a lockfile: which nodes get an entry, and the content of each.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::rc::Rc;

use super::document::{self, Document, NAMES};
use super::legacy;
use crate::collation;
use crate::json::Format;
use crate::manifest::{Dependencies, Manifest};
use crate::order;
use crate::parsed_lock::{self, DEFAULT_VERSION};
use crate::tree::{NodeId, Tree};
use crate::writer::{self, Writer, WrittenMember};

/// The number of entries at the end up to which finding the place of each is faster than sorting all.
const FEW: usize = 16;

/// The entries of `packages` by their keys, in npm's order. The first one is the root's, whose key
/// is empty.
pub fn entries(tree: &Tree) -> Vec<(Rc<str>, NodeId)> {
    let mut entries: Vec<(Rc<str>, NodeId)> = tree
        .inventory(tree.root)
        .into_iter()
        .filter(|&node| node != tree.root && has_entry(tree, node))
        .map(|node| (tree[node].path.clone().unwrap_or_default(), node))
        .collect();
    let is_in_order = |pair: &[(Rc<str>, NodeId)]| collation::compare(&pair[0].0, &pair[1].0).is_le();
    let ordered = entries.windows(2).take_while(|pair| is_in_order(pair)).count() + 1;
    // After an addition to a lockfile, a few entries follow those of the lockfile. Otherwise, keys are
    // worth their time.
    if entries.len().saturating_sub(ordered) <= FEW {
        for late in entries.split_off(ordered.min(entries.len())) {
            let place = entries.partition_point(|(path, _)| collation::compare(path, &late.0).is_le());
            entries.insert(place, late);
        }
    } else {
        order::sort_by_key(&mut entries, |(path, _)| collation::Key::of(path));
    }
    entries.insert(0, (Rc::default(), tree.root));
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
    /// The project's name and version in the previous lockfile.
    #[cfg_attr(feature = "summaries", serde(with = "crate::recorded::as_text"))]
    previous: Map<String, Value>,
}

impl PackageLock {
    /// Writes a tree with these entries.
    pub fn new(tree: &Tree, entries: &[(Rc<str>, NodeId)], target: &Target<'_>, format: &Format) -> Self {
        let marked = |node: NodeId| tree[node].patch.is_some() || tree[node].extension.is_some();
        let needs_new = target.extensions_hash.is_some() || entries.iter().any(|&(_, node)| marked(node));
        let version = if needs_new { target.version.max(4) } else { target.version };
        let is_old = version < 2;
        let old = is_old.then(|| document::without_packages(&head(tree, version, target), format));
        let head = head(tree, if is_old { DEFAULT_VERSION } else { version }, target);
        let mut members = Vec::new();
        let mut write = |writer: &mut Writer<'_>, index: usize| {
            let (key, node) = &entries[index];
            let mut entry = Entry::new(writer, &mut members);
            entry.describe(tree, *node, target.omit_resolved);
            if let Some(hash) = target.extensions_hash.filter(|_| key.is_empty()) {
                entry.text("packageExtensionsHash", Some(hash));
                entry.is_unusual = true;
            }
            let count = entry.finish();
            !key.is_empty() || count > 0
        };
        let locations: Vec<&str> = entries.iter().map(|(key, _)| &**key).collect();
        let previous = target.others.iter().filter(|(key, _)| NAMES.contains(&key.as_str()));
        let previous = previous.map(|(key, value)| (key.clone(), value.clone())).collect();
        Self { old, document: Document::new(head, &locations, &mut write, format), previous }
    }

    /// The text of package-lock.json, with npm's exact bytes.
    pub fn text(&self) -> &str {
        self.old.as_deref().unwrap_or_else(|| self.document.text())
    }

    /// Removes the entries of packages that an installation omits, if npm doesn't list them. The
    /// nested `dependencies` of older versions keep them (`#buildLegacyLockfile` of `shrinkwrap.js`).
    pub fn remove(&mut self, unlisted: &FxHashSet<String>) {
        if !unlisted.is_empty() {
            self.document.remove(&|location| unlisted.contains(location));
        }
    }

    /// The text of `node_modules/.package-lock.json`. It states the project's name and version if
    /// this lockfile `is_saved`. Otherwise it states those of the previous lockfile, if there was
    /// one, because npm updates them when it writes a lockfile. `installed` says whether a location
    /// is on disk.
    pub fn hidden(&self, is_saved: bool, installed: &dyn Fn(&str) -> bool) -> String {
        self.document.hidden(Some(&self.previous).filter(|_| !is_saved), installed)
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
    let stated = head.entry("lockfileVersion").or_insert(Value::Null);
    if parsed_lock::version(stated) != Some(version) {
        *stated = version.into();
    }
    head.insert("requires".into(), true.into());
    if version <= 2
        && let Some(dependencies) = legacy::dependencies(tree, target.omit_resolved)
    {
        head.insert("dependencies".into(), dependencies);
    }
    head
}

/// An entry that is being written. Its members are written in npm's order, in which objects come
/// last. They need sorting only if a value has an unusual type.
struct Entry<'w, 'f> {
    writer: &'w mut Writer<'f>,
    /// The members so far.
    members: &'w mut Vec<WrittenMember>,
    is_unusual: bool,
}

/// The depth of an entry's brackets.
const ENTRY: usize = 2;
/// The depth of its members.
const MEMBER: usize = ENTRY + 1;

impl<'w, 'f> Entry<'w, 'f> {
    fn new(writer: &'w mut Writer<'f>, members: &'w mut Vec<WrittenMember>) -> Self {
        writer.push("{");
        members.clear();
        Self { writer, members, is_unusual: false }
    }

    /// Writes what npm says of a node (`metaFromNode`).
    fn describe(&mut self, tree: &Tree, node: NodeId, omit_resolved: bool) {
        let data = &tree[node];
        let realpath = data.realpath.as_deref().unwrap_or_default();
        if data.is_link {
            self.text("resolved", Some(realpath));
            self.flag("link", true);
            return;
        }
        let manifest = &*data.manifest;
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
        let flags = data.flags;
        let is_needed = !flags.extraneous;
        // Both parts are in npm's order.
        self.text("name", name);
        self.text("version", manifest.version.as_deref());
        self.text("resolved", resolved.as_deref());
        self.text("integrity", integrity);
        if !manifest.bundled.is_empty() {
            let bundled = &manifest.bundled;
            self.key("bundleDependencies", false);
            self.writer.list(bundled.len(), MEMBER, &mut |writer, index| writer.string(tree.text(bundled[index])));
        }
        self.plain("cpu", manifest);
        self.plain("deprecated", manifest);
        self.flag("dev", flags.dev && is_needed);
        self.flag("devOptional", flags.dev_optional && !flags.dev && !flags.optional && is_needed);
        self.flag("extraneous", flags.extraneous);
        self.flag("hasInstallScript", manifest.has_install_script);
        self.flag("inBundle", tree.in_bundle(node));
        self.plain("libc", manifest);
        self.plain("license", manifest);
        self.flag("optional", flags.optional && is_needed);
        self.plain("os", manifest);
        self.flag("peer", flags.peer && is_needed);
        self.plain("workspaces", manifest);

        self.block("dependencies", tree, manifest, &manifest.dependencies);
        self.block("acceptDependencies", tree, manifest, &manifest.accept_dependencies);
        self.object("bin", manifest);
        if tree.is_top(node) && manifest.has_dev_dependencies {
            match manifest.field("devDependencies") {
                Some(unusual) => self.value("devDependencies", unusual, true),
                None => self.pairs("devDependencies", tree, &manifest.dev_dependencies),
            }
        }
        self.object("engines", manifest);
        self.object("funding", manifest);
        self.block("optionalDependencies", tree, manifest, &manifest.optional_dependencies);
        self.mark("packageExtensionsApplied", data.extension.as_deref());
        self.mark("patched", data.patch.as_deref());
        self.block("peerDependencies", tree, manifest, &manifest.peer_dependencies);
        self.object("peerDependenciesMeta", manifest);
    }

    fn key(&mut self, key: &'static str, is_object: bool) {
        self.end_member();
        self.writer.line(self.members.is_empty(), MEMBER);
        self.members.push((key, is_object, self.writer.plain_key(key)));
    }

    fn text(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.key(key, false);
            self.writer.string(text);
        }
    }

    fn flag(&mut self, key: &'static str, is_set: bool) {
        if is_set {
            self.key(key, false);
            self.writer.push("true");
        }
    }

    /// Writes a field that usually isn't an object.
    fn plain(&mut self, key: &'static str, manifest: &Manifest) {
        if let Some(value) = manifest.field(key) {
            self.value(key, value, false);
        }
    }

    /// Writes a field that usually is an object.
    fn object(&mut self, key: &'static str, manifest: &Manifest) {
        if let Some(value) = manifest.field(key) {
            self.value(key, value, true);
        }
    }

    fn value(&mut self, key: &'static str, value: &Value, usually_object: bool) {
        self.is_unusual |= value.is_object() != usually_object;
        self.key(key, value.is_object());
        self.writer.value(value, MEMBER);
    }

    /// Writes the dependencies of a block. One that isn't an object is written as it is.
    fn block(&mut self, key: &'static str, tree: &Tree, manifest: &Manifest, block: &Dependencies) {
        match manifest.field(key) {
            None if block.is_empty() => {}
            None => self.pairs(key, tree, block),
            Some(unusual) => self.value(key, unusual, true),
        }
    }

    fn pairs(&mut self, key: &'static str, tree: &Tree, block: &Dependencies) {
        self.key(key, true);
        let name = |index: usize| (tree.text(block[index].0), false);
        self.writer.object(block.len(), &name, MEMBER, &mut |writer, index| writer.string(&block[index].1.raw));
    }

    fn mark(&mut self, key: &'static str, mark: Option<&Map<String, Value>>) {
        if let Some(mark) = mark {
            self.value(key, &Value::Object(mark.clone()), true);
        }
    }

    /// Ends the entry. Returns the number of its members.
    fn finish(mut self) -> usize {
        self.end_member();
        if self.is_unusual {
            self.writer.sort(self.members, MEMBER);
        } else {
            debug_assert!(writer::are_sorted(self.members), "{:?}", self.members);
        }
        if !self.members.is_empty() {
            self.writer.line(true, ENTRY);
        }
        self.writer.push("}");
        self.members.len()
    }

    fn end_member(&mut self) {
        if let Some((.., place)) = self.members.last_mut() {
            place.end = self.writer.position();
        }
    }
}
