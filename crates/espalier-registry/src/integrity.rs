//! Subresource integrity: the digests that bytes may have. Adapters hash the bytes.
//!
//! As in npm, only the strongest algorithm of a text counts, and any of its digests may match. An
//! unreadable text is an error; it never means that every digest matches.

use std::fmt;
use std::str::FromStr;

use espalier_core::base64;

/// A set of digests. The bytes must have one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrity {
    algorithm: Algorithm,
    /// In base64, without padding.
    digests: Vec<String>,
}

/// A hash algorithm. The strongest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// SHA-1
    Sha1,
    /// SHA-256
    Sha256,
    /// SHA-384
    Sha384,
    /// SHA-512, which npm writes into locks.
    Sha512,
}

/// Why bytes, or an integrity text, can't be trusted.
#[derive(Debug, PartialEq, Eq)]
pub enum IntegrityError {
    /// The text has no digest of a supported algorithm.
    Unreadable(String),
    /// The digests differ.
    Mismatch {
        /// The expected integrity.
        expected: String,
        /// The actual one, by the same algorithm.
        actual: String,
    },
}

impl fmt::Display for IntegrityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(text) => write!(formatter, "`{text}` is not an integrity that can be checked"),
            Self::Mismatch { expected, actual } => {
                write!(formatter, "its integrity is {actual}, but {expected} was expected")
            }
        }
    }
}

impl std::error::Error for IntegrityError {}

impl Algorithm {
    const ALL: [Self; 4] = [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];

    /// The algorithm's name in front of a digest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }
}

impl FromStr for Integrity {
    type Err = IntegrityError;

    fn from_str(text: &str) -> Result<Self, IntegrityError> {
        let hashes: Vec<_> = text.split_whitespace().filter_map(parse_hash).collect();
        let strongest = hashes.iter().map(|(algorithm, _)| *algorithm).max();
        let algorithm = strongest.ok_or_else(|| IntegrityError::Unreadable(text.to_owned()))?;
        let digests = hashes.into_iter().filter(|(other, _)| *other == algorithm).map(|(_, digest)| digest).collect();
        Ok(Self { algorithm, digests })
    }
}

/// Writes `sha512-…`, without the options that may follow a question mark.
fn parse_hash(text: &str) -> Option<(Algorithm, String)> {
    let (name, encoded) = text.split_once('-')?;
    let encoded = encoded.split_once('?').map_or(encoded, |(encoded, _)| encoded);
    let algorithm = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name)?;
    let digest = encoded.trim_end_matches('=');
    let is_base64 = digest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    (is_base64 && !digest.is_empty()).then(|| (algorithm, digest.to_owned()))
}

impl Integrity {
    /// The integrity of bytes with this digest.
    pub fn of_digest(algorithm: Algorithm, digest: &[u8]) -> Self {
        Self { algorithm, digests: vec![base64(digest).trim_end_matches('=').to_owned()] }
    }

    /// The algorithm to hash the bytes with.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Checks that this digest is one of the expected.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, digest: &[u8]) -> Result<(), IntegrityError> {
        self.check_same(&Self::of_digest(self.algorithm, digest))
    }

    /// Checks that an integrity by the same algorithm is one of the expected.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_same(&self, actual: &Self) -> Result<(), IntegrityError> {
        if self.digests.iter().any(|promised| actual.digests.contains(promised)) {
            return Ok(());
        }
        Err(IntegrityError::Mismatch { expected: self.to_string(), actual: actual.to_string() })
    }

    /// The digest in base64 without padding, if there is exactly one.
    pub fn only_digest(&self) -> Option<&str> {
        if let [digest] = self.digests.as_slice() { Some(digest) } else { None }
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, digest) in self.digests.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            let padding = "=".repeat((4 - digest.len() % 4) % 4);
            write!(formatter, "{separator}{}-{digest}{padding}", self.algorithm.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, Integrity, IntegrityError};

    fn parse(text: &str) -> Integrity {
        text.parse().expect("an integrity")
    }

    #[test]
    fn only_the_strongest_algorithm_counts_and_any_digest_of_it_will_do() {
        let either = parse("sha1-AAAA sha512-AQID sha512-BAUG?option");
        assert_eq!(either.algorithm(), Algorithm::Sha512);
        assert_eq!(either.check(&[1, 2, 3]), Ok(()));
        assert_eq!(either.check(&[4, 5, 6]), Ok(()));
        assert_eq!(either.to_string(), "sha512-AQID sha512-BAUG");
        assert!(either.only_digest().is_none());
    }

    #[test]
    fn other_bytes_do_not_pass_and_both_digests_are_named() {
        let error = parse("sha256-AQID").check(&[4, 5, 6]).expect_err("other bytes");
        assert_eq!(error.to_string(), "its integrity is sha256-BAUG, but sha256-AQID was expected");
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        for text in ["", "md5-AAAA", "sha512", "sha512-%%%"] {
            assert_eq!(text.parse::<Integrity>(), Err(IntegrityError::Unreadable(text.to_owned())));
        }
    }
}
