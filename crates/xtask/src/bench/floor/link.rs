//! Recreates a tree elsewhere from a list: folders, hard links and symbolic links, on one thread
//! and without checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;

enum Entry {
    Folder(PathBuf),
    File(PathBuf),
    Link(PathBuf, PathBuf),
}

/// Recreates the tree. Returns the time in milliseconds.
pub fn all(tree: &Path, scratch: &Path) -> Result<f64> {
    let mut entries = Vec::new();
    list(tree, Path::new(""), &mut entries)?;
    let target = tempfile::Builder::new().prefix("links-").tempdir_in(scratch)?.keep();
    let start = Instant::now();
    for entry in &entries {
        match entry {
            Entry::Folder(path) => fs::create_dir(target.join(path))?,
            Entry::File(path) => fs::hard_link(tree.join(path), target.join(path))?,
            Entry::Link(path, text) => symlink(text, &target.join(path))?,
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn list(tree: &Path, below: &Path, entries: &mut Vec<Entry>) -> Result<()> {
    for entry in fs::read_dir(tree.join(below))? {
        let entry = entry?;
        let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            entries.push(Entry::Folder(path.clone()));
            list(tree, &path, entries)?;
        } else if kind.is_symlink() {
            entries.push(Entry::Link(path, fs::read_link(entry.path())?));
        } else {
            entries.push(Entry::File(path));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(text: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(text, path)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
