//! How a resolution can fail, as data: which package, which spec, and the chain that asked.

use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

use crate::edge_kind::EdgeKind;
use crate::fetch_failure::FetchFailure;
use crate::json::InvalidJson;
use crate::proposal::Proposal;
use crate::refusal::Refusal;

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
    pub kind: EdgeKind,
}

/// Why there is no tree. An error may be cached and given out several times, so what is large in it is shared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A file of the project isn't JSON.
    #[error(transparent)]
    InvalidJson(#[from] InvalidJson),
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
    PeerConflict(Arc<PeerConflict>),
    /// Anything else that npm refuses.
    #[error("{refusal}")]
    Refused {
        /// What, and why.
        refusal: Arc<Refusal>,
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
    pub proposals: Vec<Proposal>,
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

impl From<Refusal> for ResolveError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { refusal: Arc::new(refusal), chain: Vec::new() }
    }
}

impl ResolveError {
    /// npm's code for the same failure: `ETARGET`, `E404`, `ERESOLVE`, …
    pub fn code(&self) -> Cow<'static, str> {
        let code = match self {
            Self::Fetch { failure, .. } => return failure.kind.code(),
            Self::InvalidJson(_) => "EJSONPARSE",
            Self::NoMatchingVersion { .. } => "ETARGET",
            Self::PeerConflict(_) => "ERESOLVE",
            Self::Refused { refusal, .. } => refusal.code(),
        };
        code.into()
    }

    /// The package that it is about, where it is about one, and its version, where it is about that.
    pub fn package(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::InvalidJson(_) => None,
            Self::NoMatchingVersion { name, .. } | Self::Fetch { name, .. } => Some((name, None)),
            Self::PeerConflict(conflict) => Some((&conflict.name, None)),
            Self::Refused { refusal, .. } => refusal.package(),
        }
    }

    /// The same, because of these dependents.
    pub(crate) fn asked_by(mut self, who: impl FnOnce() -> Vec<Requirer>) -> Self {
        match &mut self {
            Self::NoMatchingVersion { chain, .. } | Self::Fetch { chain, .. } | Self::Refused { chain, .. } => {
                *chain = who();
            }
            Self::InvalidJson(_) | Self::PeerConflict(_) => {}
        }
        self
    }

    /// Who asked for what failed, from the root downwards.
    pub fn chain(&self) -> &[Requirer] {
        match self {
            Self::InvalidJson(_) => &[],
            Self::NoMatchingVersion { chain, .. } | Self::Fetch { chain, .. } | Self::Refused { chain, .. } => chain,
            Self::PeerConflict(conflict) => &conflict.wanted.chain,
        }
    }
}
