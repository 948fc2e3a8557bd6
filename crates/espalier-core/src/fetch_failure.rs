//! The failures of requests, in the same terms for every host.

use std::borrow::Cow;

use serde::Serialize;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FetchFailureKind {
    /// The registry doesn't have the document (404).
    NotFound,
    /// The registry requires credentials (401).
    Unauthorized,
    /// The registry denies access (403).
    Forbidden,
    /// Any other status.
    Status(u16),
    /// No answer: the host is unreachable, refuses or times out. In a browser, also a missing CORS
    /// header.
    Unreachable,
    /// An unusable answer, such as text that isn't JSON or a corrupt archive.
    Invalid,
    /// A tarball whose hash differs from the expected integrity.
    Integrity,
    /// The registry doesn't let browsers send it a token, so it wasn't asked.
    Preflight,
    /// Only the cache may be used, and it has no answer.
    NotCached,
    /// This environment can't serve the request, such as a git spec in a browser.
    Unsupported,
}

impl FetchFailureKind {
    /// The kind of a refusal with this status.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            other => Self::Status(other),
        }
    }

    /// The status of the answer, if it was a refusal.
    pub fn status(self) -> Option<u16> {
        match self {
            Self::Unauthorized => Some(401),
            Self::Forbidden => Some(403),
            Self::NotFound => Some(404),
            Self::Status(status) => Some(status),
            Self::Unreachable
            | Self::Invalid
            | Self::Integrity
            | Self::Preflight
            | Self::NotCached
            | Self::Unsupported => None,
        }
    }

    /// Whether the registry says that the document doesn't exist. Some do so with 405 or 410.
    pub fn is_absence(self) -> bool {
        matches!(self, Self::NotFound | Self::Status(405 | 410))
    }

    /// npm's code of the failure, or one in its style: `E404`, `E503`, `EINTEGRITY`, …
    pub fn code(self) -> Cow<'static, str> {
        let code = match self {
            Self::NotFound => "E404",
            Self::Unauthorized => "E401",
            Self::Forbidden => "E403",
            Self::Status(status) => return format!("E{status}").into(),
            Self::Unreachable => "ENETUNREACH",
            Self::Invalid => "EINVALIDRESPONSE",
            Self::Integrity => "EINTEGRITY",
            Self::Preflight => "EPREFLIGHT",
            Self::NotCached => "ENOTCACHED",
            Self::Unsupported => "EUNSUPPORTED",
        };
        code.into()
    }
}

/// A failed fetch. The resolution fails only if a dependency that isn't optional needs the answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct FetchFailure {
    /// The class of failure.
    pub kind: FetchFailureKind,
    /// One sentence without secrets.
    pub message: String,
    /// The requested URL without credentials.
    pub url: String,
}
