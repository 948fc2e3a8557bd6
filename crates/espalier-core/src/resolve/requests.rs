//! Enters the user's changes into the package.json of the root or of a workspace, before anything
//! is resolved (`#applyUserRequests` of `build-ideal-tree.js`).

use std::rc::Rc;

use super::edited::Edited;
use super::start::Start;
use crate::changes::Update;
use crate::error::ResolveError;
use crate::manifest_edit::Saving;
use crate::names::Name;
use crate::paths;
use crate::refusal::Refusal;
use crate::spec::{Spec, SpecKind, is_valid_name, split_argument};
use crate::tree::NodeId;

impl Start {
    /// Refuses arguments that aren't package names.
    pub(super) fn check_changes(&self) -> Result<(), ResolveError> {
        let updated: &[String] = match &self.wishes.changes.update {
            Update::Names(names) => names,
            _ => &[],
        };
        let lists = [(updated, "EUPDATEARGS", "update"), (&self.wishes.changes.remove, "ERMARGS", "remove")];
        for (names, code, command) in lists {
            if let Some(name) = names.iter().find(|name| !is_valid_name(name)) {
                let bare = split_argument(name).0.unwrap_or("<name>");
                let name = bare.to_owned();
                return Err(Refusal::NotAName { code, command, name }.into());
            }
        }
        Ok(())
    }

    /// Applies the changes to the selected projects.
    pub(super) async fn apply_changes(&mut self) -> Result<(), ResolveError> {
        if let Update::Names(names) = self.wishes.changes.update.clone() {
            self.wishes.update_names = names.iter().map(|name| self.sources.vocabulary.names.intern(name)).collect();
        }
        self.queue_named_updates();
        for node in self.changed_projects()? {
            self.queue.push(&self.tree, node);
            if self.wishes.changes.add.is_empty() && self.wishes.changes.remove.is_empty() {
                continue;
            }
            let root_text = &self.facts.root_file.text;
            let mut edited = Edited::begin(node, root_text, &self.tree, &mut self.sources).await?;
            for name in &self.wishes.changes.remove {
                edited.edit.remove(name);
            }
            let saving = Saving { kind: self.wishes.changes.save_type, bundle: self.wishes.changes.save_bundle };
            // npm enters those first that it need not look up (`#add` of `build-ideal-tree.js`).
            for is_late in [false, true] {
                for argument in self.wishes.changes.add.clone() {
                    let (name, spec) =
                        self.sources.vocabulary.specs.argument(&argument).map_err(Refusal::InvalidSpec)?;
                    if (name.is_none() || matches!(spec.kind, SpecKind::Tag(_))) == is_late {
                        let (name, spec) = self.addition(node, &argument, name, &spec).await?;
                        edited.edit.add(&name, &spec, saving);
                        edited.added.push(self.sources.vocabulary.names.intern(&name));
                    }
                }
            }
            edited.enter(&mut self.tree, &self.sources.vocabulary);
            for &name in &edited.added {
                self.wishes.explicit.extend(self.tree.edge(node, name));
            }
            self.facts.edited.push(edited);
        }
        Ok(())
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

    /// Queues the dependents of everything to update.
    fn queue_named_updates(&mut self) {
        for node in self.tree.inventory(self.tree.root) {
            let tree = &self.tree;
            let named = self.wishes.update_names.contains(&tree[node].name);
            if named && !tree.is_top(node) && !tree.in_dependency_bundle(node) {
                for &edge in &tree[node].edges_in {
                    if let Some(from) = tree[edge].from {
                        self.queue.push(tree, from);
                    }
                }
            }
        }
    }

    /// The root, or the selected workspaces, by name or folder.
    fn changed_projects(&self) -> Result<Vec<NodeId>, ResolveError> {
        let root = self.tree.root;
        if self.wishes.changes.workspaces.is_empty() {
            return Ok(vec![root]);
        }
        let workspaces = self.tree[root].workspaces.clone().unwrap_or_default();
        let mut projects = Vec::new();
        for wanted in self.wishes.changes.workspaces.clone() {
            let folder = paths::normalize(&wanted);
            let inside =
                |own: &str| own == folder || own.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
            let names = &self.sources.vocabulary.names;
            let mut matching =
                workspaces.iter().filter(|(name, own)| names.text(*name) == wanted || inside(own)).peekable();
            if matching.peek().is_none() {
                return Err(Refusal::NoWorkspace { wanted }.into());
            }
            // If everything is updated, the workspaces don't exist yet, and are updated with the
            // rest.
            projects.extend(matching.filter_map(|(_, folder)| self.tree.at_path(root, folder)));
        }
        if self.wishes.changes.include_root {
            projects.push(root);
        }
        Ok(projects)
    }

    /// The name and spec of an argument. A tag is resolved at once. A package without a name is
    /// fetched to learn it.
    async fn addition(
        &mut self,
        node: NodeId,
        argument: &str,
        name: Option<&str>,
        spec: &Rc<Spec>,
    ) -> Result<(String, String), ResolveError> {
        let base = self.tree.project.to_string();
        let mut own_name = name.map(str::to_owned);
        let mut asked = spec.raw.to_string();
        let is_tag = matches!(spec.kind, SpecKind::Tag(_));
        if own_name.is_none() || is_tag {
            let handle = self.sources.vocabulary.names.intern(name.unwrap_or(argument));
            let manifest = self.sources.manifest_for(handle, spec, &base).await.map_err(|error| (*error).clone())?;
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
}
