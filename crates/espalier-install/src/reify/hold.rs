//! The lock that allows one installation of a project at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ReifyError;
use super::replaced::Replaced;

/// How often the lock is tried, and for how long: the other installation may be compiling
/// something.
const INTERVAL: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_mins(15);

/// Keeps other processes from changing the same project, on systems that can lock folders. The
/// system releases the lock if the process dies.
#[derive(Debug)]
pub struct Hold {
    path: PathBuf,
    _folder: File,
    /// Whether this process created the folder.
    is_made: bool,
    /// The file or link that was in the folder's place.
    replaced: Option<Replaced>,
}

impl Hold {
    /// Waits for the lock on a project's `node_modules`. Creates the folder if necessary; anything
    /// else in its place makes way. `above` are the projects whose installations run this process
    /// in a script. They wait for the script, so nobody may wait for them.
    pub async fn of(project: &Path, above: &[PathBuf]) -> Result<Option<Self>, ReifyError> {
        let path = project.join("node_modules");
        let disk = |source| ReifyError::Disk { path: path.clone(), source };
        let (mut replaced, mut is_made) = (None, false);
        let mut waited = Duration::ZERO;
        loop {
            if let Some(other) = Replaced::take(&path).map_err(disk)? {
                replaced = Some(other);
            }
            is_made |= !path.exists();
            fs::create_dir_all(&path).map_err(disk)?;
            let Ok(folder) = File::open(&path) else { return Ok(None) };
            match folder.try_lock() {
                Ok(()) if is_at(&folder, &path) => {
                    return Ok(Some(Self { path, _folder: folder, is_made, replaced }));
                }
                // The previous holder removed the folder, because its installation failed.
                Ok(()) => is_made = false,
                Err(TryLockError::WouldBlock) if above.iter().any(|above| is_same(above, project)) => {
                    return Err(ReifyError::Nested { path });
                }
                Err(TryLockError::WouldBlock) if waited < PATIENCE => {
                    tokio::time::sleep(INTERVAL).await;
                    waited += INTERVAL;
                }
                Err(TryLockError::WouldBlock) => return Err(ReifyError::Busy { path }),
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // This removes the folder only if it is empty.
        if self.is_made
            && fs::remove_dir(&self.path).is_ok()
            && let Some(replaced) = &self.replaced
        {
            // If it can't be put back, only a link is lost.
            let _ = replaced.put_back(&self.path);
        }
    }
}

/// Whether two paths lead to the same folder.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Whether the path still leads to this folder.
#[cfg(unix)]
fn is_at(folder: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(held), Ok(named)) = (folder.metadata(), fs::metadata(path)) else { return false };
    (held.dev(), held.ino()) == (named.dev(), named.ino())
}

/// Whether the path still leads to this folder.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.is_dir()
}
