//! Reads the tar format: which entries are files of the package, and their content.

use rustc_hash::{FxHashMap, FxHashSet};
use tar_core::parse::{Limits as TarLimits, ParseError, ParseEvent, Parser};
use tar_core::{EntryType, HEADER_SIZE};

use super::{ArchiveError, Limits, Receiver, longest, path};

/// Reads entries from pieces that can end anywhere.
pub struct Tar {
    parser: Parser,
    limits: Limits,
    /// The number of bytes that may still follow.
    left: u64,
    entries: usize,
    /// An incomplete header.
    buffer: Vec<u8>,
    next: Next,
    names: Names,
}

/// What follows next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Header,
    /// The rest of a file, and the padding after it.
    File {
        left: u64,
        padding: u64,
    },
    /// This number of bytes to skip.
    Skip(u64),
    /// Nothing, because the archive has ended.
    Nothing,
}

impl Tar {
    pub fn new(length: u64, limits: Limits) -> Self {
        let mut parser = Parser::new(TarLimits { max_metadata_size: limits.header, ..TarLimits::default() });
        // node-tar skips extended headers that it can't read.
        parser.set_ignore_pax_errors(true);
        parser.set_allow_empty_path(true);
        let left = longest(length, limits);
        let (buffer, next, names) = (Vec::new(), Next::Header, Names::default());
        Self { parser, limits, left, entries: 0, buffer, next, names }
    }

    /// Whether everything relevant was read.
    pub fn has_ended(&self) -> bool {
        self.next == Next::Nothing
    }

    pub fn push<R: Receiver>(&mut self, mut piece: &[u8], receiver: &mut R) -> Result<(), ArchiveError<R::Error>> {
        let left = self.left.checked_sub(piece.len() as u64);
        self.left = left.ok_or_else(|| ArchiveError::TooLarge("any package should".to_owned()))?;
        while !piece.is_empty() {
            match &mut self.next {
                Next::Nothing => return Ok(()),
                Next::Skip(left) => {
                    let skipped = take(&mut piece, left);
                    debug_assert!(!skipped.is_empty() || *left == 0);
                    if *left == 0 {
                        self.next = Next::Header;
                    }
                }
                Next::File { left, padding } => {
                    let content = take(&mut piece, left);
                    receiver.content(content).map_err(ArchiveError::Receiver)?;
                    if *left == 0 {
                        self.next = Next::Skip(*padding);
                        receiver.end().map_err(ArchiveError::Receiver)?;
                    }
                }
                Next::Header => {
                    // A complete header is read in place.
                    if self.buffer.is_empty() {
                        let read = self.header(piece, receiver)?;
                        piece = &piece[read..];
                        if read == 0 {
                            self.buffer.extend_from_slice(piece);
                            return Ok(());
                        }
                    } else {
                        piece = self.buffered_header(piece, receiver)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Completes a header that began in an earlier piece. Returns the rest of this piece.
    fn buffered_header<'a, R: Receiver>(
        &mut self,
        mut piece: &'a [u8],
        receiver: &mut R,
    ) -> Result<&'a [u8], ArchiveError<R::Error>> {
        while !piece.is_empty() {
            let wanted = HEADER_SIZE - self.buffer.len() % HEADER_SIZE;
            let (block, rest) = piece.split_at(wanted.min(piece.len()));
            self.buffer.extend_from_slice(block);
            piece = rest;
            let mut buffer = std::mem::take(&mut self.buffer);
            let read = self.header(&buffer, receiver)?;
            buffer.drain(..read);
            self.buffer = buffer;
            if read > 0 {
                break;
            }
        }
        Ok(piece)
    }

    /// Reads a header and the long names before it. Returns its length, or 0 if it is incomplete.
    fn header<R: Receiver>(&mut self, bytes: &[u8], receiver: &mut R) -> Result<usize, ArchiveError<R::Error>> {
        let (read, next) = match self.parser.parse(bytes).map_err(unreadable)? {
            ParseEvent::NeedData { .. } => return Ok(0),
            ParseEvent::End { consumed } => (consumed, Next::Nothing),
            ParseEvent::GlobalExtensions { consumed, .. } => (consumed, Next::Header),
            ParseEvent::SparseEntry { consumed, entry, .. } => (consumed, Next::Skip(entry.padded_size())),
            ParseEvent::Entry { consumed, entry } => {
                let is_file = matches!(entry.entry_type, EntryType::Regular | EntryType::Continuous);
                let path = entry.path_lossy();
                let goal = if is_file && !path.ends_with('/') { self.names.goal(&path) } else { None };
                let padding = entry.padded_size() - entry.size;
                let next = match goal {
                    Some(goal) => {
                        let mode = self.names.take(&goal, entry.mode);
                        receiver.begin(&goal, mode).map_err(ArchiveError::Receiver)?;
                        Next::File { left: entry.size, padding }
                    }
                    None => Next::Skip(entry.padded_size()),
                };
                (consumed, next)
            }
        };
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(ArchiveError::TooLarge(format!("{} entries", self.limits.entries)));
        }
        self.next = next;
        if matches!(self.next, Next::File { left: 0, .. }) {
            receiver.end().map_err(ArchiveError::Receiver)?;
            self.next = Next::Header;
        } else if self.next == Next::Skip(0) {
            self.next = Next::Header;
        }
        Ok(read)
    }

    pub fn finish<E>(self) -> Result<(), ArchiveError<E>> {
        // Some archives end with fewer empty blocks than they should. node-tar accepts them.
        let is_over = match self.next {
            Next::Nothing => true,
            Next::Header => self.buffer.iter().all(|byte| *byte == 0),
            // The padding of the last file can also be missing.
            Next::Skip(left) => left < HEADER_SIZE as u64,
            Next::File { .. } => false,
        };
        if !is_over {
            return Err(ArchiveError::Unreadable("it is cut off".to_owned()));
        }
        if self.names.files.is_empty() { Err(ArchiveError::Empty) } else { Ok(()) }
    }
}

/// Takes at most the wanted number of bytes from a piece.
fn take<'a>(piece: &mut &'a [u8], wanted: &mut u64) -> &'a [u8] {
    let length = usize::try_from(*wanted).unwrap_or(usize::MAX).min(piece.len());
    let (taken, rest) = piece.split_at(length);
    *piece = rest;
    *wanted -= length as u64;
    taken
}

fn unreadable<E>(error: ParseError) -> ArchiveError<E> {
    match error {
        ParseError::MetadataTooLarge { .. } => ArchiveError::TooLarge("a name should have".to_owned()),
        error => ArchiveError::Unreadable(error.to_string()),
    }
}

/// The files so far, and which of several with the same name count.
#[derive(Default)]
struct Names {
    /// Each has the mode of the first file with its name.
    files: FxHashMap<String, u32>,
    folders: FxHashSet<String>,
    /// Folders with an `.npmignore` of their own.
    ignore_files: FxHashSet<String>,
}

impl Names {
    /// The path that a file gets, if any. A `.gitignore` becomes an `.npmignore`, unless its folder
    /// has one, because npm reads either.
    fn goal(&mut self, path: &str) -> Option<String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let goal = match name {
            ".npmignore" => {
                self.ignore_files.insert(folder.to_owned());
                path::inside(path)
            }
            ".gitignore" if self.ignore_files.contains(folder) => None,
            ".gitignore" => path::inside(&format!("{folder}/.npmignore")),
            _ => path::inside(path),
        };
        goal.filter(|goal| self.has_room(goal))
    }

    /// Whether the path is free. As in npm, if a file and a folder have the same name, the first
    /// one stays.
    fn has_room(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        !self.folders.contains(path) && above.all(|folder| !self.files.contains_key(folder))
    }

    /// Records a file. Returns its mode.
    fn take(&mut self, path: &str, mode: u32) -> u32 {
        for (at, _) in path.match_indices('/').rev() {
            if !self.folders.insert(path[..at].to_owned()) {
                break;
            }
        }
        *self.files.entry(path.to_owned()).or_insert(mode)
    }
}
