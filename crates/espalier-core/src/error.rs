//! The errors of a resolution, as data: the package, the spec, and the chain of dependents.

use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

use crate::edge_kind::EdgeKind;
use crate::fetch_failure::FetchFailure;
use crate::json::InvalidJson;
use crate::proposal::Proposal;
use crate::refusal::Refusal;

/// One step of the chain from the root to the dependent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirer {
    /// The package's name. For a nameless root, `root project`.
    pub name: String,
    /// Its version, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its location in the tree. Empty for the root.
    pub location: String,
    /// The spec of its dependency on the next step.
    pub spec: String,
    /// The kind of that dependency.
    pub kind: EdgeKind,
}

/// Why there is no tree. Large parts are shared, because an error can be cached and returned
/// several times.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A file of the project isn't JSON.
    #[error(transparent)]
    InvalidJson(#[from] InvalidJson),
    /// No version of the package satisfies the spec (npm: ETARGET).
    #[error("no version of {name} satisfies {spec}")]
    NoMatchingVersion {
        /// The package's name in the registry.
        name: String,
        /// The range, version or tag.
        spec: String,
        /// The dependents, from the root downwards.
        chain: Vec<Requirer>,
        /// The nearest versions, best first, at most three.
        nearest: Vec<String>,
    },
    /// A request failed.
    #[error("{failure}")]
    Fetch {
        /// The requested package or file.
        name: String,
        /// The failure.
        failure: FetchFailure,
        /// The dependents, from the root downwards.
        chain: Vec<Requirer>,
    },
    /// Peer dependencies contradict each other (npm: ERESOLVE).
    #[error("{}", .0.summary)]
    PeerConflict(Arc<PeerConflict>),
    /// Any other refusal of npm's.
    #[error("{refusal}")]
    Refused {
        /// The refusal.
        refusal: Arc<Refusal>,
        /// The dependents, from the root downwards. Empty if the root itself is at fault.
        chain: Vec<Requirer>,
    },
}

/// Two demands for one name that can't both be met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PeerConflict {
    /// One line of text.
    pub summary: String,
    /// The package that both sides ask for.
    pub name: String,
    /// The present version, and its dependents.
    pub current: ConflictSide,
    /// The other demand, and its dependents.
    pub wanted: ConflictSide,
    /// Changes that might resolve the conflict, for [`crate::remedy::Search`] to try.
    #[serde(skip)]
    pub proposals: Vec<Proposal>,
}

/// One of the two sides of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConflictSide {
    /// The version of this side, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The requested spec.
    pub spec: String,
    /// The dependents, from the root downwards.
    pub chain: Vec<Requirer>,
}

impl From<Refusal> for ResolveError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { refusal: Arc::new(refusal), chain: Vec::new() }
    }
}

impl ResolveError {
    /// npm's code of the error: `ETARGET`, `E404`, `ERESOLVE`, …
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

    /// The package of the error, if it concerns one, and its version, if it concerns one version.
    pub fn package(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::InvalidJson(_) => None,
            Self::NoMatchingVersion { name, .. } | Self::Fetch { name, .. } => Some((name, None)),
            Self::PeerConflict(conflict) => Some((&conflict.name, None)),
            Self::Refused { refusal, .. } => refusal.package(),
        }
    }

    /// What to do, if the message doesn't say it.
    pub fn remedy(&self) -> Option<&'static str> {
        let Self::Refused { refusal, chain } = self else { return None };
        // A dependency that can't be read is the fault of the last dependent, anything else that of
        // the package.
        let above = match (&**refusal, chain.split_last()) {
            (Refusal::InvalidDependency { .. }, Some((_, above))) => above,
            _ => chain,
        };
        refusal.remedy(above.last().is_none_or(|requirer| requirer.kind == EdgeKind::Workspace))
    }

    /// The same error with these dependents.
    pub(crate) fn asked_by(mut self, who: &dyn Fn() -> Vec<Requirer>) -> Self {
        match &mut self {
            Self::NoMatchingVersion { chain, .. } | Self::Fetch { chain, .. } | Self::Refused { chain, .. } => {
                *chain = who();
            }
            Self::InvalidJson(_) | Self::PeerConflict(_) => {}
        }
        self
    }

    /// The dependents, from the root downwards.
    pub fn chain(&self) -> &[Requirer] {
        match self {
            Self::InvalidJson(_) => &[],
            Self::NoMatchingVersion { chain, .. } | Self::Fetch { chain, .. } | Self::Refused { chain, .. } => chain,
            Self::PeerConflict(conflict) => &conflict.wanted.chain,
        }
    }
}
