//! Outcomes of earlier resolutions, for the next one that would come to the same.
//!
//! A resolution is a function of its inputs and of the answers that it gets. The cache keeps the
//! outcome of a resolution that started from nothing, with the states of the documents that it was
//! told. If a later run has the same inputs, and the cache still has each of these documents in the
//! same state and may use it without asking the registry, that run has the same outcome. If
//! anything differs or is unknown, the resolution runs.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use espalier_core::{Options, Outcome, Project, Reporting};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::cache::documents::Revision;
use crate::config::settings::{Freshness, Settings};
use crate::digest::Digest;
use crate::driver::reads::{Read, Reads};
use crate::project::ProjectFolder;

/// The version of the notes, because another program may resolve the same project differently.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " 1");

/// How many outcomes are kept. The outcome of a project with 5,000 packages takes 5 MB.
const MOST: usize = 32;

/// A resolution that may have been done before.
#[derive(Debug)]
pub(crate) struct Recall {
    file: PathBuf,
    freshness: Freshness,
}

/// What an outcome depends on. The outcome follows it in the file, and a checksum of both.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    documents: Vec<Revision>,
    reads: Vec<Read>,
    /// The project's folder. It makes a difference only if the project's files were read.
    folder: PathBuf,
}

/// A file under construction, and the checksum of what was written.
struct Checked {
    file: tempfile::NamedTempFile,
    checksum: crc32fast::Hasher,
}

impl Recall {
    /// Collects the inputs. `None` for a resolution that starts from a lockfile, because it asks
    /// for little, and for one that has to ask its registry again.
    pub fn of(cache: Option<&Path>, settings: &Settings, project: &Project, options: &Options) -> Option<Self> {
        let starts_from_nothing = project.lockfile.is_none() && project.yarn_lock.is_none();
        let is_plain =
            !project.changes.any() && project.extension_file.is_none() && options.reporting < Reporting::Decisions;
        if !starts_from_nothing || !is_plain || settings.freshness == Freshness::Revalidate {
            return None;
        }
        // Of the project's folder, only the name is an input: npm names a root by it. Specs that
        // lead to files are another matter, which `Note::folder` covers.
        let project = Project { path: project.folder_name.clone(), ..project.clone() };
        let mut digest = Digest::default();
        digest.add(VERSION);
        digest.add(program()?);
        digest.add(settings.source);
        digest.add(format!("{options:?} {project:?}"));
        let file = cache?.join("resolutions-1").join(digest.finish().text());
        Some(Self { file, freshness: settings.freshness })
    }

    /// The outcome, if nothing that it depends on has changed, and the number of documents that
    /// were checked. Blocks.
    pub fn find(&self, cache: &Cache, project: &ProjectFolder) -> Option<(Outcome, usize)> {
        let bytes = fs::read(&self.file).ok()?;
        let (bytes, checksum) = bytes.split_last_chunk()?;
        if u32::from_le_bytes(*checksum) != crc32fast::hash(bytes) {
            return None;
        }
        let (note, outcome): (Note, _) = postcard::take_from_bytes(bytes).ok()?;
        let is_same = note.reads.is_empty() || note.folder == project.path();
        let may_be_used = match self.freshness {
            Freshness::AnyAge | Freshness::CacheOnly => |_| true,
            Freshness::Normal | Freshness::Revalidate => |is_fresh| is_fresh,
        };
        if !is_same
            || !note.reads.iter().all(|read| read.is_same(project))
            || !cache.documents.are_current(&note.documents, may_be_used)
        {
            return None;
        }
        let mut outcome = Outcome::from_record(outcome)?;
        outcome.graph.project = project.path().to_string_lossy().replace('\\', "/");
        // The outcomes that nobody has used for longest are the first to go.
        let _ = fs::File::options().append(true).open(&self.file).map(|file| file.set_modified(SystemTime::now()));
        Some((outcome, note.documents.len()))
    }

    /// Keeps an outcome. Without it, the next run resolves. Blocks.
    pub fn note(&self, project: &ProjectFolder, reads: &Reads, outcome: &Outcome) {
        let _ = self.try_to_note(project, reads, outcome);
    }

    fn try_to_note(&self, project: &ProjectFolder, reads: &Reads, outcome: &Outcome) -> Option<()> {
        let (reads, documents) = reads.all()?;
        if documents.is_empty() || !outcome.is_plain() {
            return None;
        }
        let folder = self.file.parent()?;
        fs::create_dir_all(folder).ok()?;
        let file = tempfile::NamedTempFile::new_in(folder).ok()?;
        let checked = Checked { file, checksum: crc32fast::Hasher::new() };
        // The serialiser writes a few bytes at a time.
        let mut buffered = BufWriter::with_capacity(1 << 16, checked);
        let note = Note { documents, reads, folder: project.path().to_owned() };
        postcard::to_io(&note, &mut buffered).ok()?;
        outcome.record(&mut buffered).ok()?;
        let Checked { mut file, checksum } = buffered.into_inner().ok()?;
        file.write_all(&checksum.finalize().to_le_bytes()).ok()?;
        file.persist(&self.file).ok()?;
        remove_oldest(folder);
        Some(())
    }
}

impl Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The identity of this program.
pub(crate) fn program() -> Option<String> {
    let found = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {}", found.len(), changed.as_nanos()))
}

/// Removes what is more than a folder may hold, the oldest first.
fn remove_oldest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort_unstable();
    for (_, file) in files.iter().rev().skip(MOST) {
        // Another process may have removed it.
        let _ = fs::remove_file(file);
    }
}
