//! Virtual roots: representatives of dependents, in which candidates and their peers are assembled.

use super::search::Search;
use crate::tree::{EdgeId, NewNode, NodeId};

impl Search {
    /// A representative of a node, with its package and links. Unless `reuse` permits the latest
    /// one, a new one replaces it. Later edges of the node see the peers that were loaded there.
    ///
    /// npm gives it all of the node's edges. A candidate without peers is affected by none but the
    /// edge with its name, and a project has hundreds of edges for each of its hundreds of direct
    /// dependencies. So edges are added where they count.
    pub(super) fn virtual_root(&mut self, node: NodeId, reuse: bool) -> NodeId {
        if let Some(&known) = self.virtual_roots.get(&node).filter(|_| reuse) {
            return known;
        }
        let source = &self.tree[node];
        let (manifest, path, rule) = (source.manifest.clone(), source.realpath.clone(), source.rule);
        let with_peers = self.sources.with_peers();
        let root = self.tree.add_without_edges(NewNode {
            path,
            source: Some(node),
            rule,
            ..NewNode::of(manifest, with_peers)
        });
        for child in self.tree.children(node) {
            if let Some(target) = self.tree[child].target.filter(|_| self.tree[child].is_link) {
                let (manifest, path) = (self.tree[target].manifest.clone(), self.tree[child].realpath.clone());
                // npm creates these without its settings, so their peers count even with
                // --legacy-peer-deps.
                self.tree.add(NewNode { path, source: Some(target), root: Some(root), ..NewNode::of(manifest, true) });
            }
        }
        self.virtual_roots.insert(node, root);
        root
    }

    /// The nearest node below `start` that satisfies an edge and isn't bundled.
    pub(super) fn find_below(&self, start: NodeId, edge: EdgeId) -> Option<NodeId> {
        let tree = &self.tree;
        let mut queue: std::collections::VecDeque<NodeId> = tree.children(start).into();
        while let Some(node) = queue.pop_front() {
            let named = tree[node].name == tree[edge].name;
            if named && !tree.in_dependency_bundle(node) && tree.satisfied_by(edge, node) {
                return Some(node);
            }
            queue.extend(tree.children(node));
        }
        None
    }
}
