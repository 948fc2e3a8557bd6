//! Saves the results in package.json files, once the tree is complete (`_saveIdealTree` of
//! `reify.js`).

use super::edited::Edited;
use super::finish::Ending;
use crate::changes::{ChangedManifest, Update};
use crate::error::ResolveError;
use crate::manifest_edit::Found;
use crate::names::Name;
use crate::semver::Range;
use crate::tree::{EdgeId, EdgeKind};

impl Ending {
    /// Writes the found versions into the package.json files, and into the edges and lock entries
    /// that depend on them.
    pub(super) async fn save_changes(
        &mut self,
        orphaned_patches: &[String],
    ) -> Result<Vec<ChangedManifest>, ResolveError> {
        if !self.sources.options.save {
            return Ok(Vec::new());
        }
        for mut edited in std::mem::take(&mut self.facts.edited) {
            for name in edited.added.clone() {
                self.settle_spec(&mut edited, name);
            }
            self.facts.edited.push(edited);
        }
        self.save_updates().await?;
        let mut changed = Vec::new();
        for mut edited in std::mem::take(&mut self.facts.edited) {
            edited.enter(&mut self.tree, &self.sources.vocabulary);
            if edited.node == self.tree.root {
                edited.edit.remove_patches(orphaned_patches);
            }
            let folder = self.tree[edited.node].path.as_deref().unwrap_or_default().to_owned();
            changed.extend(edited.edit.finish().map(|text| ChangedManifest { folder, text }));
        }
        Ok(changed)
    }

    /// With `--save`, an update raises the ranges that it concerns, except for those of a single
    /// version.
    async fn save_updates(&mut self) -> Result<(), ResolveError> {
        if self.wishes.changes.update == Update::None {
            return Ok(());
        }
        let root = self.tree.root;
        for node in self.tree.inventory(root) {
            let tree = &self.tree;
            let name = tree[node].name;
            let direct = node != root && tree.resolve_parent(node) == Some(root);
            let named = self.wishes.changes.updates_all() || self.wishes.update_names.contains(&name);
            if !direct || !named || tree[node].edges_in.iter().any(|&edge| self.asks_for_one_version(edge)) {
                continue;
            }
            for edge in tree[node].edges_in.clone() {
                let Some(from) = self.tree[edge].from.filter(|&from| self.tree.is_top(from)) else { continue };
                let known = self.facts.edited.iter().position(|edited| edited.node == from);
                let mut edited = match known {
                    Some(index) => self.facts.edited.swap_remove(index),
                    None => {
                        let root_text = &self.facts.root_file.text;
                        Edited::begin(from, root_text, &self.tree, &mut self.sources).await?
                    }
                };
                self.settle_spec(&mut edited, name);
                self.facts.edited.push(edited);
            }
        }
        Ok(())
    }

    fn settle_spec(&self, edited: &mut Edited, name: Name) {
        let tree = &self.tree;
        let Some(edge) = tree.edge(edited.node, name) else { return };
        let Some(child) = tree[edge].to else { return };
        let text = tree.text(name);
        let package = tree.package(child);
        // A package that could not be fetched has no name. npm saves it as `npm:null@…`, an alias of
        // somebody else's package.
        let found = Found {
            package: package.name.as_deref().unwrap_or(text),
            version: package.version.as_deref(),
            workspace: tree[edge].kind == EdgeKind::Workspace,
            overridden: Some(&*tree.spec(edge).raw).filter(|spec| *spec != &*tree[edge].raw_spec.raw),
        };
        let folder = tree.absolute(tree[edited.node].realpath.as_deref().unwrap_or_default());
        let specs = &self.sources.vocabulary.specs;
        edited.edit.found(text, &found, &folder, &self.wishes.changes.save_prefix, specs);
    }

    /// Whether an edge permits one version only, so that there is nothing to raise.
    fn asks_for_one_version(&self, edge: EdgeId) -> bool {
        let version = self.tree[edge].to.and_then(|to| self.tree.package(to).version.clone());
        let asked = Range::parse(&self.tree.spec(edge).raw);
        let only = version.and_then(|version| Range::parse(&version));
        asked.zip(only).is_some_and(|(asked, only)| asked.is_subset_of(&only))
    }
}
