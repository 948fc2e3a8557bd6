//! Peer conflicts, as errors and warnings.

use std::sync::Arc;

use super::explain::{chain, location, requirer};
use super::search::Search;
use crate::error::{ConflictSide, PeerConflict, ResolveError};
use crate::place::Unplaceable;
use crate::tree::{EdgeId, EdgeKind, NodeId};

impl Search {
    fn side(&self, node: Option<NodeId>, edge: EdgeId) -> ConflictSide {
        let version = node.and_then(|node| self.tree.package(node).version.as_deref());
        ConflictSide {
            version: version.map(str::to_owned),
            spec: self.tree.spec(edge).raw.to_string(),
            chain: chain(&self.tree, edge),
        }
    }

    /// An edge other than `except` that keeps a node in its place.
    fn holder(&self, node: NodeId, except: EdgeId) -> Option<EdgeId> {
        let tree = &self.tree;
        let mut holders = tree[node].edges_in.iter().copied().filter(|&edge| edge != except);
        let valid = holders.clone().find(|&edge| tree.is_valid(edge));
        valid.or_else(|| holders.next())
    }

    fn conflict(name: &str, current: ConflictSide, wanted: ConflictSide) -> ResolveError {
        let asker = wanted.chain.last().map_or_else(String::new, |asker| {
            let version = asker.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
            format!("{}{version}", asker.name)
        });
        let found = current.version.as_deref().map_or_else(|| current.spec.clone(), str::to_owned);
        let summary = format!("{asker} needs {name}@{} as a peer, but the tree has {name}@{found}", wanted.spec);
        let proposals = Vec::new();
        ResolveError::PeerConflict(Arc::new(PeerConflict {
            summary,
            name: name.to_owned(),
            current,
            wanted,
            proposals,
        }))
    }

    /// The error for a conflict in a peer set.
    pub(super) fn explain_peer_conflict(&self, edge: EdgeId, parent_edge: Option<EdgeId>) -> ResolveError {
        let tree = &self.tree;
        let name = tree.text(tree[edge].name).to_owned();
        let current = tree[edge].from.and_then(|from| tree.resolve(from, tree[edge].name));
        let holder = current.and_then(|current| self.holder(current, edge)).or(parent_edge).unwrap_or(edge);
        Self::conflict(&name, self.side(current, holder), self.side(None, edge))
    }

    /// The error for a package that no folder accepts.
    pub(super) fn explain_unplaceable(&self, unplaceable: &Unplaceable) -> ResolveError {
        let tree = &self.tree;
        let (dep, edge, near) = match unplaceable.refused_peer {
            Some((peer, edge, target)) => (peer, edge, target),
            None => {
                let from = tree[unplaceable.edge].from.unwrap_or(tree.root);
                (unplaceable.dep, unplaceable.edge, from)
            }
        };
        let name = tree.text(tree[edge].name).to_owned();
        let current = tree.resolve(near, tree[edge].name);
        let own_edge = tree.edge(near, tree[edge].name);
        let holder = current.and_then(|current| self.holder(current, edge)).or(own_edge).unwrap_or(edge);
        Self::conflict(&name, self.side(current, holder), self.side(Some(dep), edge))
    }

    /// Warns of a tolerated conflict.
    pub(super) fn warn_of_conflict(&mut self, edge: EdgeId, dep: NodeId) {
        let tree = &self.tree;
        if tree[edge].kind == EdgeKind::PeerOptional && tree[edge].to.is_none() {
            return;
        }
        let Some(from) = tree[edge].from else { return };
        let current = tree.resolve(from, tree[edge].name);
        let asker = requirer(tree, from, edge);
        let version = |node: NodeId| tree.package(node).version.as_deref().unwrap_or("?").to_owned();
        let found = current.map_or_else(|| version(dep), version);
        let name = tree.text(tree[edge].name);
        let message = format!(
            "{}@{} needs {name}@{} as a peer, but gets {name}@{found}",
            asker.name,
            asker.version.as_deref().unwrap_or("?"),
            asker.spec
        );
        self.sources.warn("ERESOLVE", message, &location(tree, from));
    }
}
