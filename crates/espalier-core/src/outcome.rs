//! The result of a resolution, and what its caller is told beside it.

#[cfg(feature = "summaries")]
mod record;

use std::borrow::Cow;

use serde::Serialize;

use crate::changes::ChangedManifest;
use crate::error::ResolveError;
use crate::graph::Graph;
use crate::lockfile::PackageLock;

#[cfg(feature = "summaries")]
pub(crate) use record::{as_text, read_edge_error};

/// The result of a resolution.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// package-lock.json and the hidden lockfile; empty after an inspection.
    pub lockfile: PackageLock,
    /// Whether npm writes package-lock.json at all: not with `--no-save`, unless something was to be updated.
    pub is_saved: bool,
    /// The text of yarn.lock, where there was one: npm keeps it up to date, also where it saves nothing else.
    pub yarn_lock: Option<String>,
    /// The changed package.json files, if the user asked for changes and saves them.
    pub changed_manifests: Vec<ChangedManifest>,
    /// The same tree with its edges.
    pub graph: Graph,
    /// Packages whose origin neither the lock nor a registry states, and why.
    pub unknown_origins: Vec<(String, ResolveError)>,
    /// Problems that don't prevent the tree.
    pub warnings: Vec<Warning>,
    /// Counts.
    pub statistics: Statistics,
}

/// Something that npm would warn about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "summaries", derive(serde::Deserialize))]
pub struct Warning {
    /// npm's code: `ERESOLVE`, `EBADENGINE`, `deprecated`.
    pub code: Cow<'static, str>,
    /// One sentence.
    pub message: String,
    /// The location in the tree that it is about.
    pub location: String,
}

/// Counts of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "summaries", derive(serde::Deserialize))]
pub struct Statistics {
    /// Entries of the lockfile without the root.
    pub packages: usize,
    /// Packuments that were supplied.
    pub packuments: usize,
    /// Version documents that were supplied.
    pub version_documents: usize,
}
