//! Unpacks a package's tarball into a folder of its own, as pacote does (`fetcher.js`, `#tarxOptions`).
//!
//! Archives are hostile input. Only plain files are unpacked: links, devices and whatever else an archive can hold are left
//! out, folders exist because files are in them, and no path leads out of the folder, which has to be empty and nobody
//! else's. Sizes, counts and ratios are bounded. Owners and times are ignored; modes are what npm makes of them.
//! Whether the bytes are the promised ones was decided before.

mod path;

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

use flate2::bufread::MultiGzDecoder;
use indexmap::IndexMap;
use ring::digest;
use rustc_hash::FxHashSet;
use tar::{Archive, EntryType};

/// Bounds on an archive.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes it may inflate to.
    pub bytes: u64,
    /// The most bytes it may inflate to, for each byte it has.
    pub ratio: u64,
    /// The most entries of any kind.
    pub entries: usize,
    /// The most bytes that describe one entry: long names and extended headers.
    pub header: u64,
}

impl Default for Limits {
    /// The ratio and the header are node-tar's.
    fn default() -> Self {
        Self { bytes: 4 << 30, ratio: 1000, entries: 500_000, header: 1 << 20 }
    }
}

/// How files are made.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The bits that no file gets.
    pub umask: u32,
    /// When every file says that it was changed.
    pub modified: SystemTime,
}

/// A file that was unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackedFile {
    /// Its length in bytes.
    pub size: u64,
    /// Its permissions.
    pub mode: u32,
    /// The SHA-256 of its bytes.
    pub digest: [u8; 32],
}

/// What was unpacked.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// The files by their paths below the folder.
    pub files: IndexMap<String, UnpackedFile>,
    /// The text of the package.json, when there is one.
    pub manifest: Option<Vec<u8>>,
}

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It is damaged, or no archive at all.
    #[error("is not a readable tarball: {0}")]
    Unreadable(io::Error),
    /// It is larger than any package should be.
    #[error("holds more than {0}")]
    TooLarge(String),
    /// It has no files.
    #[error("holds no files")]
    Empty,
    /// A file can't be written; that is not the archive's fault.
    #[error("cannot be unpacked: {0}")]
    Unwritable(io::Error),
}

/// The longest package.json that is looked into.
const LONGEST_MANIFEST: u64 = 16 << 20;

/// Unpacks a tarball, compressed or not, into an empty folder.
pub fn unpack(bytes: &[u8], folder: &Path, manner: Manner, limits: Limits) -> Result<Unpacked, UnpackError> {
    const GZIP: &[u8] = &[0x1f, 0x8b];
    let most = limits.bytes.min((bytes.len() as u64).saturating_mul(limits.ratio).max(1 << 20));
    let budget = Rc::new(Budget { total: Cell::new(most), header: Cell::new(None) });
    let mut unpacking =
        Unpacking { folder, manner, limits, folders: FxHashSet::default(), unpacked: Unpacked::default() };
    if bytes.starts_with(GZIP) {
        unpacking.all(MultiGzDecoder::new(bytes), &budget)?;
    } else {
        unpacking.all(bytes, &budget)?;
    }
    if unpacking.unpacked.files.is_empty() { Err(UnpackError::Empty) } else { Ok(unpacking.unpacked) }
}

/// How much may still be read.
struct Budget {
    total: Cell<u64>,
    /// While headers are read, how much of them.
    header: Cell<Option<u64>>,
}

/// A reader that fails where [`Read::take`] would end, because a cut archive can look like a whole one.
struct Bounded<R> {
    inner: R,
    budget: Rc<Budget>,
}

/// The words by which an error of [`Bounded`] is known after the archive's reader has wrapped it.
const TOO_LARGE: &str = "it inflates to too much";

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let spent = |left: u64| left.checked_sub(length as u64).ok_or_else(|| io::Error::other(TOO_LARGE));
        self.budget.total.set(spent(self.budget.total.get())?);
        if let Some(left) = self.budget.header.get() {
            self.budget.header.set(Some(spent(left)?));
        }
        Ok(length)
    }
}

struct Unpacking<'a> {
    folder: &'a Path,
    manner: Manner,
    limits: Limits,
    folders: FxHashSet<String>,
    unpacked: Unpacked,
}

impl Unpacking<'_> {
    fn all(&mut self, archive: impl Read, budget: &Rc<Budget>) -> Result<(), UnpackError> {
        let mut archive = Archive::new(Bounded { inner: archive, budget: Rc::clone(budget) });
        let unreadable = |error: io::Error| match error.to_string() {
            words if words.contains(TOO_LARGE) => UnpackError::TooLarge("any package should".into()),
            _ => UnpackError::Unreadable(error),
        };
        let mut entries = archive.entries().map_err(unreadable)?;
        let mut ignore_files = FxHashSet::default();
        let mut buffer = vec![0; 64 * 1024];
        for count in 0.. {
            budget.header.set(Some(self.limits.header));
            let Some(entry) = entries.next() else { break };
            let mut entry = entry.map_err(unreadable)?;
            budget.header.set(None);
            if count == self.limits.entries {
                return Err(UnpackError::TooLarge(format!("{count} entries")));
            }
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let is_file = matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Continuous);
            let goal = if is_file && !path.ends_with('/') { goal(&path, &mut ignore_files) } else { None };
            let goal = goal.filter(|goal| self.has_room(goal));
            let Some(goal) = goal else {
                // What is skipped is read here, where it doesn't count as a header.
                io::copy(&mut entry, &mut io::sink()).map_err(unreadable)?;
                continue;
            };
            let mode = mode(entry.header().mode().unwrap_or(0), self.manner.umask);
            self.file(goal, mode, &mut entry, &mut buffer).map_err(|error| match error {
                UnpackError::Unreadable(error) => unreadable(error),
                error => error,
            })?;
        }
        Ok(())
    }

    /// Whether a file can be there. As npm, the first of a file and a folder of the same name stays.
    fn has_room(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        !self.folders.contains(path) && above.into_iter().all(|folder| !self.unpacked.files.contains_key(folder))
    }

    fn file(&mut self, path: String, mode: u32, from: &mut impl Read, buffer: &mut [u8]) -> Result<(), UnpackError> {
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.make_folder(folder).map_err(UnpackError::Unwritable)?;
        }
        let target = self.folder.join(&path);
        let (mut file, mode) = self.create(&path, &target, mode).map_err(UnpackError::Unwritable)?;
        let mut digest = digest::Context::new(&digest::SHA256);
        let mut size = 0;
        let mut manifest = (path == "package.json").then(Vec::new);
        loop {
            let length = from.read(buffer).map_err(UnpackError::Unreadable)?;
            if length == 0 {
                break;
            }
            let read = &buffer[..length];
            file.write_all(read).map_err(UnpackError::Unwritable)?;
            digest.update(read);
            size += length as u64;
            if let Some(manifest) = manifest.as_mut().filter(|_| size <= LONGEST_MANIFEST) {
                manifest.extend_from_slice(read);
            }
        }
        file.set_modified(self.manner.modified).map_err(UnpackError::Unwritable)?;
        if manifest.is_some() {
            self.unpacked.manifest = manifest;
        }
        let digest = digest.finish().as_ref().try_into().expect("SHA-256 has 32 bytes");
        self.unpacked.files.insert(path, UnpackedFile { size, mode, digest });
        Ok(())
    }

    /// Opens a new file. Of a path that comes twice the last content stays, with the first mode.
    fn create(&mut self, path: &str, target: &Path, mode: u32) -> io::Result<(File, u32)> {
        match new_file(target, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mode = self.unpacked.files.get(path).map_or(mode, |file| file.mode);
                // On a file system that takes `a` and `A` for one, the other name is gone.
                let folded = path.to_lowercase();
                self.unpacked.files.retain(|other, _| other == path || other.to_lowercase() != folded);
                Ok((OpenOptions::new().write(true).truncate(true).open(target)?, mode))
            }
            file => Ok((file?, mode)),
        }
    }

    fn make_folder(&mut self, folder: &str) -> io::Result<()> {
        if self.folders.contains(folder) {
            return Ok(());
        }
        if let Some((above, _)) = folder.rsplit_once('/') {
            self.make_folder(above)?;
        }
        match fs::create_dir(self.folder.join(folder)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.folders.insert(folder.to_owned());
        Ok(())
    }
}

/// Where a file goes. A `.gitignore` becomes the `.npmignore` that npm would have read in its place, unless there is one.
fn goal(path: &str, ignore_files: &mut FxHashSet<String>) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        ".npmignore" => {
            ignore_files.insert(folder.to_owned());
            path::inside(path)
        }
        ".gitignore" if ignore_files.contains(folder) => None,
        ".gitignore" => path::inside(&format!("{folder}/.npmignore")),
        _ => path::inside(path),
    }
}

/// What npm makes of an archive's mode: never less than its owner needs, never more than the umask allows.
fn mode(recorded: u32, umask: u32) -> u32 {
    ((recorded & 0o777) | 0o666) & !umask | 0o600
}

#[cfg(unix)]
fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

#[cfg(not(unix))]
fn new_file(path: &Path, _: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
