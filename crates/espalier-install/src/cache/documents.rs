//! The cache of packuments and version documents.
//!
//! They are rows of one `SQLite` database, because several processes use it at once and any of them can be killed. With a file
//! for each document, writing cost more than fetching. One thread writes the rows, hundreds in a transaction, so no answer waits
//! for the disk. A body is kept as the registry sent it, which is usually compressed. A checksum detects a damaged body before it
//! is parsed. A packument has a summary beside it, which is quick to read.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use espalier_registry::Address;
use espalier_registry::document::Form;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::body::Encoding;
use crate::superseded;
use espalier_registry::Validators;

/// How long a batch waits for other processes. After that, the cache goes without it.
const PATIENCE: Duration = Duration::from_secs(20);
/// A batch is written when it has this number of documents or bytes.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 2 << 20;
/// A batch stays in memory until it is complete. This is 8 MB; a batch takes a third of it.
const PAGES_IN_MEMORY: i32 = -8_192;
/// When the log reaches this number of pages (4 MB), it is merged into the database.
const LOG_PAGES: u32 = 256;

const SCHEMA: &str = "
    PRAGMA page_size = 16384;
    PRAGMA journal_mode = WAL;
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS document (
        id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, revision INTEGER NOT NULL, key TEXT NOT NULL, content_type TEXT NOT NULL, gzip INTEGER NOT NULL,
        etag TEXT, last_modified TEXT, fresh_until INTEGER NOT NULL, confirmed INTEGER NOT NULL,
        checksum INTEGER NOT NULL, summary BLOB NOT NULL, body BLOB NOT NULL);
    CREATE INDEX IF NOT EXISTS document_hash ON document (hash, revision, fresh_until, confirmed);
    PRAGMA user_version = 1;
    COMMIT;";

/// The key of a document. Abbreviated and full packuments are different documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentKey {
    pub registry: Address,
    pub name: String,
    pub form: Form,
    /// For a version document: the tarball's integrity in the packument, because a version can be published again with other
    /// content.
    pub integrity: Option<String>,
}

/// A state of a document: the hash of its key, and a number that no other state of it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Revision {
    hash: i64,
    number: i64,
}

/// A document in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub about: About,
    /// Chosen at random when the entry was made. A confirmation by the registry leaves it.
    pub number: i64,
    /// What a resolution needs of the document, or nothing where nobody has summarised it.
    pub summary: Vec<u8>,
    /// The body. A packument that was made of it shares it.
    pub body: Arc<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub content_type: String,
    pub encoding: Encoding,
    pub validators: Validators,
    /// Until when it may be used without asking the registry, in seconds since the epoch.
    pub fresh_until: i64,
    /// When the registry last confirmed it.
    pub confirmed: i64,
}

impl Entry {
    pub(crate) fn new(
        content_type: String,
        encoding: Encoding,
        validators: Validators,
        fresh_for: u64,
        body: Vec<u8>,
    ) -> Self {
        let (fresh_until, confirmed) = lifetime(fresh_for);
        let about = About { content_type, encoding, validators, fresh_until, confirmed };
        Self { about, number: fastrand::i64(..), summary: Vec::new(), body: Arc::new(body) }
    }

    /// The checksum of the summary followed by the body.
    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.summary);
        hasher.update(&self.body);
        hasher.finalize()
    }

    /// Whether it may be used without asking the registry.
    pub(crate) fn is_fresh(&self) -> bool {
        is_fresh(self.about.fresh_until, self.about.confirmed)
    }

    /// Reads a row. `None` if it is damaged.
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let checksum: u32 = row.get(6)?;
        let summary: Vec<u8> = row.get(7)?;
        let body: Vec<u8> = row.get(8)?;
        let encoding = if row.get(1)? { Encoding::Gzip } else { Encoding::Identity };
        let about = About {
            content_type: row.get(0)?,
            encoding,
            validators: Validators { etag: row.get(2)?, last_modified: row.get(3)? },
            fresh_until: row.get(4)?,
            confirmed: row.get(5)?,
        };
        let entry = Self { about, number: row.get(9)?, summary, body: Arc::new(body) };
        Ok((checksum == entry.checksum()).then_some(entry))
    }
}

impl DocumentKey {
    /// Whether the document never changes. That holds for the document of a version with a known integrity.
    pub(crate) fn is_final(&self) -> bool {
        self.form.is_final() && self.integrity.is_some()
    }

    fn text(&self) -> String {
        let integrity = self.integrity.as_deref().unwrap_or_default();
        let form = match &self.form {
            Form::Abbreviated => "abbreviated",
            Form::Full => "full",
            Form::Version(version) => version,
        };
        // The registry's address without credentials.
        format!("{}{} {} {form} {integrity}", self.registry.authority(), self.registry.path(), self.name)
    }
}

/// The hash that the index is made of. An index of the keys themselves would be as large as the table.
fn hash(key: &str) -> i64 {
    i64::from_le_bytes(*blake3::hash(key.as_bytes()).as_bytes().first_chunk().expect("a digest is longer"))
}

/// Whether a document with these times may be used without asking the registry. One from the future is not fresh, because the
/// clock is or was wrong.
fn is_fresh(fresh_until: i64, confirmed: i64) -> bool {
    let now = now();
    confirmed <= now && now < fresh_until
}

fn now() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX)
}

/// The time until which something is fresh, and the time now.
fn lifetime(fresh_for: u64) -> (i64, i64) {
    let now = now();
    (now.saturating_add_unsigned(fresh_for), now)
}

/// The documents of a cache.
#[derive(Debug)]
pub(crate) struct Documents {
    file: PathBuf,
    reader: Mutex<Option<Connection>>,
    /// Whether the next read begins a new transaction, to see what was written in the meantime.
    is_outdated: AtomicBool,
    writer: Mutex<Writer>,
}

/// A change of the database.
#[derive(Debug)]
enum Write {
    Keep(String, Entry),
    /// The registry has confirmed an entry.
    Confirm(String, u64),
    Forget(String),
}

#[derive(Debug, Default)]
struct Writer {
    batch: Vec<Write>,
    bytes: usize,
    thread: Option<(Sender<Vec<Write>>, JoinHandle<()>)>,
}

impl Documents {
    pub(super) fn new(file: PathBuf) -> Self {
        // The reader begins its first transaction when it is asked.
        Self { file, reader: Mutex::default(), is_outdated: true.into(), writer: Mutex::default() }
    }

    /// Finds the entry of a key. `None` if it is absent or damaged. Blocks.
    pub(crate) fn read(&self, key: &DocumentKey) -> Option<Entry> {
        let mut reader = locked(&self.reader);
        if self.is_outdated.swap(false, Ordering::AcqRel) {
            self.refresh(&mut reader);
        }
        let key = key.text();
        let mut statement = reader.as_ref()?.prepare_cached(
            "SELECT content_type, gzip, etag, last_modified, fresh_until, confirmed, checksum, summary, body, revision FROM document
             WHERE hash = ? AND key = ?",
        );
        statement.as_mut().ok()?.query_row(params![hash(&key), key], Entry::from_row).ok()?
    }

    /// The state of a document.
    pub(crate) fn revision(key: &DocumentKey, entry: &Entry) -> Revision {
        Revision { hash: hash(&key.text()), number: entry.number }
    }

    /// Whether the documents still are in these states, and each may be used at its age. Blocks.
    pub(crate) fn are_current(&self, revisions: &[Revision], may_be_used: fn(bool) -> bool) -> bool {
        let mut reader = locked(&self.reader);
        self.refresh(&mut reader);
        self.is_outdated.store(false, Ordering::Release);
        let Some(reader) = reader.as_ref() else { return false };
        let times = "SELECT fresh_until, confirmed FROM document WHERE hash = ? AND revision = ?";
        let Ok(mut times) = reader.prepare_cached(times) else { return false };
        revisions.iter().all(|revision| {
            let row = |row: &Row<'_>| Ok(is_fresh(row.get(0)?, row.get(1)?));
            times.query_row([revision.hash, revision.number], row).is_ok_and(may_be_used)
        })
    }

    /// Lets the next read see what other processes have written in the meantime.
    pub(crate) fn look_again(&self) {
        self.is_outdated.store(true, Ordering::Release);
    }

    /// Brings the reader up to date. All reads share one transaction, because beginning one for each document would cost several
    /// system calls.
    fn refresh(&self, reader: &mut Option<Connection>) {
        if reader.is_none() {
            // A database that can't be opened counts as empty. The first batch creates it again.
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            *reader = Connection::open_with_flags(&self.file, flags).ok();
        } else if let Some(reader) = reader {
            let _ = reader.execute_batch("COMMIT");
        }
        let begun = reader.as_ref().map(|reader| {
            reader.busy_timeout(PATIENCE)?;
            reader.execute_batch("BEGIN")
        });
        if begun.is_some_and(|begun| begun.is_err()) {
            *reader = None;
        }
    }

    /// Queues an entry for writing.
    pub(crate) fn write(&self, key: &DocumentKey, entry: Entry) {
        self.add(entry.summary.len() + entry.body.len(), Write::Keep(key.text(), entry));
    }

    /// Queues the registry's confirmation of an entry, and how long it is valid.
    pub(crate) fn confirm(&self, key: &DocumentKey, fresh_for: u64) {
        self.add(0, Write::Confirm(key.text(), fresh_for));
    }

    /// Removes the packuments of a package.
    pub(crate) fn forget(&self, registry: &Address, name: &str) {
        for form in [Form::Abbreviated, Form::Full] {
            let key = DocumentKey { registry: registry.clone(), name: name.to_owned(), form, integrity: None };
            self.add(0, Write::Forget(key.text()));
        }
    }

    fn add(&self, bytes: usize, write: Write) {
        let mut writer = locked(&self.writer);
        writer.bytes += bytes;
        writer.batch.push(write);
        if writer.batch.len() >= BATCH || writer.bytes >= BATCH_BYTES {
            self.hand_over(&mut writer);
        }
    }

    /// Starts writing everything in the queue and doesn't wait for it.
    pub(crate) fn settle(&self) {
        self.hand_over(&mut locked(&self.writer));
    }

    fn hand_over(&self, writer: &mut Writer) {
        let batch = std::mem::take(&mut writer.batch);
        writer.bytes = 0;
        if batch.is_empty() {
            return;
        }
        let (queue, _) = writer.thread.get_or_insert_with(|| {
            let (queue, batches) = mpsc::channel::<Vec<Write>>();
            let file = self.file.clone();
            let write = move || {
                let mut database = None;
                for batch in batches {
                    // The cache goes without a batch that can't be written. A full disk must not stop a resolution.
                    let _ = write(&file, &mut database, &batch);
                }
            };
            (queue, std::thread::spawn(write))
        });
        // This fails only if the thread has ended. The cache then goes without the batch.
        let _ = queue.send(batch);
    }

    pub(super) fn flush(&self) {
        // The reader's transaction would keep the log from being merged.
        locked(&self.reader).take();
        self.is_outdated.store(true, Ordering::Release);
        let mut writer = locked(&self.writer);
        self.hand_over(&mut writer);
        if let Some((queue, thread)) = writer.thread.take() {
            drop(queue);
            let _ = thread.join();
        }
    }
}

impl Drop for Documents {
    fn drop(&mut self) {
        self.flush();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a batch. A damaged database is replaced by a new one, which has only this batch.
fn write(file: &Path, database: &mut Option<Connection>, batch: &[Write]) -> rusqlite::Result<()> {
    let mut written = try_write(file, database, batch);
    if written.as_ref().is_err_and(is_damaged) {
        *database = None;
        for suffix in ["", "-wal", "-shm"] {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            let _ = std::fs::remove_file(name);
        }
        written = try_write(file, database, batch);
    }
    written
}

fn try_write(file: &Path, database: &mut Option<Connection>, batch: &[Write]) -> rusqlite::Result<()> {
    let database = match database {
        Some(database) => database,
        None => database.insert(open(file)?),
    };
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for write in batch {
        let (Write::Keep(key, _) | Write::Confirm(key, _) | Write::Forget(key)) = write;
        let hash = hash(key);
        let mut find = transaction.prepare_cached("SELECT id FROM document WHERE hash = ? AND key = ?")?;
        let id: Option<i64> = find.query_row(params![hash, key], |row| row.get(0)).optional()?;
        match write {
            Write::Keep(key, entry) => {
                // This isn't `INSERT OR REPLACE`, because SQLite would then copy each page first to be able to undo the
                // statement.
                let mut keep = transaction.prepare_cached(match id {
                    None => "INSERT INTO document VALUES (?1, ?2, ?13, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                    Some(_) => {
                        "UPDATE document SET revision = ?13, hash = ?2, key = ?3, content_type = ?4, gzip = ?5, etag = ?6, last_modified = ?7,
                             fresh_until = ?8, confirmed = ?9, checksum = ?10, summary = ?11, body = ?12 WHERE id = ?1"
                    }
                })?;
                let About { content_type, encoding, validators, fresh_until, confirmed } = &entry.about;
                let (gzip, checksum) = (*encoding == Encoding::Gzip, entry.checksum());
                let Validators { etag, last_modified } = validators;
                keep.execute(params![
                    id,
                    hash,
                    key,
                    content_type,
                    gzip,
                    etag,
                    last_modified,
                    fresh_until,
                    confirmed,
                    checksum,
                    entry.summary,
                    *entry.body,
                    entry.number,
                ])?;
            }
            Write::Confirm(_, fresh_for) => {
                let mut confirm =
                    transaction.prepare_cached("UPDATE document SET fresh_until = ?, confirmed = ? WHERE id = ?")?;
                let (fresh_until, confirmed) = lifetime(*fresh_for);
                confirm.execute(params![fresh_until, confirmed, id])?;
            }
            Write::Forget(_) => {
                transaction.prepare_cached("DELETE FROM document WHERE id = ?")?.execute([id])?;
            }
        }
    }
    transaction.commit()
}

/// Opens the database, or creates it. It doesn't wait for the disk. A power cut can damage it; it is then created again.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    if let Some(folder) = file.parent() {
        // If the folder can't be created, opening the database fails and reports why.
        let _ = std::fs::create_dir_all(folder);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(file, flags)?;
    database.busy_timeout(PATIENCE)?;
    database.pragma_update(None, "synchronous", "OFF")?;
    let made: u32 = database.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if made == 0 {
        create(&database)?;
        if let Some(folder) = file.parent() {
            super::remove_superseded(folder, superseded::A_MONTH);
        }
    }
    database.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    database.pragma_update(None, "cache_size", PAGES_IN_MEMORY)?;
    Ok(database)
}

/// Creates the tables. `SQLite` doesn't wait for another process that turns the same file into a WAL database, so this does.
fn create(database: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        match database.execute_batch(SCHEMA) {
            Err(error) if is_busy(&error) && start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(1)),
            created => return created,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

#[cfg(test)]
mod tests;
