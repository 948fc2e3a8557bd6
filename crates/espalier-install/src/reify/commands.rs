//! The commands in `.bin`, which are links to the packages' files (`bin-links`).

use std::fs;
use std::io;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use super::journal::Journal;
#[cfg(unix)]
use super::place::{has_carriage_return, set_mode};
use crate::ground::Footing;
use crate::plan::bins::BinLink;
#[cfg(unix)]
use crate::plan::bins::without_carriage_return;

/// Makes every `.bin` folder hold exactly these commands. A command without its file is left out,
/// as in npm.
pub fn link_all(project: &Path, bins: &[BinLink], folders: &[String], mode: u32, journal: &Journal) -> io::Result<()> {
    let mut by_folder: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for folder in folders {
        by_folder.entry(folder).or_default();
    }
    for bin in bins {
        let (folder, name) = split(&bin.location);
        let file = project.join(&bin.package).join(&bin.file);
        if fs::symlink_metadata(&file).is_err() || is_elsewhere(bin, journal) {
            continue;
        }
        by_folder.entry(folder).or_default().insert(name);
        if link(project, bin, journal)? {
            repair(project, bin, &file, mode)?;
        }
    }
    for (folder, names) in by_folder {
        remove_others(project, folder, &names, journal)?;
    }
    Ok(())
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

fn remove_others(project: &Path, location: &str, names: &FxHashSet<&str>, journal: &Journal) -> io::Result<()> {
    let folder = &project.join(location);
    // Most packages have no such folder. A link in its place, or on the way to it, leads elsewhere.
    let is_there = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    if !is_there || journal.footing(location) != Footing::Own {
        return Ok(());
    }
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut is_empty = true;
    for entry in entries.flatten() {
        // Commands are links, except on Windows.
        let is_command = cfg!(windows) || entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = if cfg!(windows) { name.trim_end_matches(".cmd").trim_end_matches(".ps1") } else { &name };
        if is_command && !names.contains(name) {
            journal.retire(&format!("{location}/{}", entry.file_name().to_string_lossy()))?;
        }
        // A folder that becomes empty is removed together with what was moved away.
        is_empty = false;
    }
    if is_empty { fs::remove_dir(folder) } else { Ok(()) }
}
