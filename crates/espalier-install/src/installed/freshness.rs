//! Whether `node_modules/.package-lock.json` still describes what is there (`assertNoNewer` in `shrinkwrap.js`).
//!
//! It does when no folder was changed after it was written, and everything that it lists is there. What someone edits inside
//! a file is not noticed, as in npm.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

#[derive(Deserialize)]
struct Locations {
    packages: serde_json::Map<String, serde_json::Value>,
}

/// The hidden lockfile's text, unless something has changed since.
pub(super) fn hidden_lockfile(project: &Path) -> Option<String> {
    let path = project.join("node_modules").join(".package-lock.json");
    let written = fs::metadata(&path).ok()?.modified().ok()?;
    let text = fs::read_to_string(&path).ok()?;
    let listed: Locations = serde_json::from_str(&text).ok()?;
    let mut walk = Walk { project, written, seen: HashSet::new() };
    walk.folder(&project.join("node_modules"))?;
    listed.packages.keys().all(|location| walk.seen.contains(Path::new(location))).then_some(text)
}

struct Walk<'a> {
    project: &'a Path,
    written: SystemTime,
    seen: HashSet<PathBuf>,
}

impl Walk<'_> {
    /// Looks at a folder and what is installed below it; `None` when something is newer.
    fn folder(&mut self, folder: &Path) -> Option<()> {
        if fs::metadata(folder).ok()?.modified().ok()? > self.written {
            return None;
        }
        self.seen.insert(relative(self.project, folder));
        let name = folder.file_name()?.to_str()?;
        let holds_packages = name == "node_modules" || name.starts_with('@');
        let below = if holds_packages { folder.to_owned() } else { folder.join("node_modules") };
        let Ok(entries) = fs::read_dir(&below) else { return Some(()) };
        for entry in entries.flatten() {
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            if kind.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
                self.folder(&path)?;
            } else if kind.is_symlink() {
                self.seen.insert(relative(self.project, &path));
                let target = fs::canonicalize(&path).ok().filter(|target| target.is_dir());
                if let Some(target) = target.filter(|target| !self.seen.contains(&relative(self.project, target))) {
                    self.folder(&target)?;
                }
            }
        }
        Some(())
    }
}

fn relative(project: &Path, path: &Path) -> PathBuf {
    let text = |path: &Path| path.to_string_lossy().replace('\\', "/");
    espalier_core::paths::relative(&text(project), &text(path)).into()
}
