//! Tarballs: what is asked for.

/// The `Accept` of tarballs.
pub const ACCEPT: &str = "*/*";

/// The longest tarball.
pub const LONGEST_SENT: u64 = 1 << 30;
