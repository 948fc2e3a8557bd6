//! A folder in the store and a folder in a project. Both are opened once, on systems with such calls, so that the system doesn't
//! walk the long paths again for each file.

#[cfg(not(unix))]
use std::fs;
use std::io;
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;

#[cfg(unix)]
use rustix::fd::OwnedFd;

#[cfg(not(unix))]
use crate::store::is_untouched;
use crate::store::{FileRecord, PackageKey};

/// Both folders.
pub(super) struct Route {
    #[cfg(unix)]
    folders: (OwnedFd, OwnedFd),
    #[cfg(not(unix))]
    folders: (PathBuf, PathBuf),
}

#[cfg(unix)]
impl Route {
    /// Opens both folders, which have to exist.
    pub fn open(from: &Path, to: &Path) -> io::Result<Self> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        let folder = |path| openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        Ok(Self { folders: (folder(from)?, folder(to)?) })
    }

    /// Creates a folder, which may exist.
    pub fn make_folder(&self, path: &str) -> io::Result<()> {
        match rustix::fs::mkdirat(&self.folders.1, path, rustix::fs::Mode::from_raw_mode(0o777)) {
            Err(error) if error != rustix::io::Errno::EXIST => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Whether the stored file is unchanged, judged by its size and time.
    pub fn is_untouched(&self, file: &FileRecord, key: &PackageKey) -> bool {
        use rustix::fs::{AtFlags, FileType, statat};
        let Ok(found) = statat(&self.folders.0, &file.path, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
            && u64::try_from(found.st_size) == Ok(file.size)
            && u64::try_from(found.st_mtime) == Ok(key.seconds())
            && found.st_mtime_nsec == 0
    }

    /// Links a file into the project.
    pub fn link(&self, path: &str) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.folders.0, path, &self.folders.1, path, rustix::fs::AtFlags::empty())?)
    }
}

#[cfg(not(unix))]
impl Route {
    /// Both folders have to exist.
    pub fn open(from: &Path, to: &Path) -> io::Result<Self> {
        Ok(Self { folders: (from.to_owned(), to.to_owned()) })
    }

    /// Creates a folder, which may exist.
    pub fn make_folder(&self, path: &str) -> io::Result<()> {
        match fs::create_dir(self.folders.1.join(path)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the stored file is unchanged, judged by its size and time.
    pub fn is_untouched(&self, file: &FileRecord, key: &PackageKey) -> bool {
        fs::symlink_metadata(self.folders.0.join(&file.path)).is_ok_and(|found| is_untouched(&found, file, key))
    }

    /// Links a file into the project.
    pub fn link(&self, path: &str) -> io::Result<()> {
        fs::hard_link(self.folders.0.join(path), self.folders.1.join(path))
    }
}
