//! Detects that nothing has changed since an installation found nothing to do. Then there is
//! nothing to do now either, and neither the tree nor the store is looked at.
//!
//! A resolution is a function of its options, the project's files and the answers that it got; a
//! plan is a function of the resolution and of `node_modules`. A run that asked no registry and had
//! an empty plan leaves a note in the cache, with a digest of all of these. The next run computes
//! the same digest. If anything differs or is unknown, the run goes on in full.
//!
//! Of `node_modules`, the digest covers the times and inode numbers of the hidden lockfile, of all
//! folders that npm checks before it trusts the hidden lockfile, and of those with commands. A
//! folder that became older counts as changed, too. As in npm, only `ci` looks at the files of
//! packages.

use std::fs;
use std::path::{Path, PathBuf};

use espalier_core::Options;
use espalier_core::Warning;
use serde::{Deserialize, Serialize};

use super::Install;
use crate::digest::{Digest, Digested};
use crate::driver::reads::{Read, Reads};
use crate::project::HIDDEN_LOCKFILE;
use crate::recall::program;

/// The version of the notes, because another program may judge the same project differently.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " 1");

/// The warnings that a note can hold. A run with any other warning leaves no note.
const WARNINGS: [&str; 6] = ["ERESOLVE", "EBADENGINE", "EBADPLATFORM", "EBADDEVENGINES", "deprecated", "damaged"];

/// The content of a note.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    inputs: Digested,
    reads: Vec<Read>,
    folders: Vec<String>,
    stamps: Digested,
    kept: usize,
    warnings: Vec<(String, String, String)>,
}

/// An installation that a note may apply to.
#[derive(Debug)]
pub(super) struct Unchanged {
    file: PathBuf,
    inputs: Digested,
}

/// The result of a run with nothing to do.
#[derive(Debug)]
pub(super) struct Found {
    pub kept: usize,
    pub warnings: Vec<Warning>,
}

impl Unchanged {
    /// Collects all inputs beside the project's folders. `None` for installations that always run
    /// in full.
    pub async fn of(install: &Install) -> Option<Self> {
        let lock = &install.lock;
        let project = &lock.project;
        // A strict run reads the scripts of packages, and an extension may read anything.
        let is_open = install.scripts.strict || project.has_extension();
        if install.clean || install.dry_run || lock.changes.any() || install.is_partial() || is_open {
            return None;
        }
        let cache = lock.cache.as_deref()?;
        let lockfile = fs::read(project.path().join("package-lock.json")).ok()?;
        // Without a lock, a resolution starts from the installed packages.
        if lockfile.is_empty() || !project.path().join(HIDDEN_LOCKFILE).exists() {
            return None;
        }
        let mut digest = Digest::default();
        digest.add(VERSION);
        digest.add(program()?);
        digest.add(project.path().to_string_lossy().as_bytes());
        digest.add(lock.settings.source);
        // The date that follows from `min-release-age` changes with each run. The setting itself is
        // part of the digest.
        let options = Options { before: None, ..lock.options().await };
        digest.add(format!("{options:?} {:?} {:?}", lock.changes, install.trust));
        digest.add(format!("{:?} {} {}", install.scripts.gate, install.bin_links, install.store.display()));
        for name in ["package.json", "yarn.lock"] {
            digest.add_if_some(fs::read(project.path().join(name)).ok());
        }
        digest.add(lockfile);
        let name = Digest::of(project.path().to_string_lossy().as_bytes());
        Some(Self { file: cache.join("unchanged-1").join(name.text()), inputs: digest.finish() })
    }

    /// The result of the last run, if everything is as it was then.
    pub fn find(&self, install: &Install) -> Option<Found> {
        let note: Note = postcard::from_bytes(&fs::read(&self.file).ok()?).ok()?;
        let project = &install.lock.project;
        let is_same = note.inputs == self.inputs
            && stamps(project.path(), &note.folders)? == note.stamps
            && note.reads.iter().all(|read| read.is_same(project));
        if !is_same {
            return None;
        }
        let warning = |(code, message, location): (String, String, String)| {
            WARNINGS.contains(&code.as_str()).then(|| Warning { code: code.into(), message, location })
        };
        Some(Found { kept: note.kept, warnings: note.warnings.into_iter().map(warning).collect::<Option<_>>()? })
    }

    /// Notes that there was nothing to do. Without the note, the next run goes on in full.
    pub fn note(&self, install: &Install, reads: &Reads, kept: usize, warnings: &[Warning]) {
        let _ = self.try_to_note(install, reads, kept, warnings);
    }

    fn try_to_note(&self, install: &Install, reads: &Reads, kept: usize, warnings: &[Warning]) -> Option<()> {
        let project = &install.lock.project;
        let reads = reads.of_the_project()?;
        let folders = project.noted_folders()?;
        let stamps = stamps(project.path(), &folders)?;
        let warning = |warning: &Warning| {
            let is_known = WARNINGS.contains(&&*warning.code);
            is_known.then(|| (warning.code.to_string(), warning.message.clone(), warning.location.clone()))
        };
        let warnings = warnings.iter().map(warning).collect::<Option<_>>()?;
        let note = Note { inputs: self.inputs, reads, folders, stamps, kept, warnings };
        let folder = self.file.parent()?;
        fs::create_dir_all(folder).ok()?;
        let mut file = tempfile::NamedTempFile::new_in(folder).ok()?;
        std::io::Write::write_all(&mut file, &postcard::to_allocvec(&note).ok()?).ok()?;
        file.persist(&self.file).ok()?;
        Some(())
    }
}

/// The times and inode numbers of these folders and of the hidden lockfile.
#[cfg(unix)]
pub(super) fn stamps(project: &Path, folders: &[String]) -> Option<Digested> {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags};
    let project = rustix::fs::openat(CWD, project, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let project = project.ok()?;
    let mut digest = Digest::default();
    for path in folders.iter().map(String::as_str).chain([HIDDEN_LOCKFILE]) {
        let found = rustix::fs::statat(&project, path, AtFlags::empty()).ok()?;
        digest.add(format!(
            "{}.{} {}.{} {} {}",
            found.st_mtime, found.st_mtime_nsec, found.st_ctime, found.st_ctime_nsec, found.st_ino, found.st_size
        ));
    }
    Some(digest.finish())
}

#[cfg(not(unix))]
pub(super) fn stamps(project: &Path, folders: &[String]) -> Option<Digested> {
    let mut digest = Digest::default();
    for path in folders.iter().map(String::as_str).chain([HIDDEN_LOCKFILE]) {
        let found = fs::metadata(project.join(path)).ok()?;
        digest.add(format!("{:?} {:?} {}", found.modified().ok()?, found.created().ok(), found.len()));
    }
    Some(digest.finish())
}
