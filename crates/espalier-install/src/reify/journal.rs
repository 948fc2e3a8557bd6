//! A record of the changes to a project, so that they can be undone.
//!
//! What has to go is moved into a folder beside it and stays there until everything else has
//! worked. A killed process leaves that folder and no hidden lockfile. The next installation then
//! looks at every file and finishes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::replaced::Replaced;
use crate::retired::RETIRED;

/// The changes to a project.
#[derive(Debug)]
pub struct Journal {
    project: PathBuf,
    steps: Mutex<Steps>,
}

#[derive(Debug, Default)]
struct Steps {
    /// Pairs of the old and the new path.
    moved: Vec<(PathBuf, PathBuf)>,
    /// Paths that didn't exist before.
    made: Vec<PathBuf>,
    /// What was in the place of a `node_modules`.
    replaced: Vec<(PathBuf, Replaced)>,
    /// The folders that hold what was moved away.
    folders: Vec<PathBuf>,
}

impl Journal {
    /// An empty journal.
    pub fn new(project: &Path) -> Self {
        Self { project: project.to_owned(), steps: Mutex::default() }
    }

    /// Moves something out of the way, if it exists.
    pub fn retire(&self, location: &str) -> io::Result<()> {
        let path = self.project.join(location);
        let end = location.find("node_modules").map_or(0, |at| at + "node_modules".len());
        let top = self.project.join(&location[..end]);
        if top == path {
            // A link or file is in the place of `node_modules`, so there is no folder to move it
            // into.
            let replaced = Replaced::take(&path)?;
            self.steps().replaced.extend(replaced.map(|replaced| (path, replaced)));
            return Ok(());
        }
        let folder = top.join(RETIRED);
        let mut steps = self.steps();
        if !steps.folders.contains(&folder) {
            // A killed process left this folder.
            fs::remove_dir_all(&folder).or_else(absent_is_fine)?;
            fs::create_dir_all(&folder)?;
            steps.folders.push(folder.clone());
        }
        if path == folder {
            return Ok(());
        }
        let aside = folder.join(steps.moved.len().to_string());
        fs::rename(&path, &aside).or_else(absent_is_fine)?;
        steps.moved.push((path, aside));
        Ok(())
    }

    /// Records a path that is about to be created.
    pub fn making(&self, location: &str) {
        let path = self.project.join(location);
        self.steps().made.push(path);
    }

    /// Undoes everything, as far as possible.
    pub fn roll_back(&self) {
        let steps = std::mem::take(&mut *self.steps());
        for path in steps.made.iter().rev() {
            let _ = match fs::symlink_metadata(path) {
                Ok(found) if found.is_dir() => fs::remove_dir_all(path),
                Ok(_) => fs::remove_file(path),
                Err(_) => Ok(()),
            };
            self.remove_empty(path.parent());
        }
        for (from, aside) in steps.moved.iter().rev() {
            let _ = from.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::rename(aside, from));
        }
        for folder in &steps.folders {
            let _ = fs::remove_dir_all(folder);
            self.remove_empty(folder.parent());
        }
        for (path, replaced) in &steps.replaced {
            let _ = replaced.put_back(path);
        }
    }

    /// Removes what was moved away. If something can't be removed now, the next installation
    /// removes it.
    pub fn finish(&self) {
        let steps = std::mem::take(&mut *self.steps());
        for folder in &steps.folders {
            let _ = fs::remove_dir_all(folder);
        }
        for (path, _) in &steps.moved {
            self.remove_empty(path.parent());
        }
    }

    /// Removes empty folders upwards, up to the project's own `node_modules`.
    fn remove_empty(&self, mut folder: Option<&Path>) {
        while let Some(path) = folder.filter(|path| path.starts_with(&self.project)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ours = name == "node_modules" || name == ".bin" || name.starts_with('@');
            if !ours || *path == self.project.join("node_modules") || fs::remove_dir(path).is_err() {
                return;
            }
            folder = path.parent();
        }
    }

    fn steps(&self) -> std::sync::MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) { Ok(()) } else { Err(error) }
}
