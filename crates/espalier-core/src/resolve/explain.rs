//! Chains of dependents, for errors and warnings.

use std::sync::Arc;

use super::search::Search;
use crate::error::{ConflictSide, PeerConflict, Requirer, ResolveError};
use crate::place::Unplaceable;
use crate::refusal::Refusal;
use crate::tree::{EdgeId, EdgeKind, NodeId, Tree};

/// The packages from the root to the dependent of an edge, each with the spec of its dependency on the next one.
pub(super) fn chain(tree: &Tree, edge: EdgeId) -> Vec<Requirer> {
    let mut chain = Vec::new();
    let mut seen = Vec::new();
    let mut next = Some(edge);
    while let Some(id) = next {
        let Some(from) = tree[id].from else { break };
        // A virtual root represents a node of the tree.
        let from = tree[from].source.unwrap_or(from);
        if seen.contains(&from) {
            break;
        }
        seen.push(from);
        chain.push(requirer(tree, from, id));
        next = entry_edge(tree, from, &seen);
    }
    chain.reverse();
    chain
}

/// The edge that best explains a node: one from the root, if possible.
fn entry_edge(tree: &Tree, node: NodeId, seen: &[NodeId]) -> Option<EdgeId> {
    let mut entries: Vec<EdgeId> = tree[node].edges_in.clone();
    for &link in &tree[node].links_in {
        entries.extend(&tree[link].edges_in);
    }
    entries.retain(|&edge| {
        let from = tree[edge].from.map(|from| tree[from].source.unwrap_or(from));
        from.is_some_and(|from| !seen.contains(&from))
    });
    let from_root = |&&edge: &&EdgeId| tree[edge].from.is_some_and(|from| tree.is_project_root(from));
    entries.iter().find(from_root).or_else(|| entries.iter().find(|&&edge| tree.is_valid(edge))).copied()
}

fn requirer(tree: &Tree, node: NodeId, edge: EdgeId) -> Requirer {
    let package = tree.package(node);
    let is_root = node == tree.root;
    let own_name = package.name.as_deref();
    let name = if is_root { own_name.unwrap_or("root project") } else { tree.words.names.text(tree[node].name) };
    Requirer {
        name: name.to_owned(),
        version: package.version.as_deref().map(str::to_owned),
        location: location(tree, node),
        spec: tree.spec(edge).raw.to_string(),
        kind: tree[edge].kind,
    }
}

/// The location of a node. A candidate has none yet.
fn location(tree: &Tree, node: NodeId) -> String {
    if tree[node].root == tree.root { tree[node].path.as_deref().unwrap_or_default().to_owned() } else { String::new() }
}

/// The chain of dependents of a node in the tree.
pub(super) fn chain_to_node(tree: &Tree, node: NodeId) -> Vec<Requirer> {
    entry_edge(tree, node, &[]).map_or_else(Vec::new, |edge| chain(tree, edge))
}

/// A refusal that concerns a node, with its chain of dependents.
pub(super) fn refused(tree: &Tree, refusal: Refusal, node: NodeId) -> ResolveError {
    ResolveError::from(refusal).asked_by(|| chain_to_node(tree, node))
}

/// The package's own name, or that of its folder.
pub(super) fn name_of(tree: &Tree, node: NodeId) -> &str {
    tree.package(node).name.as_deref().unwrap_or_else(|| tree.words.names.text(tree[node].name))
}

pub(super) fn name_and_version(tree: &Tree, node: NodeId) -> (String, Option<String>) {
    (name_of(tree, node).to_owned(), tree.package(node).version.as_deref().map(str::to_owned))
}

pub(super) fn describe(tree: &Tree, node: NodeId) -> String {
    match name_and_version(tree, node) {
        (name, Some(version)) => format!("{name}@{version}"),
        (name, None) => name,
    }
}

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

    fn conflict(name: &str, current: ConflictSide, wanted: ConflictSide) -> PeerConflict {
        let asker = wanted.chain.last().map_or_else(String::new, |asker| {
            let version = asker.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
            format!("{}{version}", asker.name)
        });
        let found = current.version.as_deref().map_or_else(|| current.spec.clone(), str::to_owned);
        let summary = format!("{asker} wants {name}@{} as a peer, but {name}@{found} is there", wanted.spec);
        PeerConflict { summary, name: name.to_owned(), current, wanted, proposals: Vec::new() }
    }

    /// The error for a conflict in a peer set.
    pub(super) fn explain_peer_conflict(&mut self, edge: EdgeId, parent_edge: Option<EdgeId>) -> ResolveError {
        let tree = &self.tree;
        let name = tree.words.names.text(tree[edge].name).to_owned();
        let current = tree[edge].from.and_then(|from| tree.resolve(from, tree[edge].name));
        let holder = current.and_then(|current| self.holder(current, edge)).or(parent_edge).unwrap_or(edge);
        let conflict = Self::conflict(&name, self.side(current, holder), self.side(None, edge));
        self.with_proposals(conflict)
    }

    /// The error for a package that no folder accepts.
    pub(super) fn explain_unplaceable(&mut self, unplaceable: &Unplaceable) -> ResolveError {
        let tree = &self.tree;
        let (dep, edge, near) = match unplaceable.refused_peer {
            Some((peer, edge, target)) => (peer, edge, target),
            None => {
                let from = tree[unplaceable.edge].from.unwrap_or(tree.root);
                (unplaceable.dep, unplaceable.edge, from)
            }
        };
        let name = tree.words.names.text(tree[edge].name).to_owned();
        let current = tree.resolve(near, tree[edge].name);
        let own_edge = tree.edge(near, tree[edge].name);
        let holder = current.and_then(|current| self.holder(current, edge)).or(own_edge).unwrap_or(edge);
        let conflict = Self::conflict(&name, self.side(current, holder), self.side(Some(dep), edge));
        self.with_proposals(conflict)
    }

    fn with_proposals(&mut self, mut conflict: PeerConflict) -> ResolveError {
        conflict.proposals = self.proposals(&conflict);
        ResolveError::PeerConflict(Arc::new(conflict))
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
        let name = tree.words.names.text(tree[edge].name);
        let message = format!(
            "{}@{} wants {name}@{} as a peer, but has to do with {name}@{found}",
            asker.name,
            asker.version.as_deref().unwrap_or("?"),
            asker.spec
        );
        self.sources.warn("ERESOLVE", message, &location(tree, from));
    }
}
