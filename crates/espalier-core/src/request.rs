//! What a resolution asks of the outside world, and what it hears back.
//!
//! A request is its own key: the same request is never made twice, and an answer names the request it
//! answers. How it is fetched (which registry, which cache, how often retried) is the caller's business.

use serde::Serialize;
use std::sync::Arc;

use crate::decision::{Decision, Demand, Origin, Problem, Versions};
use crate::packument::Packument;

use crate::edge_kind::EdgeKind;
pub use crate::fetch_failure::{FetchFailure, FetchFailureKind};

/// An input that the resolution needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// The packument of a package from its registry, full or abbreviated.
    Packument {
        /// The package's name, with its scope: `@babel/core`.
        name: String,
        /// Whether the full document is needed (for its `time`, with `--before`); otherwise the abbreviated
        /// one does as well.
        full: bool,
    },
    /// The document of one version (`/<name>/<version>`). Only asked for when the packument was
    /// abbreviated, which leaves out fields that npm writes into the lock.
    VersionDocument {
        /// The package's name, with its scope.
        name: String,
        /// The exact version.
        version: String,
        /// What the packument says of its tarball, by which the document of another publication of that version is told.
        integrity: Option<String>,
    },
    /// The text of the package.json in a folder.
    Folder {
        /// Relative to the project with forward slashes (`packages/ui`, `../shared`), never ending in one.
        path: String,
    },
    /// A file in the project: a patch.
    File {
        /// Relative to the project with forward slashes, and inside it.
        path: String,
    },
    /// A commit of a git repository, and the package.json in it.
    Git {
        /// Addresses to try in turn, as git takes them.
        urls: Vec<String>,
        /// What is wanted of the repository.
        wanted: GitRevision,
        /// The folder in it that holds the package; empty for the whole.
        folder: String,
    },
    /// What lies in a folder that a package.json names as that of its commands (`directories.bin`).
    Files {
        /// Relative to the project with forward slashes, never ending in one.
        folder: String,
    },
    /// The folders of the project that hold a package.json, other than the root and `node_modules`;
    /// asked for only when the root has workspaces.
    PackageFolders,
    /// A tarball, unpacked as far as its manifests.
    Tarball {
        /// `resolved` as the registry gave it (the caller may have to put a host in front), a URL, or a
        /// project-relative `file:` path.
        url: String,
        /// The expected integrity, when it is known; the caller verifies it.
        integrity: Option<String>,
    },
}

/// What is wanted of a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GitRevision {
    /// What the remote's `HEAD` points to.
    Head,
    /// A branch, a tag, or a commit.
    Committish(String),
    /// The best version in this range among the tags that are versions.
    Range(String),
}

/// A commit of a git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCommit {
    /// The full hash.
    pub commit: String,
    /// The text of the package.json in it.
    pub manifest: String,
    /// The paths of the files beside that, if `directories.bin` needs them.
    pub files: Vec<String>,
}

/// How soon a request's answer is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// The resolution stands still until it comes.
    Demanded,
    /// It will probably be needed soon.
    Speculative,
}

/// The answer to a [`Request`] of the same name.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Parsed by whoever fetched it: [`Packument::parse`] is made to run on a fetching thread.
    Packument(Arc<Packument>),
    /// The JSON text of the version's document.
    VersionDocument(String),
    /// The text of package.json, or `None` where the folder or the file doesn't exist.
    Folder(Option<String>),
    /// The bytes of the file, or `None` where there is none.
    File(Option<Vec<u8>>),
    /// The commit that was found.
    Git(GitCommit),
    /// The paths of all files and folders below, relative to it with forward slashes; none where there is no such folder.
    Files(Vec<String>),
    /// Project-relative paths with forward slashes.
    PackageFolders(Vec<String>),
    /// The manifests inside, and the tarball's own integrity.
    Tarball(TarballListing),
}

/// The parts of a tarball that decide a tree.
#[derive(Clone, Debug, Default)]
pub struct TarballListing {
    /// `sha512-…` of the tarball as fetched.
    pub integrity: String,
    /// All file paths without the first component (`package/`), in archive order.
    pub files: Vec<String>,
    /// Path (as in `files`) and text of every file named `package.json`.
    pub manifests: Vec<(String, String)>,
}

/// What happened, in the order of the decisions; enough to draw the tree while it grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// A packument arrived.
    Fetched {
        /// The package's name.
        name: String,
        /// How many versions it has.
        versions: usize,
    },
    /// A version was chosen for a dependency. It is placed next, unless a package in the tree satisfies the dependency.
    Picked {
        /// The package's name in the registry.
        name: String,
        /// The spec that is in force.
        spec: String,
        /// What was chosen.
        version: String,
        /// Why this one.
        reason: Reason,
        /// The name of the package that asked.
        by: String,
        /// Its location: empty for the root, absent for one that has none yet.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Which there were, with [`Options::decisions`](crate::Options::decisions).
        #[serde(skip_serializing_if = "Option::is_none")]
        versions: Option<Versions>,
    },
    /// A package's dependencies are looked at. This and the next two only come with
    /// [`Options::decisions`](crate::Options::decisions).
    Visited {
        /// The package's location; empty for the root.
        location: String,
        /// Those that need something done.
        problems: Vec<Problem>,
    },
    /// There is a candidate for a dependency. Where it is that of a candidate's peer, the dependent has no location yet.
    Gathered {
        /// The dependency.
        #[serde(flatten)]
        demand: Demand,
        /// The candidate's version; absent for what could not be had, and for links without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// Where it came from.
        origin: Origin,
        /// The location of the package in whose name the candidate and its peers are gathered.
        set: String,
    },
    /// A candidate was placed, or not. What follows from it comes after: `Removed`, `Placed` or `Kept`.
    Decided(Box<Decision>),
    /// A dependency was looked at, and what is in the tree already will do.
    Kept {
        /// Where that is.
        location: String,
        /// Its version; empty for links without one.
        version: String,
        /// The name asked for.
        name: String,
        /// The spec in force.
        spec: String,
        /// As in `Placed`.
        kind: EdgeKind,
        /// The location of the package that asked; empty for the root.
        from: String,
    },
    /// A package was put into the tree, possibly in place of another.
    Placed {
        /// Where: `node_modules/a/node_modules/b`.
        location: String,
        /// The folder's name, which is an alias where the spec was one.
        name: String,
        /// The chosen version; empty for links without one.
        version: String,
        /// `prod`, `dev`, `optional`, `peer`, `peerOptional` or `workspace`: the edge it was placed for.
        kind: EdgeKind,
        /// The spec of that edge.
        spec: String,
        /// The location of the package that asked; empty for the root.
        from: String,
        /// Its tarball, unless the package isn't made for this platform: for whoever wants to fetch ahead.
        #[serde(skip)]
        tarball: Option<PlacedTarball>,
    },
    /// Every package has its place. What is still fetched only says more about packages that are in the tree, such as their licenses,
    /// and may show that an optional one does not suit the platform.
    Settled {
        /// How many packages and links there are, without the root.
        packages: usize,
    },
    /// A package was taken out of the tree again.
    Removed {
        /// Where it was.
        location: String,
    },
}

/// Why a version was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The spec names it.
    Exact,
    /// The spec's dist-tag names it.
    Tag,
    /// It is `latest`, and in the range.
    Latest,
    /// It is the highest in the range that is neither deprecated nor for other engines.
    Highest,
    /// All that are in the range are, and this is the best of them.
    Compromise,
}

/// The tarball of a package that was put into the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTarball {
    /// The package's own name.
    pub name: String,
    /// Its address, as the lock will have it.
    pub resolved: String,
    /// What it has to be, as far as that is known.
    pub integrity: Option<String>,
}
