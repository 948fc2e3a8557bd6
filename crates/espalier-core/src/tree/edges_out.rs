//! A node's dependencies, in npm's order and by name.

use std::ops::Deref;

use super::EdgeId;
use crate::names::FoldedName;

/// The edges out of a node. Each name has one, whatever its case, and a new one is the last.
///
/// Most nodes have a handful, and a few projects have hundreds. Scanning adjacent names is faster
/// than hashing.
#[derive(Default)]
pub struct EdgesOut {
    edges: Vec<EdgeId>,
    /// The name of each edge, at the same index.
    names: Vec<FoldedName>,
}

impl EdgesOut {
    /// A copy of the edges, for a caller that changes them while iterating.
    pub fn snapshot(&self) -> Vec<EdgeId> {
        self.edges.clone()
    }

    /// The edge with this name.
    pub fn named(&self, name: FoldedName) -> Option<EdgeId> {
        self.names.iter().position(|&other| other == name).map(|position| self.edges[position])
    }

    pub(super) fn push(&mut self, name: FoldedName, edge: EdgeId) {
        self.edges.push(edge);
        self.names.push(name);
    }

    pub(super) fn remove(&mut self, edge: EdgeId) {
        if let Some(position) = self.edges.iter().position(|&other| other == edge) {
            self.edges.remove(position);
            self.names.remove(position);
        }
    }
}

impl Deref for EdgesOut {
    type Target = [EdgeId];
    fn deref(&self) -> &[EdgeId] {
        &self.edges
    }
}

impl<'a> IntoIterator for &'a EdgesOut {
    type Item = &'a EdgeId;
    type IntoIter = std::slice::Iter<'a, EdgeId>;
    fn into_iter(self) -> Self::IntoIter {
        self.edges.iter()
    }
}
