//! Digests of sequences. Each element is preceded by its length.

use ring::digest;
use serde::{Deserialize, Serialize};

use crate::integrity::hexadecimal;

/// A digest under construction.
pub(crate) struct Digest(digest::Context);

/// A digest: SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Digested([u8; 32]);

impl Default for Digest {
    fn default() -> Self {
        Self(digest::Context::new(&digest::SHA256))
    }
}

impl Digest {
    /// The digest of one element.
    pub fn of(bytes: impl AsRef<[u8]>) -> Digested {
        let mut digest = Self::default();
        digest.add(bytes);
        digest.finish()
    }

    /// Appends these bytes.
    pub fn add(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Appends bytes that may be absent. Absent bytes differ from empty ones.
    pub fn add_if_some(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        match bytes {
            Some(bytes) => self.add(bytes),
            None => self.0.update(&u64::MAX.to_le_bytes()),
        }
    }

    pub fn finish(self) -> Digested {
        Digested(self.0.finish().as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

impl Digested {
    /// As a name for a file.
    pub fn text(&self) -> String {
        hexadecimal(&self.0)
    }
}

impl AsRef<[u8]> for Digested {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn what_is_not_there_is_not_what_is_empty() {
        let digest = |bytes: Option<&str>| {
            let mut digest = Digest::default();
            digest.add_if_some(bytes);
            digest.finish()
        };
        assert_ne!(digest(None), digest(Some("")));
        assert_eq!(digest(Some("a")), Digest::of("a"));
    }

    #[test]
    fn where_one_ends_and_the_next_begins_counts() {
        let digest = |parts: [&str; 2]| {
            let mut digest = Digest::default();
            for part in parts {
                digest.add(part);
            }
            digest.finish()
        };
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
    }
}
