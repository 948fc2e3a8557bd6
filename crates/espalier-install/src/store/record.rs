//! What the store knows of a package: its files, one by one.

use std::time::{Duration, SystemTime};

use espalier_package::identity::Identity;
use serde::{Deserialize, Serialize};

use crate::integrity::{Hashed, hexadecimal};
use crate::unpack::{Unpacked, UnpackedFile};

/// The name of a package in a store: the SHA-512 of its tarball, and the umask its files were made with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageKey(String);

impl PackageKey {
    /// The key of a tarball of these bytes.
    pub fn of(tarball: &Hashed<'_>, umask: u32) -> Self {
        Self(format!("{}-{umask:03o}", hexadecimal(tarball.sha512())))
    }

    pub(super) fn from_text(text: String) -> Self {
        Self(text)
    }

    /// As the index and the folder have it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When the package's files say that they were changed. It follows from the key, so that two processes that store the
    /// same package make the same files, a file that was written to is known by its time, and tools that remember files
    /// by size and time don't take another version's for it.
    pub fn modified(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.seconds())
    }

    /// The same, in seconds since 1970.
    pub fn seconds(&self) -> u64 {
        const FIRST: u64 = 1_000_000_000;
        const SPAN: u64 = 500_000_000;
        let hash = self.0.get(..12).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
        FIRST + hash % SPAN
    }
}

/// A package as it was unpacked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRecord {
    /// The name in its package.json.
    pub name: Option<String>,
    /// The version there.
    pub version: Option<String>,
    /// Its folders, each after the one that it is in.
    pub folders: Vec<String>,
    /// Its files, by path.
    pub files: Vec<FileRecord>,
}

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Below the package's folder, with forward slashes.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// Permissions.
    pub mode: u32,
    /// BLAKE3 of its bytes.
    pub digest: [u8; 32],
}

impl PackageRecord {
    /// The record of what was unpacked.
    pub fn of(unpacked: Unpacked) -> Self {
        let identity = Identity::read(&unpacked.manifest.unwrap_or_default());
        let file = |(path, file): (String, UnpackedFile)| FileRecord {
            path,
            size: file.size,
            mode: file.mode,
            digest: file.digest,
        };
        let mut files: Vec<_> = unpacked.files.into_iter().map(file).collect();
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Self { name: identity.name, version: identity.version, folders: folders(&files), files }
    }

    /// A file of this path.
    pub fn file(&self, path: &str) -> Option<&FileRecord> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|index| &self.files[index])
    }

    /// The bytes of all files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

fn folders(files: &[FileRecord]) -> Vec<String> {
    let above = |path: &str| path.match_indices('/').map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
    let mut folders: Vec<String> = files.iter().flat_map(|file| above(&file.path)).collect();
    // A folder is shorter than what is in it, so it comes first.
    folders.sort_unstable();
    folders.dedup();
    folders
}
