//! The packages that are left out with an optional package: its dependents up to the optional
//! dependencies, and what only those needed (`optional-set.js`, `gather-dep-set.js`).

use espalier_core::{Graph, GraphEdge};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// The locations that are left out with this one.
pub fn optional_set(graph: &Graph, location: &str) -> Vec<String> {
    let Some(start) = graph.nodes.iter().position(|node| node.location == location) else {
        return vec![location.to_owned()];
    };
    let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let is_optional = |edge: &GraphEdge| edge.kind.is_optional();
    let into = |node: usize| graph.edges.iter().filter(move |edge| edge.to.map(index) == Some(node));

    let mut needing: IndexSet<usize, FxBuildHasher> = IndexSet::from_iter([start]);
    let mut next = 0;
    while let Some(&node) = needing.get_index(next) {
        needing.extend(into(node).filter(|edge| !is_optional(edge)).map(|edge| index(edge.from)));
        next += 1;
    }

    let counts = |edge: &GraphEdge| {
        edge.to.is_some_and(|to| !needing.contains(&index(to))) && !graph.nodes[index(edge.from)].inert
    };
    let mut set = needing.clone();
    let mut next = 0;
    while let Some(&node) = set.get_index(next) {
        let out = graph.edges.iter().filter(|edge| index(edge.from) == node && counts(edge));
        set.extend(out.filter_map(|edge| edge.to.map(index)));
        next += 1;
    }
    loop {
        let outside = |&&node: &&usize| into(node).any(|edge| !set.contains(&index(edge.from)) && counts(edge));
        let Some(&needed) = set.iter().find(outside) else { break };
        set.shift_remove(&needed);
    }
    set.into_iter().map(|node| graph.nodes[node].location.clone()).filter(|location| !location.is_empty()).collect()
}
