//! Decisions as data: the problem edges of a node, the origin of each candidate, the folders that
//! were tried, and the reasons.
//!
//! These are parts of [`Event`](crate::Event)s and exist only with
//! [`Options::decisions`](crate::Options::decisions). A replay draws them and a log prints them.
//! They describe the moment of the decision, because the tree keeps changing.

use serde::Serialize;

use crate::tree::{EdgeId, EdgeKind, Tree};

/// The answer for one package and one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// The folder has no package of that name.
    Free,
    /// The package in the folder satisfies the spec.
    Keep,
    /// The package in the folder can be replaced.
    Replace,
    /// The folder refuses the package.
    Conflict,
}

/// A dependency of a package. Locations are empty for the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Demand {
    /// The requested name.
    pub name: String,
    /// The effective spec.
    pub spec: String,
    /// The spec in the package's manifest, if an override replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden: Option<String>,
    /// The kind of dependency.
    pub kind: EdgeKind,
    /// The name and version of the dependent.
    pub by: String,
    /// The dependent's location. `None` for a candidate, which has no location yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl Demand {
    pub(crate) fn of(tree: &Tree, edge: EdgeId) -> Self {
        let (spec, asked) = (tree.spec(edge), &tree[edge].raw_spec);
        // A virtual root represents a node of the tree.
        let from = tree[edge].from.map(|from| tree[from].source.unwrap_or(from));
        let by = from.map(|from| {
            let package = tree.package(from);
            let name = package.name.as_deref().unwrap_or_else(|| tree.text(tree[from].name));
            let version = package.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
            format!("{name}{version}")
        });
        Self {
            name: tree.text(tree[edge].name).to_owned(),
            overridden: (spec.raw != asked.raw).then(|| asked.raw.to_string()),
            spec: spec.raw.to_string(),
            kind: tree[edge].kind,
            by: by.unwrap_or_default(),
            from: from.filter(|&from| tree[from].root == tree.root).map(|from| tree.location(from)),
        }
    }
}

/// A dependency that has to be resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The dependency.
    #[serde(flatten)]
    pub demand: Demand,
    /// Its state.
    pub state: ProblemState,
    /// The version that the name leads to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// Why a dependency has to be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemState {
    /// No package of that name can be reached.
    Missing,
    /// The package that the name leads to doesn't satisfy the spec.
    Invalid,
    /// The dependency is met, but the user asked for it or for its update.
    Requested,
}

/// The versions that were available when one was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// The number of versions in the packument.
    pub total: usize,
    /// The number of versions that the spec admits.
    pub fitting: usize,
    /// The version that the dist-tag `latest` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<String>,
    /// The highest versions above the chosen one, highest first.
    pub passed_over: Vec<PassedOver>,
}

/// A version that is higher than the chosen one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PassedOver {
    /// The version.
    pub version: String,
    /// Why it wasn't chosen.
    pub why: Objection,
}

/// Why a higher version wasn't chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Objection {
    /// The spec doesn't admit it.
    OutOfRange,
    /// It was published after `before`.
    TooNew,
    /// It doesn't support this Node or npm.
    Engines,
    /// It is deprecated.
    Deprecated,
    /// The dist-tag `latest` satisfies the spec, and it names a lower version.
    AboveLatest,
}

/// The origin of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// It was fetched from a registry, a repository, a tarball or a copied folder.
    Fetched,
    /// An earlier dependency of the same package already gathered it, as a peer.
    PeerSet,
    /// The tree already contains a package that satisfies the optional peer.
    Tree,
    /// It is a workspace.
    Workspace,
    /// It is a link to a folder.
    Link,
    /// It could not be fetched.
    Failed,
}

/// A placement: the folders that were tried, and the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The dependency.
    #[serde(flatten)]
    pub demand: Demand,
    /// The candidate's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it is placed as a peer of the package in the preceding decision.
    pub as_peer: bool,
    /// The folders that were tried, from the dependent upwards. If the last one agreed, no folder
    /// above it refused.
    pub tried: Vec<Trial>,
    /// The result.
    pub result: Placed,
    /// The locations of the packages that this placement removed from the tree.
    pub removed: Vec<String>,
}

/// One folder that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// The location of the package whose `node_modules` it is.
    pub location: String,
    /// The verdict on the package together with its peers.
    pub verdict: Verdict,
    /// The reason for the verdict.
    pub why: Why,
}

/// Why a folder accepts or refuses a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Why {
    /// The folder has no package of that name, and no package below relies on one further up.
    Free,
    /// The package failed to load. It may be anywhere until it is pruned.
    Failed,
    /// The folder's own package has it as a peer, and peers are placed further up.
    PeerOfFolder,
    /// The folder's own package depends on another version.
    OtherDemand {
        /// The requested spec.
        spec: String,
    },
    /// Packages in the folder rely on a version further up, and don't accept this one.
    Shadows {
        /// The location of one of them.
        dependent: String,
        /// The requested spec.
        spec: String,
    },
    /// The folder has the same package already.
    Same,
    /// The folder has another version, which satisfies the spec.
    Satisfies {
        /// The version in the folder.
        version: String,
    },
    /// The folder has an older version, and every dependent of it accepts this one.
    Upgrade {
        /// The version that is replaced.
        version: String,
    },
    /// The folder has a newer version. Every dependent accepts this older one, which saves a copy.
    Dedupe {
        /// The version that is replaced.
        version: String,
    },
    /// The folder is the dependent's own, so the version in it is replaced.
    OwnFolder {
        /// The version that is replaced.
        version: String,
    },
    /// The folder has another version, whose peers can move deeper or are replaced with it.
    PeersMove {
        /// The version that is replaced.
        version: String,
    },
    /// The folder has another version, which cannot be replaced.
    Occupied {
        /// The version in the folder.
        version: String,
    },
    /// One of the package's peers finds no place.
    PeerRefused {
        /// The peer.
        name: String,
        /// The spec that the peer has to satisfy.
        spec: String,
        /// The folder that refused it.
        location: String,
    },
}

/// The result of placing a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Placed {
    /// The dependency was already met.
    Met,
    /// The package in the folder satisfies the spec and stays.
    Kept {
        /// The location of the package whose `node_modules` it is in.
        location: String,
    },
    /// The candidate was added to the tree.
    New {
        /// The location.
        location: String,
        /// The version that it replaced.
        #[serde(skip_serializing_if = "Option::is_none")]
        replaced: Option<String>,
    },
    /// The candidate would nest in itself, so it became a link.
    Linked {
        /// The location.
        location: String,
    },
    /// No folder accepts the candidate. A dependency of the project then ends the resolution; any
    /// other dependency stays unmet.
    Refused,
}
