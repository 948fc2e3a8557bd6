//! Resolves npm dependencies exactly as npm does, without doing any I/O.
//!
//! A [`Resolution`] owns one run. It says what it needs ([`Resolution::next_request`]), is given it
//! ([`Resolution::supply`]), and goes on as far as it can ([`Resolution::advance`]). It never
//! learns how an answer was obtained, in which order answers came, or what time it is: the same
//! inputs give the same bytes natively and in a browser.
//!
//! ```
//! use std::sync::Arc;
//!
//! use espalier_core::{Answer, Detail, Options, Packument, PackumentForm, Progress, Project, Request, Resolution};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What a registry would say.
//! let packument = r#"{
//!     "name": "left-pad",
//!     "dist-tags": { "latest": "1.3.0" },
//!     "versions": {
//!         "1.2.0": { "name": "left-pad", "version": "1.2.0" },
//!         "1.3.0": { "name": "left-pad", "version": "1.3.0", "license": "WTFPL" }
//!     }
//! }"#;
//! let project = Project {
//!     manifest: r#"{ "name": "app", "dependencies": { "left-pad": "^1.2.0" } }"#.into(),
//!     folder_name: "app".into(),
//!     ..Project::default()
//! };
//!
//! let mut resolution = Resolution::new(project, Options::default());
//! while resolution.advance() == Progress::Waiting {
//!     while let Some((request, _urgency)) = resolution.next_request() {
//!         assert_eq!(request, Request::Packument { name: "left-pad".into(), form: PackumentForm::Any });
//!         let packument = Packument::parse(packument.as_bytes(), Detail::Whole)?;
//!         resolution.supply(&request, Ok(Answer::Packument(Arc::new(packument))));
//!     }
//! }
//! let outcome = resolution.finish()?;
//! assert_eq!(outcome.graph.nodes[1].version.as_deref(), Some("1.3.0"));
//! assert!(outcome.lockfile.text().contains("\"node_modules/left-pad\": {"));
//! # Ok(())
//! # }
//! ```
//!
//! `examples/lock.rs` does the same for a project and a folder of packuments.

pub mod address;
mod catalog;
pub mod changes;
pub mod collation;
mod cursor;
mod date;
pub mod decision;
mod dev_engines;
mod edge_kind;
pub mod error;
#[cfg(feature = "summaries")]
pub mod essentials;
mod exchange;
mod extensions;
mod fetch_failure;
pub mod glob;
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
mod outcome;
mod overrides;
pub mod packument;
mod parsed_lock;
pub mod paths;
pub mod pick;
mod pins;
mod place;
mod plain;
mod platform;
mod proposal;
#[cfg(feature = "summaries")]
mod recorded;
pub mod refusal;
pub mod remedy;
pub mod request;
mod resolution;
mod resolve;
pub mod semver;
pub mod spec;
mod tree;
mod values;
mod vocabulary;
mod writer;

pub use changes::{ChangedManifest, Changes, Update};
pub use collation::compare as collate;
pub use edge_kind::EdgeKind;
pub use error::{Requirer, ResolveError};
pub use extensions::PackageExtensions;
pub use fetch_failure::{FetchFailure, FetchFailureKind};
pub use graph::{Graph, GraphEdge, GraphNode, PatchFile};
pub use integrity::{base64, sha512 as integrity_of};
pub use json::InvalidJson;
pub use lockfile::PackageLock;
pub use manifest::normalized_bin;
pub use options::{
    Allow, ByScope, InstallStrategy, InstalledPackage, NodeModules, Omit, Options, Platform, Project, Reading,
    RegistryAddresses, Reporting,
};
pub use outcome::{Outcome, Statistics, Warning};
pub use packument::{Detail, Packument, PackumentError};
pub use parsed_lock::{LockEntries, LockEntry, LockfileText, ParsedLock};
pub use proposal::Proposal;
pub use refusal::Refusal;
pub use remedy::Remedy;
pub use request::{
    Answer, Event, GitCommit, GitRevision, PackumentForm, PlacedTarball, Reason, Request, TarballListing, Urgency,
};
pub use resolution::{Progress, Resolution};
pub use resolve::workspaces::WorkspaceFolders;
