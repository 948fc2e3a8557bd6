//! Chains of dependents, for errors and warnings.

use crate::error::{Requirer, ResolveError};
use crate::refusal::Refusal;
use crate::tree::{EdgeId, NodeId, Tree};

/// The packages from the root to the dependent of an edge, each with the spec of its dependency on
/// the next one.
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

pub(super) fn requirer(tree: &Tree, node: NodeId, edge: EdgeId) -> Requirer {
    let package = tree.package(node);
    let is_root = node == tree.root;
    let own_name = package.name.as_deref();
    let name = if is_root { own_name.unwrap_or("root project") } else { tree.text(tree[node].name) };
    Requirer {
        name: name.to_owned(),
        version: package.version.as_deref().map(str::to_owned),
        location: location(tree, node),
        spec: tree.spec(edge).raw.to_string(),
        kind: tree[edge].kind,
    }
}

/// The location of a node. A candidate has none yet.
pub(super) fn location(tree: &Tree, node: NodeId) -> String {
    if tree[node].root == tree.root { tree[node].path.as_deref().unwrap_or_default().to_owned() } else { String::new() }
}

/// The chain of dependents of a node in the tree.
pub(super) fn chain_to_node(tree: &Tree, node: NodeId) -> Vec<Requirer> {
    entry_edge(tree, node, &[]).map_or_else(Vec::new, |edge| chain(tree, edge))
}

/// A refusal that concerns a node, with its chain of dependents.
pub(super) fn refused(tree: &Tree, refusal: Refusal, node: NodeId) -> ResolveError {
    ResolveError::from(refusal).asked_by(&|| chain_to_node(tree, node))
}

/// The package's own name, or that of its folder.
pub(super) fn name_of(tree: &Tree, node: NodeId) -> &str {
    tree.package(node).name.as_deref().unwrap_or_else(|| tree.text(tree[node].name))
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
