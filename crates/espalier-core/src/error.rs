//! How a resolution can fail, as data: which package, which spec, and the chain that asked.

use serde::Serialize;

use crate::remedy::Change;
use crate::request::FetchFailure;

/// One step of the chain from the root to the package that asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirer {
    /// The package's name; for the root, its name or `root project`.
    pub name: String,
    /// Its version, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it is in the tree; empty for the root.
    pub location: String,
    /// The spec by which it asks for the next one.
    pub spec: String,
    /// The kind of that dependency.
    pub kind: &'static str,
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A file of the project isn't JSON, or not an object.
    #[error("{file} is not valid JSON: {message} at line {line}, column {column}")]
    InvalidJson {
        /// The file, relative to the project.
        file: String,
        /// The parser's words, without the position.
        message: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// No version of the package satisfies the spec (npm: ETARGET).
    #[error("no version of {name} satisfies {spec}")]
    NoMatchingVersion {
        /// The package as the registry knows it.
        name: String,
        /// The range, version or tag that nothing meets.
        spec: String,
        /// Who asked, from the root downwards.
        chain: Vec<Requirer>,
        /// The versions that come closest, best first, and at most three.
        nearest: Vec<String>,
    },
    /// Something could not be fetched.
    #[error("{failure}")]
    Fetch {
        /// The package or file that was wanted.
        name: String,
        /// What went wrong.
        failure: FetchFailure,
        /// Who asked, from the root downwards.
        chain: Vec<Requirer>,
    },
    /// Peers can't be met together (npm: ERESOLVE).
    #[error("{}", .0.summary)]
    PeerConflict(Box<PeerConflict>),
    /// Anything else that npm refuses, by npm's code (EOVERRIDE, EBADENGINE, EINVALIDPACKAGENAME, …).
    #[error("{message}")]
    Refused {
        /// npm's code.
        code: &'static str,
        /// One sentence for a person.
        message: String,
        /// Who asked, from the root downwards; empty where the root itself is at fault.
        chain: Vec<Requirer>,
    },
}

/// Two demands on one name that can't both be met where they have to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PeerConflict {
    /// One line.
    pub summary: String,
    /// The package that both want.
    pub name: String,
    /// The version that is in the way, and who wants it.
    pub current: ConflictSide,
    /// What else is asked for, and by whom.
    pub wanted: ConflictSide,
    /// Changes that might settle it, for [`crate::remedy::Search`] to try.
    #[serde(skip)]
    pub proposals: Vec<Change>,
}

/// One of the two chains that collide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConflictSide {
    /// The version that this side would have, where one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The spec asked for.
    pub spec: String,
    /// Who asked, from the root downwards.
    pub chain: Vec<Requirer>,
}

impl ResolveError {
    /// npm's code for the same failure: `ETARGET`, `E404`, `ERESOLVE`, …
    pub fn code(&self) -> &'static str {
        use crate::request::FetchFailureKind as Kind;
        match self {
            Self::InvalidJson { .. } => "EJSONPARSE",
            Self::NoMatchingVersion { .. } => "ETARGET",
            Self::Fetch { failure, .. } => match failure.kind {
                Kind::NotFound => "E404",
                Kind::Forbidden => "E403",
                Kind::Status(_) => "EHTTP",
                Kind::Unreachable => "ENETUNREACH",
                Kind::Invalid => "EINVALIDRESPONSE",
                Kind::Integrity => "EINTEGRITY",
                Kind::Preflight => "EPREFLIGHT",
                Kind::NotCached => "ENOTCACHED",
                Kind::Unsupported => "EUNSUPPORTED",
            },
            Self::PeerConflict(_) => "ERESOLVE",
            Self::Refused { code, .. } => code,
        }
    }

    /// Who asked for what failed, from the root downwards.
    pub fn chain(&self) -> &[Requirer] {
        match self {
            Self::InvalidJson { .. } => &[],
            Self::NoMatchingVersion { chain, .. } | Self::Fetch { chain, .. } | Self::Refused { chain, .. } => chain,
            Self::PeerConflict(conflict) => &conflict.wanted.chain,
        }
    }
}
