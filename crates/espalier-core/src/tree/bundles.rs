//! Packages that came inside another one's tarball.

use super::{NodeId, Tree};

impl Tree {
    /// Whether a node came inside a dependency's tarball (bundles of the root itself are installed as usual).
    pub fn in_dependency_bundle(&self, node: NodeId) -> bool {
        // Only an ancestor's bundle can hold a node, and hardly any package has one.
        let mut above = std::iter::successors(self[node].parent, |&node| self[node].parent);
        let bundles = |&node: &NodeId| !self[node].manifest.bundled.is_empty() && self[node].root != node;
        above.any(|ancestor| bundles(&ancestor))
            && self.bundler(node, &mut Vec::new()).is_some_and(|bundler| self[node].root != bundler)
    }

    /// Whether a node is in any bundle, the root's included.
    pub fn in_bundle(&self, node: NodeId) -> bool {
        self.bundler(node, &mut Vec::new()).is_some()
    }

    /// The package in whose tarball a node came: it lists the node, or bundles what needs it (`getBundler`).
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
