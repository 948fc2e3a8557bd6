//! The folders that are a project's own. The way to such a folder leads through folders only:
//! links are never followed, so nothing behind a link is looked into, changed or removed.
//!
//! The way to a workspace is the exception. It may contain links that lead to a place inside the
//! project. In and below a `node_modules` there is no exception. This module doesn't know which
//! folders an installation needs, and it protects from what the project contains, not from other
//! processes that change it at the same time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use espalier_package::layout::outermost;
use rustc_hash::FxHashSet;

/// The folders of a project. Paths are relative to the project and have forward slashes.
#[derive(Debug)]
pub struct Ground {
    project: PathBuf,
    /// The project's folder with links resolved.
    real: OnceLock<Option<PathBuf>>,
    /// Folders that were found to be the project's own. Those that contain them are here as well.
    own: Mutex<FxHashSet<String>>,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footing {
    /// A folder of the project.
    Own,
    /// Nothing.
    Absent,
    /// Something else, here or on the way here: a link, a file, or a place outside the project.
    Foreign,
}

impl Ground {
    /// The folders of this project.
    pub fn new(project: &Path) -> Self {
        Self { project: project.to_owned(), real: OnceLock::new(), own: Mutex::default() }
    }

    /// What is at a path.
    pub fn at(&self, path: &str) -> Footing {
        if path.is_empty() || self.own().contains(path) {
            return Footing::Own;
        }
        let (above, name) = split(path);
        let footing = match self.at(above) {
            Footing::Own => self.look(path, name),
            footing => return footing,
        };
        if footing == Footing::Own {
            self.own().insert(path.to_owned());
        }
        footing
    }

    /// Tells that a folder is the project's own, because somebody has looked already.
    pub fn know(&self, folder: &str) {
        if self.at(split(folder).0) == Footing::Own {
            self.own().insert(folder.to_owned());
        }
    }

    /// Tells that a path has changed or is about to.
    pub fn forget(&self, path: &str) {
        let mut own = self.own();
        // Folders below it are known only if it is known itself.
        if own.contains(path) {
            own.clear();
        }
    }

    /// Forgets everything, because scripts may have changed any folder.
    pub fn forget_all(&self) {
        self.own().clear();
    }

    /// Creates a folder and those above it, unless they exist. `made` receives each new one.
    pub fn make(&self, folder: &str, made: &mut dyn FnMut(&str)) -> io::Result<()> {
        if folder.is_empty() || self.own().contains(folder) {
            return Ok(());
        }
        self.make(split(folder).0, made)?;
        let path = self.project.join(folder);
        if self.at(folder) == Footing::Absent {
            match fs::create_dir(&path) {
                Ok(()) => {
                    self.own().insert(folder.to_owned());
                    made(folder);
                    return Ok(());
                }
                // Another thread was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        if self.at(folder) == Footing::Own { Ok(()) } else { Err(refusal(&path)) }
    }

    fn look(&self, path: &str, name: &str) -> Footing {
        if matches!(name, "" | "." | "..") {
            return Footing::Foreign;
        }
        let full = self.project.join(path);
        match fs::symlink_metadata(&full) {
            Ok(found) if found.is_dir() => Footing::Own,
            Ok(found) if found.is_symlink() && outermost(path).is_none() && self.leads_inside(&full) => Footing::Own,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Footing::Absent,
            _ => Footing::Foreign,
        }
    }

    fn leads_inside(&self, link: &Path) -> bool {
        let real = self.real.get_or_init(|| self.project.canonicalize().ok());
        let target = link.canonicalize().ok().filter(|target| target.is_dir());
        target.is_some_and(|target| real.as_ref().is_some_and(|real| target.starts_with(real)))
    }

    fn own(&self) -> MutexGuard<'_, FxHashSet<String>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error for a path that isn't the project's own.
pub fn refusal(path: &Path) -> io::Error {
    io::Error::other(format!("{} is not a folder of the project", path.display()))
}

/// The folder of a path, and the name in it.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{Footing, Ground};

    #[test]
    fn links_lead_away_except_on_the_way_to_a_workspace() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = folder.path().join("project");
        for path in ["libs/ui/node_modules/a", "node_modules/b/node_modules", "packages"] {
            fs::create_dir_all(project.join(path)).expect("a folder");
        }
        fs::create_dir_all(folder.path().join("outside/node_modules")).expect("a folder");
        symlink("../libs/ui", project.join("packages/inside")).expect("a link");
        symlink("../../outside", project.join("packages/out-node_modules")).expect("a link");
        symlink("../../missing", project.join("packages/dangling")).expect("a link");
        symlink("b", project.join("node_modules/c")).expect("a link");
        let ground = Ground::new(&project);
        for (path, footing) in [
            ("", Footing::Own),
            ("node_modules/b/node_modules", Footing::Own),
            ("node_modules/b/node_modules/d", Footing::Absent),
            ("node_modules/d/node_modules", Footing::Absent),
            ("node_modules/c", Footing::Foreign),
            ("node_modules/c/node_modules", Footing::Foreign),
            ("packages/inside/node_modules/a", Footing::Own),
            ("packages/out-node_modules/node_modules", Footing::Foreign),
            ("packages/dangling", Footing::Foreign),
            ("../outside", Footing::Foreign),
            ("node_modules/../../outside", Footing::Foreign),
        ] {
            assert_eq!(ground.at(path), footing, "{path}");
        }
    }

    #[test]
    fn what_has_changed_is_looked_at_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ground = Ground::new(folder.path());
        let mut made = Vec::new();
        ground.make("node_modules/a/node_modules", &mut |path| made.push(path.to_owned())).expect("a folder");
        assert_eq!(made, ["node_modules", "node_modules/a", "node_modules/a/node_modules"]);
        fs::remove_dir_all(folder.path().join("node_modules/a")).expect("removed");
        symlink("/", folder.path().join("node_modules/a")).expect("a link");
        ground.forget("node_modules/a");
        assert_eq!(ground.at("node_modules/a/node_modules"), Footing::Foreign);
        ground.make("node_modules/a/node_modules", &mut |_| ()).expect_err("a link is on the way");
    }
}
