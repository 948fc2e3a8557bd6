//! The changes that a user asks for: entered into the root's or a workspace's package.json before anything is resolved, and
//! settled by what was found (`#applyUserRequests` of `build-ideal-tree.js`, `_saveIdealTree` of `reify.js`).

use std::rc::Rc;

use super::Builder;
use crate::changes::{ChangedManifest, Update};
use crate::error::ResolveError;
use crate::manifest::Manifest;
use crate::manifest_edit::{Edit, Found, Saving};
use crate::names::Name;
use crate::paths;
use crate::refusal::Refusal;
use crate::semver::Range;
use crate::spec::{SpecKind, is_valid_name, split_argument};
use crate::tree::{EdgeId, EdgeKind, NodeId};

/// A project whose package.json is changed.
pub(super) struct Edited {
    node: NodeId,
    edit: Edit,
    /// Names that were added, in order.
    added: Vec<Name>,
}

impl Builder {
    /// What isn't a name is refused before anything is done.
    pub(super) fn check_changes(&self) -> Result<(), ResolveError> {
        let updated: &[String] = match &self.asked.changes.update {
            Update::Names(names) => names,
            _ => &[],
        };
        let lists = [(updated, "EUPDATEARGS", "update"), (&self.asked.changes.remove, "ERMARGS", "remove")];
        for (names, code, command) in lists {
            if let Some(name) = names.iter().find(|name| !is_valid_name(name)) {
                let bare = split_argument(name).0.unwrap_or("<name>");
                let name = bare.to_owned();
                return Err(Refusal::NotAName { code, command, name }.into());
            }
        }
        Ok(())
    }

    /// Applies the changes to the projects that they are for.
    pub(super) async fn apply_changes(&mut self) -> Result<(), ResolveError> {
        self.search.changed |= self.mutates();
        if let Update::Names(names) = self.asked.changes.update.clone() {
            self.asked.update_names = names.iter().map(|name| self.tree.words.names.intern(name)).collect();
        }
        self.queue_named_updates();
        for node in self.changed_projects()? {
            self.search.queue.push(&self.tree, node);
            if self.asked.changes.add.is_empty() && self.asked.changes.remove.is_empty() {
                continue;
            }
            let mut edited = self.begin_edit(node).await?;
            for name in &self.asked.changes.remove {
                edited.edit.remove(name);
            }
            let saving = Saving { kind: self.asked.changes.save_type, bundle: self.asked.changes.save_bundle };
            for argument in self.asked.changes.add.clone() {
                let (name, spec) = self.addition(node, &argument).await?;
                edited.edit.add(&name, &spec, saving);
                edited.added.push(self.tree.words.names.intern(&name));
            }
            self.take_over(&edited);
            for &name in &edited.added {
                self.asked.explicit.extend(self.tree.edge(node, name));
            }
            self.asked.edited.push(edited);
        }
        Ok(())
    }

    /// Whether the tree is asked to change: there may be no duplicates to take out.
    pub(super) fn mutates(&self) -> bool {
        self.asked.changes.any()
            && (self.asked.changes.update != Update::Duplicates || !self.asked.update_names.is_empty())
    }

    /// The names that the tree has more than once.
    pub(super) fn duplicates(&self) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        for node in self.tree.inventory(self.tree.root) {
            let name = self.tree[node].name;
            if !names.contains(&name) && self.tree.named(name).len() > 1 {
                names.push(name);
            }
        }
        names
    }

    /// Queues the dependents of everything that is to be brought up to date.
    fn queue_named_updates(&mut self) {
        for node in self.tree.inventory(self.tree.root) {
            let tree = &self.tree;
            let named = self.asked.update_names.contains(&tree[node].name);
            if named && !tree.is_top(node) && !tree.in_dependency_bundle(node) {
                for &edge in &tree[node].edges_in {
                    if let Some(from) = tree[edge].from {
                        self.search.queue.push(tree, from);
                    }
                }
            }
        }
    }

    /// The root, or the workspaces that were named, by their names or folders.
    fn changed_projects(&self) -> Result<Vec<NodeId>, ResolveError> {
        let root = self.tree.root;
        if self.asked.changes.workspaces.is_empty() {
            return Ok(vec![root]);
        }
        let workspaces = self.tree[root].workspaces.clone().unwrap_or_default();
        let mut projects = Vec::new();
        for wanted in self.asked.changes.workspaces.clone() {
            let folder = paths::normalize(&wanted);
            let inside =
                |own: &str| own == folder || own.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
            let names = &self.tree.words.names;
            let mut matching =
                workspaces.iter().filter(|(name, own)| names.text(*name) == wanted || inside(own)).peekable();
            if matching.peek().is_none() {
                return Err(Refusal::NoWorkspace { wanted }.into());
            }
            // Where everything is updated, the workspaces aren't there yet, and are updated with the rest.
            projects.extend(matching.filter_map(|(_, folder)| self.tree.at_path(root, folder)));
        }
        if self.asked.changes.include_root {
            projects.push(root);
        }
        Ok(projects)
    }

    async fn begin_edit(&mut self, node: NodeId) -> Result<Edited, ResolveError> {
        let text = if node == self.tree.root {
            self.root_file.text.clone()
        } else {
            let folder = self.tree[node].path.as_deref().unwrap_or_default().to_owned();
            self.folder_manifest(&folder).await.unwrap_or_else(|| "{}".to_owned())
        };
        Ok(Edited { node, edit: Edit::of(&text)?, added: Vec::new() })
    }

    /// Gives a project's node the dependencies as they are edited.
    fn take_over(&mut self, edited: &Edited) {
        let (names, specs) = (&mut self.tree.words.names, &mut self.tree.words.specs);
        let mut manifest = Manifest::from_changed(&edited.edit.value(), names, specs);
        if manifest.bin_folder.is_some() {
            let listed = self.tree[edited.node].manifest.field("bin").cloned();
            manifest.set_field("bin", listed.unwrap_or_default());
        }
        self.tree.set_manifest(edited.node, Rc::new(manifest));
    }

    /// The name and spec of an argument. A tag is settled at once; what has no name is fetched for it.
    async fn addition(&mut self, node: NodeId, argument: &str) -> Result<(String, String), ResolveError> {
        let (name, spec) = self.tree.words.specs.argument(argument).map_err(Refusal::InvalidSpec)?;
        let base = self.tree.project.to_string();
        let mut own_name = name.map(str::to_owned);
        let mut asked = spec.raw.to_string();
        let is_tag = matches!(spec.kind, SpecKind::Tag(_));
        if own_name.is_none() || is_tag {
            let handle = self.tree.words.names.intern(name.unwrap_or(argument));
            let manifest = self.manifest_for(handle, &spec, &base).await.map_err(|error| (*error).clone())?;
            own_name = manifest.name.as_deref().map(str::to_owned).or(own_name);
            if is_tag {
                manifest.version.as_deref().unwrap_or_default().clone_into(&mut asked);
            }
        }
        let Some(own_name) = own_name else {
            return Err(Refusal::Nameless { argument: argument.to_owned() }.into());
        };
        if let SpecKind::File(path) | SpecKind::Directory(path) = &spec.kind {
            let folder = self.tree.absolute(self.tree[node].path.as_deref().unwrap_or_default());
            asked = format!("file:{}", paths::relative(&folder, &path.resolve(&base)));
        }
        Ok((own_name, asked))
    }

    /// Puts what was found into the package.json files, and into the edges and lock entries that follow from them.
    pub(super) async fn save_changes(&mut self) -> Result<Vec<ChangedManifest>, ResolveError> {
        if !self.options.save {
            return Ok(Vec::new());
        }
        for mut edited in std::mem::take(&mut self.asked.edited) {
            for name in edited.added.clone() {
                self.settle_spec(&mut edited, name);
            }
            self.asked.edited.push(edited);
        }
        self.save_updates().await?;
        let mut changed = Vec::new();
        for mut edited in std::mem::take(&mut self.asked.edited) {
            self.take_over(&edited);
            if edited.node == self.tree.root {
                edited.edit.remove_patches(&self.orphaned_patches);
            }
            let folder = self.tree[edited.node].path.as_deref().unwrap_or_default().to_owned();
            changed.extend(edited.edit.finish().map(|text| ChangedManifest { folder, text }));
        }
        Ok(changed)
    }

    /// With `--save`, an update raises the ranges of what it was about, other than those of one version only.
    async fn save_updates(&mut self) -> Result<(), ResolveError> {
        if self.asked.changes.update == Update::None {
            return Ok(());
        }
        let root = self.tree.root;
        for node in self.tree.inventory(root) {
            let tree = &self.tree;
            let name = tree[node].name;
            let direct = node != root && tree.resolve_parent(node) == Some(root);
            let named = self.asked.changes.updates_all() || self.asked.update_names.contains(&name);
            if !direct || !named || tree[node].edges_in.iter().any(|&edge| self.asks_for_one_version(edge)) {
                continue;
            }
            for edge in tree[node].edges_in.clone() {
                let Some(from) = self.tree[edge].from.filter(|&from| self.tree.is_top(from)) else { continue };
                let known = self.asked.edited.iter().position(|edited| edited.node == from);
                let mut edited = match known {
                    Some(index) => self.asked.edited.swap_remove(index),
                    None => self.begin_edit(from).await?,
                };
                self.settle_spec(&mut edited, name);
                self.asked.edited.push(edited);
            }
        }
        Ok(())
    }

    fn settle_spec(&self, edited: &mut Edited, name: Name) {
        let tree = &self.tree;
        let Some(edge) = tree.edge(edited.node, name) else { return };
        // An optional dependency that could not be had stays as it was asked for.
        let Some(child) = tree[edge].to else { return };
        let text = tree.words.names.text(name);
        let package = tree.package(child);
        let found = Found {
            package: package.name.as_deref().unwrap_or(text),
            version: package.version.as_deref(),
            workspace: tree[edge].kind == EdgeKind::Workspace,
        };
        let folder = tree.absolute(tree[edited.node].realpath.as_deref().unwrap_or_default());
        edited.edit.found(text, &found, &folder, &self.asked.changes.save_prefix);
    }

    /// Whether an edge leaves no choice of version, so that there is nothing to raise.
    fn asks_for_one_version(&self, edge: EdgeId) -> bool {
        let version = self.tree[edge].to.and_then(|to| self.tree.package(to).version.clone());
        let asked = Range::parse(&self.tree.spec(edge).raw);
        let only = version.and_then(|version| Range::parse(&version));
        asked.zip(only).is_some_and(|(asked, only)| asked.is_subset_of(&only))
    }
}
