//! The resolved tree as plain data. The layout on disk, views and explanations are projections of
//! it.
//!
//! References are indices into `nodes`. Node 0 is the root. Nodes are in the lockfile's order.

use crate::edge_kind::EdgeKind;

/// The resolved tree.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct Graph {
    /// The absolute folder of the project.
    pub project: String,
    /// All nodes. The first is the root.
    pub nodes: Vec<GraphNode>,
    /// All edges, grouped by `from`. Each group is in npm's order.
    pub edges: Vec<GraphEdge>,
    /// The edges that lead to each node, in the order in which npm found them.
    pub dependents: Vec<Vec<u32>>,
    /// The hash of the root's `packageExtensions` in a lockfile.
    pub extensions_hash: Option<String>,
}

impl Graph {
    /// The edges out of a node.
    pub fn edges_of(&self, node: u32) -> &[GraphEdge] {
        let start = self.edges.partition_point(|edge| edge.from < node);
        let end = self.edges.partition_point(|edge| edge.from <= node);
        &self.edges[start..end]
    }
}

/// A node of the tree. It is a flat record, because every view of the tree reads other fields.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct GraphNode {
    /// The folder's name, which can be an alias.
    pub name: String,
    /// The name in the package's own manifest, if it differs from `name`.
    pub package_name: Option<String>,
    /// The version. Links have none, and a root may have none.
    pub version: Option<String>,
    /// The key in the lockfile: empty for the root, `node_modules/a/node_modules/b`, `packages/ui`.
    pub location: String,
    /// The node whose `node_modules` contains this one.
    pub parent: Option<u32>,
    /// The target of a link.
    pub target: Option<u32>,
    /// The target folder of a link, relative to the project.
    pub link: Option<String>,
    /// The `resolved` of the lockfile. If it has none and the package is to be installed, the
    /// registry's address.
    pub resolved: Option<String>,
    /// The `integrity` of the lockfile or the registry.
    pub integrity: Option<String>,
    /// The license's name.
    pub license: Option<String>,
    /// The deprecation message of the version.
    pub deprecated: Option<String>,
    /// The size of its files in bytes. Only the registry states it, never a lockfile.
    pub unpacked_size: Option<u64>,
    /// The number of its files, if the registry states it.
    pub file_count: Option<u64>,
    /// The versions of Node.js that it is for: the `node` of its `engines`.
    pub node_range: Option<String>,
    /// Only dev dependencies need it.
    pub dev: bool,
    /// Only optional dependencies need it.
    pub optional: bool,
    /// Dev and optional dependencies need it, on different paths, and nothing else does.
    pub dev_optional: bool,
    /// Only peers need it.
    pub peer: bool,
    /// Nothing needs it.
    pub extraneous: bool,
    /// It is in the lock, but isn't installed on this platform.
    pub inert: bool,
    /// It is in a bundle, including the project's own.
    pub in_bundle: bool,
    /// It is in the tarball of another package.
    pub brought: bool,
    /// It was found on disk without a record of its source, and stays.
    pub on_disk: bool,
    /// It is a workspace of the project, or a link to one.
    pub workspace: bool,
    /// An override chose its version.
    pub overridden: bool,
    /// What an installation needs to know.
    pub contents: Contents,
}

/// The content of a package as far as an installation needs it. For a link, that of its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct Contents {
    /// The `bin` of the lockfile: names and files.
    pub bins: Vec<(String, String)>,
    /// Whether it has install scripts.
    pub has_install_script: bool,
    /// Whether it has bundled packages.
    pub bundles: bool,
    /// The patch for its files.
    pub patch: Option<PatchFile>,
}

/// A patch, as the lockfile records it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct PatchFile {
    /// The path in the project.
    pub path: String,
    /// The expected integrity.
    pub integrity: String,
}

/// npm's name of an edge's error.
pub type EdgeError = &'static str;

/// A dependency, from the dependent to the package that meets it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct GraphEdge {
    /// The dependent.
    pub from: u32,
    /// The package that meets it. `None` if there is none.
    pub to: Option<u32>,
    /// The requested name.
    pub name: String,
    /// The effective spec, which an override may have replaced.
    pub spec: String,
    /// The kind of dependency.
    pub kind: EdgeKind,
    /// npm's name of the error: `MISSING`, `INVALID`, `PEER LOCAL`, `DETACHED`.
    #[cfg_attr(feature = "summaries", serde(deserialize_with = "crate::recorded::read_edge_error"))]
    pub error: Option<EdgeError>,
    /// Whether an override changed the spec.
    pub overridden: bool,
    /// The spec in the manifest.
    pub raw_spec: String,
    /// Whether the dependency is in the dependent's tarball.
    pub bundled: bool,
}
