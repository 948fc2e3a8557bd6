//! Maintenance of a store: verifying its files, and removing packages that no project uses.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::record::{PackageKey, PackageRecord};
use super::{Store, StoreError, is_untouched, remove_superseded};

/// A process that has added a package writes it into the index by then, or was killed.
const INDEXED_BY_THEN: Duration = Duration::from_hours(1);

/// The result of [`Store::verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of packages.
    pub packages: usize,
    /// The number of their files.
    pub files: usize,
    /// The number of their bytes.
    pub bytes: u64,
    /// The damaged packages, which were removed: `name@version` and the first difference.
    pub damaged: Vec<(String, String)>,
}

/// The result of [`Store::prune`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The number of removed packages.
    pub packages: usize,
    /// The number of their bytes.
    pub bytes: u64,
    /// The number of packages that remain.
    pub kept: usize,
    /// The number of stores of earlier formats, which were removed.
    pub earlier: usize,
}

impl Store {
    /// Compares the digest of every file. Damaged packages are removed, so that they are fetched
    /// again when they are needed.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        self.flush();
        let mut verified = Verified::default();
        for (key, record) in self.packages()? {
            verified.packages += 1;
            verified.files += record.files.len();
            verified.bytes += record.size();
            if let Err(reason) = check(&self.folder_of(&key), &key, &record) {
                self.discard(&key)?;
                verified.damaged.push((name(&key, &record), reason));
            }
        }
        Ok(verified)
    }

    /// Removes the packages that no project links to, whether they are in the index or not, and
    /// stores of earlier formats. Projects keep the files that they link to.
    pub fn prune(&self) -> Result<Pruned, StoreError> {
        self.flush();
        let earlier = self.root.parent().map_or(0, |folder| remove_superseded(folder, Duration::ZERO));
        let mut pruned = Pruned { earlier, ..Pruned::default() };
        let mut indexed = HashSet::new();
        for (key, record) in self.packages()? {
            let folder = self.folder_of(&key);
            if record.files.iter().any(|file| is_linked(&folder.join(&file.path))) {
                pruned.kept += 1;
            } else {
                self.discard(&key)?;
                pruned.packages += 1;
                pruned.bytes += record.size();
            }
            indexed.insert(folder);
        }
        let unusable = |source| StoreError::Folder { folder: self.root.clone(), source };
        for folder in self.folders().filter(|folder| !indexed.contains(folder) && is_old(folder)) {
            let files = files_in(&folder);
            if files.iter().any(|file| is_linked(file)) {
                pruned.kept += 1;
            } else {
                let sizes = files.iter().filter_map(|file| Some(fs::symlink_metadata(file).ok()?.len()));
                let bytes: u64 = sizes.sum();
                self.set_aside(&folder).map_err(unusable)?;
                pruned.packages += 1;
                pruned.bytes += bytes;
            }
        }
        Ok(pruned)
    }

    /// The folders of all packages, also of those that the index has lost.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        entries(&self.root.join("packages")).flat_map(|above| entries(&above))
    }

    fn packages(&self) -> Result<Vec<(PackageKey, PackageRecord)>, StoreError> {
        self.index().all().map_err(|source| StoreError::Index { folder: self.root.clone(), source })
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_old(folder: &Path) -> bool {
    let changed = fs::symlink_metadata(folder).and_then(|found| found.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > INDEXED_BY_THEN))
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        if is_folder { files.append(&mut files_in(&path)) } else { files.push(path) }
    }
    files
}

fn name(key: &PackageKey, record: &PackageRecord) -> String {
    match (&record.name, &record.version) {
        (Some(name), Some(version)) => format!("{name}@{version}"),
        (Some(name), None) => name.clone(),
        (None, _) => key.as_str().to_owned(),
    }
}

fn check(folder: &Path, key: &PackageKey, record: &PackageRecord) -> Result<(), String> {
    for file in &record.files {
        let path = folder.join(&file.path);
        let found = fs::symlink_metadata(&path).map_err(|error| format!("{}: {error}", file.path))?;
        if !is_untouched(&found, file, key) || digest_of(&path).map_or(true, |digest| digest != file.digest) {
            return Err(format!("{} was changed", file.path));
        }
    }
    Ok(())
}

fn digest_of(path: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().into())
}

#[cfg(unix)]
fn is_linked(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(file).is_ok_and(|found| found.nlink() > 1)
}

/// This platform has no count of links, so every file counts as used.
#[cfg(not(unix))]
fn is_linked(file: &Path) -> bool {
    file.exists()
}
