//! The cache of packuments and version documents.
//!
//! They are in one [`Pack`], because writing a file for each document took longer than fetching it.
//! One thread writes them, hundreds at a time, so no answer waits for the disk. A body is kept as
//! the registry sent it, which is usually compressed. A packument has a summary beside it, which is
//! quick to read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use espalier_registry::document::Form;
use espalier_registry::{Address, Validators};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::pack::{Change, Contents, Deferred, Key, Pack, Record, prefix};
use super::recipients::Recipient;
use crate::body::Encoding;
use crate::superseded::A_MONTH;

/// A batch is written when it has this number of documents or bytes.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 2 << 20;

/// The key of a document. Abbreviated and full packuments are different documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentKey {
    pub registry: Address,
    pub name: String,
    pub form: Form,
    /// For a version document: the tarball's integrity in the packument, because a version can be
    /// published again with other content.
    pub integrity: Option<String>,
}

/// A state of a document: the beginning of its key's digest, a number that no other state of it
/// has, and who may use it without a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Revision {
    document: u64,
    number: i64,
    recipient: Recipient,
}

/// A document in the cache.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub about: About,
    /// Chosen at random when the entry was made. A confirmation by the registry leaves it.
    pub number: i64,
    /// The digest of its key, if it came from the pack.
    pub key: Option<Key>,
    /// What a resolution needs of the document, or nothing where nobody has summarised it.
    pub summary: Bytes,
    /// The body as sent. A packument shares it, to read its text again. With a summary, that is
    /// seldom necessary.
    pub body: Deferred,
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
    /// To whom the registry sent it or last confirmed it.
    pub recipient: Recipient,
}

/// What a pack keeps of [`About`] beside the times and the recipient.
#[derive(Debug, Serialize, Deserialize)]
struct Head<'a> {
    content_type: &'a str,
    encoding: Encoding,
    etag: Option<&'a str>,
    last_modified: Option<&'a str>,
}

impl Entry {
    pub(crate) fn new(
        content_type: String,
        encoding: Encoding,
        validators: Validators,
        fresh_for: u64,
        recipient: Recipient,
        body: Vec<u8>,
    ) -> Self {
        let (fresh_until, confirmed) = lifetime(fresh_for);
        let about = About { content_type, encoding, validators, fresh_until, confirmed, recipient };
        let body = Deferred::Read(body.into());
        Self { about, number: fastrand::i64(..), key: None, summary: Bytes::new(), body }
    }

    /// Whether it may be used without asking the registry.
    pub(crate) fn is_fresh(&self) -> bool {
        is_fresh(self.about.fresh_until, self.about.confirmed)
    }

    /// The body as it was sent. The error completes a sentence about the document.
    pub(crate) fn encoded(&self) -> Result<(Encoding, Bytes), String> {
        let body = self.body.read().ok_or("is damaged in the cache")?;
        Ok((self.about.encoding, body))
    }

    /// `None` if this version of the program doesn't write such entries.
    fn from_contents(record: &Record, contents: Contents) -> Option<Self> {
        let Contents { first: [head, summary], last: body } = contents;
        let Head { content_type, encoding, etag, last_modified } = postcard::from_bytes(&head).ok()?;
        let about = About {
            content_type: content_type.to_owned(),
            encoding,
            validators: Validators { etag: etag.map(str::to_owned), last_modified: last_modified.map(str::to_owned) },
            fresh_until: record.fresh_until,
            confirmed: record.confirmed,
            recipient: Recipient(record.recipient),
        };
        Some(Self { about, number: record.revision, key: Some(record.key), summary, body })
    }

    /// What a pack keeps of it.
    fn parts(self) -> Option<[Bytes; 3]> {
        let About { content_type, encoding, validators, .. } = &self.about;
        let (etag, last_modified) = (validators.etag.as_deref(), validators.last_modified.as_deref());
        let head = postcard::to_stdvec(&Head { content_type, encoding: *encoding, etag, last_modified }).ok()?;
        Some([head.into(), self.summary, self.body.read()?])
    }
}

impl DocumentKey {
    /// Whether the document never changes. That holds for the document of a version with a known
    /// integrity.
    pub(crate) fn is_final(&self) -> bool {
        self.form.is_of_version() && self.integrity.is_some()
    }

    fn text(&self) -> String {
        let integrity = self.integrity.as_deref().unwrap_or_default();
        let form = match &self.form {
            Form::Abbreviated => "abbreviated",
            Form::RatherFull => "rather full",
            Form::Full => "full",
            Form::Version(version) => version,
        };
        // The registry's address without credentials.
        [self.registry.authority(), self.registry.path(), " ", &self.name, " ", form, " ", integrity].concat()
    }
}

/// The key in a pack.
fn digest(key: &str) -> Key {
    blake3::hash(key.as_bytes()).into()
}

/// Whether a document with these times may be used without asking the registry. One from the future
/// is not fresh, because the clock is or was wrong.
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
    path: PathBuf,
    reader: Mutex<Pack>,
    /// Whether the next read looks for what was written in the meantime.
    is_outdated: AtomicBool,
    writer: Mutex<Writer>,
    /// Entries whose bodies turned out to be damaged, until that is written.
    damaged: Mutex<FxHashSet<Key>>,
    /// How many turned out to be damaged.
    damage: AtomicUsize,
}

/// A change of a document.
#[derive(Debug)]
enum Write {
    Keep(String, Entry),
    /// An entry has another summary, unless it was replaced in the meantime.
    Summarise(String, Entry),
    /// The registry has confirmed an entry to this recipient, for this number of seconds.
    Confirm(String, Recipient, u64),
    Forget(Key),
}

#[derive(Debug, Default)]
struct Writer {
    batch: Vec<Write>,
    bytes: usize,
    thread: Option<(Sender<Vec<Write>>, JoinHandle<()>)>,
}

impl Documents {
    /// The documents in the pack of this path, which has no extension.
    pub(super) fn new(path: PathBuf) -> Self {
        let reader = Mutex::new(Pack::at(path.clone()));
        let (writer, damaged, damage) = Default::default();
        Self { path, reader, is_outdated: true.into(), writer, damaged, damage }
    }

    /// Opens the pack, which the first read otherwise does. Blocks.
    pub(crate) fn open(&self) {
        drop(self.reader());
    }

    /// Whether there is nothing to find. Blocks.
    pub(crate) fn is_empty(&self) -> bool {
        self.reader().is_empty()
    }

    /// Finds the entry of a key. `None` if it is absent or damaged. Blocks.
    pub(crate) fn read(&self, key: &DocumentKey) -> Option<Entry> {
        // Thousands of keys are looked up in the first run, for which there is nothing to find.
        if self.is_empty() {
            return None;
        }
        self.read_exactly(key).or_else(|| {
            // The document may have been kept as the manifest of an exact version.
            let integrity = key.integrity.as_deref().filter(|_| key.is_final())?;
            let entry = self.read_exactly(&DocumentKey { integrity: None, ..key.clone() })?;
            memchr::memmem::find(&entry.summary, integrity.as_bytes()).map(|_| entry)
        })
    }

    /// Whether there is a record of a key. Blocks.
    pub(crate) fn knows(&self, key: &DocumentKey) -> bool {
        self.reader().find(&digest(&key.text())).is_some()
    }

    fn read_exactly(&self, key: &DocumentKey) -> Option<Entry> {
        let key = digest(&key.text());
        if self.damaged().contains(&key) {
            return None;
        }
        let reader = self.reader();
        let record = reader.find(&key)?;
        Entry::from_contents(record, reader.contents(record)?)
    }

    /// Records that the body of an entry turned out to be damaged after the entry was used. It
    /// counts as absent from now on.
    pub(crate) fn found_damaged(&self, body: &Deferred) {
        if let Deferred::Packed(packed) = body
            && self.damaged().insert(packed.key)
        {
            self.damage.fetch_add(1, Ordering::Relaxed);
            self.add(0, Write::Forget(packed.key));
        }
    }

    /// The number of entries that turned out to be damaged after they were used.
    pub(crate) fn found_damage(&self) -> usize {
        self.damage.load(Ordering::Relaxed)
    }

    fn damaged(&self) -> MutexGuard<'_, FxHashSet<Key>> {
        locked(&self.damaged)
    }

    /// The state of a document.
    pub(crate) fn revision(key: &DocumentKey, entry: &Entry) -> Revision {
        let key = entry.key.unwrap_or_else(|| digest(&key.text()));
        Revision { document: prefix(&key), number: entry.number, recipient: entry.about.recipient }
    }

    /// Whether the documents still are in these states, and each may be used at its age. Blocks.
    pub(crate) fn are_current(&self, revisions: &[Revision], may_be_used: fn(bool) -> bool) -> bool {
        self.look_again();
        let reader = self.reader();
        revisions.iter().all(|revision| {
            let is_same =
                |record: &&Record| record.revision == revision.number && record.recipient == revision.recipient.0;
            let record = reader.starting_with(revision.document).filter(is_same);
            record.is_some_and(|record| may_be_used(is_fresh(record.fresh_until, record.confirmed)))
        })
    }

    /// Lets the next read see what other processes have written in the meantime.
    pub(crate) fn look_again(&self) {
        self.is_outdated.store(true, Ordering::Release);
    }

    fn reader(&self) -> MutexGuard<'_, Pack> {
        let mut reader = locked(&self.reader);
        if self.is_outdated.swap(false, Ordering::AcqRel) {
            reader.refresh();
        }
        reader
    }

    /// Queues an entry for writing.
    pub(crate) fn write(&self, key: &DocumentKey, entry: Entry) {
        self.add(entry.summary.len() + entry.body.length(), Write::Keep(key.text(), entry));
    }

    /// Queues another summary of an entry. If the entry is replaced or removed first, nothing changes.
    pub(crate) fn summarise(&self, key: &DocumentKey, entry: Entry) {
        self.add(entry.summary.len() + entry.body.length(), Write::Summarise(key.text(), entry));
    }

    /// Queues the registry's confirmation of an entry, to whom it was given, and how long it is
    /// valid.
    pub(crate) fn confirm(&self, key: &DocumentKey, recipient: Recipient, fresh_for: u64) {
        self.add(0, Write::Confirm(key.text(), recipient, fresh_for));
    }

    /// Removes the packuments of a package, and the manifest of one of its versions.
    pub(crate) fn forget(&self, registry: &Address, name: &str, version: Option<&str>) {
        let manifest = version.map(|version| Form::Version(version.to_owned()));
        for form in [Form::Abbreviated, Form::RatherFull, Form::Full].into_iter().chain(manifest) {
            let key = DocumentKey { registry: registry.clone(), name: name.to_owned(), form, integrity: None };
            self.add(0, Write::Forget(digest(&key.text())));
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
        if writer.thread.is_none() {
            writer.thread = self.start_writing().ok();
        }
        if let Some((queue, _)) = &writer.thread {
            // This fails only if the thread has ended. The cache then goes without the batch.
            let _ = queue.send(batch);
        }
    }

    /// Starts a thread that writes batches. It fails if the system has no more threads.
    fn start_writing(&self) -> io::Result<(Sender<Vec<Write>>, JoinHandle<()>)> {
        let (queue, batches) = mpsc::channel::<Vec<Write>>();
        let folder = self.path.parent().map(Path::to_owned);
        let mut pack = Pack::at(self.path.clone());
        let write = move || {
            if !pack.exists()
                && let Some(folder) = folder
            {
                super::remove_superseded(&folder, A_MONTH);
            }
            for batch in batches {
                let changes: Vec<Change> = batch.into_iter().filter_map(Write::into_change).collect();
                // The cache goes without a batch that can't be written. A full disk must not stop a
                // resolution.
                let _ = pack.append(&changes);
            }
        };
        Ok((queue, thread::Builder::new().name("cache".to_owned()).spawn(write)?))
    }

    /// Waits until everything is written.
    pub(super) fn flush(&self) {
        let mut writer = locked(&self.writer);
        self.hand_over(&mut writer);
        if let Some((queue, thread)) = writer.thread.take() {
            drop(queue);
            let _ = thread.join();
        }
        // Damaged entries are forgotten or replaced by now. If that could not be written, the next
        // reader finds the damage again.
        self.damaged().clear();
        self.look_again();
    }
}

impl Write {
    fn into_change(self) -> Option<Change> {
        match self {
            Self::Keep(key, entry) => {
                let (key, revision) = (digest(&key), entry.number);
                let About { fresh_until, confirmed, recipient: Recipient(recipient), .. } = entry.about;
                Some(Change::Keep { key, revision, fresh_until, confirmed, recipient, parts: entry.parts()? })
            }
            Self::Summarise(key, entry) => {
                Some(Change::Update { key: digest(&key), revision: entry.number, parts: entry.parts()? })
            }
            Self::Confirm(key, Recipient(recipient), fresh_for) => {
                let (fresh_until, confirmed) = lifetime(fresh_for);
                Some(Change::Confirm { key: digest(&key), fresh_until, confirmed, recipient })
            }
            Self::Forget(key) => Some(Change::Forget { key }),
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

#[cfg(test)]
mod tests;
