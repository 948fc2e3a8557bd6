//! Where npm stops because of an override: it can't compare the override's key with a range, or the override refers to a
//! dependency that doesn't exist (`edge.js`).
//!
//! npm notices the second when it needs the spec of such an edge. So these questions are asked where that happens.

use crate::error::ResolveError;
use crate::refusal::Refusal;
use crate::tree::{EdgeId, NodeId, Tree};

/// An override may not contradict what the root itself asks for.
pub(super) fn check_root(tree: &Tree) -> Result<(), ResolveError> {
    for &id in &tree[tree.root].edges_out {
        let (edge, spec) = (&tree[id], tree.spec(id));
        if spec.raw != edge.raw_spec.raw && !spec.raw.starts_with('$') {
            let (name, spec) = (tree.words.names.text(edge.name).to_owned(), edge.raw_spec.raw.to_string());
            return Err(Refusal::OverriddenDependency { name, spec }.into());
        }
    }
    check_edges(tree, tree[tree.root].edges_out.iter().copied())
}

/// The overrides of edges whose specs are needed now.
pub(super) fn check_edges(tree: &Tree, edges: impl IntoIterator<Item = EdgeId>) -> Result<(), ResolveError> {
    if let Some(rule) = tree.incomparable_override {
        let key = tree.words.overrides.rule(rule).key.to_string();
        return Err(Refusal::IncomparableOverride { key }.into());
    }
    if !tree.words.overrides.have_references() {
        return Ok(());
    }
    match edges.into_iter().find_map(|edge| tree.dangling_reference(edge)) {
        None => Ok(()),
        Some(reference) => Err(Refusal::DanglingReference { reference: reference.to_owned() }.into()),
    }
}

/// The overrides of the edges that lead to these nodes.
pub(super) fn check_edges_into(tree: &Tree, nodes: &[NodeId]) -> Result<(), ResolveError> {
    check_edges(tree, nodes.iter().flat_map(|&node| &tree[node].edges_in).copied())
}

/// The overrides of all edges that lead anywhere.
pub(super) fn check_all_met(tree: &Tree) -> Result<(), ResolveError> {
    if tree.words.overrides.is_empty() { Ok(()) } else { check_edges_into(tree, &tree.inventory(tree.root)) }
}

/// The overrides of the edges out of a node that lead anywhere.
pub(super) fn check_met_edges(tree: &Tree, node: NodeId) -> Result<(), ResolveError> {
    check_edges(tree, tree[node].edges_out.iter().copied().filter(|&edge| tree[edge].to.is_some()))
}
