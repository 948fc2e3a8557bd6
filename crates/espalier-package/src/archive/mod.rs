//! Reads a package's tarball piece by piece, as pacote does (`fetcher.js`, `#tarxOptions`).
//!
//! Archives are hostile input. The receiver gets plain files only: links, devices and everything
//! else are left out, folders exist because of the files in them, and no path leads out of the
//! package. Sizes, counts and ratios are bounded. The caller decides where files go and verifies
//! the bytes.

mod listing;
mod path;
mod tar;

use std::io::Write as _;

use flate2::write::MultiGzDecoder;

pub use listing::list;
use tar::Tar;

/// The bounds of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of bytes after decompression.
    pub bytes: u64,
    /// The maximum ratio of bytes after and before decompression.
    pub ratio: u64,
    /// The maximum number of entries of any kind.
    pub entries: usize,
    /// The maximum number of bytes that describe one entry: long names and extended headers.
    pub header: u32,
}

impl Default for Limits {
    /// The ratio and the header are node-tar's.
    fn default() -> Self {
        Self { bytes: 4 << 30, ratio: 1000, entries: 500_000, header: 1 << 20 }
    }
}

/// Receives the files of an archive, one after the other. If a path occurs twice, the last content
/// counts.
pub trait Receiver {
    /// Why a file can't be received.
    type Error;
    /// A file begins. `mode` is the recorded one. If the path occurs again, it is that of the first
    /// file.
    fn begin(&mut self, path: &str, mode: u32) -> Result<(), Self::Error>;
    /// A piece of its content.
    fn content(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
    /// Its end.
    fn end(&mut self) -> Result<(), Self::Error>;
}

/// Why an archive can't be read.
#[derive(Debug)]
pub enum ArchiveError<E> {
    /// It is damaged or not an archive.
    Unreadable(String),
    /// It is larger than a package may be.
    TooLarge(String),
    /// It has no files.
    Empty,
    /// The receiver failed.
    Receiver(E),
}

/// Reads an archive, compressed or not.
pub struct Reader {
    form: Form,
    tar: Tar,
}

enum Form {
    /// Nothing has been read yet.
    Unknown,
    Plain,
    Compressed(Box<MultiGzDecoder<Vec<u8>>>),
}

/// How many bytes are inflated at once. It is low, because one byte can become a thousand.
const STEP: usize = 16 << 10;

impl Reader {
    /// A reader for an archive of this length, which the ratio refers to.
    pub fn new(length: u64, limits: Limits) -> Self {
        Self { form: Form::Unknown, tar: Tar::new(length, limits) }
    }

    /// Takes the next piece. The first piece needs at least two bytes. After an error, no more
    /// pieces may follow.
    pub fn push<R: Receiver>(&mut self, piece: &[u8], receiver: &mut R) -> Result<(), ArchiveError<R::Error>> {
        const GZIP: &[u8] = &[0x1f, 0x8b];
        if matches!(self.form, Form::Unknown) && !piece.is_empty() {
            let decoder = piece.starts_with(GZIP).then(|| Box::new(MultiGzDecoder::new(Vec::new())));
            self.form = decoder.map_or(Form::Plain, Form::Compressed);
        }
        let Form::Compressed(decoder) = &mut self.form else { return self.tar.push(piece, receiver) };
        for step in piece.chunks(STEP) {
            // Whatever follows the end of the archive is ignored, even if it can't be inflated.
            if self.tar.has_ended() {
                break;
            }
            let inflated = decoder.write_all(step);
            self.tar.push(decoder.get_ref(), receiver)?;
            decoder.get_mut().clear();
            if !self.tar.has_ended() {
                inflated.map_err(|error| ArchiveError::Unreadable(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Checks that the archive is complete, after the last piece.
    pub fn finish<R: Receiver>(mut self, receiver: &mut R) -> Result<(), ArchiveError<R::Error>> {
        if let Form::Compressed(decoder) = &mut self.form
            && !self.tar.has_ended()
        {
            let inflated = decoder.try_finish();
            self.tar.push(decoder.get_ref(), receiver)?;
            if !self.tar.has_ended() {
                inflated.map_err(|error| ArchiveError::Unreadable(error.to_string()))?;
            }
        }
        self.tar.finish()
    }
}

/// Reads an archive that the caller has inflated, to no more than [`longest`] bytes. `length` is
/// its compressed length.
pub fn read_inflated<R: Receiver>(
    inflated: &[u8],
    length: u64,
    limits: Limits,
    receiver: &mut R,
) -> Result<(), ArchiveError<R::Error>> {
    let mut tar = Tar::new(length, limits);
    tar.push(inflated, receiver)?;
    tar.finish()
}

/// The maximum number of bytes that an archive of this length may inflate to.
pub fn longest(length: u64, limits: Limits) -> u64 {
    // A small archive can have a high ratio without being large.
    limits.bytes.min(length.saturating_mul(limits.ratio).max(1 << 20))
}

/// Reads a complete archive.
pub fn read<R: Receiver>(bytes: &[u8], limits: Limits, receiver: &mut R) -> Result<(), ArchiveError<R::Error>> {
    let mut reader = Reader::new(bytes.len() as u64, limits);
    reader.push(bytes, receiver)?;
    reader.finish(receiver)
}

/// The mode that npm makes of a recorded one: at least what the owner needs, and at most what the
/// umask allows.
pub fn mode(recorded: u32, umask: u32) -> u32 {
    ((recorded & 0o777) | 0o666) & !umask | 0o600
}
