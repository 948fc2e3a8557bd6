//! Reads what is installed: the hidden lockfile if it can be trusted, otherwise the packages in
//! `node_modules`.
//!
//! The order is npm's (`load-actual.js`): the entries of a folder by name, with scopes expanded in
//! place, and then the levels below.

use std::collections::BTreeSet;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use espalier_core::{InstalledPackage, NodeModules};
use espalier_package::noted::Noted;
use rustc_hash::FxHashSet;

use super::{MANIFEST, ProjectFolder};

/// npm's record of what is installed.
pub const HIDDEN_LOCKFILE: &str = "node_modules/.package-lock.json";
/// How much older than a folder the hidden lockfile may be, because the clocks of file systems are
/// coarse.
const JITTER: Duration = Duration::from_millis(10);
/// The number of threads that walk through `node_modules`. More threads would wait for the same
/// locks in the kernel.
const WALKERS: usize = 2;

impl ProjectFolder {
    /// What a resolution without a lock starts from. Blocks.
    pub fn installed(&self) -> NodeModules {
        match self.noted() {
            Some((_, text)) => NodeModules { hidden_lockfile: Some(text), packages: Vec::new() },
            None => NodeModules { hidden_lockfile: None, packages: self.installed_packages() },
        }
    }

    /// The hidden lockfile and its text. `None` if something in `node_modules` is newer or differs
    /// from it (`assertNoNewer` of `shrinkwrap.js`).
    pub fn noted(&self) -> Option<(Noted, String)> {
        let text = fs::read_to_string(self.path().join(HIDDEN_LOCKFILE)).ok()?;
        let noted = Noted::read(&text)?;
        Check::of(self.path(), &noted)?;
        Some((noted, text))
    }

    /// The folders whose times show whether `node_modules` has changed: those that npm checks, and
    /// those with packages or commands. `None` if the hidden lockfile is out of date. Blocks.
    pub fn noted_folders(&self) -> Option<Vec<String>> {
        let noted = Noted::read(&fs::read_to_string(self.path().join(HIDDEN_LOCKFILE)).ok()?)?;
        let check = Check::of(self.path(), &noted)?;
        let mut folders: Vec<String> = check.seen.into_iter().chain(check.listed).collect();
        folders.sort_unstable();
        folders.dedup();
        Some(folders)
    }

    fn installed_packages(&self) -> Vec<InstalledPackage> {
        let mut packages = Vec::new();
        let mut loaded = BTreeSet::new();
        // The workspaces aren't known here. The content of other folders makes no difference.
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

    /// The target of a link, relative to the project.
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

/// The walk that checks whether the hidden lockfile is up to date.
struct Check<'a> {
    project: &'a Path,
    noted: &'a Noted,
    written: SystemTime,
    seen: FxHashSet<String>,
    /// The folders with packages or commands.
    listed: Vec<String>,
}

impl<'a> Check<'a> {
    /// Walks through everything. `None` if the hidden lockfile is out of date.
    fn of(project: &'a Path, noted: &'a Noted) -> Option<Self> {
        let written = fs::metadata(project.join(HIDDEN_LOCKFILE)).ok()?.modified().ok()? + JITTER;
        let walk = || Self { project, noted, written, seen: FxHashSet::default(), listed: Vec::new() };
        let mut check = walk();
        let folders = check.enter("node_modules")?;
        // The walk mostly waits for the kernel, and its parts are independent.
        let parts = folders.chunks(folders.len().div_ceil(WALKERS).max(1));
        let walked: Option<Vec<Self>> = std::thread::scope(|scope| {
            let part = |folders: &'_ [String]| {
                let mut part = walk();
                folders.iter().try_for_each(|folder| part.folder(folder)).map(|()| part)
            };
            let threads: Vec<_> = parts.map(|folders| scope.spawn(move || part(folders))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        for part in walked? {
            check.seen.extend(part.seen);
            check.listed.extend(part.listed);
        }
        for folder in check.folders_without_links() {
            check.folder(&folder)?;
        }
        // npm 7 also recorded the project itself.
        let is_seen = |location: &str| location.is_empty() || check.seen.contains(location);
        noted.locations().all(is_seen).then_some(check)
    }

    /// The recorded folders outside of `node_modules` to which no recorded link leads: the targets of
    /// omitted links, and those that contain packages.
    fn folders_without_links(&self) -> BTreeSet<String> {
        let linked: FxHashSet<&str> = self.noted.targets().collect();
        let folder = |location: &'a str| location.split_once("/node_modules/").map_or(location, |(folder, _)| folder);
        let is_project = |folder: &&str| !folder.is_empty() && folder.split('/').all(|step| step != "node_modules");
        let folders = self.noted.locations().map(folder).filter(is_project);
        folders.filter(|folder| !linked.contains(folder)).map(str::to_owned).collect()
    }

    fn folder(&mut self, location: &str) -> Option<()> {
        self.enter(location)?.iter().try_for_each(|inside| self.folder(inside))
    }

    /// The subfolders to walk through next. `None` if an entry is newer than the hidden lockfile or
    /// missing from it.
    fn enter(&mut self, location: &str) -> Option<Vec<String>> {
        let (above, name) = location.rsplit_once('/').unwrap_or(("", location));
        let holds_packages = name == "node_modules" || (name.starts_with('@') && above.ends_with("node_modules"));
        self.seen.insert(location.to_owned());
        if fs::metadata(self.project.join(location)).ok()?.modified().ok()? > self.written {
            return None;
        }
        if !holds_packages && self.noted.get(location).is_none() {
            return None;
        }
        let mut folders = Vec::new();
        let inside = if holds_packages { location.to_owned() } else { joined(location, "node_modules") };
        let Ok(entries) = fs::read_dir(self.project.join(&inside)) else { return Some(folders) };
        for entry in entries.flatten() {
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
            let name = name.to_string_lossy();
            let child = joined(&inside, &name);
            if kind.is_dir() && !name.starts_with('.') {
                folders.push(child);
            } else if kind.is_symlink() {
                self.link(child)?;
            } else if kind.is_dir() && name == ".bin" {
                self.listed.push(child);
            }
        }
        self.listed.push(inside);
        Some(folders)
    }

    fn link(&mut self, location: String) -> Option<()> {
        let target = self.project.join(&location).canonicalize().ok().filter(|target| target.is_dir());
        // A recorded target gives no credit to a link that no installation made.
        let is_noted = self.noted.get(&location).is_some_and(|entry| entry.link);
        self.seen.insert(location);
        let Some(target) = target else { return Some(()) };
        if !is_noted {
            return None;
        }
        let target = relative(&self.project.canonicalize().ok()?, &target);
        if self.seen.contains(&target) { Some(()) } else { self.folder(&target) }
    }
}

/// The names of the packages in a folder's `node_modules`.
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

/// The folders and links in a folder, by name, without hidden ones.
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
