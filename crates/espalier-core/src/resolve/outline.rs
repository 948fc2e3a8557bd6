//! Turns a tree into plain data, whether it was resolved or only read.

use rustc_hash::FxHashMap;
use serde_json::Value;
use std::rc::Rc;

use crate::graph::{Contents, Graph, GraphEdge, GraphNode, PatchFile};
use crate::tree::{EdgeId, NodeId, Tree};

/// The nodes of these entries, in their order, with their edges.
pub(super) fn graph(tree: &Tree, entries: &[(Rc<str>, NodeId)]) -> Graph {
    let positions: FxHashMap<NodeId, u32> = entries.iter().map(|&(_, node)| node).zip(0..).collect();
    let mut graph = Graph { project: tree.project.to_string(), ..Graph::default() };
    let mut edges: FxHashMap<EdgeId, u32> = FxHashMap::default();
    for (location, node) in entries {
        graph.nodes.push(graph_node(tree, *node, location, &positions));
        for &id in &tree[*node].edges_out {
            let (edge, spec) = (&tree[id], tree.spec(id));
            edges.insert(id, u32::try_from(graph.edges.len()).expect("fewer than four billion edges"));
            graph.edges.push(GraphEdge {
                from: positions[node],
                to: edge.to.and_then(|to| positions.get(&to).copied()),
                name: tree.text(edge.name).to_owned(),
                spec: spec.raw.to_string(),
                kind: edge.kind,
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
    let name = tree.text(entry.name);
    let text = |text: Option<&str>| text.map(str::to_owned);
    GraphNode {
        name: name.to_owned(),
        package_name: text(package.name.as_deref().filter(|own| *own != name)),
        version: text(package.version.as_deref()),
        location: location.to_owned(),
        parent: entry.parent.and_then(|parent| positions.get(&parent).copied()),
        target: entry.target.and_then(|target| positions.get(&target).copied()),
        link: text(entry.realpath.as_deref().filter(|_| entry.is_link)),
        resolved: tree.resolved(node).map(std::borrow::Cow::into_owned),
        integrity: text(entry.integrity.as_deref().or(entry.manifest.integrity.as_deref())),
        license: text(package.license()),
        deprecated: text(package.deprecated()),
        unpacked_size: package.unpacked_size,
        file_count: package.file_count,
        node_range: text(package.field("engines").and_then(|engines| engines.get("node")?.as_str())),
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
        contents: contents(tree, node),
    }
}

fn contents(tree: &Tree, node: NodeId) -> Contents {
    let package = tree.package(node);
    let bins = package.field("bin").and_then(Value::as_object).into_iter().flatten();
    let patch = tree[node].patch.as_deref().and_then(|patch| {
        let text = |key: &str| patch.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(PatchFile { path: text("path")?, integrity: text("integrity")? })
    });
    Contents {
        bins: bins.filter_map(|(name, file)| Some((name.clone(), file.as_str()?.to_owned()))).collect(),
        has_install_script: package.has_install_script,
        bundles: !tree[node].is_link && !package.bundled.is_empty(),
        patch,
    }
}
