//! Contents by key, in two files that are only appended to: a pack with the contents, and an index
//! with a record for each change.
//!
//! Processes append one after the other, and readers take no lock. A change is complete when its
//! record is in the index, which comes after the contents, so a killed process leaves at most
//! contents without a record. Nothing waits for the disk: after a power cut, either may be
//! incomplete, which checksums show. The last record of a key counts. Once most contents are
//! superseded, the rest is copied to a new pack. If there is no room for both, the new pack starts
//! empty. This module doesn't know what the contents mean.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::superseded;

/// How long the changes of a run wait for other processes, all together. Others hold the lock for
/// as long as it takes to write a batch, or seldom a whole pack.
const PATIENCE: Duration = Duration::from_secs(10);
/// The beginning of an index. The number of its pack follows.
const MARK: [u8; 8] = *b"espalier";
/// The length of both in bytes.
const HEADER: usize = 16;
/// The length of a record in bytes.
const RECORD: usize = 96;
/// Contents are written in pieces of this length.
const PIECE: usize = 256 << 10;
/// A pack or an index with fewer superseded bytes isn't written anew.
const MUCH: u64 = 32 << 20;

/// The digest of a key.
pub(crate) type Key = [u8; 32];

/// The contents of a key: two parts that are read at once, and one that is read when it is needed.
#[derive(Debug)]
pub(super) struct Contents {
    pub first: [Bytes; 2],
    pub last: Deferred,
}

/// Bytes that may still be in the pack.
#[derive(Clone, Debug)]
pub(crate) enum Deferred {
    Read(Bytes),
    Packed(Packed),
}

/// The last part of a key's contents, in a pack. It stays there even if the pack is replaced.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub key: Key,
    pack: Arc<File>,
    start: u64,
    length: u32,
    checksum: u32,
}

/// What the index says about a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    pub key: Key,
    pub revision: i64,
    pub fresh_until: i64,
    pub confirmed: i64,
    /// The `Recipient` who may use the contents without a confirmation. To the pack, it is a mere
    /// number.
    pub recipient: u64,
    /// The position of the contents in the pack.
    start: u64,
    /// The lengths of the parts. A key without contents was forgotten.
    lengths: [u32; 3],
    /// The checksums of the first two parts and of the last one.
    checksums: [u32; 2],
}

/// A change of a key.
#[derive(Debug)]
pub(super) enum Change {
    Keep {
        key: Key,
        revision: i64,
        fresh_until: i64,
        confirmed: i64,
        recipient: u64,
        parts: [Bytes; 3],
    },
    /// Other contents of a record, if the record still is of this revision.
    Update {
        key: Key,
        revision: i64,
        parts: [Bytes; 3],
    },
    Confirm {
        key: Key,
        fresh_until: i64,
        confirmed: i64,
        recipient: u64,
    },
    Forget {
        key: Key,
    },
}

/// A pack and its index.
#[derive(Debug)]
pub(super) struct Pack {
    /// The path of the index without its extension.
    path: PathBuf,
    open: Option<Open>,
    /// How much longer changes wait for other processes.
    patience: Duration,
}

/// The files as far as they were read.
#[derive(Debug)]
struct Open {
    number: u64,
    contents: Arc<File>,
    /// The length of the pack.
    length: u64,
    /// The length of the index, without an incomplete record at its end.
    read: u64,
    /// The last record of each key, by the beginning of the key. If two keys begin alike, one of
    /// them is absent.
    records: FxHashMap<u64, Record>,
    /// The length of the contents that count.
    live: u64,
}

impl Deferred {
    /// The number of bytes.
    pub fn length(&self) -> usize {
        match self {
            Self::Read(bytes) => bytes.len(),
            Self::Packed(packed) => packed.length as usize,
        }
    }

    /// The bytes. `None` if they are damaged. Blocks.
    pub fn read(&self) -> Option<Bytes> {
        let Packed { pack, start, length, checksum, .. } = match self {
            Self::Read(bytes) => return Some(bytes.clone()),
            Self::Packed(packed) => packed,
        };
        let bytes = read_at(pack, *length as usize, *start).ok()?;
        (crc32fast::hash(&bytes) == *checksum).then(|| bytes.into())
    }
}

impl Record {
    fn length(&self) -> u64 {
        self.lengths.iter().copied().map(u64::from).sum()
    }

    fn to_bytes(self) -> [u8; RECORD] {
        let mut bytes = Vec::with_capacity(RECORD);
        bytes.extend(self.key);
        bytes.extend([self.revision, self.fresh_until, self.confirmed].map(i64::to_le_bytes).as_flattened());
        bytes.extend([self.recipient, self.start].map(u64::to_le_bytes).as_flattened());
        bytes.extend(self.lengths.map(u32::to_le_bytes).as_flattened());
        bytes.extend(self.checksums.map(u32::to_le_bytes).as_flattened());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes.try_into().expect("the sum of the lengths")
    }

    /// The record with these contents, which are at this position. `None` if they are too long.
    fn with(&self, [first, second, last]: &[Bytes; 3], start: u64) -> Option<Self> {
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(first);
        checksum.update(second);
        let checksums = [checksum.finalize(), crc32fast::hash(last)];
        let length = |part: &Bytes| u32::try_from(part.len()).ok();
        Some(Self { start, lengths: [length(first)?, length(second)?, length(last)?], checksums, ..*self })
    }

    /// `None` for a damaged record.
    fn from_bytes(bytes: &[u8; RECORD]) -> Option<Self> {
        let (mut rest, checksum) = bytes.split_last_chunk()?;
        if crc32fast::hash(rest) != u32::from_le_bytes(*checksum) {
            return None;
        }
        Some(Self {
            key: *next(&mut rest)?,
            revision: i64::from_le_bytes(*next(&mut rest)?),
            fresh_until: i64::from_le_bytes(*next(&mut rest)?),
            confirmed: i64::from_le_bytes(*next(&mut rest)?),
            recipient: u64::from_le_bytes(*next(&mut rest)?),
            start: u64::from_le_bytes(*next(&mut rest)?),
            lengths: [
                u32::from_le_bytes(*next(&mut rest)?),
                u32::from_le_bytes(*next(&mut rest)?),
                u32::from_le_bytes(*next(&mut rest)?),
            ],
            checksums: [u32::from_le_bytes(*next(&mut rest)?), u32::from_le_bytes(*next(&mut rest)?)],
        })
    }
}

/// Takes the first bytes of a slice.
fn next<'a, const LENGTH: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; LENGTH]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(first)
}

impl Pack {
    /// The pack of this path, to which extensions are added. The files need not exist.
    pub fn at(path: PathBuf) -> Self {
        Self { path, open: None, patience: PATIENCE }
    }

    /// Whether there is an index.
    pub fn exists(&self) -> bool {
        self.index().exists()
    }

    /// Reads what was appended to the index since the last time. Files that can't be read count as
    /// empty.
    pub fn refresh(&mut self) {
        // Another process may put a new pack in place between the two files.
        if self.try_refresh().is_err() && self.try_refresh().is_err() {
            self.open = None;
        }
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.records.is_empty())
    }

    /// The record of a key.
    pub fn find(&self, key: &Key) -> Option<&Record> {
        self.starting_with(prefix(key)).filter(|record| record.key == *key)
    }

    /// The record of the key that begins with these bytes.
    pub fn starting_with(&self, prefix: u64) -> Option<&Record> {
        self.open.as_ref()?.records.get(&prefix)
    }

    /// The contents of a record. `None` if the first parts are damaged. If the second part is
    /// empty, the last one is read as well.
    pub fn contents(&self, record: &Record) -> Option<Contents> {
        self.open.as_ref()?.contents(record)
    }

    /// Appends changes. Blocks while other processes append.
    ///
    /// # Errors
    /// If a file can't be written, or others take too long.
    pub fn append(&mut self, changes: &[Change]) -> io::Result<()> {
        let _alone = self.lock()?;
        self.refresh();
        if self.open.as_ref().is_none_or(Open::is_mostly_superseded) {
            let replaced = self.replace();
            // If there can't be a new pack, the former one still takes changes.
            if self.open.is_none() {
                replaced?;
            }
        }
        let index = self.index();
        let mut open = self.open.take().ok_or_else(missing)?;
        let contents = self.contents_of(open.number);
        open.append(changes, &contents, &index)?;
        // After a failure, the files are read again.
        self.open = Some(open);
        Ok(())
    }

    /// Waits until no other process appends. The lock ends with the file, even if this process is
    /// killed.
    fn lock(&mut self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = to_write().create(true).truncate(false).open(self.lock_file())?;
        let start = Instant::now();
        let locked = loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if start.elapsed() < self.patience => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                locked => break locked,
            }
        };
        self.patience = self.patience.saturating_sub(start.elapsed());
        locked?;
        Ok(file)
    }

    fn try_refresh(&mut self) -> io::Result<()> {
        let mut index = File::open(self.index())?;
        let mut header = [0; HEADER];
        index.read_exact(&mut header)?;
        let number = number(&header).ok_or_else(|| io::Error::from(ErrorKind::InvalidData))?;
        if self.open.as_ref().is_none_or(|open| open.number != number) {
            self.open = Some(Open::new(number, Arc::new(File::open(self.contents_of(number))?)));
        }
        self.open.as_mut().ok_or_else(missing)?.read_on(&mut index)
    }

    /// Puts a new pack in place, with the contents that count, or without any if the disk has no
    /// room for them. The caller is alone.
    fn replace(&mut self) -> io::Result<()> {
        // A killed process may have left a pack that was never put in place.
        self.remove_others(self.open.as_ref().map(|open| open.number));
        let copied = self.put_in_place(self.open.iter().flat_map(|open| open.records.values()));
        let number = match copied {
            Err(error) if is_full(&error) => self.put_in_place([])?,
            copied => copied?,
        };
        self.remove_others(Some(number));
        self.try_refresh()
    }

    /// Puts a new pack with these contents in place, and returns its number. After an error, the
    /// former pack is in place, and nothing else.
    fn put_in_place<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> io::Result<u64> {
        let number = fastrand::u64(..);
        let (contents, next) = (self.contents_of(number), self.next_index());
        let _ = fs::remove_file(&next);
        let placed = self.copy(records, number, &contents, &next).and_then(|()| fs::rename(&next, self.index()));
        if placed.is_err() {
            let _ = fs::remove_file(contents);
            let _ = fs::remove_file(next);
        }
        placed.map(|()| number)
    }

    fn copy<'a>(
        &self,
        records: impl IntoIterator<Item = &'a Record>,
        number: u64,
        contents: &Path,
        index: &Path,
    ) -> io::Result<()> {
        let mut index = BufWriter::new(File::create_new(index)?);
        let mut contents = BufWriter::with_capacity(PIECE, File::create_new(contents)?);
        index.write_all(&MARK)?;
        index.write_all(&number.to_le_bytes())?;
        let mut start = 0;
        for record in records {
            let Some(Contents { first: [first, second], last }) = self.contents(record) else { continue };
            let Some(last) = last.read() else { continue };
            for part in [first, second, last] {
                contents.write_all(&part)?;
            }
            index.write_all(&Record { start, ..*record }.to_bytes())?;
            start += record.length();
        }
        contents.flush()?;
        index.flush()
    }

    /// Removes former packs, and those that were never put in place. A pack that is still read
    /// keeps its contents.
    fn remove_others(&self, current: Option<u64>) {
        let current = current.map(|number| self.contents_of(number));
        for path in self.packs().filter(|path| Some(path) != current.as_ref()) {
            let _ = fs::remove_file(path);
        }
    }

    /// All packs with such a path.
    fn packs(&self) -> impl Iterator<Item = PathBuf> {
        let entries = self.path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let number = |name: &str| {
            let number = name.strip_prefix(self.path.file_name()?.to_str()?)?.strip_prefix('.')?;
            u64::from_str_radix(number.strip_suffix(".pack")?, 16).ok()
        };
        entries.filter_map(move |entry| {
            let path = self.contents_of(number(entry.file_name().to_str()?)?);
            // Others may call their files similarly.
            (path.file_name() == Some(entry.file_name().as_os_str())).then_some(path)
        })
    }

    /// All its files, the index last. `None` if the index is not one.
    pub fn files(&self) -> Option<Vec<PathBuf>> {
        let index = self.index();
        superseded::begins_with(&index, &MARK)
            .then(|| self.packs().chain([self.next_index(), self.lock_file(), index]).collect())
    }

    fn index(&self) -> PathBuf {
        self.path.with_extension("index")
    }

    /// The index of a pack that is not yet in place.
    fn next_index(&self) -> PathBuf {
        self.path.with_extension("next")
    }

    fn lock_file(&self) -> PathBuf {
        self.path.with_extension("lock")
    }

    fn contents_of(&self, number: u64) -> PathBuf {
        self.path.with_extension(format!("{number:016x}.pack"))
    }
}

impl Open {
    fn new(number: u64, contents: Arc<File>) -> Self {
        Self { number, contents, length: 0, read: HEADER as u64, records: FxHashMap::default(), live: 0 }
    }

    /// Reads the records that were appended.
    fn read_on(&mut self, index: &mut File) -> io::Result<()> {
        let mut appended = Vec::new();
        index.seek(SeekFrom::Start(self.read))?;
        index.read_to_end(&mut appended)?;
        let (records, _) = appended.as_chunks::<RECORD>();
        self.records.reserve(records.len());
        records.iter().filter_map(Record::from_bytes).for_each(|record| self.add(record));
        self.read += records.as_flattened().len() as u64;
        self.length = self.contents.metadata()?.len();
        Ok(())
    }

    fn contents(&self, record: &Record) -> Option<Contents> {
        let [first, second, last] = record.lengths;
        let last = Packed {
            key: record.key,
            pack: Arc::clone(&self.contents),
            start: record.start.checked_add(u64::from(first) + u64::from(second))?,
            length: last,
            checksum: record.checksums[1],
        };
        let end = last.start.checked_add(u64::from(last.length))?;
        if end > self.length {
            return None;
        }
        let length = first as usize + second as usize;
        let at_once = if second == 0 { last.length as usize } else { 0 };
        let contents = read_at(&self.contents, length + at_once, record.start).ok()?;
        if crc32fast::hash(&contents[..length]) != record.checksums[0] {
            return None;
        }
        let mut rest = Bytes::from(contents);
        let first = [rest.split_to(first as usize), rest.split_to(second as usize)];
        let last = match second {
            0 if crc32fast::hash(&rest) != last.checksum => return None,
            0 => Deferred::Read(rest),
            _ => Deferred::Packed(last),
        };
        Some(Contents { first, last })
    }

    /// Whether most of a file is superseded, and it is worth the time to write it anew.
    fn is_mostly_superseded(&self) -> bool {
        let index = (self.records.len() * RECORD) as u64;
        let is_wasteful = |length: u64, live: u64| length > 2 * live + MUCH;
        is_wasteful(self.length, self.live) || is_wasteful(self.read, index)
    }

    /// Appends changes to both files. The caller is alone.
    fn append(&mut self, changes: &[Change], contents: &Path, index: &Path) -> io::Result<()> {
        let mut records = Vec::with_capacity(changes.len() * RECORD);
        let mut end = self.length;
        extend(contents, self.length, |file| {
            let mut file = BufWriter::with_capacity(PIECE, file);
            for change in changes {
                let Some(record) = self.record(change, end) else { continue };
                if let Change::Keep { parts, .. } | Change::Update { parts, .. } = change {
                    parts.iter().try_for_each(|part| file.write_all(part))?;
                    end += record.length();
                }
                self.add(record);
                records.extend(record.to_bytes());
            }
            file.flush()
        })?;
        extend(index, self.read, |file| file.write_all(&records))?;
        self.length = end;
        self.read += records.len() as u64;
        Ok(())
    }

    /// The record of a change whose contents are at this position. `None` if there is nothing to
    /// change.
    fn record(&self, change: &Change, start: u64) -> Option<Record> {
        match *change {
            Change::Keep { key, revision, fresh_until, confirmed, recipient, ref parts } => {
                let about = Record { key, revision, fresh_until, confirmed, recipient, ..Record::default() };
                about.with(parts, start)
            }
            Change::Update { key, revision, ref parts } => {
                self.former(&key).filter(|former| former.revision == revision)?.with(parts, start)
            }
            Change::Confirm { key, fresh_until, confirmed, recipient } => {
                Some(Record { fresh_until, confirmed, recipient, ..*self.former(&key)? })
            }
            Change::Forget { key } => {
                self.records.contains_key(&prefix(&key)).then_some(Record { key, ..Record::default() })
            }
        }
    }

    fn former(&self, key: &Key) -> Option<&Record> {
        self.records.get(&prefix(key)).filter(|record| record.key == *key)
    }

    /// Lets a record count.
    fn add(&mut self, record: Record) {
        let former = match record.length() {
            0 => self.records.remove(&prefix(&record.key)),
            _ => self.records.insert(prefix(&record.key), record),
        };
        self.live += record.length();
        self.live -= former.as_ref().map_or(0, Record::length);
    }
}

/// Writes behind the first `length` bytes of a file. If that fails, the file ends there.
fn extend(path: &Path, length: u64, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = to_write().open(path)?;
    // A killed process may have left an incomplete record.
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    let written = write(&mut file);
    if written.is_err() {
        let _ = file.set_len(length);
    }
    written
}

/// The number of the pack, by the header of an index.
fn number(header: &[u8; HEADER]) -> Option<u64> {
    let number = header.strip_prefix(&MARK)?;
    Some(u64::from_le_bytes(number.try_into().ok()?))
}

/// The beginning of a key.
pub(super) fn prefix(key: &Key) -> u64 {
    u64::from_le_bytes(*key.first_chunk().expect("a key is longer"))
}

fn missing() -> io::Error {
    ErrorKind::NotFound.into()
}

/// Whether there is no room for what was written.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// Opens a file to write to it. A link in its place is refused, because it could lead to any file.
#[cfg(unix)]
fn to_write() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn to_write() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    options
}

/// Reads so many bytes from this position on. The memory isn't filled with zeros first.
#[cfg(unix)]
fn read_at(file: &File, length: usize, position: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let next = position + bytes.len() as u64;
        match rustix::io::pread(file, rustix::buffer::spare_capacity(&mut bytes), next) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

#[cfg(not(unix))]
fn read_at(file: &File, length: usize, position: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut read = 0;
    while read < length {
        match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[read..], position + read as u64)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            more => read += more,
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
