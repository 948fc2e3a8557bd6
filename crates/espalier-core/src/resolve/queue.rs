//! The queue of nodes to look at: the shallowest first, then by path.

use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::collation;
use crate::tree::{NodeId, Tree};

/// The queue. A node is in it at most once.
#[derive(Default)]
pub struct Queue {
    heap: BinaryHeap<Reverse<Entry>>,
    waiting: FxHashSet<NodeId>,
}

/// The fields are compared in this order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    depth: usize,
    path: collation::Key,
    node: NodeId,
}

impl Queue {
    /// Adds a node, unless it is in the queue already.
    pub fn push(&mut self, tree: &Tree, node: NodeId) {
        if self.waiting.insert(node) {
            let path = tree[node].path.as_deref().unwrap_or_default();
            // Among the project's own paths, relative and absolute ones have the same order.
            let path = if path.starts_with("..") { &tree.absolute(path) } else { path };
            // The heap returns its greatest element first.
            self.heap.push(Reverse(Entry { depth: tree.depth(node), path: collation::Key::of(path), node }));
        }
    }

    /// Takes the first node.
    pub fn pop(&mut self) -> Option<NodeId> {
        let node = self.heap.pop()?.0.node;
        self.waiting.remove(&node);
        Some(node)
    }

    /// The nodes in the queue, unordered.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.waiting.iter().copied()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
