//! The requests and events of a resolution, and the answers to requests.
//!
//! A request is its own key: it is never made twice, and an answer names its request. The caller
//! decides how to answer it: which registry and cache, and how many retries.

use serde::Serialize;
use std::sync::Arc;

use crate::decision::{Decision, Demand, Origin, Problem, Versions};
use crate::packument::Packument;

use crate::edge_kind::EdgeKind;
pub use crate::fetch_failure::{FetchFailure, FetchFailureKind};

/// An input that the resolution needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// The packument of a package, from its registry.
    Packument {
        /// The package's name, with its scope: `@babel/core`.
        name: String,
        /// The document that is needed.
        form: PackumentForm,
    },
    /// The manifest of a version that a dependent names exactly: the document of the version
    /// (`/<name>/<version>`). If the registry doesn't give it, the packument is requested.
    Manifest {
        /// The package's name, with its scope.
        name: String,
        /// The exact version.
        version: String,
    },
    /// The document of a version (`/<name>/<version>`). It is requested if the packument was
    /// abbreviated, because that omits fields that npm writes into the lock.
    VersionDocument {
        /// The package's name, with its scope.
        name: String,
        /// The exact version.
        version: String,
        /// The tarball's integrity in the packument. It detects the document of another publication
        /// of the version.
        integrity: Option<String>,
    },
    /// The text of a folder's package.json.
    Folder {
        /// The path relative to the project, with forward slashes and none at the end
        /// (`packages/ui`, `../shared`).
        path: String,
    },
    /// A file of the project: a patch.
    File {
        /// The path inside the project, with forward slashes.
        path: String,
    },
    /// A commit of a git repository, and the package.json in it.
    Git {
        /// Addresses to try in turn, in git's notation.
        urls: Vec<String>,
        /// The wanted revision.
        wanted: GitRevision,
        /// The folder of the package in the repository. Empty for the root.
        folder: String,
    },
    /// The files in a folder that a package.json names for its commands (`directories.bin`).
    Files {
        /// The path relative to the project, with forward slashes and none at the end.
        folder: String,
    },
    /// The folders of the project that hold a package.json, except for the root and `node_modules`.
    /// They are requested only if the root has workspaces.
    PackageFolders,
    /// The manifests in a tarball.
    Tarball {
        /// The `resolved` of the registry (the caller may have to add a host), a URL, or a
        /// project-relative `file:` path.
        url: String,
        /// The expected integrity, if it is known. The caller verifies it.
        integrity: Option<String>,
    },
}

/// Which of its two documents about a package a registry shall give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackumentForm {
    /// Either. The abbreviated one is usually shorter, and documents of versions complete it.
    Any,
    /// The abbreviated one, because the lock may have no more than that.
    Abbreviated,
    /// The full one, for its `time` (with `--before`) or its `devDependencies`.
    Full,
}

/// A revision of a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GitRevision {
    /// The target of the remote's `HEAD`.
    Head,
    /// A branch, a tag, or a commit.
    Committish(String),
    /// The best version in this range among the tags.
    Range(String),
}

/// A commit of a git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCommit {
    /// The full hash.
    pub commit: String,
    /// The text of the package.json in it.
    pub manifest: String,
    /// The paths of its files, if `directories.bin` needs them.
    pub files: Vec<String>,
}

impl Request {
    /// Whether only the lockfile needs the answer.
    pub fn is_for_lockfile(&self) -> bool {
        matches!(self, Self::VersionDocument { .. })
    }
}

/// The urgency of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// The resolution can't continue without it.
    Demanded,
    /// It will probably be needed soon.
    Speculative,
}

/// The answer to a [`Request`] of the same name.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A packument. [`Packument::parse`] can run on the fetching thread.
    Packument(Arc<Packument>),
    /// The JSON text of the version's document. It also answers a [`Request::Manifest`].
    VersionDocument(String),
    /// The registry doesn't give the document for a [`Request::Manifest`].
    NoDocument,
    /// The text of package.json. `None` if it doesn't exist.
    Folder(Option<String>),
    /// The content of the file. `None` if it doesn't exist.
    File(Option<Vec<u8>>),
    /// The commit.
    Git(GitCommit),
    /// The paths of all files and folders in it, relative to it with forward slashes. Empty if it
    /// doesn't exist.
    Files(Vec<String>),
    /// Project-relative paths with forward slashes.
    PackageFolders(Vec<String>),
    /// The manifests, and the tarball's own integrity.
    Tarball(TarballListing),
}

/// The parts of a tarball that decide a tree.
#[derive(Clone, Debug, Default)]
pub struct TarballListing {
    /// `sha512-…` of the fetched tarball.
    pub integrity: String,
    /// The paths of all files without the first component (`package/`), in the archive's order.
    pub files: Vec<String>,
    /// The path (as in `files`) and text of every file named `package.json`.
    pub manifests: Vec<(String, String)>,
}

/// What happened, in the order of the decisions. Events are sufficient to draw the tree while it
/// grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// A packument arrived.
    Fetched {
        /// The package's name.
        name: String,
        /// The number of its versions.
        versions: usize,
    },
    /// A version was chosen for a dependency. It is placed next, unless a package in the tree
    /// satisfies the dependency.
    Picked {
        /// The package's name in the registry.
        name: String,
        /// The effective spec.
        spec: String,
        /// The chosen version.
        version: String,
        /// The reason for the choice.
        reason: Reason,
        /// The name of the dependent.
        by: String,
        /// The dependent's location. Empty for the root, and `None` for a candidate, which has no
        /// location yet.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The available versions, with [`Reporting::Decisions`](crate::Reporting::Decisions).
        #[serde(skip_serializing_if = "Option::is_none")]
        versions: Option<Versions>,
    },
    /// The dependencies of a package are looked at. This event and the next two are reported only
    /// with
    /// [`Reporting::Decisions`](crate::Reporting::Decisions).
    Visited {
        /// The package's location; empty for the root.
        location: String,
        /// The dependencies that have to be resolved.
        problems: Vec<Problem>,
    },
    /// There is a candidate for a dependency. If the dependent is a candidate itself, it has no
    /// location yet.
    Gathered {
        /// The dependency.
        #[serde(flatten)]
        demand: Demand,
        /// The candidate's version. `None` if it could not be fetched, or for a link without a
        /// version.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// Its origin.
        origin: Origin,
        /// The location of the package for which the candidate and its peers are gathered.
        set: String,
    },
    /// A candidate was placed, or wasn't. The resulting events follow: `Removed`, `Placed` or
    /// `Kept`.
    Decided(Box<Decision>),
    /// A dependency is satisfied by a package in the tree.
    Kept {
        /// The package's location.
        location: String,
        /// Its version. Empty for links without one.
        version: String,
        /// The requested name.
        name: String,
        /// The effective spec.
        spec: String,
        /// The kind of dependency.
        kind: EdgeKind,
        /// The location of the dependent. Empty for the root.
        from: String,
    },
    /// A package was added to the tree, possibly in place of another.
    Placed {
        /// Its location: `node_modules/a/node_modules/b`.
        location: String,
        /// The folder's name, which can be an alias.
        name: String,
        /// Its version. Empty for links without one.
        version: String,
        /// The kind of the dependency that it was placed for.
        kind: EdgeKind,
        /// The effective spec of that dependency.
        spec: String,
        /// The location of the dependent. Empty for the root.
        from: String,
        /// Its tarball, for prefetching. `None` if the package doesn't support this platform.
        #[serde(skip)]
        tarball: Option<PlacedTarball>,
    },
    /// Every package has its place. Remaining requests only add facts about packages in the tree,
    /// such as their licenses, and may show that an optional package doesn't support the platform.
    Settled {
        /// The number of packages and links, without the root.
        packages: usize,
    },
    /// A package was removed from the tree.
    Removed {
        /// Its location.
        location: String,
    },
}

/// The reason why a version was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The spec states it.
    Exact,
    /// The spec's dist-tag names it.
    Tag,
    /// It is `latest`, and it is in the range.
    Latest,
    /// It is the highest in the range that isn't deprecated and supports the engines.
    Highest,
    /// Every version in the range is deprecated or doesn't support the engines, and this is the
    /// best of them.
    Compromise,
}

/// The tarball of a package that was added to the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTarball {
    /// The package's own name.
    pub name: String,
    /// Its address in the lock.
    pub resolved: String,
    /// Its expected integrity, if it is known.
    pub integrity: Option<String>,
}
