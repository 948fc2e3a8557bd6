//! Compares the files on disk with the target state.
//!
//! Links are never followed: a link in the place of a folder is wrong. Either the hidden lockfile
//! is trusted, as in `npm install`, or every file is compared, in `ci` and without a hidden
//! lockfile.
//!
//! npm's `ci` begins by emptying the `node_modules` of the project and of all workspaces
//! (`lib/commands/ci.js`). So whatever is there and does not belong there is extraneous in `ci`. In
//! other folders, and in every other command, hidden entries are somebody else's and stay.

use std::fs::{self, FileType};
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use espalier_package::bins::BinLink;
use espalier_package::layout::{Layout, Origin, Package, lies_in_node_modules, link_text, outermost, split};
use espalier_package::noted::Noted;

use super::verify::{self, Expectation};
use crate::ground::{Footing, Ground};
use crate::retired;
use crate::store::StoredPackage;

/// The condition of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is nothing.
    Absent,
    /// It is right.
    Right,
    /// Something is there that isn't right, with the first difference.
    Wrong(String),
}

/// The result of an inspection.
#[derive(Debug, Default)]
pub struct Findings {
    /// The condition of every package that belongs into a `node_modules`.
    pub conditions: FxHashMap<String, Condition>,
    /// Paths that don't belong there, relative to the project.
    pub extraneous: Vec<String>,
    /// The `.bin` folders that `ci` empties.
    pub swept: Vec<Sweep>,
    /// The versions in the hidden lockfile, to report what an update changed.
    pub noted_versions: FxHashMap<String, String>,
}

/// A `.bin` folder in which nothing stays but the commands of packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Its path, relative to the project.
    pub folder: String,
    /// Whether files stay, because a package has brought them. Commands are links, except on
    /// Windows.
    pub keeps_files: bool,
}

/// What to compare, and how thoroughly.
pub struct Inspection<'a> {
    /// The project's folder.
    pub project: &'a Path,
    /// The folders that may be looked into.
    pub ground: &'a Ground,
    /// The target state.
    pub layout: &'a Layout,
    /// The commands of the target state.
    pub bins: &'a [BinLink],
    /// The hidden lockfile, if it is trusted. Otherwise files are compared.
    pub installed: Option<&'a Noted>,
    /// Whether this is `ci`.
    pub clean: bool,
    /// The folders of all workspaces, selected or not.
    pub workspaces: &'a [String],
    /// Whether only a part of the tree is installed.
    pub partial: bool,
    /// The stored package of a location.
    pub stored: &'a dyn Fn(&str) -> Option<StoredPackage>,
    /// The mode of executable files.
    pub executable_mode: u32,
}

impl Inspection<'_> {
    /// Inspects the project.
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
        let emptied = self.workspaces.iter().filter(|_| self.clean).map(|folder| format!("{folder}/node_modules"));
        let projects: Vec<String> = projects.into_iter().chain(emptied).collect();
        let inside = projects.iter().filter(|folder| !folder.starts_with("..")).map(String::as_str);
        names.extend(std::iter::once("node_modules").chain(inside).filter(|name| !folders.contains_key(name)));
        names.sort_unstable();
        names.dedup();
        let none = FxHashSet::default();
        let mut present = FxHashMap::default();
        for folder in names {
            let owner = folder.strip_suffix("/node_modules").and_then(|owner| self.layout.packages.get(owner));
            // Packages that a package brings in its own `node_modules` are compared with that package.
            let is_bundle = owner.is_some_and(|owner| owner.bundles);
            let expected = folders.get(folder).unwrap_or(&none);
            self.look_into(folder, expected, is_bundle, &mut findings, &mut present);
        }
        self.look_for_forgotten(&folders, &mut findings);
        for (location, package) in &self.layout.packages {
            if !lies_in_node_modules(location) || matches!(package.origin, Origin::Bundle { .. }) {
                continue;
            }
            let condition = if is_below(location, &findings.extraneous) {
                Condition::Absent
            } else {
                let executables = executables.get(location.as_str());
                let found = present
                    .get(location)
                    .map_or(Condition::Absent, |kind| self.condition(location, *kind, package, executables, &folders));
                self.patched(found, location, package)
            };
            findings.conditions.insert(location.clone(), condition);
            let version = self.installed.and_then(|installed| installed.get(location)?.version.clone());
            if let Some(version) = version {
                findings.noted_versions.insert(location.clone(), version);
            }
        }
        self.look_at_bundled(&present, &mut findings);
        if !self.clean {
            self.look_behind_former_links(&mut present, &mut findings);
        }
        findings
    }

    /// Finds packages whose bundled packages were replaced by links or files. A package below such
    /// a link would be placed elsewhere.
    fn look_at_bundled(&self, present: &FxHashMap<String, FileType>, findings: &mut Findings) {
        let is_brought = |package: &Package| matches!(package.origin, Origin::Bundle { .. });
        for (location, _) in self.layout.packages.iter().filter(|(_, package)| is_brought(package)) {
            let is_replaced = |path: &str| present.get(path).is_some_and(|kind| !kind.is_dir());
            let (folder, name) = split(location);
            let scope = name.split_once('/').map(|(scope, _)| format!("{folder}/{scope}"));
            if !is_replaced(location) && !scope.is_some_and(|scope| is_replaced(&scope)) {
                continue;
            }
            let mut above = location.rmatch_indices("/node_modules/").map(|(at, _)| &location[..at]);
            let bundler = above.find(|above| self.layout.packages.get(*above).is_some_and(|owner| !is_brought(owner)));
            // Only a package that can be fetched again is replaced.
            let has_source = |owner: &&str| matches!(self.layout.packages[*owner].origin, Origin::Tarball { .. });
            let condition = bundler.filter(has_source).and_then(|owner| findings.conditions.get_mut(owner));
            if let Some(condition) = condition.filter(|condition| **condition == Condition::Right) {
                *condition = Condition::Wrong(format!("{name} in it is not a folder"));
            }
        }
    }

    /// Finds entries of a `node_modules` that don't belong there, or with `is_bundle`, that are in
    /// the way. Adds the kinds of those that may be packages to `present`.
    fn look_into(
        &self,
        folder: &str,
        expected: &FxHashSet<&str>,
        is_bundle: bool,
        findings: &mut Findings,
        present: &mut FxHashMap<String, FileType>,
    ) {
        let path = self.project.join(folder);
        let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
        if present.get(above).is_some_and(FileType::is_dir) {
            self.ground.know(above);
        }
        match self.ground.at(folder) {
            Footing::Own => {}
            // If a folder above is a link, what lies behind the link is not this project's. Only an
            // entry in an own folder is extraneous.
            Footing::Foreign if self.ground.at(above) == Footing::Own && fs::symlink_metadata(&path).is_ok() => {
                return findings.extraneous.push(folder.to_owned());
            }
            Footing::Foreign | Footing::Absent => return,
        }
        let is_emptied = self.is_emptied(folder);
        let is_passed_over = outermost(folder) == Some(folder) && self.is_unknown(split(folder).0, is_emptied);
        let looked = Looked { folder, path: &path, expected, is_bundle, is_emptied, is_passed_over };
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type();
            let is_folder = kind.as_ref().is_ok_and(FileType::is_dir);
            if name.starts_with('.') {
                looked.at_hidden(&name, is_folder, self.partial, findings);
            } else if name.starts_with('@') && is_folder {
                looked.at_scope(&name, findings, present);
            } else {
                looked.at_package(&name, kind.ok(), findings, present);
            }
        }
    }

    /// Whether `ci` empties this `node_modules`, which is that of the project, of a workspace, or of
    /// a package in one of them.
    fn is_emptied(&self, folder: &str) -> bool {
        let owner = outermost(folder).map_or("", |folder| split(folder).0);
        self.clean && (owner.is_empty() || self.workspaces.iter().any(|workspace| workspace == owner))
    }

    /// Whether npm finds no packages in the `node_modules` of a linked folder, so that everything in
    /// it stays: `ci` has removed the links before it looks, and a folder can be linked for the first
    /// time. Without a hidden lockfile, npm finds workspaces that are not linked yet.
    fn is_unknown(&self, folder: &str, is_emptied: bool) -> bool {
        if folder.is_empty() || self.clean {
            return !folder.is_empty() && !is_emptied;
        }
        // A link led to any other folder.
        if !self.layout.packages.contains_key(folder) {
            return false;
        }
        let is_workspace = || self.workspaces.iter().any(|workspace| workspace == folder);
        match self.installed {
            Some(installed) => installed.get(folder).is_none(),
            None => !is_workspace() && !self.is_linked(folder),
        }
    }

    /// Whether a link in a `node_modules` already leads to this folder.
    fn is_linked(&self, folder: &str) -> bool {
        self.layout.packages.iter().any(|(location, package)| {
            let Origin::Link(target) = &package.origin else { return false };
            target == folder && self.is_right_link(location, target)
        })
    }

    fn is_right_link(&self, location: &str, target: &str) -> bool {
        let link = fs::read_link(self.project.join(location));
        link.is_ok_and(|link| link == Path::new(&link_text(location, target)))
    }

    /// Finds the packages of folders that are no longer linked, such as a former workspace. For npm,
    /// they are packages of the project that nothing needs any more.
    fn look_behind_former_links(&self, present: &mut FxHashMap<String, FileType>, findings: &mut Findings) {
        let is_former = |location: &String| {
            matches!(findings.conditions.get(location), Some(Condition::Wrong(_)))
                || findings.extraneous.binary_search(location).is_ok()
        };
        let links = present.iter().filter(|(_, kind)| kind.is_symlink()).map(|(location, _)| location);
        let mut links: Vec<String> = links.filter(|location| is_former(location)).cloned().collect();
        let mut seen = FxHashSet::default();
        while let Some(link) = links.pop() {
            let Some(target) = self.folder_behind(&link).filter(|target| seen.insert(target.clone())) else { continue };
            let modules = format!("{target}/node_modules");
            if self.ground.at(&modules) != Footing::Own {
                continue;
            }
            let mut inside = FxHashMap::default();
            self.look_into(&modules, &FxHashSet::default(), false, findings, &mut inside);
            links.extend(inside.iter().filter(|(_, kind)| kind.is_symlink()).map(|(location, _)| location.clone()));
            present.extend(inside);
        }
        findings.extraneous.sort_unstable();
        findings.extraneous.dedup();
    }

    /// The folder that a link leads to, if it lies in the project, and in no other folder that has
    /// packages of the project.
    fn folder_behind(&self, link: &str) -> Option<String> {
        let target = self.project.join(link).canonicalize().ok()?;
        let inside = target.strip_prefix(self.project.canonicalize().ok()?).ok()?;
        let steps: Vec<&str> = inside.iter().map(|step| step.to_str()).collect::<Option<_>>()?;
        let path = steps.join("/");
        let is_or_contains =
            |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let is_known = || {
            self.layout
                .packages
                .iter()
                .any(|(location, package)| package.origin == Origin::Folder && is_or_contains(location))
        };
        (!path.is_empty() && !steps.contains(&"node_modules") && !is_known()).then_some(path)
    }

    /// Finds installed packages in a package whose `node_modules` should have none, and in a folder of
    /// the project that is no longer part of it. Packages that these bring themselves aren't in the
    /// hidden lockfile, and stay.
    fn look_for_forgotten(&self, folders: &FxHashMap<&str, FxHashSet<&str>>, findings: &mut Findings) {
        let mut noted: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        let locations = self.installed.into_iter().flat_map(Noted::locations);
        for location in locations.filter(|location| lies_in_node_modules(location)) {
            let (folder, name) = split(location);
            let Some(owner) = folder.strip_suffix("/node_modules") else { continue };
            // The target state has the owner, with nothing in its `node_modules`, or the owner is a
            // folder of the project, which stays. Other folders go with their owner, or are compared
            // anyway.
            let has_to_be_empty = match self.layout.packages.get(owner) {
                Some(package) => !package.is_link(),
                None => outermost(owner).is_none() && !owner.starts_with(".."),
            };
            if has_to_be_empty && !folders.contains_key(folder) {
                noted.entry(folder).or_default().insert(name);
            }
        }
        for (folder, names) in noted {
            if self.ground.at(folder) != Footing::Own {
                continue;
            }
            let path = self.project.join(folder);
            // The names come from the disk, because the hidden lockfile can say anything.
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

    /// Checks the patch of a package whose version is right. The hidden lockfile records the patch.
    /// Without one, a package with a patch counts as wrong, because the store doesn't know patched
    /// files.
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
        found: FileType,
        package: &Package,
        executables: Option<&FxHashSet<&str>>,
        folders: &FxHashMap<&str, FxHashSet<&str>>,
    ) -> Condition {
        let path = self.project.join(location);
        if let Origin::Link(target) = &package.origin {
            return if self.is_right_link(location, target) {
                Condition::Right
            } else {
                Condition::Wrong("it is not the right link".into())
            };
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

/// A `node_modules` that is looked into.
struct Looked<'a> {
    folder: &'a str,
    path: &'a Path,
    /// The names that belong there.
    expected: &'a FxHashSet<&'a str>,
    /// Whether it came with the package around it.
    is_bundle: bool,
    /// Whether `ci` empties it.
    is_emptied: bool,
    /// Whether packages that nobody expects stay.
    is_passed_over: bool,
}

impl Looked<'_> {
    fn at_hidden(&self, name: &str, is_folder: bool, is_partial: bool, findings: &mut Findings) {
        let &Self { folder, is_bundle, is_emptied, .. } = self;
        if name == ".bin" && is_folder && !(is_emptied && self.expected.is_empty() && !is_bundle) {
            if is_emptied {
                findings.swept.push(Sweep { folder: format!("{folder}/.bin"), keeps_files: is_bundle });
            }
            return;
        }
        let is_ours = name == ".bin" && !is_folder || retired::is_retired(self.path, name);
        let is_hidden_lockfile = folder == "node_modules" && name == ".package-lock.json";
        // npm's `linked` strategy has left it (`[removeStaleStoreDir]` of `reify.js`).
        let is_store = folder == "node_modules" && name == ".store" && !is_partial;
        if (is_ours || is_store) && !self.is_passed_over || is_emptied && !is_bundle && !is_hidden_lockfile {
            findings.extraneous.push(format!("{folder}/{name}"));
        }
    }

    fn at_scope(&self, scope: &str, findings: &mut Findings, present: &mut FxHashMap<String, FileType>) {
        let &Self { folder, is_bundle, is_emptied, .. } = self;
        let path = self.path.join(scope);
        let mut is_used = false;
        for inner in fs::read_dir(&path).into_iter().flatten().flatten() {
            let name = inner.file_name().to_string_lossy().into_owned();
            let scoped = format!("{scope}/{name}");
            present.extend(inner.file_type().map(|kind| (format!("{folder}/{scoped}"), kind)));
            // A hidden entry is no package, so it stays, except in `ci` and unless an interrupted
            // installation has left it.
            let is_others = || name.starts_with('.') && !is_emptied && !retired::is_retired(&path, &name);
            if self.expected.contains(scoped.as_str()) || is_bundle || self.is_passed_over || is_others() {
                is_used = true;
            } else {
                findings.extraneous.push(format!("{folder}/{scoped}"));
            }
        }
        if !is_used && is_emptied && !is_bundle {
            findings.extraneous.retain(|path| !path.starts_with(&format!("{folder}/{scope}/")));
            findings.extraneous.push(format!("{folder}/{scope}"));
        }
    }

    fn at_package(
        &self,
        name: &str,
        kind: Option<FileType>,
        findings: &mut Findings,
        present: &mut FxHashMap<String, FileType>,
    ) {
        let folder = self.folder;
        // No installation makes a link to a scope, whose packages would lie elsewhere.
        let is_scope = name.starts_with('@') && kind.as_ref().is_some_and(FileType::is_symlink);
        present.extend(kind.map(|kind| (format!("{folder}/{name}"), kind)));
        if !self.expected.contains(name) && (is_scope || !self.is_bundle && !self.is_passed_over) {
            findings.extraneous.push(format!("{folder}/{name}"));
        }
    }
}

/// Whether one of these paths is this location or contains it.
fn is_below(location: &str, paths: &[String]) -> bool {
    if paths.is_empty() {
        return false;
    }
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
