//! The resolved tree as plain data. Whatever is made of it later is made of this: the layout on disk, views, explanations.
//!
//! Indices into `nodes` are the only references; node 0 is the root, and nodes are in the order in which
//! the lockfile lists them.

use crate::edge_kind::EdgeKind;

/// The resolved tree.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct Graph {
    /// The project's folder, absolute.
    pub project: String,
    /// All nodes; the root is the first.
    pub nodes: Vec<GraphNode>,
    /// All edges, grouped by `from`, each group in npm's order.
    pub edges: Vec<GraphEdge>,
    /// Of each node, the edges that lead to it, in the order in which npm came upon them.
    pub dependents: Vec<Vec<u32>>,
    /// What the root's `packageExtensions` are in a lockfile: a hash.
    pub extensions_hash: Option<String>,
}

impl Graph {
    /// The edges of a node.
    pub fn edges_of(&self, node: u32) -> &[GraphEdge] {
        let start = self.edges.partition_point(|edge| edge.from < node);
        let end = self.edges.partition_point(|edge| edge.from <= node);
        &self.edges[start..end]
    }
}

/// A package in its place. It is a flat record, because every view of the tree reads other fields of it.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
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
    /// For links, the folder that they lead to, relative to the project.
    pub link: Option<String>,
    /// As in the lockfile. Where that doesn't say it and the package shall be installed, where its registry has it.
    pub resolved: Option<String>,
    /// As in the lockfile, or what the registry says.
    pub integrity: Option<String>,
    /// The license's name.
    pub license: Option<String>,
    /// The message, for deprecated versions.
    pub deprecated: Option<String>,
    /// The bytes of its files, where its registry was asked and says it; a lockfile doesn't.
    pub unpacked_size: Option<u64>,
    /// How many files it has, where its registry was asked and says it.
    pub file_count: Option<u64>,
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
    pub brought: bool,
    /// Found in its place, without a note of where it came from; it stays.
    pub on_disk: bool,
    /// One of the project's workspaces, or the link to one.
    pub workspace: bool,
    /// Of the version that an override chose.
    pub overridden: bool,
    /// What installing it needs to know.
    pub contents: Contents,
}

/// What is in a package, as far as installing it goes; of a link, in the package that it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct Contents {
    /// `bin` as it stands in the lockfile: each name, and what was written for its file.
    pub bins: Vec<(String, String)>,
    /// Whether it has install scripts.
    pub has_install_script: bool,
    /// Whether it brings packages in its own `node_modules`.
    pub bundles: bool,
    /// The patch that is applied to its files.
    pub patch: Option<PatchFile>,
}

/// A patch, as the lockfile names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct PatchFile {
    /// Where it is in the project.
    pub path: String,
    /// What it has to be.
    pub integrity: String,
}

/// npm's word for what is wrong with an edge.
pub type EdgeError = &'static str;

/// A dependency, from the package that has it to the one that meets it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
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
    pub kind: EdgeKind,
    /// npm's word for what is wrong: `MISSING`, `INVALID`, `PEER LOCAL`, `DETACHED`.
    #[cfg_attr(feature = "summaries", serde(deserialize_with = "crate::outcome::read_edge_error"))]
    pub error: Option<EdgeError>,
    /// Whether an override changed the spec.
    pub overridden: bool,
    /// The spec that stands in the manifest.
    pub raw_spec: String,
    /// Whether the package that asks brings it in its tarball.
    pub bundled: bool,
}
