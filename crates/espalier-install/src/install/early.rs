//! Work that starts during the resolution, because the installation needs its results.

use std::sync::Arc;

use espalier_package::noted::Noted;
use tokio::task::JoinHandle;

use super::Install;
use super::unchanged::stamps;
use crate::blocking;
use crate::digest::Digested;
use crate::project::ProjectFolder;
use crate::store::Store;

/// The work that has started.
#[derive(Debug)]
pub(super) struct Early {
    /// The store that packages are already downloaded into.
    pub store: Option<Arc<Store>>,
    /// Reads the hidden lockfile. `ci` does not need it.
    pub installed: Option<JoinHandle<Before>>,
}

/// The installed packages before the project was locked.
#[derive(Debug)]
pub(super) struct Before {
    stamp: Option<Digested>,
    noted: Option<Noted>,
}

impl Install {
    /// Reads the hidden lockfile. npm's check looks into every folder of `node_modules`, for which
    /// the resolution leaves processors idle.
    pub(super) fn installed_meanwhile(&self) -> JoinHandle<Before> {
        let project = self.lock.project.clone();
        blocking::beside(move || Before::of(&project))
    }
}

impl Early {
    /// The installed packages, after the project was locked.
    pub async fn installed(self, project: &ProjectFolder) -> Option<Noted> {
        blocking::result(self.installed?).await.or_now(project)
    }
}

impl Before {
    fn of(project: &ProjectFolder) -> Self {
        // The stamp is taken first. If the hidden lockfile is replaced while it is read, its stamp
        // is a different one afterwards.
        let stamp = stamp(project);
        Self { stamp, noted: noted(project) }
    }

    /// The installed packages, unless another installation has replaced the hidden lockfile since
    /// then.
    fn or_now(self, project: &ProjectFolder) -> Option<Noted> {
        if self.stamp.is_some() && self.stamp == stamp(project) { self.noted } else { noted(project) }
    }
}

fn noted(project: &ProjectFolder) -> Option<Noted> {
    project.noted().map(|(noted, _)| noted)
}

/// The state of the hidden lockfile.
fn stamp(project: &ProjectFolder) -> Option<Digested> {
    stamps(project.path(), &[])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use espalier_package::noted::Noted;
    use serde_json::json;

    use super::Before;
    use crate::project::{HIDDEN_LOCKFILE, ProjectFolder};

    /// A project without packages.
    fn project() -> (tempfile::TempDir, ProjectFolder) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("node_modules")).expect("a folder");
        fs::write(folder.path().join("package.json"), "{}").expect("written");
        let project = ProjectFolder::at(folder.path()).expect("a project");
        (folder, project)
    }

    /// Installs a package, as another process would.
    fn install(project: &ProjectFolder, name: &str) {
        let location = format!("node_modules/{name}");
        let _ = fs::remove_file(project.path().join(HIDDEN_LOCKFILE));
        fs::create_dir(project.path().join(&location)).expect("a folder");
        let mut packages = serde_json::Map::new();
        for entry in fs::read_dir(project.path().join("node_modules")).expect("a folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            packages.insert(format!("node_modules/{name}"), json!({ "version": "1.0.0" }));
        }
        let note = json!({ "lockfileVersion": 3, "packages": packages });
        fs::write(project.path().join(HIDDEN_LOCKFILE), note.to_string()).expect("written");
    }

    fn locations(noted: Option<&Noted>) -> Vec<String> {
        let mut locations: Vec<_> = noted.into_iter().flat_map(Noted::locations).map(str::to_owned).collect();
        locations.sort();
        locations
    }

    #[test]
    fn what_another_installation_has_changed_meanwhile_is_looked_at_again() {
        let (_folder, project) = project();
        let before_the_first = Before::of(&project);
        install(&project, "a");
        assert_eq!(locations(before_the_first.or_now(&project).as_ref()), ["node_modules/a"]);
        let before_the_second = Before::of(&project);
        install(&project, "b");
        assert_eq!(locations(before_the_second.or_now(&project).as_ref()), ["node_modules/a", "node_modules/b"]);
    }

    #[test]
    fn what_no_installation_has_changed_is_looked_at_once() {
        let (_folder, project) = project();
        install(&project, "a");
        let before = Before::of(&project);
        let folder = project.path().join("node_modules/mine");
        fs::create_dir(&folder).expect("a folder");
        // A folder that is missing in the hidden lockfile makes it out of date, but an unchanged
        // stamp skips the check.
        assert_eq!(locations(before.or_now(&project).as_ref()), ["node_modules/a"]);
    }
}
