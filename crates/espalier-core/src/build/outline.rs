//! The tree as plain data, whether it was resolved or only read.

use rustc_hash::FxHashMap;

use crate::graph::{Graph, GraphEdge, GraphNode};
use crate::tree::{EdgeId, NodeId, Tree};

/// The nodes of these entries, in their order, with their edges.
pub(super) fn graph(tree: &Tree, entries: &[(String, NodeId)]) -> Graph {
    let positions: FxHashMap<NodeId, u32> = entries.iter().map(|&(_, node)| node).zip(0..).collect();
    let mut graph = Graph::default();
    let mut edges: FxHashMap<EdgeId, u32> = FxHashMap::default();
    for (location, node) in entries {
        graph.nodes.push(graph_node(tree, *node, location, &positions));
        for &id in &tree[*node].edges_out {
            let (edge, spec) = (&tree[id], tree.spec(id));
            edges.insert(id, u32::try_from(graph.edges.len()).expect("fewer than four billion edges"));
            graph.edges.push(GraphEdge {
                from: positions[node],
                to: edge.to.and_then(|to| positions.get(&to).copied()),
                name: tree.names.text(edge.name).to_owned(),
                spec: spec.raw.to_string(),
                kind: edge.kind.as_str(),
                error: tree.state(id).error(),
                overridden: spec.raw != edge.raw_spec.raw,
                raw_spec: edge.raw_spec.raw.to_string(),
                bundled: tree[*node].manifest.bundled.contains(&edge.name),
            });
        }
    }
    graph.dependents = entries
        .iter()
        .map(|(_, node)| tree[*node].edges_in.iter().filter_map(|edge| edges.get(edge).copied()).collect())
        .collect();
    graph
}

fn graph_node(tree: &Tree, node: NodeId, location: &str, positions: &FxHashMap<NodeId, u32>) -> GraphNode {
    let entry = &tree[node];
    let package = tree.package(node);
    let name = tree.names.text(entry.name);
    let text = |text: Option<&str>| text.map(str::to_owned);
    GraphNode {
        name: name.to_owned(),
        package_name: text(package.name.as_deref().filter(|own| *own != name)),
        version: text(package.version.as_deref()),
        location: location.to_owned(),
        parent: entry.parent.and_then(|parent| positions.get(&parent).copied()),
        target: entry.target.and_then(|target| positions.get(&target).copied()),
        resolved: tree.resolved(node).map(std::borrow::Cow::into_owned),
        integrity: text(entry.integrity.as_deref()),
        license: text(package.license()),
        deprecated: text(package.deprecated()),
        dev: entry.flags.dev,
        optional: entry.flags.optional,
        dev_optional: entry.flags.dev_optional,
        peer: entry.flags.peer,
        extraneous: entry.flags.extraneous,
        inert: entry.inert,
        in_bundle: tree.in_bundle(node),
        brought: tree.in_dependency_bundle(node),
        on_disk: false,
        workspace: tree.is_workspace(node),
        overridden: tree.is_overridden(node),
    }
}
