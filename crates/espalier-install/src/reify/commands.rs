//! The commands in `.bin`, which are links to the packages' files (`bin-links`).
//!
//! Other entries of a `.bin` are somebody else's. As in npm, the commands of a removed or replaced
//! package go with it, whatever is in their places, and everything else stays (`binPaths` of
//! `node.js`). Only `ci` leaves nothing but the commands of packages.

use std::fs;
use std::io;
use std::path::Path;

use espalier_package::bin_field;
use rustc_hash::{FxHashMap, FxHashSet};

use super::journal::Journal;
#[cfg(unix)]
use super::place::{has_carriage_return, set_mode};
use crate::ground::Footing;
use crate::plan::Retirement;
use crate::plan::bins::BinLink;
#[cfg(unix)]
use crate::plan::bins::without_carriage_return;
use crate::plan::inspect::Sweep;
use crate::plan::layout::{self, Layout, Package, lies_in_node_modules};
use crate::project::files_below;
use crate::scripts::package::ScriptPackage;

/// The entries of `.bin` folders that go.
#[derive(Debug, Default)]
pub struct Outdated {
    /// The locations of the commands of packages that are removed or replaced.
    former: Vec<String>,
    /// The folders in which only commands stay.
    swept: Vec<Sweep>,
}

impl Outdated {
    /// What goes when these packages go. Their package.json files name their commands, so this is to
    /// be called before they are moved away.
    pub fn with(project: &Path, packages: &[Retirement], layout: &Layout, swept: Vec<Sweep>) -> Self {
        let mut former = Vec::new();
        let mut has_commands: FxHashMap<String, bool> = FxHashMap::default();
        for (path, removed) in packages.iter().flat_map(|package| single(project, package)) {
            let (folder, name) = layout::split(&path);
            let commands = format!("{folder}/.bin");
            let has_commands = *has_commands.entry(commands.clone()).or_insert_with_key(|commands| {
                let is_swept = swept.iter().any(|sweep| sweep.folder == *commands);
                !is_swept && fs::symlink_metadata(project.join(commands)).is_ok_and(|found| found.is_dir())
            });
            let package = if has_commands { ScriptPackage::read(&project.join(&path)).ok() } else { None };
            let Some(package) = package else { continue };
            let its_name = package.name().unwrap_or(name);
            // A repaired package has the same commands as before. An alias can have the same version.
            let is_same = |new: &Package| {
                new.package_name == its_name && new.version.as_deref() == package.version() && new.has_integrity()
            };
            if !removed && layout.packages.get(&path).is_some_and(is_same) {
                continue;
            }
            let own = commands_of(&package, &project.join(&path), its_name);
            former.extend(own.into_iter().map(|(command, _)| format!("{commands}/{command}")));
        }
        Self { former, swept }
    }

    /// Removes those that nothing replaces. They go as early as their packages, so that a killed
    /// installation leaves no command without a package.
    pub fn begin(&mut self, bins: &[BinLink], journal: &Journal) -> io::Result<()> {
        if self.former.is_empty() {
            return Ok(());
        }
        let wanted: FxHashSet<&str> = bins.iter().map(|bin| bin.location.as_str()).collect();
        let is_wanted = |location: &String| wanted.contains(location.as_str());
        let (replaced, removed): (Vec<_>, Vec<_>) = std::mem::take(&mut self.former).into_iter().partition(is_wanted);
        self.former = replaced;
        removed.iter().try_for_each(|location| unlink(location, journal))
    }

    /// Adds the commands of packages that are left out.
    pub fn extend(&mut self, locations: impl IntoIterator<Item = String>) {
        self.former.extend(locations);
    }
}

/// The packages that go, and whether nothing takes their places. A scope can be a link, which goes as
/// a whole.
fn single(project: &Path, package: &Retirement) -> Vec<(String, bool)> {
    let Retirement { path, removed } = package;
    if lies_in_node_modules(path) {
        return vec![(path.clone(), *removed)];
    }
    let is_scope = layout::split(path).1.starts_with('@');
    let entries = is_scope.then(|| fs::read_dir(project.join(path)).ok()).flatten();
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.map(|name| (format!("{path}/{}", name.to_string_lossy()), *removed)).collect()
}

/// The commands of an installed package, and their files. `directories.bin` can stand for `bin`
/// (`@npmcli/package-json`): of two entries with the same name in its folder, the deeper one counts.
pub fn commands_of(package: &ScriptPackage, folder: &Path, name: &str) -> Vec<(String, String)> {
    if let Some(bin) = package.field("bin").filter(|bin| bin.as_object().is_some_and(|bin| !bin.is_empty())) {
        return bin_field::commands(bin, name);
    }
    let directory = package.field("directories").and_then(|directories| directories.get("bin")?.as_str());
    let Some(directory) = directory else { return Vec::new() };
    let directory = bin_field::inside(directory);
    let mut files = files_below(&folder.join(&directory));
    files.retain(|file| !file.split('/').any(|part| part.starts_with('.')));
    files.sort_by_cached_key(|file| (file.matches('/').count(), file.clone()));
    let targets: Vec<String> = files.iter().map(|file| format!("{directory}/{file}")).collect();
    bin_field::secured(files.iter().zip(&targets).map(|(file, target)| (file.as_str(), target.as_str())))
}

/// Creates these commands and removes outdated ones. A command without its file is left out, as in
/// npm.
pub fn link_all(project: &Path, bins: &[BinLink], outdated: &Outdated, mode: u32, journal: &Journal) -> io::Result<()> {
    let mut linked: FxHashSet<&str> = FxHashSet::default();
    for bin in bins {
        let file = project.join(&bin.package).join(&bin.file);
        if fs::symlink_metadata(&file).is_err() || is_elsewhere(bin, journal) {
            continue;
        }
        linked.insert(&bin.location);
        if link(project, bin, journal)? {
            repair(project, bin, &file, mode)?;
        }
    }
    for location in outdated.former.iter().filter(|location| !linked.contains(location.as_str())) {
        unlink(location, journal)?;
    }
    for sweep in &outdated.swept {
        remove_others(project, sweep, &linked, journal)?;
    }
    Ok(())
}

/// Moves away the entry at a command's location, unless its `.bin` is a link or behind one.
pub fn unlink(location: &str, journal: &Journal) -> io::Result<()> {
    if journal.footing(split(location).0) != Footing::Own {
        return Ok(());
    }
    let endings: &[&str] = if cfg!(windows) { &["", ".cmd", ".ps1"] } else { &[""] };
    endings.iter().try_for_each(|ending| journal.retire(&format!("{location}{ending}")))
}

/// Restores these commands and leaves others alone (`npm rebuild`).
pub fn relink(project: &Path, bins: &[BinLink]) -> io::Result<()> {
    let journal = Journal::new(project);
    for bin in bins {
        let file = project.join(&bin.package).join(&bin.file);
        let Ok(found) = fs::metadata(&file) else { continue };
        if is_elsewhere(bin, &journal) {
            continue;
        }
        if link(project, bin, &journal)? {
            repair(project, bin, &file, runnable(&found))?;
        }
    }
    journal.finish();
    Ok(())
}

/// The folder of a command, and its name.
fn split(location: &str) -> (&str, &str) {
    location.rsplit_once('/').unwrap_or(("", location))
}

/// Whether the `node_modules` that the command belongs into isn't a folder of the project: it is
/// outside, or behind the link to a package that somebody develops.
fn is_elsewhere(bin: &BinLink, journal: &Journal) -> bool {
    let (bin_folder, _) = split(&bin.location);
    journal.footing(split(bin_folder).0) == Footing::Foreign
}

/// Moves away what is in the place of a `.bin`.
fn make_way(bin: &BinLink, journal: &Journal) -> io::Result<()> {
    let (folder, _) = split(&bin.location);
    if journal.footing(folder) == Footing::Foreign { journal.retire(folder) } else { Ok(()) }
}

/// The mode of a command: whoever may read it may execute it.
#[cfg(unix)]
fn runnable(file: &fs::Metadata) -> u32 {
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777;
    mode | (mode & 0o444) >> 2
}

#[cfg(not(unix))]
fn runnable(_: &fs::Metadata) -> u32 {
    0
}

/// Creates a command. Returns whether anything changed.
#[cfg(unix)]
fn link(project: &Path, bin: &BinLink, journal: &Journal) -> io::Result<bool> {
    let path = project.join(&bin.location);
    make_way(bin, journal)?;
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_symlink() && fs::read_link(&path)? == Path::new(&bin.target) => return Ok(false),
        Ok(_) => journal.retire(&bin.location)?,
        Err(_) => {}
    }
    journal.making(&bin.location)?;
    std::os::unix::fs::symlink(&bin.target, &path)?;
    Ok(true)
}

/// Creates a command. Returns whether anything changed.
#[cfg(not(unix))]
fn link(project: &Path, bin: &BinLink, journal: &Journal) -> io::Result<bool> {
    let content = fs::read(project.join(&bin.package).join(&bin.file)).unwrap_or_default();
    let shims = super::shims::shims(&bin.target, &String::from_utf8_lossy(&content));
    make_way(bin, journal)?;
    for (ending, text) in [("", shims.sh), (".cmd", shims.cmd), (".ps1", shims.powershell)] {
        let location = format!("{}{ending}", bin.location);
        let path = project.join(&location);
        if fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
            continue;
        }
        journal.retire(&location)?;
        journal.making(&location)?;
        fs::write(path, text)?;
    }
    Ok(true)
}

/// Makes a command's file executable. Files of placed packages already are; a link's target, or a
/// file of a kept package with a new command, may not be.
#[cfg(unix)]
fn repair(project: &Path, bin: &BinLink, file: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let Ok(found) = fs::metadata(file) else { return Ok(()) };
    let without = if has_carriage_return(file) { without_carriage_return(&fs::read(file)?) } else { None };
    let is_executable = found.permissions().mode() & mode == mode;
    if !found.is_file() || (is_executable && without.is_none()) {
        return Ok(());
    }
    let file = fs::canonicalize(file)?;
    // A link in a package may lead to any file. Only files of the package or of the project change.
    let is_in = |folder: &Path| folder.canonicalize().is_ok_and(|folder| file.starts_with(folder));
    if !is_in(&project.join(&bin.package)) && !is_in(project) {
        return Ok(());
    }
    if without.is_none() && found.nlink() == 1 {
        return set_mode(&file, mode);
    }
    // Other projects and the store share this file, so it is replaced and not changed.
    let content = without.map_or_else(|| fs::read(&file), Ok)?;
    let mut new = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")))?;
    io::Write::write_all(&mut new, &content)?;
    new.as_file().set_modified(found.modified()?)?;
    set_mode(new.path(), mode)?;
    new.persist(&file)?;
    Ok(())
}

#[cfg(not(unix))]
fn repair(_: &Path, _: &BinLink, _: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

fn remove_others(project: &Path, sweep: &Sweep, linked: &FxHashSet<&str>, journal: &Journal) -> io::Result<()> {
    let Sweep { folder, keeps_files } = sweep;
    // A link or file in place of the `.bin` has already been moved away.
    if journal.footing(folder) != Footing::Own {
        return Ok(());
    }
    for entry in fs::read_dir(project.join(folder))?.flatten() {
        let is_command = cfg!(windows) || entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let location = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let command = if cfg!(windows) { without_ending(&location) } else { &location };
        if (is_command || !keeps_files) && !linked.contains(command) {
            journal.retire(&location)?;
        }
    }
    Ok(())
}

/// The command that one of the files for Windows belongs to.
fn without_ending(location: &str) -> &str {
    location.trim_end_matches(".cmd").trim_end_matches(".ps1")
}
