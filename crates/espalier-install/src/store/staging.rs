//! The folder in which a process unpacks packages, on the store's own file system.
//!
//! A process holds a lock on a file beside its folder. If nobody holds that lock, the process was
//! killed, and the next process removes the folder and the file. The lock is taken before the folder
//! is created, so that a new folder isn't mistaken for an old one. Another process can remove the
//! file before it is locked, so the owner looks whether it is still there.

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
        loop {
            let file = tempfile::Builder::new().prefix("").suffix(".lock").tempfile_in(parent)?;
            let (held, lock) = file.keep()?;
            if is_secured(&held, &lock)? {
                let folder = lock.with_extension("");
                fs::create_dir(&folder)?;
                return Ok(Self { folder, lock, _held: held, next: AtomicU64::new(0) });
            }
        }
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

/// Locks a new file. It is useless if another process has removed it before.
fn is_secured(file: &File, path: &Path) -> io::Result<bool> {
    file.lock()?;
    fs::exists(path)
}

fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "lock") {
            // A folder exists only while its lock file does. If that is lost, nobody uses the folder.
            if !fs::exists(path.with_extension("lock")).unwrap_or(true) {
                let _ = fs::remove_dir_all(&path);
            }
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

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::{Staging, is_secured, remove_abandoned};

    /// Another process can look for abandoned folders before this one has locked its file.
    #[test]
    fn a_lock_file_that_another_process_has_removed_is_useless() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("new.lock");
        let file = File::create(&path).expect("a file");
        remove_abandoned(root.path());
        assert!(!is_secured(&file, &path).expect("locked"));
        let file = File::create(&path).expect("a file");
        assert!(is_secured(&file, &path).expect("locked"));
        remove_abandoned(root.path());
        assert!(path.exists());
    }

    #[test]
    fn what_dead_processes_left_is_removed() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(root.path().join("killed/package")).expect("a folder");
        fs::write(root.path().join("killed.lock"), "").expect("a file");
        fs::create_dir_all(root.path().join("without-lock/package")).expect("a folder");
        let alive = Staging::new(root.path()).expect("a folder");
        let new = Staging::new(root.path()).expect("a folder");
        let mut left: Vec<_> =
            fs::read_dir(root.path()).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        let mut expected = [&alive, &new].map(|staging| [staging.folder.clone(), staging.lock.clone()]).concat();
        left.sort();
        expected.sort();
        assert_eq!(left, expected);
    }
}
