//! A package's record in the store: its files and folders.

use std::time::{Duration, SystemTime};

use espalier_package::identity::Identity;
use serde::{Deserialize, Serialize};

use crate::integrity::{Hashed, hexadecimal};
use crate::unpack::{Unpacked, UnpackedFile};

/// The name of a package in a store: the SHA-512 of its tarball, and the umask that its files were
/// created with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageKey(String);

impl PackageKey {
    /// The key of this tarball.
    pub fn of(tarball: &Hashed<'_>, umask: u32) -> Self {
        Self(format!("{}-{umask:03o}", hexadecimal(tarball.sha512())))
    }

    pub(super) fn from_text(text: String) -> Self {
        Self(text)
    }

    /// The key as text, as the index and the folder have it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The modification time of the package's files, which is derived from the key. So two
    /// processes that store the same package write identical files, a file that somebody changed is
    /// detected by its time, and tools that remember files by size and time don't confuse two
    /// versions.
    pub fn modified(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.seconds())
    }

    /// The modification time in seconds since 1970.
    pub fn seconds(&self) -> u64 {
        const FIRST: u64 = 1_000_000_000;
        const SPAN: u64 = 500_000_000;
        let hash = self.0.get(..12).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
        FIRST + hash % SPAN
    }
}

/// An unpacked package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRecord {
    /// The name in its package.json.
    pub name: Option<String>,
    /// The version in its package.json.
    pub version: Option<String>,
    /// Its folders. A folder follows the one that contains it.
    pub folders: Vec<String>,
    /// Its files, by path.
    pub files: Vec<FileRecord>,
}

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The path below the package's folder, with forward slashes.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The permissions.
    pub mode: u32,
    /// The BLAKE3 digest of the content.
    pub digest: [u8; 32],
}

impl PackageRecord {
    /// The record of an unpacked package.
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

    /// The file at this path.
    pub fn file(&self, path: &str) -> Option<&FileRecord> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|index| &self.files[index])
    }

    /// The size of all files in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

fn folders(files: &[FileRecord]) -> Vec<String> {
    let above = |path: &str| path.match_indices('/').map(|(at, _)| path[..at].to_owned()).collect::<Vec<_>>();
    let mut folders: Vec<String> = files.iter().flat_map(|file| above(&file.path)).collect();
    // A folder's path is shorter than the paths of its content, so it comes first.
    folders.sort_unstable();
    folders.dedup();
    folders
}
