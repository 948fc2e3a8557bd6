//! The result of a resolution.

#[cfg(feature = "summaries")]
mod record;

use std::borrow::Cow;

use serde::Serialize;

use crate::changes::ChangedManifest;
use crate::error::ResolveError;
use crate::graph::Graph;
use crate::lockfile::PackageLock;

/// The result of a resolution.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// package-lock.json and the hidden lockfile. Empty after an inspection.
    pub lockfile: PackageLock,
    /// Whether npm writes package-lock.json. With `--no-save`, it doesn't, unless something was
    /// updated.
    pub is_saved: bool,
    /// The text of yarn.lock, if there was one. npm updates it even if it saves nothing else.
    pub yarn_lock: Option<String>,
    /// The changed package.json files, if the user asked for changes and saves them.
    pub changed_manifests: Vec<ChangedManifest>,
    /// The resolved tree with its edges. Empty without [`Options::graph`](crate::Options::graph).
    pub graph: Graph,
    /// Packages whose source neither the lock nor a registry states, with the reasons.
    pub unknown_origins: Vec<(String, ResolveError)>,
    /// Problems that don't prevent a tree.
    pub warnings: Vec<Warning>,
    /// Counts.
    pub statistics: Statistics,
}

/// A warning of npm's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "summaries", derive(serde::Deserialize))]
pub struct Warning {
    /// npm's code: `ERESOLVE`, `EBADENGINE`, `deprecated`.
    pub code: Cow<'static, str>,
    /// One sentence.
    pub message: String,
    /// The location of the package in the tree.
    pub location: String,
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "summaries", derive(serde::Deserialize))]
pub struct Statistics {
    /// The number of entries in the lockfile, without the root.
    pub packages: usize,
    /// The number of supplied packuments.
    pub packuments: usize,
    /// The number of supplied version documents.
    pub version_documents: usize,
}
