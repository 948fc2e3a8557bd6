//! Places a stored package in a folder: by hard links if possible, otherwise by copies.
//!
//! Copies are made if a file must belong to this project alone: in packages with a patch, for
//! commands that aren't executable in the tarball, and if the store is on another file system,
//! which is reported once. Each file is checked before it is linked. One changed file makes the
//! whole package damaged.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use espalier_package::patch::PatchError;
use rustc_hash::FxHashSet;

use crate::folder::{Folder, new_file};
use crate::plan::bins::without_carriage_return;
use crate::store::{FileRecord, StoredPackage};

/// Copies up to this size go through memory, because a copy by the system takes more calls.
const SMALL: u64 = 128 << 10;

/// A second thread helps with a package of this number of files. Starting it takes as long as
/// linking ten files.
const MANY: usize = 128;

/// Why a package could not be placed.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A file in the store has changed.
    #[error("{0} in the store was changed")]
    Damaged(PathBuf),
    /// Its patch doesn't fit.
    #[error(transparent)]
    Patch(PatchError),
    /// The system refuses.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The way of files from the store into projects. All packages of an installation share it.
#[derive(Debug, Default)]
pub struct Linker {
    copying: OnceLock<&'static str>,
}

/// How to place a package.
#[derive(Debug)]
pub struct Placing<'a> {
    /// The files that have to be executable.
    pub executables: &'a FxHashSet<&'a str>,
    /// The mode of executable files.
    pub executable_mode: u32,
    /// Whether all files are copies, because they are about to be changed.
    pub private: bool,
    /// Whether nothing else is being placed, so that a second thread may help.
    pub is_alone: bool,
}

impl Linker {
    /// Why files are copied and not linked, if they are.
    pub fn fallback(&self) -> Option<&'static str> {
        self.copying.get().copied()
    }

    /// Creates the package's folder and its content, in an existing folder. The package's folder
    /// may exist, with other packages below.
    pub fn place(&self, stored: &StoredPackage, target: &Path, placing: &Placing<'_>) -> Result<(), PlaceError> {
        let unwritable = |path: &Path| {
            let path = path.to_owned();
            move |source| PlaceError::Unwritable { path, source }
        };
        match fs::create_dir(target) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(unwritable(target)(error)),
            _ => {}
        }
        let from = match Folder::open(&stored.folder) {
            Ok(from) => from,
            Err(_) if !stored.folder.is_dir() => return Err(PlaceError::Damaged(stored.folder.clone())),
            Err(error) => return Err(unwritable(&stored.folder)(error)),
        };
        let to = Folder::open_itself(target).map_err(unwritable(target))?;
        for folder in &stored.record.folders {
            to.make_folder(folder).map_err(unwritable(&target.join(folder)))?;
        }
        let files = &stored.record.files[..];
        let checked = stored.checked();
        let (own, other) =
            files.split_at(if placing.is_alone && files.len() >= MANY { files.len() / 2 } else { files.len() });
        if other.is_empty() {
            return self.place_files((own, checked), stored, target, (&from, &to), placing);
        }
        let other = (other, checked.saturating_sub(own.len()));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| self.place_files(other, stored, target, (&from, &to), placing));
            let placed = self.place_files((own, checked), stored, target, (&from, &to), placing);
            placed.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// Places files. The first `checked` files are not checked again.
    fn place_files(
        &self,
        (files, checked): (&[FileRecord], usize),
        stored: &StoredPackage,
        target: &Path,
        (from_folder, to_folder): (&Folder, &Folder),
        placing: &Placing<'_>,
    ) -> Result<(), PlaceError> {
        let unwritable = |path: &Path| {
            let path = path.to_owned();
            move |source| PlaceError::Unwritable { path, source }
        };
        for (index, file) in files.iter().enumerate() {
            if index >= checked && !from_folder.has_file(&file.path, file.size, stored.key.seconds()) {
                return Err(PlaceError::Damaged(stored.folder.join(&file.path)));
            }
            let executable = placing.executables.contains(file.path.as_str());
            if !placing.private
                && !executable
                && self.copying.get().is_none()
                && from_folder.link(&file.path, to_folder).is_ok()
            {
                continue;
            }
            let (from, to) = (stored.folder.join(&file.path), target.join(&file.path));
            let placed = if executable && needs_repair(&from, file, placing.executable_mode) {
                make_executable(&from, &to, file.mode | placing.executable_mode, stored)
            } else if placing.private {
                copy(&from, &to, file, stored)
            } else {
                self.link(&from, &to, file, stored)
            };
            placed.map_err(unwritable(&to))?;
        }
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path, file: &FileRecord, stored: &StoredPackage) -> io::Result<()> {
        if self.copying.get().is_none() {
            match fs::hard_link(from, to) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    fs::remove_file(to)?;
                    return self.link(from, to, file, stored);
                }
                Err(error) => match reason_to_copy(&error) {
                    Some(reason) => self.copying.get_or_init(|| reason),
                    // The file has as many links as the file system allows. It is copied, and the
                    // next file may be linked again.
                    None if error.kind() == io::ErrorKind::TooManyLinks => return copy(from, to, file, stored),
                    None => return Err(error),
                },
                Ok(()) => return Ok(()),
            };
        }
        copy(from, to, file, stored)
    }
}

fn needs_repair(file: &Path, record: &FileRecord, mode: u32) -> bool {
    record.mode & mode != mode || has_carriage_return(file)
}

fn reason_to_copy(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::CrossesDevices => Some("node_modules and the store are on different file systems"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
            Some("this file system does not allow hard links")
        }
        _ => None,
    }
}

/// Copies a file. The copy gets the modification time of the stored file, by which it is
/// recognised.
fn copy(from: &Path, to: &Path, file: &FileRecord, stored: &StoredPackage) -> io::Result<()> {
    if file.size <= SMALL {
        let content = fs::read(from)?;
        match new_file(to, file.mode) {
            Ok(mut copy) => {
                copy.write_all(&content)?;
                return copy.set_modified(stored.key.modified());
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) => {}
        }
    }
    copy_whole(from, to, stored)
}

fn copy_whole(from: &Path, to: &Path, stored: &StoredPackage) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(_) => fs::remove_file(to)?,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    // This clones if the file system can, and it keeps the mode.
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(stored.key.modified())
}

/// Makes a command as `bin-links` leaves it: executable, and without a carriage return after its
/// `#!` line.
fn make_executable(from: &Path, to: &Path, mode: u32, stored: &StoredPackage) -> io::Result<()> {
    copy_whole(from, to, stored)?;
    if let Some(content) = without_carriage_return(&fs::read(to)?) {
        fs::File::options().write(true).truncate(true).open(to)?.write_all(&content)?;
    }
    set_mode(to, mode)
}

/// Whether a file begins with a `#!` line that ends with a carriage return.
pub fn has_carriage_return(file: &Path) -> bool {
    let mut start = Vec::with_capacity(2048);
    let read = fs::File::open(file).and_then(|file| file.take(2048).read_to_end(&mut start));
    read.is_ok() && without_carriage_return(&start).is_some()
}

/// Sets a file's permissions, on systems that have them.
#[cfg(unix)]
pub fn set_mode(file: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(mode))
}

/// Sets a file's permissions, on systems that have them.
#[cfg(not(unix))]
pub fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
