//! Unpacks a package's tarball into a folder. `espalier_package::archive` decides which entries are
//! unpacked; this module writes them.
//!
//! The folder has to be empty and private. Owners and times are ignored. Modes are set as in npm.
//! The caller has verified the bytes.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::SystemTime;

pub use espalier_package::archive::Limits;
use espalier_package::archive::{self, ArchiveError, Receiver};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use crate::activity::Activity;
use crate::body::Inflater;
use crate::folder::Folder;

/// How files are created.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The umask.
    pub umask: u32,
    /// The modification time of every file.
    pub modified: SystemTime,
}

/// An unpacked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackedFile {
    /// Its length in bytes.
    pub size: u64,
    /// Its permissions.
    pub mode: u32,
    /// The BLAKE3 digest of its content. Only the store uses it, and it takes half as long as
    /// SHA-256.
    pub digest: [u8; 32],
}

/// The content of a tarball.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// The files, by their paths below the folder.
    pub files: IndexMap<String, UnpackedFile>,
    /// The text of the package.json, if there is one.
    pub manifest: Option<Vec<u8>>,
}

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It is damaged or not an archive.
    #[error("is not a readable tarball: {0}")]
    Unreadable(String),
    /// It is larger than a package may be.
    #[error("contains more than {0}")]
    TooLarge(String),
    /// It has no files.
    #[error("contains no files")]
    Empty,
    /// A file can't be written. The archive is not at fault.
    #[error("cannot be unpacked: {0}")]
    Unwritable(io::Error),
}

/// The maximum length of a package.json that is read.
const LONGEST_MANIFEST: u64 = 16 << 20;

/// Unpacks a tarball, compressed or not, into an empty folder. `activity` counts the time that the
/// parts take.
pub fn unpack(
    bytes: &[u8],
    folder: &Path,
    manner: Manner,
    limits: Limits,
    activity: &Activity,
) -> Result<Unpacked, UnpackError> {
    let mut unpacking = Unpacking {
        folder: Folder::open(folder).map_err(UnpackError::Unwritable)?,
        manner,
        folders: FxHashSet::default(),
        open: None,
        hasher: blake3::Hasher::new(),
        unpacked: Unpacked::default(),
    };
    let read = Inflater::with(|inflater| {
        let longest = archive::longest(bytes.len() as u64, limits);
        match activity.inflating.time(|| inflater.tarball(bytes, longest)) {
            Some(inflated) => {
                let write = || archive::read_inflated(inflated, bytes.len() as u64, limits, &mut unpacking);
                activity.writing.time(write)
            }
            // It is read piece by piece.
            None => archive::read(bytes, limits, &mut unpacking),
        }
    });
    match read {
        Ok(()) => Ok(unpacking.unpacked),
        Err(ArchiveError::Unreadable(reason)) => Err(UnpackError::Unreadable(reason)),
        Err(ArchiveError::TooLarge(what)) => Err(UnpackError::TooLarge(what)),
        Err(ArchiveError::Empty) => Err(UnpackError::Empty),
        Err(ArchiveError::Receiver(error)) => Err(UnpackError::Unwritable(error)),
    }
}

struct Unpacking {
    folder: Folder,
    manner: Manner,
    folders: FxHashSet<String>,
    open: Option<Open>,
    /// The digest of the open file.
    hasher: blake3::Hasher,
    unpacked: Unpacked,
}

/// The file that is being written.
struct Open {
    path: String,
    file: File,
    mode: u32,
    size: u64,
    manifest: Option<Vec<u8>>,
}

impl Receiver for Unpacking {
    type Error = io::Error;

    fn begin(&mut self, path: &str, mode: u32) -> io::Result<()> {
        let mode = archive::mode(mode, self.manner.umask);
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.make_folder(folder)?;
        }
        let file = self.create(path, mode)?;
        let manifest = (path == "package.json").then(Vec::new);
        self.hasher.reset();
        self.open = Some(Open { path: path.to_owned(), file, mode, size: 0, manifest });
        Ok(())
    }

    fn content(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.file.write_all(bytes)?;
        self.hasher.update(bytes);
        open.size += bytes.len() as u64;
        if let Some(manifest) = open.manifest.as_mut().filter(|_| open.size <= LONGEST_MANIFEST) {
            manifest.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        open.file.set_modified(self.manner.modified)?;
        if open.manifest.is_some() {
            self.unpacked.manifest = open.manifest;
        }
        let digest = self.hasher.finalize().into();
        self.unpacked.files.insert(open.path, UnpackedFile { size: open.size, mode: open.mode, digest });
        Ok(())
    }
}

impl Unpacking {
    /// Creates a file. If a path occurs twice, the last content wins.
    fn create(&mut self, path: &str, mode: u32) -> io::Result<File> {
        match self.folder.new_file(path, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A file system that ignores case has replaced the other name.
                let folded = path.to_lowercase();
                self.unpacked.files.retain(|other, _| other == path || other.to_lowercase() != folded);
                self.folder.emptied_file(path)
            }
            file => file,
        }
    }

    fn make_folder(&mut self, folder: &str) -> io::Result<()> {
        if self.folders.contains(folder) {
            return Ok(());
        }
        if let Some((above, _)) = folder.rsplit_once('/') {
            self.make_folder(above)?;
        }
        self.folder.make_folder(folder)?;
        self.folders.insert(folder.to_owned());
        Ok(())
    }
}
