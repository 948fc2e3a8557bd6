//! Whether bytes are the ones that a lock or a registry promised: [`espalier_registry::integrity`],
//! hashed by `ring`.

use std::cell::OnceCell;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
pub use espalier_registry::integrity::IntegrityError;
use espalier_registry::integrity::{Algorithm, Integrity as Promised};
use ring::digest;

/// The digests that bytes must match one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrity(Promised);

/// Whether a text is one SHA-512 in npm's spelling, in which every package is known to the store.
pub fn is_usual(text: &str) -> bool {
    // The digest has 64 bytes.
    let digest = text.strip_prefix("sha512-").and_then(|digest| digest.strip_suffix("==")).unwrap_or_default();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digest.len() == 86 && digest.bytes().all(is_base64)
}

fn hash(algorithm: Algorithm, bytes: &[u8]) -> digest::Digest {
    let algorithm = match algorithm {
        Algorithm::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        Algorithm::Sha256 => &digest::SHA256,
        Algorithm::Sha384 => &digest::SHA384,
        Algorithm::Sha512 => &digest::SHA512,
    };
    digest::digest(algorithm, bytes)
}

impl FromStr for Integrity {
    type Err = IntegrityError;

    fn from_str(text: &str) -> Result<Self, IntegrityError> {
        text.parse().map(Self)
    }
}

/// Bytes whose SHA-512 is computed once. Locks promise it and the store names packages by it, and
/// for a whole tree to compute it costs as much as to inflate the tarballs.
#[derive(Debug)]
pub struct Hashed<'a> {
    bytes: &'a [u8],
    sha512: OnceCell<digest::Digest>,
}

impl<'a> Hashed<'a> {
    /// These bytes. They are hashed when a digest is first requested.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, sha512: OnceCell::new() }
    }

    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Their SHA-512.
    pub fn sha512(&self) -> &[u8] {
        self.sha512.get_or_init(|| hash(Algorithm::Sha512, self.bytes)).as_ref()
    }

    /// Their integrity, by the algorithm that npm writes into a lock.
    pub fn integrity(&self) -> Integrity {
        Integrity(Promised::of_digest(Algorithm::Sha512, self.sha512()))
    }
}

impl Integrity {
    /// The integrity of these bytes, by the algorithm that npm writes into a lock.
    pub fn of(bytes: &[u8]) -> Self {
        Hashed::new(bytes).integrity()
    }

    /// Whether the bytes are the promised ones.
    pub fn verify(&self, content: &Hashed<'_>) -> Result<(), IntegrityError> {
        match self.0.algorithm() {
            Algorithm::Sha512 => self.0.check(content.sha512()),
            other => self.0.check(hash(other, content.bytes()).as_ref()),
        }
    }

    /// A file name for the bytes with this integrity, if it has exactly one digest.
    pub fn file_name(&self) -> Option<String> {
        let digest = STANDARD_NO_PAD.decode(self.0.only_digest()?).ok()?;
        Some(format!("{}-{}", self.0.algorithm().name(), hexadecimal(&digest)))
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Two digits for each byte.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Hashed, Integrity, IntegrityError};

    const SHA1_OF_ABC: &str = "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";
    const SHA256_OF_ABC: &str = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

    fn parse(text: &str) -> Integrity {
        text.parse().expect("an integrity")
    }

    #[test]
    fn the_promised_bytes_pass() {
        for text in [SHA1_OF_ABC, SHA256_OF_ABC, &Integrity::of(b"abc").to_string()] {
            assert_eq!(parse(text).verify(&Hashed::new(b"abc")), Ok(()), "{text}");
        }
    }

    #[test]
    fn other_bytes_do_not_and_both_digests_are_named() {
        let error = parse(SHA1_OF_ABC).verify(&Hashed::new(b"abd")).expect_err("other bytes");
        let IntegrityError::Mismatch { expected, actual } = error else { panic!("{error}") };
        assert_eq!(expected, SHA1_OF_ABC);
        assert!(actual.starts_with("sha1-") && actual != expected, "{actual}");
    }

    #[test]
    fn only_the_strongest_algorithm_counts() {
        let wrong = Integrity::of(b"other").to_string();
        assert!(parse(&format!("{SHA1_OF_ABC} {wrong}")).verify(&Hashed::new(b"abc")).is_err());
    }

    #[test]
    fn any_digest_of_that_algorithm_will_do() {
        let either = format!("{} {}", Integrity::of(b"other"), Integrity::of(b"abc"));
        assert_eq!(parse(&either).verify(&Hashed::new(b"abc")), Ok(()));
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        for text in ["", "md5-kAFQmDzST7DWlj99KOF/cg==", "sha512", "sha512-%%%"] {
            assert!(text.parse::<Integrity>().is_err(), "{text}");
        }
    }
}
