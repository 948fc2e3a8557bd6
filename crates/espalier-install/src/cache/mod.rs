//! What was fetched once and may be used again: documents by registry and name, tarballs by what they hold.
//!
//! The cache is an optimisation that is allowed to fail: what can't be read is fetched again, what can't be written is
//! not kept, and an entry that is damaged is taken for none and replaced. Documents are in a database, tarballs are files
//! that appear whole, by a rename; several processes can share a folder. When an entry is fresh enough is the caller's business.

pub(crate) mod documents;
pub(crate) mod tarballs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;

use crate::config::Environment;
use documents::Documents;
use tarballs::Tarballs;

/// A folder of cached documents and tarballs.
#[derive(Debug)]
pub struct Cache {
    pub(crate) documents: Documents,
    pub(crate) tarballs: Tarballs,
}

impl Cache {
    /// The cache in this folder, which need not exist.
    pub fn at(folder: &Path) -> Self {
        // The format is part of the path: another version of this program can't trip over it.
        Self {
            documents: Documents::new(folder.join("documents-3.sqlite")),
            tarballs: Tarballs::new(folder.join("tarballs-1")),
        }
    }

    /// Waits until everything that was given to it is on disk.
    pub fn flush(&self) {
        self.documents.flush();
    }
}

/// Lets a cache write what is left while other work goes on, and waits for it when dropped.
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

/// Where the cache is unless someone says otherwise: `ESPALIER_CACHE_DIR`, or the place for such things on this system
/// (`~/.cache/espalier` on Linux).
pub fn default_folder(environment: &Environment) -> Option<PathBuf> {
    if let Some(folder) = environment.variable("ESPALIER_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        return std::path::absolute(folder).ok();
    }
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("espalier"))
}
