//! The tree to start from: what a lockfile says, else what is installed, else nothing but the root
//! (`#initTree` of `build-ideal-tree.js`).
//!
//! Whatever it is, the resolution then changes no more of it than it has to.

use rustc_hash::FxHashSet;
use std::rc::Rc;

use super::Builder;
use crate::changes::Update;
use crate::error::ResolveError;
use crate::lockfile::ParsedLock;
use crate::options::Project;
use crate::resolution::Warning;
use crate::tree::{EdgeKind, NewNode, NodeId};

impl Builder {
    /// Loads the tree to start from, and queues every node whose dependencies it doesn't meet.
    pub(super) async fn start(&mut self, project: &Project) -> Result<(), ResolveError> {
        let text = project.lockfile.as_deref();
        if self.asked.changes.updates_all() || !self.options.package_lock {
            // The lock is about to be made anew; that there was one still means that something may have to go.
            self.lock.existed = text.is_some();
            return Ok(());
        }
        let path = self.tree.project.clone();
        match text.map(|text| ParsedLock::parse(text, &path, &mut self.tree.words.specs)).transpose()?.flatten() {
            Some(lock) => {
                self.lock.existed = true;
                if self.asked.changes.update == Update::Duplicates {
                    self.name_root();
                }
                self.load_lock(&lock).await?;
                self.lock.version = lock.version_to_write();
                let root_entry = lock.packages.get("");
                let hash = root_entry.and_then(|entry| entry.get("packageExtensionsHash")?.as_str());
                self.lock.extensions_hash = hash.map(str::to_owned);
                self.lock.is_old = lock.is_old();
                self.lock.values = lock.others;
            }
            None => self.start_from_installed(project).await?,
        }
        // Before the changes: npm refuses also what they would mend.
        self.check_root_overrides()?;
        if self.asked.changes.update == Update::Duplicates {
            self.asked.update_names = self.duplicates();
        }
        self.queue_unmet();
        Ok(())
    }

    /// `npm dedupe` reads the lock once more than others do, and then a project without a name has that of its folder
    /// (`#loadNode` of `load-virtual.js`).
    fn name_root(&mut self) {
        let root = self.tree.root;
        if self.tree[root].manifest.name.is_none() {
            let name = self.tree.folder_name("");
            Rc::make_mut(&mut self.tree[root].manifest).name = Some(name.into());
        }
    }

    async fn start_from_installed(&mut self, project: &Project) -> Result<(), ResolveError> {
        let hidden = project.installed.hidden_lockfile.as_deref();
        let path = self.tree.project.clone();
        match hidden.and_then(|text| ParsedLock::parse(text, &path, &mut self.tree.words.specs).ok().flatten()) {
            Some(lock) => self.load_lock(&lock).await?,
            None => {
                self.load_installed(&project.installed.packages).await;
                self.load_workspaces().await;
                self.load_installed(&project.installed.packages).await;
            }
        }
        let root = self.tree.root;
        if !self.tree[root].children.is_empty() {
            self.lock.existed = true;
            self.tree.calculate_flags(false);
            self.decorate_from_yarn_lock();
        }
        Ok(())
    }

    /// Without a lock npm begins with what is on disk. That is at least the folders of the workspaces, whose
    /// dependencies count from the first placement on (`load-actual.js`).
    pub(super) async fn load_workspaces(&mut self) {
        let root = self.tree.root;
        let Some(workspaces) = self.tree[root].workspaces.clone() else { return };
        for (name, path) in workspaces.iter() {
            if self.tree.at_path(root, path).is_some() {
                continue;
            }
            let Some(manifest) = self.read_folder(path).await else { continue };
            let version = manifest.version.clone().unwrap_or_default();
            let overridden = self.tree[root].rule.is_some();
            let rule = overridden.then(|| self.tree.words.overrides.for_package(*name, &version));
            let with_peers = !self.options.legacy_peer_deps;
            self.tree.add(NewNode {
                path: Some(path.clone()),
                root: Some(root),
                rule,
                ..NewNode::of(manifest, with_peers)
            });
        }
    }

    /// Queues what can be reached from the root and has an edge that isn't met.
    fn queue_unmet(&mut self) {
        let trusts_optional_peers = !self.options.save && !self.mutates();
        let mut seen = FxHashSet::default();
        let mut stack: Vec<NodeId> = vec![self.tree.root];
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let tree = &self.tree;
            let edges = &tree[node].edges_out;
            let unmet = |&edge: &crate::tree::EdgeId| {
                let trusted = trusts_optional_peers && tree[edge].kind == EdgeKind::PeerOptional;
                !trusted && (tree[edge].to.is_none() || !tree.is_valid(edge))
            };
            if edges.iter().any(unmet) {
                self.search.queue.push(tree, node);
            }
            stack.extend(edges.iter().filter_map(|&edge| tree[edge].to));
        }
    }

    /// The version of lockfile to write.
    pub(super) fn version_to_write(&self) -> u64 {
        self.options.lockfile_version.unwrap_or(self.lock.version)
    }

    pub(super) fn warn(&mut self, code: &'static str, message: String, location: &str) {
        self.warnings.push(Warning { code, message, location: location.to_owned() });
    }
}
