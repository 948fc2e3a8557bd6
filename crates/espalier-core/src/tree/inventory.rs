//! The nodes of a tree by path (`inventory.js`).

use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::{Edge, EdgeId, NodeId, Tree};
use crate::names::{FoldedName, Name};
use crate::order;

/// The nodes of one tree.
#[derive(Default)]
pub(super) struct Inventory {
    by_path: FxHashMap<Rc<str>, NodeId>,
    /// The entries so far, with their numbers. A node that has left has another number.
    entered: Vec<(u32, NodeId)>,
    /// Nodes by folder name, in the order of entry. Only the project's tree has this index, because
    /// only there it is used.
    by_name: FxHashMap<Name, Vec<NodeId>>,
    /// Edges out of nodes of the project's tree, by the requested name.
    dependents: FxHashMap<FoldedName, Vec<EdgeId>>,
    links: Vec<NodeId>,
    /// Nodes without a parent, except for the root.
    pub tops: Vec<NodeId>,
}

impl Tree {
    /// Makes room for this number of nodes in the project's tree.
    pub fn expect(&mut self, count: usize) {
        let inventory = self.inventory_mut(self.root);
        inventory.by_path.reserve(count);
        inventory.by_name.reserve(count);
        inventory.entered.reserve(count);
    }

    /// Adds a node to its root's inventory, at its current path.
    pub(super) fn enlist(&mut self, node: NodeId) {
        let root = self[node].root;
        let Some(path) = self[node].path.clone() else { return };
        match self.inventory_mut(root).by_path.insert(path, node) {
            Some(current) if current == node => return,
            Some(current) => self.leave_indexes(root, current),
            None => {}
        }
        self.next_sequence += 1;
        self[node].sequence = self.next_sequence;
        let (name, is_link, project) = (self[node].name, self[node].is_link, root == self.root);
        let entry = (self.next_sequence, node);
        let inventory = self.inventory_mut(root);
        inventory.entered.push(entry);
        if inventory.entered.len() > 2 * inventory.by_path.len() + 32 {
            let entries = self.entries(root).collect();
            self.inventory_mut(root).entered = entries;
        }
        let inventory = self.inventory_mut(root);
        if is_link {
            inventory.links.push(node);
        }
        if project {
            inventory.by_name.entry(name).or_default().push(node);
            for edge in self[node].edges_out.snapshot() {
                if let Some(edges) = self.indexed_with(edge).filter(|edges| !edges.contains(&edge)) {
                    edges.push(edge);
                }
            }
        }
    }

    /// Removes a node from its root's inventory (`_delistFromMeta`).
    pub(super) fn delist(&mut self, node: NodeId) {
        let root = self[node].root;
        if self[root].path.is_none() || self[node].path.is_none() || self[root].inventory.is_none() {
            return;
        }
        self.forget(root, node);
        self.inventory_mut(root).tops.retain(|&top| top != node);
    }

    fn forget(&mut self, root: NodeId, node: NodeId) {
        let Some(path) = self[node].path.clone() else { return };
        if self.at_path(root, &path) == Some(node) {
            self.inventory_mut(root).by_path.remove(&path);
            self.leave_indexes(root, node);
        }
    }

    /// Removes a node that is no longer at its path from everything else in its root's inventory.
    fn leave_indexes(&mut self, root: NodeId, node: NodeId) {
        if root == self.root {
            for edge in self[node].edges_out.snapshot() {
                self.unindex_edge(edge);
            }
        }
        self[node].sequence = 0;
        let (name, is_link) = (self[node].name, self[node].is_link);
        let inventory = self.inventory_mut(root);
        if is_link {
            inventory.links.retain(|&link| link != node);
        }
        if let Some(named) = inventory.by_name.get_mut(&name) {
            named.retain(|&other| other != node);
        }
    }

    /// Whether a node is in its root's inventory.
    fn is_listed(&self, node: NodeId) -> bool {
        let is_listed = self[node].sequence != 0;
        let (root, path) = (self[node].root, self[node].path.as_deref());
        debug_assert_eq!(is_listed, path.is_some_and(|path| self.at_path(root, path) == Some(node)));
        is_listed
    }

    /// Adds a new edge to the index, if it is one of a node of the project's tree.
    pub(super) fn index_edge(&mut self, edge: EdgeId) {
        if let Some(edges) = self.indexed_with(edge) {
            edges.push(edge);
        }
    }

    /// The edges in the index that have the same name as this one. `None` if this edge has no place
    /// there.
    fn indexed_with(&mut self, edge: EdgeId) -> Option<&mut Vec<EdgeId>> {
        let Edge { from: Some(from), name, .. } = self[edge] else { return None };
        let has_place = self[from].root == self.root && self.is_listed(from);
        has_place.then(|| self.inventory_mut(self.root).dependents.entry(name.fold()).or_default())
    }

    /// Removes an edge from the index, because its node leaves the project's tree or the edge is
    /// dropped.
    pub(super) fn unindex_edge(&mut self, edge: EdgeId) {
        let name = self[edge].name.fold();
        if let Some(edges) = self.inventory_mut(self.root).dependents.get_mut(&name) {
            edges.retain(|&other| other != edge);
        }
    }

    /// The edges with this name in the project's tree, unordered.
    pub(super) fn dependents(&self, name: Name) -> &[EdgeId] {
        let inventory = self[self.root].inventory.as_ref();
        let edges = inventory.and_then(|inventory| inventory.dependents.get(&name.fold()));
        edges.map_or(&[], Vec::as_slice)
    }

    pub(super) fn inventory_mut(&mut self, root: NodeId) -> &mut Inventory {
        self[root].inventory.get_or_insert_default()
    }

    /// The node at a path of a tree.
    pub fn at_path(&self, root: NodeId, path: &str) -> Option<NodeId> {
        self[root].inventory.as_ref()?.by_path.get(path).copied()
    }

    /// All nodes of a tree, in no order.
    pub fn members(&self, root: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self[root].inventory.iter().flat_map(|inventory| inventory.by_path.values().copied())
    }

    /// All nodes of a tree, in the order of their entry.
    pub fn inventory(&self, root: NodeId) -> Vec<NodeId> {
        let nodes: Vec<NodeId> = self.entries(root).map(|(_, node)| node).collect();
        debug_assert_eq!(nodes.len(), self.members(root).count(), "every member has entered and not left");
        nodes
    }

    fn entries(&self, root: NodeId) -> impl Iterator<Item = (u32, NodeId)> + '_ {
        let entered = self[root].inventory.iter().flat_map(|inventory| &inventory.entered);
        entered.copied().filter(|&(number, node)| self[node].sequence == number)
    }

    /// All nodes of the project's tree in folders with this name, in the order of their entry.
    pub fn named(&self, name: Name) -> Vec<NodeId> {
        let inventory = self[self.root].inventory.as_ref();
        inventory.and_then(|inventory| inventory.by_name.get(&name)).cloned().unwrap_or_default()
    }

    /// Whether a tree has any link.
    pub(super) fn has_links(&self, root: NodeId) -> bool {
        self[root].inventory.as_ref().is_some_and(|inventory| !inventory.links.is_empty())
    }

    /// The nodes of a tree with this real path: a node there, and the links to it.
    pub(super) fn with_realpath(&self, root: NodeId, realpath: &str) -> Vec<NodeId> {
        let Some(inventory) = self[root].inventory.as_ref() else {
            return Vec::new();
        };
        let real = inventory.by_path.get(realpath).copied().filter(|&node| !self[node].is_link);
        let links = inventory.links.iter().copied().filter(|&link| self[link].realpath.as_deref() == Some(realpath));
        let mut nodes: Vec<NodeId> = real.into_iter().chain(links).collect();
        order::sort_by_key(&mut nodes, |&node| self[node].sequence);
        nodes
    }

    pub(super) fn tops(&self, root: NodeId) -> &[NodeId] {
        self[root].inventory.as_ref().map_or(&[], |inventory| &inventory.tops)
    }
}
