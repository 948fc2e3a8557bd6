//! Why the configuration can't be used.

use std::path::PathBuf;

use super::Origin;

/// A setting or a file of settings that is wrong.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file is there but can't be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A value that can't mean what the setting needs.
    #[error("{key} is `{value}`, which is not {expected} (set by {origin})")]
    Invalid {
        /// npm's name of the setting.
        key: String,
        /// As it is written there, variables put in.
        value: String,
        /// `a URL`, `a number`, `a date`.
        expected: &'static str,
        /// Where it was set.
        origin: Origin,
    },
    /// A credential that doesn't say which registry it is for. npm 12 refuses it, so that it can't reach the wrong one.
    #[error("{key} in {origin} names no registry")]
    UnscopedCredential {
        /// `_auth`, `_authToken`, `username` or `_password`.
        key: &'static str,
        /// Where it was set.
        origin: Origin,
        /// The key that would be right for the registry in force.
        replacement: String,
    },
    /// A file of certificates that can't be used.
    #[error("cannot use the certificates of {setting}: {reason}")]
    Certificates {
        /// `cafile`, `ca` or `NODE_EXTRA_CA_CERTS`, and the file.
        setting: String,
        /// What is wrong with them.
        reason: String,
    },
}
