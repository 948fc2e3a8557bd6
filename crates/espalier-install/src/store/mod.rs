//! The store has every package once, unpacked, for all projects of a user.
//!
//! A package is named by the SHA-512 of its tarball and is added only after its integrity was
//! verified. It is unpacked beside the store and renamed into it as a whole, so a named package is
//! complete, even if a process is killed. Its files are never written again. Changes by others are
//! detected by size and time when a package is used, and by digest in [`Store::verify`]. A damaged
//! package is removed and fetched again.
//!
//! Several processes can use a store at once. It knows nothing of projects and trees.

mod index;
mod maintenance;
mod record;
mod staging;

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

pub use maintenance::{Pruned, Verified};
pub use record::{FileRecord, PackageKey, PackageRecord};

use crate::activity::Activity;
use crate::config::Environment;
use crate::folder::Folder;
use crate::integrity::{self, Hashed, Integrity};
use crate::superseded;
use crate::unpack::{self, Limits, Manner, UnpackError};
use index::{Index, Row};
use staging::Staging;

/// The version of a store's format.
const FORMAT: u32 = 2;

/// The number of packages that are written into the index together.
const BATCH: usize = 128;

/// A store on disk.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    umask: u32,
    staging: Staging,
    index: Mutex<Index>,
    pending: Mutex<Vec<Row>>,
    activity: Arc<Activity>,
    /// What was found of the packages that were looked up ahead, by integrity.
    found: Mutex<FxHashMap<String, Option<StoredPackage>>>,
    /// Whether [`Self::check_ahead`] has to end.
    have_checks_ended: AtomicBool,
}

/// A package in the store.
#[derive(Clone, Debug)]
pub struct StoredPackage {
    /// Its name in the store.
    pub key: PackageKey,
    /// The folder with its files.
    pub folder: PathBuf,
    /// The list of its files.
    pub record: Arc<PackageRecord>,
    /// How many files of its record, from the first on, this process has unpacked, or looked at and
    /// found unchanged. All that have found it share the number.
    checked: Arc<AtomicUsize>,
}

/// Why a store can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Its folder can't be written to.
    #[error("cannot use the store in {}: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Its index can't be used.
    #[error("cannot use the index of the store in {}: {source}", folder.display())]
    Index {
        /// The store's folder.
        folder: PathBuf,
        /// The database's reason.
        source: rusqlite::Error,
    },
}

/// Why a package wasn't added to the store.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// The tarball is at fault.
    #[error(transparent)]
    Tarball(UnpackError),
    /// The store is at fault.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The default folder of the store: `ESPALIER_STORE`, or `store` in the cache's folder.
pub fn default_folder(environment: &Environment, cache: Option<&Path>) -> Option<PathBuf> {
    if let Some(folder) = environment.variable("ESPALIER_STORE").filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).ok();
    }
    std::path::absolute(cache?.join("store")).ok()
}

impl Store {
    /// Opens the store in this folder, or creates it.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        // The format is part of the path, so that versions of this program with other formats don't
        // meet.
        let root = folder.join(format!("v{FORMAT}"));
        let unusable = |source| StoreError::Folder { folder: folder.to_owned(), source };
        if !root.exists() {
            remove_superseded(folder, superseded::A_MONTH);
        }
        fs::create_dir_all(root.join("packages")).map_err(unusable)?;
        let staging = Staging::new(&root.join("staging")).map_err(unusable)?;
        let umask = staging.umask().map_err(unusable)?;
        let index = Index::open(&root.join("index.sqlite"));
        let index = index.map_err(|source| StoreError::Index { folder: folder.to_owned(), source })?;
        let index = Mutex::new(index);
        let (pending, activity, found, have_checks_ended) = Default::default();
        Ok(Self { root, umask, staging, index, pending, activity, found, have_checks_ended })
    }

    /// The same store, whose work these counts include.
    #[must_use]
    pub fn counted_by(self, activity: &Arc<Activity>) -> Self {
        Self { activity: Arc::clone(activity), ..self }
    }

    /// The folder with the packages.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The mode of a command, as `bin-links` sets it.
    pub fn executable_mode(&self) -> u32 {
        0o777 & !self.umask
    }

    /// Finds the package with this integrity. A damaged index finds nothing.
    pub fn find(&self, integrity: &Integrity) -> Option<StoredPackage> {
        let integrity = integrity.to_string();
        if let Some(found) = self.found().get(&integrity) {
            return found.clone();
        }
        let (key, record) = self.index().find(&integrity, self.umask).ok()??;
        Some(self.stored(key, record))
    }

    /// The same for an integrity as a lock states it.
    pub fn find_as(&self, integrity: &str) -> Option<StoredPackage> {
        // `find_ahead` remembers results under the usual spelling.
        if let Some(found) = self.found().get(integrity) {
            return found.clone();
        }
        self.find(&integrity.parse().ok()?)
    }

    /// Looks up the packages with these integrities together, as a lock states them, and remembers
    /// the results. An unusual spelling is left for later.
    pub fn find_ahead<'a>(&self, integrities: impl Iterator<Item = &'a str>) {
        let integrities: FxHashSet<&str> = integrities.filter(|text| integrity::is_usual(text)).collect();
        let Ok(found) = self.index().find_all(&integrities, self.umask) else { return };
        let mut packages = self.found();
        packages.extend(integrities.into_iter().map(|integrity| (integrity.to_owned(), None)));
        packages.extend(found.into_iter().map(|(integrity, key, record)| (integrity, Some(self.stored(key, record)))));
    }

    fn stored(&self, key: PackageKey, record: PackageRecord) -> StoredPackage {
        let folder = self.folder_of(&key);
        StoredPackage { key, folder, record: Arc::new(record), checked: Arc::default() }
    }

    /// Looks at the files of the packages that were looked up ahead, those with the most files
    /// first, until [`Self::end_checks`]. Placing does not check these files again. Blocks.
    pub fn check_ahead(&self) {
        let mut found: Vec<StoredPackage> = self.found().values().flatten().cloned().collect();
        found.sort_by_key(|stored| Reverse(stored.record.files.len()));
        let is_to_end = || self.have_checks_ended.load(Ordering::Relaxed);
        found.iter().take_while(|_| !is_to_end()).for_each(|stored| stored.check(&is_to_end));
    }

    /// Ends the checks, because the processors have other work, or none.
    pub fn end_checks(&self) {
        self.have_checks_ended.store(true, Ordering::Relaxed);
    }

    /// Leaves the records that were found to the system, because the process ends. Freeing the names
    /// of thousands of files takes time.
    pub fn end_for_good(&self) {
        std::mem::forget(std::mem::take(&mut *self.found()));
    }

    /// Unpacks a tarball into the store. The caller has verified the bytes, against this integrity
    /// if there is one.
    pub fn add(&self, tarball: &Hashed<'_>, integrity: Option<&Integrity>) -> Result<StoredPackage, AddError> {
        let key = PackageKey::of(tarball, self.umask);
        let manner = Manner { umask: self.umask, modified: key.modified() };
        let staged = self.staging.path();
        let unusable = |source| StoreError::Folder { folder: self.root.clone(), source };
        fs::create_dir(&staged).map_err(unusable)?;
        let unpacked =
            unpack::unpack(tarball.bytes(), &staged, manner, Limits::default(), &self.activity).map_err(|error| {
                match error {
                    UnpackError::Unwritable(source) => AddError::Store(unusable(source)),
                    error => AddError::Tarball(error),
                }
            });
        let record = match unpacked {
            Ok(unpacked) => PackageRecord::of(unpacked),
            Err(error) => {
                let _ = fs::remove_dir_all(&staged);
                return Err(error);
            }
        };
        let folder = self.folder_of(&key);
        self.move_in(&staged, &folder, &key, &record).map_err(unusable)?;
        let mut integrities = vec![tarball.integrity().to_string()];
        integrities.extend(integrity.map(ToString::to_string).filter(|text| *text != integrities[0]));
        let checked = Arc::new(record.files.len().into());
        let stored = StoredPackage { checked, ..self.stored(key.clone(), record.clone()) };
        let mut pending = self.pending();
        pending.push(Row { key, integrities, record });
        if pending.len() >= BATCH {
            self.write(&mut pending);
        }
        Ok(stored)
    }

    /// Renames an unpacked package into the store.
    fn move_in(&self, staged: &Path, folder: &Path, key: &PackageKey, record: &PackageRecord) -> io::Result<()> {
        if let Some(above) = folder.parent() {
            fs::create_dir_all(above)?;
        }
        for _ in 0..3 {
            match fs::rename(staged, folder) {
                Err(_) if folder.is_dir() => {}
                moved => return moved,
            }
            // Another process was faster, or the index has lost the package. The same tarball gives
            // the same files.
            if is_sound(folder, key, record) {
                return fs::remove_dir_all(staged);
            }
            self.set_aside(folder)?;
        }
        fs::rename(staged, folder)
    }

    /// Removes a damaged package, so that it can be added again.
    pub fn discard(&self, key: &PackageKey) -> Result<(), StoreError> {
        self.found().retain(|_, found| found.as_ref().is_none_or(|found| found.key != *key));
        let removed = self.index().remove(key);
        removed.map_err(|source| StoreError::Index { folder: self.root.clone(), source })?;
        let folder = self.folder_of(key);
        self.set_aside(&folder).map_err(|source| StoreError::Folder { folder: self.root.clone(), source })
    }

    fn set_aside(&self, folder: &Path) -> io::Result<()> {
        let aside = self.staging.path();
        match fs::rename(folder, &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => fs::remove_dir_all(aside),
        }
    }

    /// Writes new packages into the index. A later run fetches one again that can't be written. The
    /// present run has no use for the index any more, so it goes on.
    pub fn flush(&self) {
        self.write(&mut self.pending());
    }

    fn write(&self, pending: &mut Vec<Row>) {
        if !pending.is_empty() {
            let _ = self.index().add(pending, self.umask);
            pending.clear();
        }
    }

    fn folder_of(&self, key: &PackageKey) -> PathBuf {
        let (first, rest) = key.as_str().split_at(2);
        self.root.join("packages").join(first).join(rest)
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> MutexGuard<'_, FxHashMap<String, Option<StoredPackage>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, Vec<Row>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredPackage {
    /// The number of files, from the first on, that need no look.
    pub fn checked(&self) -> usize {
        self.checked.load(Ordering::Acquire)
    }

    /// Looks at its files, until one was changed or this is to end.
    fn check(&self, is_to_end: &dyn Fn() -> bool) {
        let Ok(folder) = Folder::open(&self.folder) else { return };
        for (index, file) in self.record.files.iter().enumerate().skip(self.checked()) {
            if is_to_end() || !folder.has_file(&file.path, file.size, self.key.seconds()) {
                return;
            }
            self.checked.store(index + 1, Ordering::Release);
        }
    }
}

/// Whether a stored file is unchanged, judged by its size and time.
pub fn is_untouched(file: &fs::Metadata, record: &FileRecord, key: &PackageKey) -> bool {
    file.is_file() && file.len() == record.size && file.modified().is_ok_and(|time| time == key.modified())
}

/// Whether all files of a package are unchanged.
fn is_sound(folder: &Path, key: &PackageKey, record: &PackageRecord) -> bool {
    let mut files = record.files.iter();
    files.all(|file| fs::symlink_metadata(folder.join(&file.path)).is_ok_and(|found| is_untouched(&found, file, key)))
}

/// Removes stores of earlier formats that weren't used for that long. A folder that is called `v1`
/// but is no store stays.
fn remove_superseded(folder: &Path, unused_for: Duration) -> usize {
    let is_store = |root: &PathBuf| {
        superseded::begins_with(&root.join("index.sqlite"), superseded::SQLITE) && root.join("packages").is_dir()
    };
    let earlier = (1..FORMAT).map(|format| folder.join(format!("v{format}")));
    superseded::remove(earlier.filter(is_store).map(|root| vec![root]), unused_for)
}
