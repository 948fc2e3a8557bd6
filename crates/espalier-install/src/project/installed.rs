//! What is installed: the hidden lockfile where it can be trusted, else the packages as they lie in `node_modules`.
//!
//! npm's order (`load-actual.js`): a folder's entries by name, scopes opened in their place, then what is below them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use espalier_core::{Installed, InstalledPackage};
use serde_json::Value;

use super::{MANIFEST, ProjectFolder};

const HIDDEN_LOCKFILE: &str = "node_modules/.package-lock.json";
/// How much older than a folder the hidden lockfile may be: clocks of file systems are coarse.
const JITTER: Duration = Duration::from_millis(10);

impl ProjectFolder {
    /// What a resolution without a lock starts from. Blocks.
    pub fn installed(&self) -> Installed {
        match self.hidden_lockfile() {
            Some(text) => Installed { hidden_lockfile: Some(text), packages: Vec::new() },
            None => Installed { hidden_lockfile: None, packages: self.installed_packages() },
        }
    }

    /// The hidden lockfile, unless something in `node_modules` is newer than it, or not what it says (`assertNoNewer`).
    pub fn hidden_lockfile(&self) -> Option<String> {
        let path = self.path().join(HIDDEN_LOCKFILE);
        let text = fs::read_to_string(&path).ok()?;
        let written = fs::metadata(&path).ok()?.modified().ok()?;
        let lock: Value = serde_json::from_str(&text).ok()?;
        let locations: BTreeSet<&str> = lock.get("packages")?.as_object()?.keys().map(String::as_str).collect();
        let mut check = Check { project: self.path(), locations: &locations, written, seen: BTreeSet::new() };
        check.modules_of("")?;
        locations.iter().all(|location| check.seen.contains(*location)).then_some(text)
    }

    fn installed_packages(&self) -> Vec<InstalledPackage> {
        let mut packages = Vec::new();
        let mut loaded = BTreeSet::new();
        // Which folders are workspaces isn't known here; what lies in other folders is of no consequence.
        let manifest = fs::read_to_string(self.path().join(MANIFEST)).unwrap_or_default();
        let projects = if manifest.contains("\"workspaces\"") { self.package_folders().ok() } else { None };
        let mut level = vec![String::new()];
        level.extend(projects.into_iter().flatten());
        while !level.is_empty() {
            let mut below = Vec::new();
            for folder in level {
                if !loaded.insert(folder.clone()) {
                    continue;
                }
                for name in modules(&self.path().join(&folder)) {
                    let path = joined(&folder, &format!("node_modules/{name}"));
                    let target = self.target(&path);
                    let manifest = fs::read_to_string(self.path().join(&path).join(MANIFEST)).ok();
                    below.push(target.clone().unwrap_or_else(|| path.clone()));
                    packages.push(InstalledPackage { path, target, manifest });
                }
            }
            level = below;
        }
        packages
    }

    /// Where a link leads, relative to the project.
    fn target(&self, path: &str) -> Option<String> {
        let full = self.path().join(path);
        if !full.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return None;
        }
        let target = full.canonicalize().ok()?;
        let project = self.path().canonicalize().ok()?;
        Some(relative(&project, &target))
    }
}

/// The walk that tells whether the hidden lockfile is up to date.
struct Check<'a> {
    project: &'a Path,
    locations: &'a BTreeSet<&'a str>,
    written: SystemTime,
    seen: BTreeSet<String>,
}

impl Check<'_> {
    fn modules_of(&mut self, folder: &str) -> Option<()> {
        let modules = self.project.join(folder).join("node_modules");
        if !modules.is_dir() {
            return Some(());
        }
        self.is_older(&modules)?;
        for name in entries(&modules) {
            if name.starts_with('@') {
                self.is_older(&modules.join(&name))?;
                for inner in entries(&modules.join(&name)) {
                    self.package(&joined(folder, &format!("node_modules/{name}/{inner}")))?;
                }
            } else {
                self.package(&joined(folder, &format!("node_modules/{name}")))?;
            }
        }
        Some(())
    }

    fn package(&mut self, location: &str) -> Option<()> {
        let path = self.project.join(location);
        let metadata = path.symlink_metadata().ok()?;
        self.seen.insert(location.to_owned());
        if metadata.is_dir() {
            return self.folder(location);
        }
        if metadata.is_symlink()
            && let Ok(target) = path.canonicalize()
            && target.is_dir()
        {
            let target = relative(&self.project.canonicalize().ok()?, &target);
            if !self.seen.contains(&target) {
                self.seen.insert(target.clone());
                return self.folder(&target);
            }
        }
        Some(())
    }

    fn folder(&mut self, location: &str) -> Option<()> {
        self.is_older(&self.project.join(location))?;
        self.locations.contains(location).then_some(())?;
        self.modules_of(location)
    }

    fn is_older(&self, path: &Path) -> Option<()> {
        let modified = fs::metadata(path).ok()?.modified().ok()?;
        (modified <= self.written + JITTER).then_some(())
    }
}

/// The names of packages in a folder's `node_modules`.
fn modules(folder: &Path) -> Vec<String> {
    let modules = folder.join("node_modules");
    let mut names = Vec::new();
    for name in entries(&modules) {
        if name.starts_with('@') {
            names.extend(entries(&modules.join(&name)).into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            names.push(name);
        }
    }
    names
}

/// The folders and links in a folder, by name, without those that are hidden.
fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink()));
    let mut names: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort_unstable();
    names
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

fn relative(from: &Path, to: &Path) -> String {
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Path::new("..").to_owned());
    let down = to.components().skip(common).map(|part| PathBuf::from(part.as_os_str()));
    let path: PathBuf = up.chain(down).collect();
    path.to_string_lossy().replace('\\', "/")
}
