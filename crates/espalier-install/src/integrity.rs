//! Subresource integrity: whether bytes are the ones that a lock or a registry promised.
//!
//! As npm has it, only the strongest algorithm in a text counts, and any of its digests may match. What can't be read is
//! an error and never means "anything goes".

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest;

/// The digests that bytes must match one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrity {
    algorithm: Algorithm,
    digests: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Algorithm {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

/// Why bytes, or the text that speaks of them, can't be trusted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntegrityError {
    /// The text names no digest of an algorithm that is supported.
    #[error("`{0}` is not an integrity that can be checked")]
    Unreadable(String),
    /// The bytes are others.
    #[error("its integrity is {actual}, but {expected} was expected")]
    Mismatch {
        /// What was promised.
        expected: String,
        /// What came, by the same algorithm.
        actual: String,
    },
}

impl Algorithm {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "sha1" => Some(Self::Sha1),
            "sha256" => Some(Self::Sha256),
            "sha384" => Some(Self::Sha384),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    fn digest(self, bytes: &[u8]) -> digest::Digest {
        let algorithm = match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, bytes)
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

/// `sha512-…`, with the options that may follow a question mark left out.
fn parse_hash(text: &str) -> Option<(Algorithm, Vec<u8>)> {
    let (name, encoded) = text.split_once('-')?;
    let encoded = encoded.split_once('?').map_or(encoded, |(encoded, _)| encoded);
    Some((Algorithm::parse(name)?, STANDARD.decode(encoded).ok()?))
}

impl Integrity {
    /// What these bytes are, by the algorithm that npm writes into a lock.
    pub fn of(bytes: &[u8]) -> Self {
        let algorithm = Algorithm::Sha512;
        Self { algorithm, digests: vec![algorithm.digest(bytes).as_ref().to_vec()] }
    }

    /// Whether the bytes are the promised ones.
    pub fn verify(&self, bytes: &[u8]) -> Result<(), IntegrityError> {
        let actual = self.algorithm.digest(bytes);
        if self.digests.iter().any(|digest| digest == actual.as_ref()) {
            return Ok(());
        }
        let actual = Self { algorithm: self.algorithm, digests: vec![actual.as_ref().to_vec()] };
        Err(IntegrityError::Mismatch { expected: self.to_string(), actual: actual.to_string() })
    }

    /// A name for a file that holds exactly these bytes, where one digest says which they are.
    pub fn file_name(&self) -> Option<String> {
        let [digest] = self.digests.as_slice() else { return None };
        Some(format!("{}-{}", self.algorithm.name(), hexadecimal(digest)))
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, digest) in self.digests.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(formatter, "{separator}{}-{}", self.algorithm.name(), STANDARD.encode(digest))?;
        }
        Ok(())
    }
}

/// Two digits for each byte.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Integrity, IntegrityError};

    const SHA1_OF_ABC: &str = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";
    const SHA256_OF_ABC: &str = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

    fn parse(text: &str) -> Integrity {
        text.parse().expect("an integrity")
    }

    #[test]
    fn the_promised_bytes_pass() {
        for text in [SHA1_OF_ABC, SHA256_OF_ABC, &Integrity::of(b"abc").to_string()] {
            assert_eq!(parse(text).verify(b"abc"), Ok(()), "{text}");
        }
    }

    #[test]
    fn other_bytes_do_not_and_both_digests_are_named() {
        let error = parse(SHA1_OF_ABC).verify(b"abd").expect_err("other bytes");
        let IntegrityError::Mismatch { expected, actual } = error else { panic!("{error}") };
        assert_eq!(expected, SHA1_OF_ABC);
        assert!(actual.starts_with("sha1-") && actual != expected, "{actual}");
    }

    #[test]
    fn only_the_strongest_algorithm_counts() {
        let wrong = Integrity::of(b"other").to_string();
        assert!(parse(&format!("{SHA1_OF_ABC} {wrong}")).verify(b"abc").is_err());
    }

    #[test]
    fn any_digest_of_that_algorithm_will_do() {
        let either = format!("{} {}", Integrity::of(b"other"), Integrity::of(b"abc"));
        assert_eq!(parse(&either).verify(b"abc"), Ok(()));
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        for text in ["", "md5-kAFQmDzST7DWlj99KOF/cg==", "sha512", "sha512-%%%"] {
            assert!(text.parse::<Integrity>().is_err(), "{text}");
        }
    }
}
