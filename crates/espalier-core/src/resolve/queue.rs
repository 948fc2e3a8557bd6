//! The queue of nodes to look at: the shallowest first, then by path.

use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

use crate::collation;
use crate::tree::{NodeId, Tree};

/// The queue. A node is in it at most once.
#[derive(Default)]
pub struct Queue {
    heap: BinaryHeap<Entry>,
    waiting: FxHashSet<NodeId>,
}

struct Entry {
    depth: usize,
    path: Rc<str>,
    node: NodeId,
}

impl Queue {
    /// Adds a node, unless it is in the queue already.
    pub fn push(&mut self, tree: &Tree, node: NodeId) {
        if self.waiting.insert(node) {
            let path = tree[node].path.clone().unwrap_or_default();
            // Among the project's own paths, relative and absolute ones have the same order.
            let path = if path.starts_with("..") { tree.absolute(&path).into() } else { path };
            self.heap.push(Entry { depth: tree.depth(node), path, node });
        }
    }

    /// Takes the first node.
    pub fn pop(&mut self) -> Option<NodeId> {
        let node = self.heap.pop()?.node;
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

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap returns its greatest element first.
        let order = self.depth.cmp(&other.depth).then_with(|| collation::compare(&self.path, &other.path));
        order.then_with(|| self.node.cmp(&other.node)).reverse()
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}
