//! Reads the tree of a lockfile (`load-virtual.js`).

use serde_json::Value;
use std::rc::Rc;

use super::start::Start;
use crate::error::ResolveError;
use crate::manifest::Manifest;
use crate::parsed_lock::{LockEntry, NEWEST_VERSION, ParsedLock};
use crate::paths;
use crate::refusal::Refusal;
use crate::tree::{Flags, NewNode, NodeId};

impl Start {
    /// Adds a lockfile's entries to the tree.
    pub(super) async fn load_lock(&mut self, lock: &ParsedLock<'_>) -> Result<(), ResolveError> {
        if let Some(version) = lock.too_new() {
            return Err(Refusal::NewerLockfile { version, newest: NEWEST_VERSION }.into());
        }
        self.tree.expect(lock.packages.count());
        let (mut links, mut in_bundles) = (Vec::new(), Vec::new());
        for (location, entry) in lock.packages.iter().filter(|(location, _)| !location.is_empty()) {
            if entry.is_truthy("link") {
                links.push((location, entry));
                continue;
            }
            let node = self.load_entry(location, &entry);
            if entry.is_truthy("inBundle") {
                in_bundles.push(node);
            }
        }
        for (location, entry) in links {
            self.load_link(location, &entry).await?;
        }
        if lock.is_old() {
            self.assign_bundles(&in_bundles);
        }
        self.tree.reset_flags();
        let root = self.tree.root;
        self.tree[root].flags = Flags::NONE;
        self.tree.calculate_flags(false);
        Ok(())
    }

    /// Finds the bundle of each bundled package of a version 1 lock, which doesn't state it: that
    /// of the package above, if that depends on it and isn't bundled itself.
    fn assign_bundles(&mut self, in_bundles: &[NodeId]) {
        for &node in in_bundles {
            let Some(parent) = self.tree[node].parent.filter(|parent| !in_bundles.contains(parent)) else { continue };
            let name = self.tree[node].name;
            if self.tree.edge(parent, name).is_some() {
                Rc::make_mut(&mut self.tree[parent].manifest).bundled.push(name);
            }
        }
    }

    fn load_entry(&mut self, location: &str, entry: &LockEntry<'_>) -> NodeId {
        let mut manifest = Manifest::from_members(entry.members(), &self.sources.vocabulary);
        let (name, text) = self.sources.vocabulary.names.intern_shared(&self.tree.folder_name(location));
        manifest.name.get_or_insert(text);
        let node = self.tree.add(NewNode {
            name: Some(name),
            path: Some(location.into()),
            root: Some(self.tree.root),
            resolved: entry.text("resolved").map(|resolved| self.tree.absolute_resolved(&resolved)),
            integrity: entry.text("integrity").as_deref().map(Rc::from),
            ..NewNode::of(Rc::new(manifest), self.sources.with_peers())
        });
        let mark = |key: &str| match entry.value(key) {
            Value::Object(mark) => Some(Rc::new(mark)),
            _ => None,
        };
        self.tree[node].extension = mark("packageExtensionsApplied");
        self.tree[node].patch = mark("patched");
        node
    }

    async fn load_link(&mut self, location: &str, entry: &LockEntry<'_>) -> Result<(), ResolveError> {
        let path: Rc<str> = paths::normalize(&entry.text("resolved").unwrap_or_default()).into();
        let root = self.tree.root;
        let Some(target) = self.tree.at_path(root, &path) else {
            return Err(Refusal::MissingTarget { location: location.to_owned(), target: path.to_string() }.into());
        };
        let name = self.tree.folder_name(location);
        let name = self.sources.vocabulary.names.intern(&name);
        let manifest = self.tree[target].manifest.clone();
        self.tree.add_link(
            NewNode {
                name: Some(name),
                path: Some(location.into()),
                realpath: Some(path.clone()),
                ..NewNode::of(manifest, self.sources.with_peers())
            },
            Some(target),
        );
        // A project's own package.json may have changed since.
        if self.tree[target].parent.is_none()
            && target != root
            && let Some(manifest) = self.sources.read_folder(&path).await
        {
            self.tree.set_manifest(target, manifest);
        }
        Ok(())
    }
}
