//! Reads the installed tree, if there is no lock to start from (`load-actual.js`).
//!
//! npm then changes as little as possible, so the installed versions stay. Facts that package.json
//! files on disk lack (source and integrity) are missing from the new lock, as in npm's.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::start::Start;
use crate::json;
use crate::manifest::Manifest;
use crate::options::InstalledPackage;
use crate::tree::{NewNode, NodeId};

impl Start {
    /// Adds the installed packages to the tree, in the `node_modules` of projects that are in it
    /// already.
    pub(super) async fn load_installed(&mut self, packages: &[InstalledPackage]) {
        let root = self.tree.root;
        let mut targets: FxHashMap<Rc<str>, NodeId> = FxHashMap::default();
        for package in packages {
            let project = project_of(&package.path);
            let known = self.tree.at_path(root, &package.path).is_some();
            if known || self.tree.at_path(root, project).is_none() {
                continue;
            }
            let name = self.tree.folder_name(&package.path);
            let name = self.sources.vocabulary.names.intern(&name);
            let manifest = self.installed_manifest(package).await;
            let new = NewNode {
                name: Some(name),
                path: Some(package.path.as_str().into()),
                root: Some(root),
                ..NewNode::of(manifest, self.sources.with_peers())
            };
            match package.target.as_deref() {
                None => {
                    let node = self.tree.add(new);
                    self.facts.on_disk.insert(package.path.as_str().into(), node);
                }
                Some(target) => {
                    let known = targets.get(target).copied().or_else(|| self.tree.at_path(root, target));
                    let link = self.tree.add_link(NewNode { realpath: Some(target.into()), ..new }, known);
                    targets.insert(target.into(), self.tree.target(link));
                }
            }
        }
    }

    async fn installed_manifest(&mut self, package: &InstalledPackage) -> Rc<Manifest> {
        let value = package.manifest.as_deref().and_then(|text| json::parse(&package.path, text).ok());
        let mut manifest = Manifest::from_value(&value.unwrap_or_default(), &self.sources.vocabulary);
        self.sources.list_bins(&mut manifest, &package.path).await;
        Rc::new(manifest)
    }
}

/// The folder of the project in whose `node_modules` a package is. Its own name can end in
/// `node_modules`.
fn project_of(path: &str) -> &str {
    if path.starts_with("node_modules/") {
        return "";
    }
    path.find("/node_modules/").map_or("", |at| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::project_of;

    #[test]
    fn a_package_belongs_to_the_project_above_the_first_node_modules() {
        assert_eq!(project_of("node_modules/a/node_modules/b"), "");
        assert_eq!(project_of("packages/ui/node_modules/a/node_modules/b"), "packages/ui");
        assert_eq!(project_of("ui-node_modules/node_modules/a"), "ui-node_modules");
    }
}
