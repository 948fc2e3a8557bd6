//! Lists the files of a folder that belong to its package (`npm-packlist`).
//!
//! Only plain files are listed. Links are never followed, neither to files nor to folders. Bundled
//! packages are looked up in the package's own `node_modules`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use espalier_core::glob::{Manner, Pattern};
use serde_json::{Map, Value};

use super::rules::{Level, Rules};

/// The paths of the files to pack, relative to the folder.
pub fn files_of(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut packing = Packing { root: folder, found: BTreeSet::new(), seen: BTreeSet::new() };
    packing.package("", true)?;
    Ok(packing.found)
}

struct Packing<'a> {
    root: &'a Path,
    found: BTreeSet<String>,
    /// The packages that were listed, because dependencies can form a circle.
    seen: BTreeSet<String>,
}

impl Packing<'_> {
    /// Lists the package in a folder and its bundled packages. In a bundled package, all
    /// dependencies count as bundled.
    fn package(&mut self, folder: &str, is_first: bool) -> io::Result<()> {
        if !self.seen.insert(folder.to_owned()) {
            return Ok(());
        }
        let path = self.root.join(folder);
        let manifest = manifest(&path);
        let files = manifest.get("files").and_then(Value::as_array);
        let files = files.map(|files| self.rules_of_files(folder, files));
        let required = required(&manifest, is_first);
        let has_manifest = plain_file(&path.join("package.json"))?.is_some();
        let rules = match is_first {
            true => Rules::of_package(files.as_deref(), &required),
            false if has_manifest => Rules::of_package(files.as_deref(), &required).without_usual(),
            false => Rules::default(),
        };
        let mut level = Level { above: None, rules, exact: false };
        if is_first {
            read_ignore_files(&mut level.rules, &path)?;
        }
        self.walk(folder, &level)?;
        for name in bundled(&manifest, is_first) {
            if let Some(bundled) = self.installed(folder, &name) {
                self.package(&bundled, false)?;
            }
        }
        Ok(())
    }

    fn walk(&mut self, folder: &str, level: &Level<'_>) -> io::Result<()> {
        for entry in sorted_entries(&self.root.join(folder))? {
            // Names that Windows can't have aren't packed, and neither are names that aren't
            // Unicode.
            let Some(name) = entry.file_name().to_str().map(str::to_owned).filter(|name| !name.contains('*')) else {
                continue;
            };
            let kind = entry.file_type()?;
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let by_itself = level.admits(&name, false);
            if kind.is_file() {
                if by_itself {
                    self.found.insert(path);
                }
            } else if kind.is_dir() && level.admits(&name, true) {
                let exact = by_itself || level.admits(&format!("{name}/"), false);
                let mut below = Level { above: Some((level, &name)), rules: Rules::of_folder(), exact };
                read_ignore_files(&mut below.rules, &self.root.join(&path))?;
                self.walk(&path, &below)?;
            }
        }
        Ok(())
    }

    /// Turns the globs in `files` into rules. A folder stands for everything in it.
    fn rules_of_files(&self, folder: &str, files: &[Value]) -> Vec<String> {
        let mut rules = Vec::new();
        for entry in files.iter().filter_map(Value::as_str) {
            let bare = entry.trim_start_matches('!');
            let keeps = if entry.len() == bare.len() { "!" } else { "" };
            let bare = bare.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(bare);
            let bare = bare.strip_prefix('/').unwrap_or(bare).trim_end_matches('/');
            let Some(bare) = normalized(bare) else { continue };
            let pattern = Pattern::new(&format!("/{bare}"), Manner { dot: true, ..Manner::default() });
            let mut open = vec![String::new()];
            while let Some(above) = open.pop() {
                for found in sorted_entries(&self.root.join(folder).join(&above)).unwrap_or_default() {
                    let (Ok(kind), Ok(name)) = (found.file_type(), found.file_name().into_string()) else { continue };
                    let path = format!("{above}/{name}").trim_start_matches('/').to_owned();
                    let rooted = format!("/{path}");
                    let matches = pattern.matches(&rooted) || kind.is_dir() && pattern.matches(&format!("{rooted}/"));
                    if matches && kind.is_dir() {
                        rules.extend([format!("{keeps}/{path}"), format!("{keeps}/{path}/**")]);
                    } else if matches && kind.is_file() {
                        rules.push(format!("{keeps}/{path}"));
                    }
                    if kind.is_dir() && pattern.matches_above(&rooted) {
                        open.push(path);
                    }
                }
            }
        }
        rules
    }

    /// The folder in which a package finds another one, inside of what is packed.
    fn installed(&self, from: &str, name: &str) -> Option<String> {
        let is_name = !name.split('/').any(|step| matches!(step, "" | "." | ".."));
        let mut folders = std::iter::successors(Some(from), |folder| {
            folder.rfind("/node_modules/").map(|at| &folder[..at]).or((!folder.is_empty()).then_some(""))
        });
        let candidate = |folder: &str| format!("{folder}/node_modules/{name}").trim_start_matches('/').to_owned();
        let is_there = |path: &String| fs::symlink_metadata(self.root.join(path)).is_ok_and(|found| found.is_dir());
        folders.find_map(|folder| Some(candidate(folder)).filter(|path| is_name && is_there(path)))
    }
}

/// The glob without `.` and `x/..`. `None` if nothing is left, or if it leads out of the package.
fn normalized(glob: &str) -> Option<String> {
    let mut steps: Vec<&str> = Vec::new();
    for step in glob.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    (!steps.is_empty()).then(|| steps.join("/"))
}

fn read_ignore_files(rules: &mut Rules, folder: &Path) -> io::Result<()> {
    if let Some(text) = plain_file(&folder.join(".npmignore"))? {
        rules.npm_ignore(&text);
    }
    if let Some(text) = plain_file(&folder.join(".gitignore"))? {
        rules.git_ignore(&text);
    }
    Ok(())
}

/// The text of a plain file. `None` for anything else.
fn plain_file(path: &Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(String::from_utf8_lossy(&fs::read(path)?).into_owned())),
        _ => Ok(None),
    }
}

fn sorted_entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}

/// The package.json of a folder. If it isn't an object, an empty one.
pub(super) fn manifest(folder: &Path) -> Map<String, Value> {
    let text = plain_file(&folder.join("package.json")).ok().flatten().unwrap_or_default();
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
}

/// The rules for files that are always packed or never packed: those that package.json names, and
/// patches.
fn required(manifest: &Map<String, Value>, is_first: bool) -> Vec<String> {
    let text = |field: &str| manifest.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut rules: Vec<String> =
        [text("browser"), text("main")].into_iter().flatten().map(|path| format!("!/{path}")).collect();
    let bin = espalier_core::normalized_bin(manifest.get("bin").cloned().unwrap_or_default(), text("name"));
    rules.extend(bin.as_object().into_iter().flatten().filter_map(|(_, path)| Some(format!("!/{}", path.as_str()?))));
    let patches = manifest.get("patchedDependencies").and_then(Value::as_object).filter(|_| is_first);
    for patch in patches.into_iter().flatten().filter_map(|(_, path)| path.as_str()) {
        let path = patch.replace('\\', "/");
        let path = path.strip_prefix("./").or(path.strip_prefix('/')).unwrap_or(&path).trim_end_matches('/');
        if !path.is_empty() && !path.starts_with('/') && !path.split('/').any(|step| step == "..") {
            rules.push(format!("/{path}"));
        }
    }
    rules
}

/// The names of bundled packages.
fn bundled(manifest: &Map<String, Value>, is_first: bool) -> Vec<String> {
    let names =
        |field: &str| manifest.get(field).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name);
    let needed: Vec<String> = names("dependencies").chain(names("optionalDependencies")).cloned().collect();
    if !is_first {
        return needed;
    }
    let declared = manifest.get("bundleDependencies").or(manifest.get("bundledDependencies"));
    match declared {
        Some(Value::Bool(true)) => names("dependencies").cloned().collect(),
        Some(Value::Array(list)) => {
            let listed = list.iter().filter_map(Value::as_str).map(str::to_owned);
            listed.filter(|name| needed.contains(name)).collect()
        }
        _ => Vec::new(),
    }
}
