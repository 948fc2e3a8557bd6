//! Compares an installed package with the store, file by file.
//!
//! A file is right if its length, mode and modification time are. The time is different for every
//! package ([`PackageKey`]). So no content is read, and still every edited, truncated or added file
//! is detected.
//!
//! [`PackageKey`]: crate::store::PackageKey

use std::fs;
use std::path::Path;

use rustc_hash::FxHashSet;

use crate::store::{StoredPackage, is_untouched};
use espalier_package::bins::without_carriage_return;

/// The expected state of a folder.
pub struct Expectation<'a> {
    /// The package in the store.
    pub stored: &'a StoredPackage,
    /// Whether a path belongs there for another reason, such as `.bin` or a package in its
    /// `node_modules`.
    pub belongs: &'a dyn Fn(&str) -> bool,
    /// The files that have to be executable.
    pub executables: &'a FxHashSet<&'a str>,
    /// The mode of executable files.
    pub executable_mode: u32,
}

/// The first difference between a folder and the expected state.
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

/// Whether a command differs from the stored file only by the removed carriage return in its first
/// line.
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
