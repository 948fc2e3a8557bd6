//! Packages in the tarball of another package.

use super::{NodeId, Tree};

impl Tree {
    /// Whether a node is in a dependency's tarball. Bundled packages of the root itself are
    /// installed as usual.
    pub fn in_dependency_bundle(&self, node: NodeId) -> bool {
        // Only an ancestor's bundle can contain a node, and few packages have one.
        let mut above = std::iter::successors(self[node].parent, |&node| self[node].parent);
        let bundles = |&node: &NodeId| !self[node].manifest.bundled.is_empty() && self[node].root != node;
        above.any(|ancestor| bundles(&ancestor))
            && self.bundler(node, &mut Vec::new()).is_some_and(|bundler| self[node].root != bundler)
    }

    /// Whether a node is in any bundle, including the root's.
    pub fn in_bundle(&self, node: NodeId) -> bool {
        self.bundler(node, &mut Vec::new()).is_some()
    }

    /// The package whose tarball contains a node: it lists the node, or bundles something that
    /// needs it (`getBundler`).
    fn bundler(&self, node: NodeId, path: &mut Vec<NodeId>) -> Option<NodeId> {
        if path.contains(&node) {
            return None;
        }
        path.push(node);
        let parent = self[node].parent?;
        if let Some(bundler) = self.bundler(parent, path) {
            return Some(bundler);
        }
        if self[parent].manifest.bundled.contains(&self[node].name) {
            return Some(parent);
        }
        if self[parent].manifest.bundled.is_empty() {
            return None;
        }
        let dependents = self[node].edges_in.iter().filter_map(|&edge| self[edge].from);
        dependents.into_iter().find(|&from| self.bundler(from, path) == Some(parent)).map(|_| parent)
    }
}
