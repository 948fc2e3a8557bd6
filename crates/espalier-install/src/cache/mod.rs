//! The cache: documents by registry and name, tarballs by their integrity.
//!
//! The cache may fail. An unreadable entry is fetched again, an unwritable one is not kept, and a
//! damaged one is replaced. Documents are in a pack. Tarballs are files, and a rename puts each in
//! place. Several processes can share the folder. The caller decides whether an entry is fresh
//! enough.

pub(crate) mod documents;
mod pack;
pub(crate) mod tarballs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use etcetera::BaseStrategy as _;

use crate::config::Environment;
use crate::superseded;
use documents::Documents;
use tarballs::Tarballs;

/// The format is part of the path, so that versions of this program with other formats don't meet.
const DOCUMENTS: &str = "documents-";
const DOCUMENTS_FORMAT: u32 = 5;

/// A folder with cached documents and tarballs.
#[derive(Debug)]
pub struct Cache {
    pub(crate) documents: Documents,
    pub(crate) tarballs: Tarballs,
}

impl Cache {
    /// The cache in this folder. The folder need not exist.
    pub fn at(folder: &Path) -> Self {
        Self {
            documents: Documents::new(folder.join(format!("{DOCUMENTS}{DOCUMENTS_FORMAT}"))),
            tarballs: Tarballs::new(folder.join("tarballs-1")),
        }
    }

    /// Removes what earlier versions of this program kept there. Returns the number of removed
    /// files and folders.
    pub fn remove_superseded(folder: &Path) -> usize {
        remove_superseded(folder, Duration::ZERO)
    }

    /// Waits until everything is written to disk.
    pub fn flush(&self) {
        self.documents.flush();
    }
}

/// Removes databases of earlier formats that weren't used for that long. Folders with such names
/// stay.
fn remove_superseded(folder: &Path, unused_for: Duration) -> usize {
    superseded::remove(folder, DOCUMENTS, DOCUMENTS_FORMAT, unused_for, Path::is_file)
}

/// Lets a cache write its queue while other work goes on. Dropping this waits for the end.
#[derive(Debug)]
pub(crate) struct Settling(Arc<Cache>);

impl Settling {
    pub fn begin(cache: Arc<Cache>) -> Self {
        cache.documents.settle();
        Self(cache)
    }
}

impl Drop for Settling {
    fn drop(&mut self) {
        self.0.flush();
    }
}

/// The default folder of the cache: `ESPALIER_CACHE_DIR`, or the system's folder for caches
/// (`~/.cache/espalier` on Linux).
pub fn default_folder(environment: &Environment) -> Option<PathBuf> {
    if let Some(folder) = environment.variable("ESPALIER_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).ok();
    }
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("espalier"))
}
