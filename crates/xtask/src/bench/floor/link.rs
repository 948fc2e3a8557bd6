//! Recreates a tree elsewhere from a list: folders, hard links and symbolic links. Each processor
//! has a thread, which does one folder after the other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Result, anyhow};
use nix::fcntl::AtFlags;
use nix::sys::stat::fstatat;
use nix::unistd::{linkat, symlinkat};

/// What is done for each file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// It is linked, whatever it is now.
    Link,
    /// Its size and times are looked at before, which is the least by which a changed file of a store
    /// is noticed.
    LookAndLink,
}

/// A folder with its files, and its symbolic links with their texts.
#[derive(Default)]
struct Folder {
    path: PathBuf,
    files: Vec<PathBuf>,
    links: Vec<(PathBuf, PathBuf)>,
}

/// Recreates the tree. Returns the time in milliseconds.
pub fn all(tree: &Path, scratch: &Path, files: Files) -> Result<f64> {
    let mut folders = Vec::new();
    list(tree, PathBuf::new(), &mut folders)?;
    let target = tempfile::Builder::new().prefix("links-").tempdir_in(scratch)?.keep();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    // A folder comes after the one that it is in.
    for folder in &folders[1..] {
        fs::create_dir(target.join(&folder.path))?;
    }
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                folder.fill(tree, &target, files)?;
            }
            Ok(())
        };
        let count = available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

impl Folder {
    fn fill(&self, tree: &Path, target: &Path, files: Files) -> Result<()> {
        let (from, to) = (File::open(tree.join(&self.path))?, File::open(target.join(&self.path))?);
        for file in &self.files {
            if files == Files::LookAndLink {
                fstatat(&from, file, AtFlags::AT_SYMLINK_NOFOLLOW)?;
            }
            linkat(&from, file, &to, file, AtFlags::empty())?;
        }
        for (link, text) in &self.links {
            symlinkat(text, &to, link)?;
        }
        Ok(())
    }
}

fn list(tree: &Path, path: PathBuf, folders: &mut Vec<Folder>) -> Result<()> {
    let (mut folder, mut below) = (Folder { path, ..Folder::default() }, Vec::new());
    for entry in fs::read_dir(tree.join(&folder.path))? {
        let entry = entry?;
        let (name, kind) = (PathBuf::from(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            below.push(folder.path.join(name));
        } else if kind.is_symlink() {
            folder.links.push((name, fs::read_link(entry.path())?));
        } else {
            folder.files.push(name);
        }
    }
    folders.push(folder);
    below.into_iter().try_for_each(|path| list(tree, path, folders))
}
