//! An open folder. Where the system permits it, paths of files are relative to the folder, so that
//! the system does not walk the folder's own long path for each file.

#[cfg(not(unix))]
use std::fs::OpenOptions;
use std::fs::{self, File};
use std::io;
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;
#[cfg(not(unix))]
use std::time::{Duration, UNIX_EPOCH};

#[cfg(unix)]
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, CWD, FileType, Mode, OFlags, linkat, mkdirat, openat, statat},
    io::Errno,
};

/// A folder.
#[derive(Debug)]
pub(crate) struct Folder {
    #[cfg(unix)]
    open: OwnedFd,
    #[cfg(not(unix))]
    path: PathBuf,
}

#[cfg(unix)]
impl Folder {
    /// Opens a folder, which has to exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_with(path, OFlags::empty())
    }

    /// Opens a folder, which has to exist and must not be a link.
    pub fn open_itself(path: &Path) -> io::Result<Self> {
        Self::open_with(path, OFlags::NOFOLLOW)
    }

    fn open_with(path: &Path, more: OFlags) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | more;
        Ok(Self { open: openat(CWD, path, flags, Mode::empty())? })
    }

    /// Creates a folder in it. That folder may exist.
    pub fn make_folder(&self, path: &str) -> io::Result<()> {
        match mkdirat(&self.open, path, Mode::from_raw_mode(0o777)) {
            Err(error) if error != Errno::EXIST => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Creates a file that must not exist.
    pub fn new_file(&self, path: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(openat(&self.open, path, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Opens an existing file and empties it.
    pub fn emptied_file(&self, path: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
        Ok(openat(&self.open, path, flags, Mode::empty())?.into())
    }

    /// Whether it has a plain file of this size that was modified at this second.
    pub fn has_file(&self, path: &str, size: u64, seconds: u64) -> bool {
        let Ok(found) = statat(&self.open, path, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
            && u64::try_from(found.st_size) == Ok(size)
            && u64::try_from(found.st_mtime) == Ok(seconds)
            && found.st_mtime_nsec == 0
    }

    /// Links a file to the same path of another folder.
    pub fn link(&self, path: &str, to: &Self) -> io::Result<()> {
        Ok(linkat(&self.open, path, &to.open, path, AtFlags::empty())?)
    }
}

#[cfg(not(unix))]
impl Folder {
    /// A folder, which has to exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned() })
    }

    /// A folder, which has to exist and must not be a link.
    pub fn open_itself(path: &Path) -> io::Result<Self> {
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Self::open(path)
    }

    /// Creates a folder in it. That folder may exist.
    pub fn make_folder(&self, path: &str) -> io::Result<()> {
        match fs::create_dir(self.path.join(path)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Creates a file that must not exist.
    pub fn new_file(&self, path: &str, mode: u32) -> io::Result<File> {
        new_file(&self.path.join(path), mode)
    }

    /// Opens an existing file and empties it.
    pub fn emptied_file(&self, path: &str) -> io::Result<File> {
        OpenOptions::new().write(true).truncate(true).open(self.path.join(path))
    }

    /// Whether it has a plain file of this size that was modified at this second.
    pub fn has_file(&self, path: &str, size: u64, seconds: u64) -> bool {
        let modified = UNIX_EPOCH + Duration::from_secs(seconds);
        fs::symlink_metadata(self.path.join(path)).is_ok_and(|found| {
            found.is_file() && found.len() == size && found.modified().is_ok_and(|time| time == modified)
        })
    }

    /// Links a file to the same path of another folder.
    pub fn link(&self, path: &str, to: &Self) -> io::Result<()> {
        fs::hard_link(self.path.join(path), to.path.join(path))
    }
}

/// Creates a file that must not exist.
#[cfg(unix)]
pub(crate) fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Creates a file that must not exist.
#[cfg(not(unix))]
pub(crate) fn new_file(path: &Path, _: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
