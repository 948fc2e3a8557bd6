//! Whether an installed package is, file by file, the one in the store.
//!
//! A file counts as right by its length, its mode and its time, which is another for every package ([`PackageKey`]'s). So
//! nothing is read, and yet a file that was edited, cut short or added is seen.
//!
//! [`PackageKey`]: crate::store::PackageKey

use std::fs;
use std::path::Path;

use rustc_hash::FxHashSet;

use crate::store::{StoredPackage, is_untouched};
use espalier_package::bins::without_carriage_return;

/// What is expected besides the package's own files.
pub struct Expectation<'a> {
    /// The package, as it is stored.
    pub stored: &'a StoredPackage,
    /// Whether something in it belongs there for another reason: a package in its `node_modules`, `.bin`.
    pub belongs: &'a dyn Fn(&str) -> bool,
    /// The files that have to be executable.
    pub executables: &'a FxHashSet<&'a str>,
    /// The mode of those.
    pub executable_mode: u32,
}

/// The first thing that is wrong with the package in a folder.
pub fn first_difference(folder: &Path, expectation: &Expectation<'_>) -> Option<String> {
    let record = &expectation.stored.record;
    for file in &record.files {
        let Ok(found) = fs::symlink_metadata(folder.join(&file.path)) else {
            return Some(format!("{} is missing", file.path));
        };
        let executable = expectation.executables.contains(file.path.as_str());
        let is_mended =
            || executable && found.len() + 1 == file.size && is_mended(folder, &file.path, expectation.stored);
        if !is_untouched(&found, file, &expectation.stored.key) && !is_mended() {
            return Some(format!("{} was changed", file.path));
        }
        let mode = if executable { file.mode | expectation.executable_mode } else { file.mode };
        if !has_mode(&found, mode) {
            return Some(format!("{} has other permissions", file.path));
        }
    }
    let files: FxHashSet<&str> = record.files.iter().map(|file| file.path.as_str()).collect();
    let folders: FxHashSet<&str> = record.folders.iter().map(String::as_str).collect();
    let mut open = vec![String::new()];
    while let Some(path) = open.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&path)) else {
            return Some(format!("{path} is not a folder"));
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let inside = if path.is_empty() { name } else { format!("{path}/{name}") };
            if (expectation.belongs)(&inside) || files.contains(inside.as_str()) {
                continue;
            }
            if !folders.contains(inside.as_str()) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                return Some(format!("{inside} does not belong there"));
            }
            open.push(inside);
        }
    }
    None
}

/// Whether a command differs from what is stored only in the carriage return that its first line had.
fn is_mended(folder: &Path, path: &str, stored: &StoredPackage) -> bool {
    let mended = fs::read(stored.folder.join(path)).ok().and_then(|content| without_carriage_return(&content));
    mended.is_some() && mended == fs::read(folder.join(path)).ok()
}

#[cfg(unix)]
fn has_mode(found: &fs::Metadata, mode: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o777 == mode
}

#[cfg(not(unix))]
fn has_mode(_: &fs::Metadata, _: u32) -> bool {
    true
}
