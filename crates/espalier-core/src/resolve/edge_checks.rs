//! The points at which npm fails because of an edge: its spec isn't a string, an override's key
//! can't be compared with its range, or the override refers to a dependency that doesn't exist
//! (`edge.js`).
//!
//! npm notices the last one when it needs the spec of such an edge, so these checks are made at the
//! same points.

use super::explain::chain;
use crate::error::ResolveError;
use crate::refusal::Refusal;
use crate::spec::{Spec, SpecKind};
use crate::tree::{EdgeId, NodeId, Tree};

/// Checks that no override contradicts the root's own dependencies.
pub(super) fn check_root(tree: &Tree) -> Result<(), ResolveError> {
    for &id in &tree[tree.root].edges_out {
        let (edge, spec) = (&tree[id], tree.spec(id));
        if spec.raw != edge.raw_spec.raw && !spec.raw.starts_with('$') {
            let (name, spec) = (tree.text(edge.name).to_owned(), edge.raw_spec.raw.to_string());
            return Err(Refusal::OverriddenDependency { name, spec }.into());
        }
    }
    check_needed(tree, tree.root, &|_| true)
}

/// Checks the override of an edge whose spec is needed now.
pub(super) fn check_edge(tree: &Tree, edge: EdgeId) -> Result<(), ResolveError> {
    check(tree, &mut std::iter::once(edge))
}

/// Checks the overrides of those edges of a node whose specs are needed now.
pub(super) fn check_needed(tree: &Tree, node: NodeId, is_needed: &dyn Fn(EdgeId) -> bool) -> Result<(), ResolveError> {
    check(tree, &mut tree[node].edges_out.iter().copied().filter(|&edge| is_needed(edge)))
}

/// Checks the overrides of the edges into a node, and of its own edges that are met.
pub(super) fn check_placed(tree: &Tree, node: NodeId) -> Result<(), ResolveError> {
    check_into(tree, &[node])?;
    check_needed(tree, node, &|edge| tree[edge].to.is_some())
}

/// Checks the overrides of all edges that are met. Overrides don't apply inside of bundles
/// (`satisfiedBy` of `edge.js`).
pub(super) fn check_all_met(tree: &Tree) -> Result<(), ResolveError> {
    if tree.overrides().is_empty() {
        return Ok(());
    }
    let mut nodes = tree.inventory(tree.root);
    nodes.retain(|&node| !tree.in_dependency_bundle(node));
    check_into(tree, &nodes)
}

/// Checks the overrides of all edges. npm needs their specs when it saves a lock that older
/// versions of npm can read (`#buildLegacyLockfile` of `shrinkwrap.js`).
pub(super) fn check_saved(tree: &Tree) -> Result<(), ResolveError> {
    if tree.overrides().is_empty() {
        return Ok(());
    }
    let nodes = tree.inventory(tree.root).into_iter().filter(|&node| node != tree.root);
    check(tree, &mut nodes.flat_map(|node| &tree[node].edges_out).copied())
}

/// Checks that the spec of every edge is a string.
pub(super) fn check_strings(tree: &Tree) -> Result<(), ResolveError> {
    tree.without_string.as_ref().map_or(Ok(()), |(edge, spec)| check_spec(tree, *edge, spec))
}

/// Checks the spec of an edge. npm fails at once at an invalid one, whoever the dependent is.
pub(super) fn check_spec(tree: &Tree, edge: EdgeId, spec: &Spec) -> Result<(), ResolveError> {
    let SpecKind::Invalid(problem) = &spec.kind else { return Ok(()) };
    let (name, spec) = (tree.text(tree[edge].name).to_owned(), spec.raw.to_string());
    let refusal = Refusal::InvalidDependency { name, spec, problem: problem.clone() };
    Err(ResolveError::from(refusal).asked_by(&|| chain(tree, edge)))
}

fn check_into(tree: &Tree, nodes: &[NodeId]) -> Result<(), ResolveError> {
    check(tree, &mut nodes.iter().flat_map(|&node| &tree[node].edges_in).copied())
}

fn check(tree: &Tree, edges: &mut dyn Iterator<Item = EdgeId>) -> Result<(), ResolveError> {
    check_strings(tree)?;
    if let Some(rule) = tree.incomparable_override {
        let key = tree.overrides().rule(rule).key.to_string();
        return Err(Refusal::IncomparableOverride { key }.into());
    }
    if !tree.overrides().have_references() {
        return Ok(());
    }
    for edge in edges {
        if let Some(reference) = tree.dangling_reference(edge) {
            return Err(Refusal::DanglingReference { reference: reference.to_owned() }.into());
        }
    }
    Ok(())
}
