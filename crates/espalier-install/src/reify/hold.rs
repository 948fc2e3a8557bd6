//! One installation of a project at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ReifyError;
use super::replaced::Replaced;

/// How often another installation is looked after, and how long it may take: it may be compiling something.
const INTERVAL: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_mins(15);

/// Keeps other processes from changing the same project at the same time, where folders can be locked. The system lets go of
/// it when a process dies.
#[derive(Debug)]
pub struct Hold {
    path: PathBuf,
    _folder: File,
    /// Whether the folder wasn't there before.
    is_made: bool,
    /// What was in its place.
    replaced: Option<Replaced>,
}

impl Hold {
    /// Waits for a project's `node_modules`, which is made if need be; what isn't a folder in its place makes way.
    pub async fn of(project: &Path) -> Result<Option<Self>, ReifyError> {
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
                // Whoever had it has removed it, because nothing came of it.
                Ok(()) => is_made = false,
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
        // Removing works only where nothing came into it.
        if self.is_made
            && fs::remove_dir(&self.path).is_ok()
            && let Some(replaced) = &self.replaced
        {
            // What can't be put back is only a link.
            let _ = replaced.put_back(&self.path);
        }
    }
}

/// Whether a folder is still the one of that name.
#[cfg(unix)]
fn is_at(folder: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(held), Ok(named)) = (folder.metadata(), fs::metadata(path)) else { return false };
    (held.dev(), held.ino()) == (named.dev(), named.ino())
}

/// Whether a folder is still the one of that name.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.is_dir()
}
