//! Describes the packages in `node_modules` as a lockfile (`load-actual.js`).
//!
//! Each package's package.json describes it. Only the project's lockfile knows where it came from,
//! provided that it has the same version at the same location.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use espalier_core::paths;
use serde_json::{Map, Value, json};

/// The fields of package.json that a lockfile also has.
const FIELDS: [&str; 14] = [
    "version",
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "bundleDependencies",
    "bundledDependencies",
    "acceptDependencies",
    "engines",
    "os",
    "cpu",
    "libc",
    "license",
    "bin",
];

/// A lockfile of the installed packages.
pub(super) fn lockfile(project: &Path, lock: Option<&str>) -> String {
    let known = lock.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let known = known.and_then(|mut lock| Some(lock.get_mut("packages")?.take()));
    let mut scan = Scan { project, known, packages: Map::new(), visited: HashSet::new() };
    scan.modules("");
    json!({"lockfileVersion": 3, "requires": true, "packages": scan.packages}).to_string()
}

struct Scan<'a> {
    project: &'a Path,
    known: Option<Value>,
    packages: Map<String, Value>,
    visited: HashSet<String>,
}

impl Scan<'_> {
    /// Adds the packages in the `node_modules` of a folder. Names are in alphabetical order, so
    /// that the result is always the same.
    fn modules(&mut self, location: &str) {
        if !self.visited.insert(location.to_owned()) {
            return;
        }
        let modules = paths::join(location, "node_modules");
        for name in names_in(&self.project.join(&modules)) {
            let below = format!("{modules}/{name}");
            if name.starts_with('@') {
                for scoped in names_in(&self.project.join(&below)) {
                    self.package(&format!("{below}/{scoped}"));
                }
            } else {
                self.package(&below);
            }
        }
    }

    fn package(&mut self, location: &str) {
        let path = self.project.join(location);
        let Ok(metadata) = fs::symlink_metadata(&path) else { return };
        if metadata.is_symlink() {
            // A link without a target is ignored.
            let Some(target) = fs::canonicalize(&path).ok().filter(|target| target.is_dir()) else { return };
            let text = |path: &Path| path.to_string_lossy().replace('\\', "/");
            let target = paths::relative(&text(self.project), &text(&target));
            self.packages.insert(location.to_owned(), json!({"resolved": target, "link": true}));
            let entry = self.entry(&target);
            self.packages.entry(target.clone()).or_insert(entry);
            self.modules(&target);
        } else if metadata.is_dir() {
            let entry = self.entry(location);
            self.packages.insert(location.to_owned(), entry);
            self.modules(location);
        }
    }

    fn entry(&self, location: &str) -> Value {
        let text = fs::read_to_string(self.project.join(location).join("package.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let mut entry = Map::new();
        if let Some(name) = manifest.get("name").filter(|name| *name != paths::name_from_folder(location)) {
            entry.insert("name".to_owned(), name.clone());
        }
        for field in FIELDS {
            if let Some(value) = manifest.get(field) {
                entry.insert(field.to_owned(), value.clone());
            }
        }
        let known = self.known.as_ref().and_then(|known| known.get(location));
        if let Some(known) = known.filter(|known| known.get("version") == manifest.get("version")) {
            for field in ["resolved", "integrity", "inBundle", "hasInstallScript"] {
                if let Some(value) = known.get(field) {
                    entry.insert(field.to_owned(), value.clone());
                }
            }
        }
        Value::Object(entry)
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    names
}
