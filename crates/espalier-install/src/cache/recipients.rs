//! To whom a registry sent a document: to anybody, or to the holder of a credential.
//!
//! The cache keeps this beside each document, because a registry can answer each user differently.
//! It is a keyed digest of the credential. Only the user can read the key, so nobody else who reads
//! the cache can find out a password by trying.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};

/// To whom a document was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recipient(pub(super) u64);

/// What identifies the sender of a request. A request without any of these has the recipient
/// `ANYBODY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Credential<'a> {
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// An address that names a user.
    pub address: Option<&'a str>,
    /// The client certificate, with its key.
    pub certificate: Option<&'a str>,
}

/// The recipients that a run has met.
#[derive(Debug)]
pub(crate) struct Recipients {
    key: PathBuf,
    met: Mutex<Vec<([Option<String>; 3], Recipient)>>,
}

impl Recipient {
    pub const ANYBODY: Self = Self(0);
}

impl Credential<'_> {
    /// Whether the request has no credentials.
    pub fn is_absent(&self) -> bool {
        *self == Credential::default()
    }
}

impl Recipients {
    /// The recipients whose digests have the key in this file.
    pub(super) fn new(key: PathBuf) -> Self {
        Self { key, met: Mutex::default() }
    }

    /// The recipient with this credential. Blocks, the first time.
    pub(crate) fn of(&self, credential: Credential<'_>) -> Recipient {
        if credential.is_absent() {
            return Recipient::ANYBODY;
        }
        let Credential { authorization, address, certificate } = credential;
        let parts = [authorization, address, certificate];
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let is_this = |known: &[Option<String>; 3]| known.each_ref().map(Option::as_deref) == parts;
        if let Some((_, recipient)) = met.iter().find(|(known, _)| is_this(known)) {
            return *recipient;
        }
        let mut digest = blake3::Hasher::new_keyed(&key(&self.key));
        for part in parts {
            // No part has this length.
            digest.update(&part.map_or(usize::MAX, str::len).to_le_bytes());
            digest.update(part.unwrap_or_default().as_bytes());
        }
        let digest = u64::from_le_bytes(*digest.finalize().as_bytes().first_chunk().expect("a digest is longer"));
        let recipient = Recipient(digest.max(1));
        met.push((parts.map(|part| part.map(str::to_owned)), recipient));
        recipient
    }
}

/// The key in this file. Without one, it is made. If that fails, this run has a key of its own, and
/// later runs ask their registries again.
fn key(file: &Path) -> [u8; blake3::KEY_LEN] {
    if let Some(key) = fs::read(file).ok().and_then(|key| key.try_into().ok()) {
        return key;
    }
    let mut key = [0; blake3::KEY_LEN];
    SystemRandom::new().fill(&mut key).expect("the system has random numbers");
    let _ = keep(&key, file);
    key
}

fn keep(key: &[u8], file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)?;
    // Only the user can read a temporary file.
    let mut made = tempfile::NamedTempFile::new_in(folder)?;
    made.write_all(key)?;
    made.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Credential, Recipient, Recipients};

    fn token(token: &str) -> Credential<'_> {
        Credential { authorization: Some(token), ..Credential::default() }
    }

    #[test]
    fn a_recipient_is_the_same_in_each_run_with_the_cache() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("cache/key");
        let recipients = Recipients::new(file.clone());
        assert_eq!(recipients.of(Credential::default()), Recipient::ANYBODY);
        assert!(!file.exists());
        let one = recipients.of(token("Bearer a"));
        let certificate = Credential { certificate: Some("Bearer a"), ..Credential::default() };
        for other in [token("Bearer b"), token(""), certificate, Credential::default()] {
            assert_ne!(recipients.of(other), one, "{other:?}");
        }
        assert_eq!(recipients.of(token("Bearer a")), one);
        assert_eq!(Recipients::new(file).of(token("Bearer a")), one);
        assert_ne!(Recipients::new(folder.path().join("other")).of(token("Bearer a")), one);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_key() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("key");
        Recipients::new(file.clone()).of(token("Bearer a"));
        assert_eq!(fs::metadata(file).expect("a key").permissions().mode() & 0o077, 0);
    }

    #[test]
    fn a_damaged_key_is_made_anew() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("key");
        fs::write(&file, "short").expect("written");
        let one = Recipients::new(file.clone()).of(token("Bearer a"));
        assert_eq!(Recipients::new(file).of(token("Bearer a")), one);
    }
}
