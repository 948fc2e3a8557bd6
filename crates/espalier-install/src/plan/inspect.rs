//! What is on disk, compared with what shall be.
//!
//! Links are never followed: a link where a folder should be is something else than a folder. Either npm's note about the
//! installation is believed, as `npm install` does, or every file is looked at, for `ci` and where there is no such note.

use std::fs;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use espalier_package::bins::BinLink;
use espalier_package::layout::{Layout, Origin, Package, lies_in_node_modules, link_text, split};
use espalier_package::noted::Noted;

use super::verify::{self, Expectation};
use crate::retired;
use crate::store::StoredPackage;

/// How a location is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is nothing.
    Absent,
    /// It is as it should be.
    Right,
    /// Something is there, and it isn't right.
    Wrong(String),
}

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Of every package that shall be in a `node_modules`.
    pub conditions: FxHashMap<String, Condition>,
    /// What is there and shall not be, relative to the project.
    pub extraneous: Vec<String>,
    /// The versions that were noted, to say what an update changed.
    pub noted_versions: FxHashMap<String, String>,
}

/// How closely to look.
pub struct Inspection<'a> {
    /// The project's folder.
    pub project: &'a Path,
    /// What shall be.
    pub layout: &'a Layout,
    /// The commands that shall be.
    pub bins: &'a [BinLink],
    /// npm's note, if it is to be believed; otherwise files are compared.
    pub installed: Option<&'a Noted>,
    /// Whether hidden folders of others (`.cache`, `.vite`) are removed as `npm ci` removes them.
    pub clean: bool,
    /// The package in the store, by location.
    pub stored: &'a dyn Fn(&str) -> Option<StoredPackage>,
    /// The mode that makes a file executable.
    pub executable_mode: u32,
}

impl Inspection<'_> {
    /// Looks.
    pub fn run(&self) -> Findings {
        let mut findings = Findings::default();
        let mut executables: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        for bin in self.bins {
            executables.entry(&bin.package).or_default().insert(&bin.file);
        }
        let folders = self.layout.folders();
        let mut names: Vec<&str> = folders.keys().copied().collect();
        let projects = self.layout.packages.iter().filter(|(_, package)| package.origin == Origin::Folder);
        let projects = projects.map(|(location, _)| format!("{location}/node_modules")).collect::<Vec<_>>();
        let inside = projects.iter().filter(|folder| !folder.starts_with("..")).map(String::as_str);
        names.extend(std::iter::once("node_modules").chain(inside).filter(|name| !folders.contains_key(name)));
        names.sort_unstable();
        let none = FxHashSet::default();
        for folder in names {
            let owner = folder.strip_suffix("/node_modules").and_then(|owner| self.layout.packages.get(owner));
            self.look_into(folder, folders.get(folder).unwrap_or(&none), owner, &mut findings);
        }
        self.look_for_forgotten(&folders, &mut findings);
        for (location, package) in &self.layout.packages {
            if !lies_in_node_modules(location) || matches!(package.origin, Origin::Bundle { .. }) {
                continue;
            }
            let condition = if is_below(location, &findings.extraneous) {
                Condition::Absent
            } else {
                let found = self.condition(location, package, executables.get(location.as_str()), &folders);
                self.patched(found, location, package)
            };
            findings.conditions.insert(location.clone(), condition);
            let version = self.installed.and_then(|installed| installed.get(location)?.version.clone());
            if let Some(version) = version {
                findings.noted_versions.insert(location.clone(), version);
            }
        }
        findings
    }

    /// Finds what doesn't belong into a `node_modules`.
    fn look_into(&self, folder: &str, expected: &FxHashSet<&str>, owner: Option<&Package>, findings: &mut Findings) {
        let path = self.project.join(folder);
        let Ok(found) = fs::symlink_metadata(&path) else { return };
        if !found.is_dir() {
            return findings.extraneous.push(folder.to_owned());
        }
        // What a package brings in its own `node_modules` is judged with the package.
        let is_bundle = owner.is_some_and(|owner| owner.bundles);
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name.starts_with('.') {
                let ours = retired::is_retired(&path, &name);
                let known = (name == ".bin" && is_folder) || name == ".package-lock.json";
                let ours = ours || name == ".bin";
                if !known && (ours || (self.clean && !is_bundle)) {
                    findings.extraneous.push(format!("{folder}/{name}"));
                }
            } else if name.starts_with('@') && is_folder {
                let mut is_used = false;
                for inner in fs::read_dir(entry.path()).into_iter().flatten().flatten() {
                    let scoped = format!("{name}/{}", inner.file_name().to_string_lossy());
                    if expected.contains(scoped.as_str()) || is_bundle {
                        is_used = true;
                    } else {
                        findings.extraneous.push(format!("{folder}/{scoped}"));
                    }
                }
                if !is_used && !is_bundle {
                    findings.extraneous.retain(|path| !path.starts_with(&format!("{folder}/{name}/")));
                    findings.extraneous.push(format!("{folder}/{name}"));
                }
            } else if !expected.contains(name.as_str()) && !is_bundle {
                findings.extraneous.push(format!("{folder}/{name}"));
            }
        }
    }

    /// Finds what was installed in a package that has nothing in its `node_modules` any more. What a package brings there
    /// itself isn't noted, and stays.
    fn look_for_forgotten(&self, folders: &FxHashMap<&str, FxHashSet<&str>>, findings: &mut Findings) {
        let mut noted: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        let locations = self.installed.into_iter().flat_map(Noted::locations);
        for location in locations.filter(|location| lies_in_node_modules(location)) {
            let (folder, name) = split(location);
            let owner = folder.strip_suffix("/node_modules").and_then(|owner| self.layout.packages.get(owner));
            // What lies in anything else goes with that, or was found already.
            if owner.is_some_and(|owner| !owner.is_link()) && !folders.contains_key(folder) {
                noted.entry(folder).or_default().insert(name);
            }
        }
        for (folder, names) in noted {
            let path = self.project.join(folder);
            if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            // The names are those on disk: the note may say anything.
            for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let is_scope = name.starts_with('@') && entry.file_type().is_ok_and(|kind| kind.is_dir());
                let inner = || fs::read_dir(entry.path()).into_iter().flatten().flatten();
                let found: Vec<String> = if is_scope {
                    inner().map(|inner| format!("{name}/{}", inner.file_name().to_string_lossy())).collect()
                } else {
                    vec![name]
                };
                let extraneous = found.into_iter().filter(|name| names.contains(name.as_str()));
                findings.extraneous.extend(extraneous.map(|name| format!("{folder}/{name}")));
            }
        }
        findings.extraneous.sort_unstable();
    }

    /// What is right as far as its version goes is wrong if it isn't patched as it should be: by npm's note, or, where there
    /// is none, if it is to be patched at all, because the store doesn't know patched files.
    fn patched(&self, found: Condition, location: &str, package: &Package) -> Condition {
        let noted = self.installed.and_then(|installed| installed.get(location));
        let is_right = noted.map_or(package.patch.is_none(), |entry| entry.is_patched_as(package));
        if found != Condition::Right || is_right {
            return found;
        }
        Condition::Wrong("it is not patched as it should be".to_owned())
    }

    fn condition(
        &self,
        location: &str,
        package: &Package,
        executables: Option<&FxHashSet<&str>>,
        folders: &FxHashMap<&str, FxHashSet<&str>>,
    ) -> Condition {
        let path = self.project.join(location);
        let Ok(found) = fs::symlink_metadata(&path) else { return Condition::Absent };
        if let Origin::Link(target) = &package.origin {
            let right = fs::read_link(&path).is_ok_and(|link| link == Path::new(&link_text(location, target)));
            return if right { Condition::Right } else { Condition::Wrong("it is not the right link".into()) };
        }
        if !found.is_dir() {
            return Condition::Wrong("it is not a folder".into());
        }
        if !matches!(package.origin, Origin::Tarball { .. } | Origin::Unknown) {
            return Condition::Right;
        }
        if let Some(installed) = self.installed {
            return match installed.get(location) {
                Some(entry) if entry.is(package) => Condition::Right,
                Some(_) => Condition::Wrong("it is another version".into()),
                None => Condition::Wrong("it is not known where it comes from".into()),
            };
        }
        let Some(stored) = (self.stored)(location) else {
            return Condition::Wrong("the store has nothing to compare it with".into());
        };
        let belongs = |inside: &str| {
            let whole = format!("{location}/{inside}");
            let packages =
                folders.contains_key(whole.as_str()) && !stored.record.folders.iter().any(|folder| folder == inside);
            let commands = whole.ends_with("node_modules/.bin");
            let package = self.layout.packages.get(&whole);
            packages || commands || package.is_some_and(|package| !matches!(package.origin, Origin::Bundle { .. }))
        };
        let none = FxHashSet::default();
        let expectation = Expectation {
            stored: &stored,
            belongs: &belongs,
            executables: executables.unwrap_or(&none),
            executable_mode: self.executable_mode,
        };
        verify::first_difference(&path, &expectation).map_or(Condition::Right, Condition::Wrong)
    }
}

/// Whether one of these paths is this location, or above it.
pub fn is_below(location: &str, paths: &[String]) -> bool {
    let above = location.match_indices('/').map(|(at, _)| &location[..at]);
    let mut candidates = above.chain([location]);
    candidates.any(|candidate| paths.iter().any(|path| path == candidate))
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn a_path_is_below_itself_and_its_folders() {
        let paths = ["node_modules/a".to_owned()];
        assert!(is_below("node_modules/a", &paths) && is_below("node_modules/a/node_modules/b", &paths));
        assert!(!is_below("node_modules/ab", &paths) && !is_below("node_modules", &paths));
    }
}
