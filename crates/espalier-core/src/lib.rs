//! Resolves npm dependencies exactly as npm does, without doing any I/O.
//!
//! A [`Resolution`] owns one run. It says what it needs ([`Resolution::next_request`]), is given it
//! ([`Resolution::supply`]), and goes on as far as it can ([`Resolution::advance`]). It never learns how
//! an answer was obtained, in which order answers came, or what time it is: the same inputs give the same
//! bytes natively and in a browser.

mod build;
mod catalog;
pub mod changes;
pub mod collation;
mod date;
mod dev_engines;
pub mod error;
mod exchange;
mod extensions;
pub mod graph;
pub mod hosted;
mod integrity;
mod json;
mod lockfile;
mod manifest;
pub mod manifest_edit;
mod names;
pub mod options;
pub mod order;
mod overrides;
pub mod packument;
pub mod paths;
pub mod pick;
mod place;
mod platform;
pub mod remedy;
pub mod request;
pub mod resolution;
pub mod semver;
pub mod spec;
mod tree;

pub use changes::{ChangedManifest, Changes, Update};
pub use collation::compare as collate;
pub use error::{Requirer, ResolveError};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use integrity::sha512 as integrity_of;
pub use lockfile::{Lock, hidden_lockfile};
pub use manifest::normalized_bin;
pub use options::{Allow, InstallStrategy, Installed, InstalledPackage, Omit, Options, Platform, Project};
pub use packument::{Packument, PackumentError};
pub use remedy::{Change, Remedy};
pub use request::{
    Answer, Event, FetchFailure, FetchFailureKind, GitCommit, GitRevision, PlacedTarball, Reason, Request,
    TarballListing, Urgency,
};
pub use resolution::{Outcome, Progress, Reading, Resolution, Statistics, Warning};
