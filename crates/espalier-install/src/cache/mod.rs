//! The cache: documents by registry and name, tarballs by their integrity.
//!
//! The cache may fail. An unreadable entry is fetched again, an unwritable one is not kept, and a
//! damaged one is replaced. Documents are in a pack. Tarballs are files, and a rename puts each in
//! place. Several processes can share the folder. The caller decides whether an entry is fresh
//! enough.

pub(crate) mod documents;
mod pack;
pub(crate) mod recipients;
pub(crate) mod tarballs;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use etcetera::BaseStrategy as _;

use crate::config::Environment;
use crate::superseded;
use documents::Documents;
use pack::Pack;
use recipients::Recipients;
use tarballs::Tarballs;

/// The format of the documents. It is part of the path, so that versions of this program with other
/// formats don't meet.
const DOCUMENTS: u32 = 6;
/// The earlier formats of documents that were databases. The first format was a folder, which isn't
/// recognised any more.
const DATABASES: RangeInclusive<u32> = 2..=4;

/// A folder with cached documents and tarballs.
#[derive(Debug)]
pub struct Cache {
    pub(crate) documents: Documents,
    pub(crate) recipients: Recipients,
    pub(crate) tarballs: Tarballs,
}

impl Cache {
    /// The cache in this folder. The folder need not exist.
    pub fn at(folder: &Path) -> Self {
        Self {
            documents: Documents::new(documents(folder, DOCUMENTS)),
            recipients: Recipients::new(folder.join("recipients-1.key")),
            tarballs: Tarballs::new(folder.join("tarballs-1")),
        }
    }

    /// Removes what earlier versions of this program kept there. Returns the number of removed
    /// formats.
    pub fn remove_superseded(folder: &Path) -> usize {
        remove_superseded(folder, Duration::ZERO)
    }

    /// Waits until everything is written to disk.
    pub fn flush(&self) {
        self.documents.flush();
    }
}

/// Removes documents in earlier formats that weren't used for that long.
fn remove_superseded(folder: &Path, unused_for: Duration) -> usize {
    let databases = DATABASES.filter_map(|format| {
        let [database, log, shared] =
            ["sqlite", "sqlite-wal", "sqlite-shm"].map(|end| documents(folder, format).with_extension(end));
        superseded::begins_with(&database, superseded::SQLITE).then(|| vec![log, shared, database])
    });
    let packs = (DATABASES.end() + 1..DOCUMENTS).filter_map(|format| Pack::at(documents(folder, format)).files());
    superseded::remove(databases.chain(packs), unused_for)
}

/// The path of the documents in a format, without an extension.
fn documents(folder: &Path, format: u32) -> PathBuf {
    folder.join(format!("documents-{format}"))
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Cache, DOCUMENTS};

    #[test]
    fn earlier_formats_are_recognised_by_their_content() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).expect("written");
        let pack = [b"espalier".as_slice(), &7_u64.to_le_bytes()].concat();
        let ours: [(&str, &[u8]); 7] = [
            ("documents-4.sqlite", b"SQLite format 3\0..."),
            ("documents-4.sqlite-wal", b""),
            ("documents-4.sqlite-shm", b""),
            ("documents-5.index", &pack),
            ("documents-5.lock", b""),
            ("documents-5.0000000000000007.pack", b"contents"),
            ("documents-5.f28d50cb967a219f.pack", b"of a killed process"),
        ];
        let current = format!("documents-{DOCUMENTS}.index");
        let others: [(&str, &[u8]); 9] = [
            ("documents-1.pdf", b"%PDF"),
            ("documents-2.tar.gz", b"\x1f\x8b"),
            ("documents-3.sqlite", b"notes about a database"),
            ("documents-4.docx", b"PK"),
            ("documents-5.docx", b"PK"),
            ("documents-5.holiday.pack", b"PK"),
            ("documents-04.sqlite", b"SQLite format 3\0..."),
            ("documents-4.sqlite.bak", b"SQLite format 3\0..."),
            (&current, &pack),
        ];
        for (name, content) in ours.iter().chain(&others) {
            write(name, content);
        }
        assert_eq!(Cache::remove_superseded(folder.path()), 2);
        let kept = |(name, _): &(&str, &[u8])| folder.path().join(name).exists();
        assert_eq!(
            (ours.iter().filter(|file| kept(file)).count(), others.iter().filter(|file| !kept(file)).count()),
            (0, 0)
        );
        write("documents-5.index", b"an index of books");
        write("documents-5.0000000000000007.pack", b"");
        assert_eq!(Cache::remove_superseded(folder.path()), 0);
    }
}
