//! Reads the root's `packageExtensions`, and applies them to a lock that was made under other
//! rules.

use super::finish::Ending;
use super::start::Start;
use crate::error::ResolveError;
use crate::extensions::PackageExtensions;
use crate::options::Project;
use crate::refusal::Refusal;

impl Start {
    /// Parses the rules. Entries of a lock that other rules changed are stale, so they are removed
    /// and fetched again (`#loadPackageExtensions`).
    pub(super) fn load_extensions(&mut self, project: &Project) -> Result<(), ResolveError> {
        if let Some(file) = project.extension_file.as_ref().filter(|_| !self.sources.options.ignore_extension) {
            return Err(Refusal::ExtensionFile { file: file.clone() }.into());
        }
        self.extensions = PackageExtensions::parse(self.facts.root_file.value.get("packageExtensions"))?;
        if !self.facts.lock.existed || self.facts.lock.extensions_hash == self.extensions.hash {
            return Ok(());
        }
        for node in self.tree.inventory(self.tree.root) {
            if self.tree.is_top(node) || self.tree.is_own(node) {
                continue;
            }
            let package = self.tree.package(node);
            let (name, version) =
                (package.name.as_deref().unwrap_or_default(), package.version.as_deref().unwrap_or_default());
            if self.tree[node].extension.is_some() || self.extensions.concern(name, version) {
                for edge in self.tree[node].edges_in.clone() {
                    if let Some(from) = self.tree[edge].from {
                        self.queue.push(&self.tree, from);
                    }
                }
                self.tree.set_parent(node, None);
            }
        }
        Ok(())
    }
}

impl Ending {
    /// Rules apply to installed packages, not to manifests that the user can edit.
    pub(super) fn warn_of_misplaced_extensions(&self) {
        let workspaces = self.tree[self.tree.root].workspaces.clone().unwrap_or_default();
        for (name, folder) in workspaces.iter() {
            let Some(node) = self.tree.at_path(self.tree.root, folder) else { continue };
            let version = self.tree.package(node).version.clone().unwrap_or_default();
            let name = self.tree.text(*name).to_owned();
            if self.extensions.concern(&name, &version) {
                let message = format!(
                    "packageExtensions don't apply to the workspace {name}@{version}: edit its package.json directly"
                );
                self.sources.warn("packageExtensions", message, folder);
            }
        }
    }
}
