//! One installation of a project at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::ReifyError;

/// Keeps other processes from changing the same project at the same time, where folders can be locked. The system lets go of
/// it when a process dies.
#[derive(Debug)]
pub struct Hold {
    _folder: File,
    /// The folder, if it wasn't there before.
    made: Option<PathBuf>,
}

impl Hold {
    /// Waits for a project's `node_modules`, which is made if need be; what isn't a folder in its place is removed.
    pub fn of(project: &Path) -> Result<Option<Self>, ReifyError> {
        let path = project.join("node_modules");
        let disk = |source| ReifyError::Disk { path: path.clone(), source };
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(&path).map_err(disk)?;
        }
        let made = (!path.exists()).then(|| path.clone());
        fs::create_dir_all(&path).map_err(disk)?;
        let folder = File::open(&path).ok().filter(|folder| folder.lock().is_ok());
        Ok(folder.map(|folder| Self { _folder: folder, made }))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Works only where nothing came into it.
        let _ = self.made.take().map(fs::remove_dir);
    }
}
