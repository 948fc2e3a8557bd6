//! Counts of a server, for tests and benchmarks.

use serde::{Deserialize, Serialize};

/// The counts at one moment. `/-/stats` returns them as JSON; that request isn't counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Statistics {
    /// Requests of any kind.
    pub requests: u64,
    /// Bytes of bodies, as sent.
    pub bytes: u64,
    /// Full packuments.
    pub full_packuments: u64,
    /// Abbreviated packuments.
    pub abbreviated_packuments: u64,
    /// Documents of one version.
    pub version_documents: u64,
    /// Tarballs.
    pub tarballs: u64,
    /// Answers 304.
    pub not_modified: u64,
    /// Preflights, answered or refused.
    pub preflights: u64,
    /// Answers 4xx and 5xx other than refused preflights.
    pub errors: u64,
    /// Requests with a fault.
    pub faults: u64,
}

impl Statistics {
    /// The counts since an earlier moment.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            requests: self.requests - before.requests,
            bytes: self.bytes - before.bytes,
            full_packuments: self.full_packuments - before.full_packuments,
            abbreviated_packuments: self.abbreviated_packuments - before.abbreviated_packuments,
            version_documents: self.version_documents - before.version_documents,
            tarballs: self.tarballs - before.tarballs,
            not_modified: self.not_modified - before.not_modified,
            preflights: self.preflights - before.preflights,
            errors: self.errors - before.errors,
            faults: self.faults - before.faults,
        }
    }
}
