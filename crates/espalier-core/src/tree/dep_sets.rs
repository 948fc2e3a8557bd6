//! Sets of nodes that belong together: nodes that are removed with another one, and peer sets.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use super::{EdgeId, NodeId, Tree};

/// A set of nodes in the order in which they were found.
pub type NodeSet = IndexSet<NodeId, FxBuildHasher>;

impl Tree {
    /// These nodes and all of their dependencies that nothing outside needs. Only edges that
    /// `follow` accepts count (`gather-dep-set.js`).
    pub fn gather(&self, start: &[NodeId], follow: impl Fn(EdgeId) -> bool) -> NodeSet {
        let mut set: NodeSet = start.iter().copied().collect();
        let mut index = 0;
        while let Some(&node) = set.get_index(index) {
            for &edge in &self[node].edges_out {
                if let Some(to) = self[edge].to
                    && follow(edge)
                {
                    set.insert(to);
                }
            }
            index += 1;
        }
        loop {
            let needed = |node: &NodeId| {
                self[*node]
                    .edges_in
                    .iter()
                    .any(|&edge| self[edge].from.is_none_or(|from| !set.contains(&from)) && follow(edge))
            };
            let outside: Vec<NodeId> = set.iter().copied().filter(needed).collect();
            if outside.is_empty() {
                return set;
            }
            set.retain(|node| !outside.contains(node));
        }
    }

    /// The edges that bring a node in as part of a peer set, each with its set
    /// (`peer-entry-sets.js`).
    pub fn peer_entry_sets(&self, node: NodeId) -> IndexMap<EdgeId, NodeSet, FxBuildHasher> {
        let is_peer = |edge: EdgeId| self.is_valid(edge) && self[edge].kind.is_peer();
        let mut union: NodeSet = std::iter::once(node).collect();
        let mut index = 0;
        while let Some(&member) = union.get_index(index) {
            union
                .extend(self[member].edges_out.iter().filter(|&&edge| is_peer(edge)).filter_map(|&edge| self[edge].to));
            union.extend(
                self[member].edges_in.iter().filter(|&&edge| is_peer(edge)).filter_map(|&edge| self[edge].from),
            );
            index += 1;
        }
        let mut sets = IndexMap::default();
        for &member in &union {
            for &entry in &self[member].edges_in {
                let from_top = self[entry].from.is_some_and(|from| self.is_top(from));
                if !self.is_valid(entry) || (self[entry].kind.is_peer() && !from_top) {
                    continue;
                }
                let set = self.peers_of(member);
                if set.contains(&node) {
                    sets.insert(entry, set);
                }
            }
        }
        sets
    }

    /// A node, its peers, and theirs.
    fn peers_of(&self, node: NodeId) -> NodeSet {
        let mut set: NodeSet = std::iter::once(node).collect();
        let mut index = 0;
        while let Some(&member) = set.get_index(index) {
            let edges = self[member].edges_out.iter();
            set.extend(
                edges
                    .filter(|&&edge| self.is_valid(edge) && self[edge].kind.is_peer())
                    .filter_map(|&edge| self[edge].to),
            );
            index += 1;
        }
        set
    }

    /// The nodes that are left out with an optional package: its dependents up to the optional
    /// dependency, and what only those need (`optional-set.js`).
    pub fn optional_set(&self, node: NodeId) -> NodeSet {
        let mut set: NodeSet = std::iter::once(node).collect();
        let mut index = 0;
        while let Some(&member) = set.get_index(index) {
            let edges = self[member].edges_in.iter().map(|&edge| &self[edge]);
            set.extend(edges.filter(|edge| !edge.kind.is_optional()).filter_map(|edge| edge.from));
            index += 1;
        }
        let start: Vec<NodeId> = set.iter().copied().collect();
        self.gather(&start, |edge| {
            let edge = &self[edge];
            edge.to.is_none_or(|to| !set.contains(&to)) && !edge.from.is_some_and(|from| self[from].inert)
        })
    }
}
