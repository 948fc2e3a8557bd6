//! The tree to start from: what a lockfile says (`load-virtual.js`).

use serde_json::Value;
use std::rc::Rc;

use super::Builder;
use crate::error::ResolveError;
use crate::json;
use crate::lockfile::Lock;
use crate::manifest::Manifest;
use crate::paths;
use crate::resolution::Warning;
use crate::tree::{Flags, NewNode, NodeId};

impl Builder {
    /// Puts a lockfile's entries into the tree, and queues every node whose dependencies they don't meet.
    pub(super) async fn load_lock(&mut self, lock: &Lock) -> Result<(), ResolveError> {
        self.started_from_lock = true;
        self.lock_version = lock.version;
        let (links, packages): (Vec<_>, Vec<_>) = json::entries(&lock.packages)
            .into_iter()
            .filter(|(location, _)| !location.is_empty())
            .partition(|(_, entry)| entry.get("link").is_some_and(json::truthy));
        for (location, entry) in packages {
            self.load_entry(location, entry);
        }
        for (location, entry) in links {
            self.load_link(location, entry).await?;
        }
        self.tree.reset_flags();
        let root = self.tree.root;
        self.tree[root].flags = Flags::NONE;
        self.tree.calculate_flags(false);
        self.queue_unmet();
        Ok(())
    }

    /// npm would take the versions from it; saying so is better than changing them in silence.
    pub(super) fn warn_of_old_lock(&mut self) {
        self.warnings.push(Warning {
            code: "old-lockfile",
            message: "package-lock.json is of version 1, which isn't read yet: its versions are not kept".to_owned(),
            location: String::new(),
        });
    }

    /// Without a lock npm begins with what is on disk. That is at least the folders of the workspaces, whose
    /// dependencies count from the first placement on (`load-actual.js`).
    pub(super) async fn load_workspaces(&mut self) {
        let root = self.tree.root;
        let Some(workspaces) = self.tree[root].workspaces.clone() else { return };
        for (name, path) in workspaces.iter() {
            let Some(manifest) = self.read_folder(path).await else { continue };
            let version = manifest.version.clone().unwrap_or_default();
            let overridden = self.tree[root].rule.is_some();
            let rule = overridden.then(|| self.tree.overrides.for_package(*name, &version));
            let with_peers = !self.options.legacy_peer_deps;
            self.tree.add(NewNode {
                path: Some(path.clone()),
                root: Some(root),
                rule,
                ..NewNode::of(manifest, with_peers)
            });
        }
    }

    fn load_entry(&mut self, location: &str, entry: &Value) {
        let mut manifest = Manifest::from_value(entry, &mut self.tree.names, &mut self.tree.specs);
        let name = paths::name_from_folder(location);
        manifest.name.get_or_insert_with(|| name.into());
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let name = self.tree.names.intern(name);
        self.tree.add(NewNode {
            name: Some(name),
            path: Some(location.into()),
            root: Some(self.tree.root),
            resolved: text("resolved").map(|resolved| self.absolute_resolved(resolved)),
            integrity: text("integrity").map(Rc::from),
            ..NewNode::of(Rc::new(manifest), !self.options.legacy_peer_deps)
        });
    }

    /// A lockfile's `file:` paths are relative to the project, the tree's are absolute.
    fn absolute_resolved(&self, resolved: &str) -> Rc<str> {
        match resolved.strip_prefix("file:") {
            Some(path) => format!("file:{}", self.tree.absolute(path)).into(),
            None => resolved.into(),
        }
    }

    async fn load_link(&mut self, location: &str, entry: &Value) -> Result<(), ResolveError> {
        let path: Rc<str> = paths::normalize(entry.get("resolved").and_then(Value::as_str).unwrap_or_default()).into();
        let root = self.tree.root;
        let Some(target) = self.tree.at_path(root, &path) else {
            return Err(ResolveError::Refused {
                code: "EMISSINGTARGET",
                message: format!(
                    "package-lock.json has no entry for \"{path}\", which \"{location}\" is a link to: remove the lock \
                     and resolve again"
                ),
                chain: Vec::new(),
            });
        };
        let name = self.tree.names.intern(paths::name_from_folder(location));
        let manifest = self.tree[target].manifest.clone();
        self.tree.add_link(
            NewNode {
                name: Some(name),
                path: Some(location.into()),
                realpath: Some(path.clone()),
                ..NewNode::of(manifest, !self.options.legacy_peer_deps)
            },
            Some(target),
        );
        // A project's own package.json may have changed since.
        if self.tree[target].parent.is_none()
            && target != root
            && let Some(manifest) = self.read_folder(&path).await
        {
            self.tree.set_manifest(target, manifest);
        }
        Ok(())
    }

    /// Queues what can be reached from the root and has an edge that isn't met.
    fn queue_unmet(&mut self) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<NodeId> = vec![self.tree.root];
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let tree = &self.tree;
            let edges = &tree[node].edges_out;
            if edges.iter().any(|&edge| tree[edge].to.is_none() || !tree.is_valid(edge)) {
                self.queue.push(tree, node);
            }
            stack.extend(edges.iter().filter_map(|&edge| tree[edge].to));
        }
    }
}
