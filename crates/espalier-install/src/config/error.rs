//! Errors in the configuration.

use std::path::PathBuf;

use super::Origin;

/// An error in a setting or in a file of settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file exists but can't be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The value of a setting is not acceptable.
    #[error("{key} is `{value}`, which is not {expected} (set by {origin})")]
    Invalid {
        /// npm's name of the setting.
        key: String,
        /// The value, with variables expanded.
        value: String,
        /// What the setting takes: `a URL`, `a number`, `a date`.
        expected: &'static str,
        /// Where it is set.
        origin: Origin,
    },
    /// A credential that doesn't name its registry. npm 12 refuses it, so that it can't be sent to
    /// the wrong one.
    #[error("{key} in {origin} names no registry")]
    UnscopedCredential {
        /// `_auth`, `_authToken`, `username` or `_password`.
        key: &'static str,
        /// Where it is set.
        origin: Origin,
        /// The key that would be right for the current registry.
        replacement: String,
    },
    /// Certificates that can't be used.
    #[error("cannot use the certificates of {setting}: {reason}")]
    Certificates {
        /// `cafile`, `ca` or `NODE_EXTRA_CA_CERTS`, and the file.
        setting: String,
        /// What is wrong with them.
        reason: String,
    },
}
