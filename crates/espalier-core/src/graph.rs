//! The resolved tree as plain data, for views, explanations and serialisation.
//!
//! Indices into `nodes` are the only references; node 0 is the root, and nodes are in the order in which
//! the lockfile lists them.

use serde::Serialize;

/// The resolved tree.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Graph {
    /// All nodes; the root is the first.
    pub nodes: Vec<GraphNode>,
    /// All edges, grouped by `from`, each group in npm's order.
    pub edges: Vec<GraphEdge>,
    /// Of each node, the edges that lead to it, in the order in which npm came upon them.
    #[serde(skip)]
    pub dependents: Vec<Vec<u32>>,
}

impl Graph {
    /// The edges of a node.
    pub fn edges_of(&self, node: u32) -> &[GraphEdge] {
        let start = self.edges.partition_point(|edge| edge.from < node);
        let end = self.edges.partition_point(|edge| edge.from <= node);
        &self.edges[start..end]
    }
}

/// A package in its place.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphNode {
    /// The folder's name (an alias where the spec was one).
    pub name: String,
    /// The name in the package's own manifest, where it differs from `name`.
    pub package_name: Option<String>,
    /// Absent for links and for a root without one.
    pub version: Option<String>,
    /// The key in the lockfile: empty for the root, `node_modules/a/node_modules/b`, `packages/ui`.
    pub location: String,
    /// The node in whose `node_modules` this one lies.
    pub parent: Option<u32>,
    /// For links, the node they point to.
    pub target: Option<u32>,
    /// As in the lockfile. Where that doesn't say it and the package shall be installed, where its registry has it.
    pub resolved: Option<String>,
    /// As in the lockfile, or what the registry says.
    pub integrity: Option<String>,
    /// The license's name.
    pub license: Option<String>,
    /// The message, for deprecated versions.
    pub deprecated: Option<String>,
    /// Only wanted by development dependencies.
    pub dev: bool,
    /// Only wanted by optional dependencies.
    pub optional: bool,
    /// Only wanted by both of these, on different ways.
    pub dev_optional: bool,
    /// Only wanted as a peer.
    pub peer: bool,
    /// Wanted by nobody.
    pub extraneous: bool,
    /// In the lock, but not installed on this platform.
    pub inert: bool,
    /// Is in a bundle, be it that of the project itself.
    pub in_bundle: bool,
    /// Comes inside another package's tarball.
    #[serde(skip)]
    pub brought: bool,
    /// Found in its place, without a note of where it came from; it stays.
    #[serde(skip)]
    pub on_disk: bool,
    /// One of the project's workspaces, or the link to one.
    #[serde(skip)]
    pub workspace: bool,
    /// Of the version that an override chose.
    #[serde(skip)]
    pub overridden: bool,
}

/// A dependency, from the package that has it to the one that meets it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphEdge {
    /// The node that asks.
    pub from: u32,
    /// The node that answers; absent when nothing does.
    pub to: Option<u32>,
    /// The name asked for.
    pub name: String,
    /// The spec that is in force (an override's, where one applies).
    pub spec: String,
    /// `prod`, `dev`, `optional`, `peer`, `peerOptional` or `workspace`.
    pub kind: &'static str,
    /// npm's word for what is wrong: `MISSING`, `INVALID`, `PEER LOCAL`, `DETACHED`.
    pub error: Option<&'static str>,
    /// Whether an override changed the spec.
    pub overridden: bool,
    /// The spec that stands in the manifest.
    #[serde(skip)]
    pub raw_spec: String,
    /// Whether the package that asks brings it in its tarball.
    #[serde(skip)]
    pub bundled: bool,
}
