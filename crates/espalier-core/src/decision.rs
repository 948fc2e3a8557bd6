//! Decisions as data: what was looked at, which candidate came from where, which folders were tried and why the package went
//! where it did.
//!
//! These are parts of [`Event`](crate::Event)s that are only made with [`Options::decisions`](crate::Options::decisions): a
//! replay draws them, a log prints them, nothing else needs them. Everything is told as of the moment of the decision, since
//! the tree goes on changing.

use serde::Serialize;

pub use crate::place::Verdict;
use crate::tree::{EdgeId, EdgeKind, Tree};

/// A dependency: who asks for what. Locations are empty for the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Demand {
    /// The name asked for.
    pub name: String,
    /// The spec in force.
    pub spec: String,
    /// The spec that the package's manifest has, where an override replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden: Option<String>,
    /// npm's word for the kind of dependency.
    pub kind: EdgeKind,
    /// The name and version of the package that asks.
    pub by: String,
    /// Its location; absent for a candidate, which has none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl Demand {
    pub(crate) fn of(tree: &Tree, edge: EdgeId) -> Self {
        let (spec, asked) = (tree.spec(edge), &tree[edge].raw_spec);
        // A virtual root stands for a node of the tree.
        let from = tree[edge].from.map(|from| tree[from].source.unwrap_or(from));
        let by = from.map(|from| {
            let package = tree.package(from);
            let name = package.name.as_deref().unwrap_or_else(|| tree.words.names.text(tree[from].name));
            let version = package.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
            format!("{name}{version}")
        });
        Self {
            name: tree.words.names.text(tree[edge].name).to_owned(),
            overridden: (spec.raw != asked.raw).then(|| asked.raw.to_string()),
            spec: spec.raw.to_string(),
            kind: tree[edge].kind,
            by: by.unwrap_or_default(),
            from: from.filter(|&from| tree[from].root == tree.root).map(|from| tree.location(from)),
        }
    }
}

/// A dependency that needs something done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The dependency.
    #[serde(flatten)]
    pub demand: Demand,
    /// What is wrong with it.
    pub state: ProblemState,
    /// The version that the name leads to, if it leads anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// Why a dependency is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemState {
    /// Nothing of that name can be reached.
    Missing,
    /// What is there doesn't satisfy.
    Invalid,
    /// It is met, and the user asks for it or for its update.
    Requested,
}

/// Which versions there were when one was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// How many the packument has.
    pub total: usize,
    /// How many of them the spec admits.
    pub fitting: usize,
    /// What `latest` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<String>,
    /// The highest of those above the chosen one that were passed over, the highest first.
    pub passed_over: Vec<PassedOver>,
}

/// A version that wasn't chosen although it is higher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PassedOver {
    /// The version.
    pub version: String,
    /// Why not.
    pub why: Objection,
}

/// What speaks against a version.
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
    /// `latest` satisfies, and is lower.
    AboveLatest,
}

/// Where a candidate came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// A registry, a repository, a tarball or a copied folder has it.
    Fetched,
    /// It was gathered already with the peers of an earlier dependency of the same package.
    PeerSet,
    /// An optional peer takes what is in the tree.
    Tree,
    /// It is a workspace.
    Workspace,
    /// It is a link to a folder.
    Link,
    /// It could not be had.
    Failed,
}

/// One placement: the folders that were tried, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The dependency.
    #[serde(flatten)]
    pub demand: Demand,
    /// The candidate's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it is placed together with the package whose peer it is, the one decided on before.
    pub as_peer: bool,
    /// The folders that were asked, from the dependent upwards. Where the last one agreed, nothing higher was in the way.
    pub tried: Vec<Trial>,
    /// What became of it.
    pub result: Placed,
    /// The locations of what was taken out of the tree for it.
    pub removed: Vec<String>,
}

/// One folder that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// The location of the package whose `node_modules` it is.
    pub location: String,
    /// The answer for the package together with its peers.
    pub verdict: Verdict,
    /// The reason.
    pub why: Why,
}

/// Why a folder will have a package or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Why {
    /// Nothing is there, and nothing below relies on what is above.
    Free,
    /// It failed to load, and so may be anywhere until it is pruned.
    Failed,
    /// The package of that folder has it as a peer, which has to be further up.
    PeerOfFolder,
    /// The package of that folder asks for another version itself.
    OtherDemand {
        /// What it asks for.
        spec: String,
    },
    /// Packages in that folder rely on what is further up, and wouldn't accept this one.
    Shadows {
        /// The location of one of them.
        dependent: String,
        /// What it asks for.
        spec: String,
    },
    /// The same package is there.
    Same,
    /// Another version is there, and satisfies.
    Satisfies {
        /// Which.
        version: String,
    },
    /// An older version is there, and everyone who uses it would take this one.
    Upgrade {
        /// The one that makes way.
        version: String,
    },
    /// A newer version is there, and this older one would do for everyone, so that there is one copy less.
    Dedupe {
        /// The one that makes way.
        version: String,
    },
    /// The dependent's own folder: what is there has to make way.
    OwnFolder {
        /// The one that makes way.
        version: String,
    },
    /// Another version is there, and its peers can go deeper or are replaced with it.
    PeersMove {
        /// The one that makes way.
        version: String,
    },
    /// Another version is there, and stays.
    Occupied {
        /// Which.
        version: String,
    },
    /// One of its own peers finds no place with it.
    PeerRefused {
        /// The peer.
        name: String,
        /// What is asked of it.
        spec: String,
        /// The folder that refused it.
        location: String,
    },
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Placed {
    /// The dependency was met already.
    Met,
    /// What is there will do.
    Kept {
        /// The location of the package whose `node_modules` it is in.
        location: String,
    },
    /// It was put into the tree.
    New {
        /// Where.
        location: String,
        /// The version whose place it took.
        #[serde(skip_serializing_if = "Option::is_none")]
        replaced: Option<String>,
    },
    /// It would nest in itself, and became a link.
    Linked {
        /// Where.
        location: String,
    },
    /// No folder would have it. For the project that ends the resolution, elsewhere the dependency stays as it is.
    Refused,
}
