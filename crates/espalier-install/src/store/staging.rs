//! The folder in which a process unpacks packages, on the store's own file system.
//!
//! A process holds a lock on a file beside its folder. If nobody holds that lock, the process was
//! killed, and the next process removes the folder. The lock is taken before the folder is created,
//! so that a new folder isn't mistaken for an old one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(super) struct Staging {
    folder: PathBuf,
    lock: PathBuf,
    _held: File,
    next: AtomicU64,
}

impl Staging {
    /// Creates a folder for this process and removes those of dead processes.
    pub fn new(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        remove_abandoned(parent);
        let file = tempfile::Builder::new().prefix("").suffix(".lock").tempfile_in(parent)?;
        let (held, lock) = file.keep()?;
        held.lock()?;
        let folder = lock.with_extension("");
        fs::create_dir(&folder)?;
        Ok(Self { folder, lock, _held: held, next: AtomicU64::new(0) })
    }

    /// A path that isn't used yet.
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// The umask of this process, as its new folder shows it.
    #[cfg(unix)]
    pub fn umask(&self) -> io::Result<u32> {
        use std::os::unix::fs::PermissionsExt as _;
        Ok(!fs::metadata(&self.folder)?.permissions().mode() & 0o777)
    }

    #[cfg(not(unix))]
    pub fn umask(&self) -> io::Result<u32> {
        Ok(0o022)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // If the folder can't be removed now, the next process removes it.
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_file(&self.lock);
    }
}

fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok()
            && fs::remove_dir_all(path.with_extension("")).map_or_else(|error| is_absent(&error), |()| true)
        {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
