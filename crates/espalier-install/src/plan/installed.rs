//! What npm, or this program, last noted about a `node_modules`: the hidden lockfile, and whether it can be believed.
//!
//! The rule is npm's (`shrinkwrap.js`, `assertNoNewer`): it has to be newer than every folder that packages are in, and
//! name exactly the packages that are there.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use espalier_package::noted::{Entry, Noted};
use rustc_hash::FxHashSet;

/// The name of the file in `node_modules`.
pub const HIDDEN_LOCKFILE: &str = "node_modules/.package-lock.json";

/// What npm allows for clocks that aren't precise.
const JITTER: Duration = Duration::from_millis(10);

/// A note that can be believed.
#[derive(Debug)]
pub struct Installed(Noted);

impl Installed {
    /// What is noted, if there is something and it can be believed.
    pub fn read(project: &Path) -> Option<Self> {
        let file = project.join(HIDDEN_LOCKFILE);
        let noted = fs::symlink_metadata(&file).ok()?;
        let installed = Noted::read(&fs::read_to_string(&file).ok()?)?;
        let mut check = Check {
            project,
            noted: noted.modified().ok()? + JITTER,
            installed: &installed,
            seen: FxHashSet::default(),
        };
        check.folder("node_modules")?;
        let is_complete = installed.locations().all(|location| check.seen.contains(location));
        is_complete.then_some(Self(installed))
    }

    /// What is noted of a location.
    pub fn get(&self, location: &str) -> Option<&Entry> {
        self.0.get(location)
    }
}

struct Check<'a> {
    project: &'a Path,
    noted: SystemTime,
    installed: &'a Noted,
    seen: FxHashSet<String>,
}

impl Check<'_> {
    /// `None` as soon as something is newer than the file, or unknown to it.
    fn folder(&mut self, location: &str) -> Option<()> {
        let (above, name) = location.rsplit_once('/').unwrap_or(("", location));
        let holds_packages = name == "node_modules" || (name.starts_with('@') && above.ends_with("node_modules"));
        self.seen.insert(location.to_owned());
        let folder = self.project.join(location);
        if fs::metadata(&folder).ok()?.modified().ok()? > self.noted {
            return None;
        }
        if !holds_packages && self.installed.get(location).is_none() {
            return None;
        }
        let inside = if holds_packages { location.to_owned() } else { format!("{location}/node_modules") };
        let Ok(entries) = fs::read_dir(self.project.join(&inside)) else { return Some(()) };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            let child = format!("{inside}/{name}");
            if kind.is_dir() && !name.starts_with('.') {
                self.folder(&child)?;
            } else if kind.is_symlink() {
                let target = self.installed.get(&child).and_then(|entry| entry.resolved.clone());
                self.seen.insert(child);
                if let Some(target) = target.filter(|target| !self.seen.contains(target) && !target.is_empty()) {
                    self.folder(&target)?;
                }
            }
        }
        Some(())
    }
}
