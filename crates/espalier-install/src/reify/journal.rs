//! A record of the changes to a project, so that they can be undone.
//!
//! The steps are kept in their order and undone in the reverse order. What has to go is moved into
//! a folder beside it and stays there until everything else has worked. A killed process leaves
//! that folder and no hidden lockfile. The next installation then looks at every file and finishes.
//!
//! Everything happens in folders that are the project's own ([`Ground`]). A path that leads through
//! a link is refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::replaced::Replaced;
use crate::ground::{Footing, Ground, refusal};
use crate::plan::layout::outermost;
use crate::retired::RETIRED;

/// The changes to a project.
#[derive(Debug)]
pub struct Journal {
    project: PathBuf,
    ground: Ground,
    steps: Mutex<Steps>,
}

#[derive(Debug, Default)]
struct Steps {
    done: Vec<Step>,
    /// The folders for what is moved away.
    aside: Vec<PathBuf>,
}

/// A change at a location.
#[derive(Debug)]
struct Step {
    location: String,
    change: Change,
}

#[derive(Debug)]
enum Change {
    /// A folder was created, for what is placed or for what is moved away.
    Folder,
    /// Something is being created, with everything below it.
    Made,
    /// Something was moved to this path.
    Moved(PathBuf),
    /// Something in the place of a `node_modules` was removed.
    Replaced(Replaced),
}

impl Journal {
    /// An empty journal.
    pub fn new(project: &Path) -> Self {
        Self { project: project.to_owned(), ground: Ground::new(project), steps: Mutex::default() }
    }

    /// What is at a location.
    pub fn footing(&self, location: &str) -> Footing {
        self.ground.at(location)
    }

    /// Moves something out of the way, if it exists.
    pub fn retire(&self, location: &str) -> io::Result<()> {
        let path = self.project.join(location);
        let Some(top) = outermost(location) else { return Err(refusal(&path)) };
        if !self.may_change(location)? {
            return Ok(());
        }
        if top == location {
            // A link or file is in the place of `node_modules`, so there is no folder to move it
            // into.
            let replaced = Replaced::take(&path)?;
            if let Some(replaced) = replaced {
                self.steps().add(location, Change::Replaced(replaced));
            }
            return Ok(());
        }
        let aside = format!("{top}/{RETIRED}");
        let folder = self.project.join(&aside);
        let mut steps = self.steps();
        if !steps.aside.contains(&folder) {
            // A killed process left what is there.
            remove(&folder)?;
            fs::create_dir(&folder)?;
            steps.add(&aside, Change::Folder);
            steps.aside.push(folder.clone());
        }
        if path == folder {
            return Ok(());
        }
        let to = folder.join(steps.done.len().to_string());
        match fs::rename(&path, &to) {
            Ok(()) => steps.add(location, Change::Moved(to)),
            Err(error) => absent_is_fine(error)?,
        }
        Ok(())
    }

    /// Records something that is about to be created, and creates the folder for it.
    pub fn making(&self, location: &str) -> io::Result<()> {
        self.ground.make(above(location), &mut |folder| self.steps().add(folder, Change::Folder))?;
        self.steps().add(location, Change::Made);
        Ok(())
    }

    /// Undoes everything, as far as possible. Returns whether everything is as it was before.
    pub fn roll_back(&self) -> bool {
        let steps = std::mem::take(&mut *self.steps());
        self.ground.forget_all();
        let mut is_complete = true;
        for step in steps.done.iter().rev() {
            is_complete &= self.undo(step).is_ok();
        }
        is_complete
    }

    fn undo(&self, Step { location, change }: &Step) -> io::Result<()> {
        let path = self.project.join(location);
        if let Change::Moved(to) = change {
            self.ground.make(above(location), &mut |_| ())?;
            return fs::rename(to, path);
        }
        if !self.may_change(location)? {
            return Ok(());
        }
        match change {
            Change::Made => remove(&path),
            Change::Replaced(replaced) => replaced.put_back(&path),
            // What could not be moved back keeps its folder, because it is the only copy.
            _ => fs::remove_dir(path).or_else(absent_is_fine),
        }
    }

    /// Whether there can be anything at a location. Refuses a location behind a link.
    fn may_change(&self, location: &str) -> io::Result<bool> {
        let folder = above(location);
        let footing = self.ground.at(folder);
        if footing == Footing::Foreign {
            return Err(refusal(&self.project.join(folder)));
        }
        self.ground.forget(location);
        Ok(footing == Footing::Own)
    }

    /// Removes what was moved away. If something can't be removed now, the next installation
    /// removes it.
    pub fn finish(&self) {
        let steps = std::mem::take(&mut *self.steps());
        for folder in &steps.aside {
            let _ = fs::remove_dir_all(folder);
        }
        for step in &steps.done {
            if matches!(step.change, Change::Moved(_)) {
                self.remove_empty(self.project.join(&step.location).parent());
            }
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

impl Steps {
    fn add(&mut self, location: &str, change: Change) {
        self.done.push(Step { location: location.to_owned(), change });
    }
}

/// The path of the folder that a location is in.
fn above(location: &str) -> &str {
    location.rsplit_once('/').map_or("", |(above, _)| above)
}

/// Removes whatever is at a path. A link is removed and not followed.
fn remove(path: &Path) -> io::Result<()> {
    let removed = fs::symlink_metadata(path)
        .and_then(|found| if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) });
    removed.or_else(absent_is_fine)
}

fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) { Ok(()) } else { Err(error) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::Journal;

    fn write(project: &Path, path: &str, content: &str) {
        let path = project.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("written");
    }

    fn read(project: &Path, path: &str) -> String {
        fs::read_to_string(project.join(path)).expect("a file")
    }

    #[test]
    fn steps_are_undone_in_the_reverse_order() {
        let project = tempfile::tempdir().expect("a temporary folder");
        let project = project.path();
        write(project, "node_modules/a/file", "1");
        let journal = Journal::new(project);
        for version in ["2", "3"] {
            journal.retire("node_modules/a").expect("moved");
            journal.making("node_modules/a").expect("recorded");
            write(project, "node_modules/a/file", version);
        }
        journal.making("node_modules/@s/b/node_modules/c").expect("recorded");
        write(project, "node_modules/@s/b/node_modules/c/file", "new");
        assert!(journal.roll_back());
        assert_eq!(read(project, "node_modules/a/file"), "1");
        assert_eq!(fs::read_dir(project.join("node_modules")).expect("a folder").count(), 1);
    }

    #[test]
    fn what_cannot_be_moved_back_is_kept() {
        let project = tempfile::tempdir().expect("a temporary folder");
        let project = project.path();
        write(project, "node_modules/a/file", "the only copy");
        write(project, "node_modules/b/file", "1");
        let journal = Journal::new(project);
        journal.retire("node_modules/a").expect("moved");
        journal.retire("node_modules/b").expect("moved");
        write(project, "node_modules/a/file", "somebody else's");
        assert!(!journal.roll_back());
        assert_eq!(read(project, "node_modules/a/file"), "somebody else's");
        assert_eq!(read(project, "node_modules/b/file"), "1");
        assert_eq!(read(project, "node_modules/.espalier-retired/1/file"), "the only copy");
    }

    #[test]
    fn nothing_is_moved_or_made_behind_a_link() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = &folder.path().join("project");
        write(folder.path(), "outside/node_modules/a/file", "precious");
        fs::create_dir_all(project.join("node_modules/.espalier-retired")).expect("a folder");
        symlink("../../outside", project.join("node_modules/b")).expect("a link");
        symlink("../../outside", project.join("node_modules/@s")).expect("a link");
        let journal = Journal::new(project);
        journal.retire("node_modules/b/node_modules/a").expect_err("a link is on the way");
        journal.making("node_modules/b/node_modules/c").expect_err("a link is on the way");
        journal.making("node_modules/@s/c").expect_err("a link is on the way");
        journal.retire("node_modules/b").expect("the link itself is moved");
        journal.finish();
        assert_eq!(read(folder.path(), "outside/node_modules/a/file"), "precious");
        assert!(project.join("node_modules/b").symlink_metadata().is_err());
    }

    /// The next installation looks for them in `node_modules` folders only.
    #[test]
    fn retired_files_are_in_a_folder_of_packages() {
        let project = tempfile::tempdir().expect("a temporary folder");
        let project = project.path();
        write(project, "packages/ui-node_modules/node_modules/a/file", "");
        let journal = Journal::new(project);
        journal.retire("packages/ui-node_modules/node_modules/a").expect("moved");
        assert!(project.join("packages/ui-node_modules/node_modules/.espalier-retired/1/file").exists());
    }
}
