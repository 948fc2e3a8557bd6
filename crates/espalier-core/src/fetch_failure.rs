//! Why an answer could not be had: what every host says in the same words.

use serde::Serialize;

/// Why an answer could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FetchFailureKind {
    /// The registry says there is no such thing (404, or 405 of some registries).
    NotFound,
    /// Whoever asks has to say who it is (401).
    Unauthorized,
    /// Not allowed (403).
    Forbidden,
    /// Any other status.
    Status(u16),
    /// No answer at all: unreachable, refused, timed out; in a browser also a missing CORS header.
    Unreachable,
    /// An answer that can't be read: not JSON, wrong integrity, corrupt archive.
    Invalid,
    /// A tarball that isn't the promised one.
    Integrity,
    /// A registry that wasn't asked, because it doesn't let browsers send it a token.
    Preflight,
    /// Nothing may be fetched, and it isn't in the cache.
    NotCached,
    /// This environment can't do it (a git spec in a browser).
    Unsupported,
}

impl FetchFailureKind {
    /// npm's code for the same failure, or one like it: `E404`, `EINTEGRITY`, …
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "E404",
            Self::Unauthorized => "E401",
            Self::Forbidden => "E403",
            Self::Status(_) => "EHTTP",
            Self::Unreachable => "ENETUNREACH",
            Self::Invalid => "EINVALIDRESPONSE",
            Self::Integrity => "EINTEGRITY",
            Self::Preflight => "EPREFLIGHT",
            Self::NotCached => "ENOTCACHED",
            Self::Unsupported => "EUNSUPPORTED",
        }
    }
}

/// A failed fetch. Not necessarily an error of the resolution: what only optional dependencies want may fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct FetchFailure {
    /// The class of failure.
    pub kind: FetchFailureKind,
    /// One sentence for a person, without secrets.
    pub message: String,
    /// What was fetched, without credentials.
    pub url: String,
}
