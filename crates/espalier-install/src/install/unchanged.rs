//! Whether nothing has changed since an installation found nothing to do. Then there is nothing to do now either, and neither
//! the tree nor the store has to be looked at to know it.
//!
//! A resolution is a function of its options, the project's files and the answers to what it asked; a plan is one of the
//! resolution and of what is in `node_modules`. A run that asked no registry and had an empty plan leaves a note in the cache
//! with a digest of all of these. The next run makes the same digest from what is there now. A note is no more than that:
//! whatever differs, or can't be told, leads to the whole procedure.
//!
//! Of `node_modules`, the times and numbers of all folders count that npm looks at to believe its own note, of those with
//! commands, and of that note. They are compared for being the same, so a folder that became older is seen, too. What is in
//! the files of packages is `ci`'s business, as it is npm's.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use espalier_core::Options;
use espalier_core::Warning;
use serde::{Deserialize, Serialize};

use super::Install;
use crate::digest::{Digest, Digested};
use crate::driver::reads::{Read, Reads};
use crate::project::HIDDEN_LOCKFILE;

/// What a note is made by: another program may judge the same project differently.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " 1");

/// The warnings that a run with nothing to do can have. One that isn't among them is not noted.
const WARNINGS: [&str; 6] = ["ERESOLVE", "EBADENGINE", "EBADPLATFORM", "EBADDEVENGINES", "deprecated", "damaged"];

/// What was found the last time.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    inputs: Digested,
    reads: Vec<Read>,
    folders: Vec<String>,
    stamps: Digested,
    kept: usize,
    warnings: Vec<(String, String, String)>,
}

/// An installation to which a note may apply.
#[derive(Debug)]
pub(super) struct Unchanged {
    file: PathBuf,
    inputs: Digested,
}

/// What there is to say where nothing is to be done.
#[derive(Debug)]
pub(super) struct Found {
    pub kept: usize,
    pub warnings: Vec<Warning>,
}

impl Unchanged {
    /// Everything that decides beside the project's folders; nothing for installations that always are done in full.
    pub async fn of(install: &Install) -> Option<Self> {
        let lock = &install.lock;
        let project = &lock.project;
        let is_partial = install.without_workspaces || !lock.changes.workspaces.is_empty();
        // A strict run reads the scripts of packages, and an extension may read anything.
        let is_open = install.scripts.strict || project.has_extension();
        if install.clean || install.dry_run || lock.changes.any() || is_partial || is_open {
            return None;
        }
        let cache = lock.cache.as_deref()?;
        let lockfile = fs::read(project.path().join("package-lock.json")).ok()?;
        // Without a lock, a resolution begins from what is installed.
        if lockfile.is_empty() || !project.path().join(HIDDEN_LOCKFILE).exists() {
            return None;
        }
        let mut digest = Digest::default();
        digest.add(VERSION);
        digest.add(program()?);
        digest.add(project.path().to_string_lossy().as_bytes());
        digest.add(lock.settings.source);
        // Where it follows from `min-release-age` it is another one each time; what is configured is in the digest already.
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

    /// What was found when everything was as it is now.
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

    /// Notes that there was nothing to do. What can't be noted is found out again.
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

/// What tells this program from another one.
fn program() -> Option<String> {
    let found = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {}", found.len(), changed.as_nanos()))
}

/// When these folders and npm's note were changed, and that they are still the same ones.
#[cfg(unix)]
fn stamps(project: &Path, folders: &[String]) -> Option<Digested> {
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
fn stamps(project: &Path, folders: &[String]) -> Option<Digested> {
    let mut digest = Digest::default();
    for path in folders.iter().map(String::as_str).chain([HIDDEN_LOCKFILE]) {
        let found = fs::metadata(project.join(path)).ok()?;
        digest.add(format!("{:?} {:?} {}", found.modified().ok()?, found.created().ok(), found.len()));
    }
    Some(digest.finish())
}
