//! Requests for tarballs.

/// The `Accept` of tarballs.
pub const ACCEPT: &str = "*/*";

/// The maximum length of a tarball.
pub const LONGEST_SENT: u64 = 1 << 30;
