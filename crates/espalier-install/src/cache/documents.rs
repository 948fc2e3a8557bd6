//! Cached packuments and version documents.
//!
//! An entry is one file: a line that says what it is, a line of JSON about it, and the body as the registry sent it, which
//! is usually compressed. A checksum tells a damaged body before anyone parses it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::digest;
use serde::{Deserialize, Serialize};
use url::{Position, Url};

use crate::integrity::hexadecimal;
use crate::registry::{Encoding, Validators};

const MAGIC: &[u8] = b"espalier document 1\n";
/// File systems end names at 255 bytes; what would be longer is named by its hash.
const LONGEST_NAME: usize = 180;

/// Which document. Abbreviated and full packuments are different documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentKey {
    pub registry: Url,
    pub name: String,
    pub form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Abbreviated,
    Full,
    Version(String),
}

/// A document as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub about: About,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    /// Whose body it is. A file's name can be shared (by names that differ in case, on some file systems); this can't.
    pub key: String,
    pub content_type: String,
    pub encoding: Encoding,
    #[serde(flatten)]
    pub validators: Validators,
    /// Until when it may be used without asking, in seconds since the epoch.
    pub fresh_until: u64,
    /// When the registry last said so.
    pub confirmed: u64,
    pub checksum: u32,
}

impl Entry {
    pub(crate) fn new(
        key: &DocumentKey,
        content_type: String,
        encoding: Encoding,
        validators: Validators,
        fresh_for: u64,
        body: Vec<u8>,
    ) -> Self {
        let confirmed = now();
        let checksum = crc32fast::hash(&body);
        let fresh_until = confirmed.saturating_add(fresh_for);
        let about = About { key: key.text(), content_type, encoding, validators, fresh_until, confirmed, checksum };
        Self { about, body }
    }

    /// The same document, after the registry said that it is still right.
    pub(crate) fn confirmed(mut self, fresh_for: u64) -> Self {
        self.about.confirmed = now();
        self.about.fresh_until = self.about.confirmed.saturating_add(fresh_for);
        self
    }

    /// Whether it may be used without asking. One from the future is not believed: the clock was wrong then, or is now.
    pub(crate) fn is_fresh(&self) -> bool {
        let now = now();
        self.about.confirmed <= now && now < self.about.fresh_until
    }

    fn to_bytes(&self) -> Vec<u8> {
        let about = serde_json::to_vec(&self.about).unwrap_or_default();
        [MAGIC, &about, b"\n", &self.body].concat()
    }

    fn from_bytes(mut bytes: Vec<u8>, key: &str) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let about: About = serde_json::from_slice(&rest[..end]).ok()?;
        bytes.drain(..=MAGIC.len() + end);
        let sound = about.key == key && about.checksum == crc32fast::hash(&bytes);
        sound.then_some(Self { about, body: bytes })
    }
}

impl DocumentKey {
    fn text(&self) -> String {
        let form = match &self.form {
            Form::Abbreviated => "abbreviated",
            Form::Full => "full",
            Form::Version(version) => version,
        };
        format!("{}{} {form}", self.place(), self.name)
    }

    /// The registry without what might be secret in its URL.
    fn place(&self) -> &str {
        &self.registry[Position::BeforeHost..Position::AfterPath]
    }

    fn file_name(&self) -> String {
        let suffix = match &self.form {
            Form::Abbreviated => ".abbreviated".to_owned(),
            Form::Full => ".full".to_owned(),
            Form::Version(version) => format!("@{}.version", escape(version)),
        };
        shorten(format!("{}{suffix}", escape(&self.name)))
    }

    fn folder_name(&self) -> String {
        shorten(escape(self.place().trim_end_matches('/')))
    }
}

/// A name that every file system keeps apart from every other: no capitals, no separators, never hidden.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'@' => escaped.push(char::from(byte)),
            b'.' if index > 0 => escaped.push('.'),
            other => {
                escaped.push('%');
                escaped.push_str(&hexadecimal(&[other]));
            }
        }
    }
    escaped
}

fn shorten(name: String) -> String {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    hexadecimal(digest::digest(&digest::SHA256, name.as_bytes()).as_ref())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The documents of one cache. Writing is done by a thread of its own, so that no answer waits for a disk.
#[derive(Debug)]
pub(crate) struct Documents {
    folder: PathBuf,
    writer: Mutex<Option<Writer>>,
}

#[derive(Debug)]
struct Writer {
    queue: Sender<(PathBuf, Entry)>,
    thread: JoinHandle<()>,
}

impl Documents {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, writer: Mutex::new(None) }
    }

    /// The entry of that key, if there is a sound one. Blocks.
    pub(crate) fn read(&self, key: &DocumentKey) -> Option<Entry> {
        Entry::from_bytes(fs::read(self.path(key)).ok()?, &key.text())
    }

    /// Keeps an entry, soon.
    pub(crate) fn write(&self, key: &DocumentKey, entry: Entry) {
        let mut writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let writer = writer.get_or_insert_with(|| {
            let (queue, entries) = mpsc::channel::<(PathBuf, Entry)>();
            let thread = std::thread::spawn(move || entries.iter().for_each(|(path, entry)| write(&path, &entry)));
            Writer { queue, thread }
        });
        // Fails only when the thread is gone; then nothing is kept any more, which is allowed.
        let _ = writer.queue.send((self.path(key), entry));
    }

    /// Forgets the packuments of a package.
    pub(crate) fn forget(&self, registry: &Url, name: &str) {
        for form in [Form::Abbreviated, Form::Full] {
            let key = DocumentKey { registry: registry.clone(), name: name.to_owned(), form };
            // What isn't there or can't be removed is asked for again when it has aged.
            let _ = fs::remove_file(self.path(&key));
        }
    }

    pub(super) fn flush(&self) {
        let writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(Writer { queue, thread }) = writer {
            drop(queue);
            let _ = thread.join();
        }
    }

    fn path(&self, key: &DocumentKey) -> PathBuf {
        self.folder.join(key.folder_name()).join(key.file_name())
    }
}

impl Drop for Documents {
    fn drop(&mut self) {
        self.flush();
    }
}

fn write(path: &std::path::Path, entry: &Entry) {
    let Some(folder) = path.parent() else { return };
    // What can't be written isn't kept; a full disk must not stop a resolution.
    let _ = fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&entry.to_bytes())?;
        file.persist(path)?;
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use url::Url;

    use super::{DocumentKey, Documents, Entry, Form, escape};
    use crate::registry::{Encoding, Validators};

    fn key(name: &str, form: Form) -> DocumentKey {
        DocumentKey { registry: Url::parse("http://registry.test:4873/npm/").expect("a URL"), name: name.into(), form }
    }

    fn entry(key: &DocumentKey, fresh_for: u64) -> Entry {
        let validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
        Entry::new(key, "application/json".into(), Encoding::Identity, validators, fresh_for, b"{}\n{}".to_vec())
    }

    /// A cache with one entry, and the file of it.
    fn one_entry(key: &DocumentKey) -> (tempfile::TempDir, Documents, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let documents = Documents::new(folder.path().into());
        documents.write(key, entry(key, 60));
        documents.flush();
        let file = documents.path(key);
        (folder, documents, file)
    }

    #[test]
    fn what_was_written_is_read() {
        let key = key("@babel/core", Form::Abbreviated);
        let (_folder, documents, _) = one_entry(&key);
        let read = documents.read(&key).expect("an entry");
        assert_eq!(read.body, b"{}\n{}");
        assert_eq!(read.about.validators.etag.as_deref(), Some("\"1\""));
        assert!(read.is_fresh());
    }

    #[test]
    fn forms_names_and_registries_are_kept_apart() {
        let stored = key("a", Form::Abbreviated);
        let (_folder, documents, _) = one_entry(&stored);
        let elsewhere = Url::parse("http://other.test/").expect("a URL");
        for other in [
            key("a", Form::Full),
            key("a", Form::Version("1.0.0".into())),
            key("A", Form::Abbreviated),
            DocumentKey { registry: elsewhere, ..stored },
        ] {
            assert_eq!(documents.read(&other), None, "{other:?}");
        }
    }

    #[test]
    fn a_damaged_entry_is_none() {
        let key = key("a", Form::Full);
        let (_folder, documents, file) = one_entry(&key);
        let whole = fs::read(&file).expect("the entry");
        for length in 0..whole.len() {
            fs::write(&file, &whole[..length]).expect("written");
            assert_eq!(documents.read(&key), None, "cut at {length}");
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().expect("a body") ^= 1;
        fs::write(&file, flipped).expect("written");
        assert_eq!(documents.read(&key), None);
    }

    #[test]
    fn an_entry_ages_and_is_renewed() {
        let key = key("a", Form::Full);
        assert!(!entry(&key, 0).is_fresh());
        assert!(entry(&key, 0).confirmed(60).is_fresh());
        let mut from_the_future = entry(&key, 60);
        from_the_future.about.confirmed += 3600;
        from_the_future.about.fresh_until += 3600;
        assert!(!from_the_future.is_fresh());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_not_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        let documents = Documents::new(file.join("inside"));
        let key = key("a", Form::Full);
        documents.write(&key, entry(&key, 60));
        documents.flush();
        assert_eq!(documents.read(&key), None);
    }

    #[test]
    fn names_cannot_leave_their_folder() {
        assert_eq!(escape("../../x"), "%2e.%2f..%2fx");
        assert_eq!(escape("JSONStream"), "%4a%53%4f%4e%53tream");
        let long = key(&"x".repeat(300), Form::Full);
        assert_eq!(long.file_name().len(), 64);
    }
}
