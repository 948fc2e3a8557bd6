//! Reads a package's tarball as it comes, piece by piece, as pacote does (`fetcher.js`, `#tarxOptions`).
//!
//! Archives are hostile input. Only plain files are handed on: links, devices and whatever else an archive can hold are left
//! out, folders exist because files are in them, and no path leads out of the package. Sizes, counts and ratios are bounded.
//! Where files go to, and whether the bytes are the promised ones, is not decided here.

mod listing;
mod path;
mod tar;

use std::io::Write as _;

use flate2::write::MultiGzDecoder;

pub use listing::list;
use tar::Tar;

/// Bounds on an archive.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes it may inflate to.
    pub bytes: u64,
    /// The most bytes it may inflate to, for each byte it has.
    pub ratio: u64,
    /// The most entries of any kind.
    pub entries: usize,
    /// The most bytes that describe one entry: long names and extended headers.
    pub header: u32,
}

impl Default for Limits {
    /// The ratio and the header are node-tar's.
    fn default() -> Self {
        Self { bytes: 4 << 30, ratio: 1000, entries: 500_000, header: 1 << 20 }
    }
}

/// Who gets the files of an archive, one after the other. Of a path that comes twice the last content counts.
pub trait Receiver {
    /// Why a file can't be taken.
    type Error;
    /// A file begins. `mode` is as recorded; of a path that comes again it is the first one's.
    fn begin(&mut self, path: &str, mode: u32) -> Result<(), Self::Error>;
    /// More of its content.
    fn content(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
    /// It is complete.
    fn end(&mut self) -> Result<(), Self::Error>;
}

/// Why an archive could not be read to its end.
#[derive(Debug)]
pub enum ArchiveError<E> {
    /// It is damaged, or no archive at all.
    Unreadable(String),
    /// It is larger than any package should be.
    TooLarge(String),
    /// It has no files.
    Empty,
    /// The receiver gave up.
    Receiver(E),
}

/// Reads an archive, compressed or not.
pub struct Reader {
    form: Form,
    tar: Tar,
}

enum Form {
    /// Nothing has come yet.
    Unknown,
    Plain,
    Compressed(Box<MultiGzDecoder<Vec<u8>>>),
}

/// How much is inflated at once. One byte can become a thousand, so it is little.
const STEP: usize = 16 << 10;

impl Reader {
    /// A reader for an archive of `length` bytes, by which the ratio is reckoned.
    pub fn new(length: u64, limits: Limits) -> Self {
        Self { form: Form::Unknown, tar: Tar::new(length, limits) }
    }

    /// Takes the next piece; the first one has to have two bytes at least. After an error nothing more may come.
    pub fn push<R: Receiver>(&mut self, piece: &[u8], receiver: &mut R) -> Result<(), ArchiveError<R::Error>> {
        const GZIP: &[u8] = &[0x1f, 0x8b];
        if matches!(self.form, Form::Unknown) && !piece.is_empty() {
            let decoder = piece.starts_with(GZIP).then(|| Box::new(MultiGzDecoder::new(Vec::new())));
            self.form = decoder.map_or(Form::Plain, Form::Compressed);
        }
        let Form::Compressed(decoder) = &mut self.form else { return self.tar.push(piece, receiver) };
        for step in piece.chunks(STEP) {
            // What follows the archive's end is nobody's business, whether it can be inflated or not.
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

    /// Says whether that was all, after the last piece.
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

/// Reads an archive of `length` bytes that somebody else has inflated, to no more than [`longest`].
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

/// The most bytes that an archive of `length` bytes may inflate to.
pub fn longest(length: u64, limits: Limits) -> u64 {
    // A small archive can be a large multiple of its size without being large.
    limits.bytes.min(length.saturating_mul(limits.ratio).max(1 << 20))
}

/// Reads an archive that is there as a whole.
pub fn read<R: Receiver>(bytes: &[u8], limits: Limits, receiver: &mut R) -> Result<(), ArchiveError<R::Error>> {
    let mut reader = Reader::new(bytes.len() as u64, limits);
    reader.push(bytes, receiver)?;
    reader.finish(receiver)
}

/// What npm makes of a recorded mode: never less than the file's owner needs, never more than the umask allows.
pub fn mode(recorded: u32, umask: u32) -> u32 {
    ((recorded & 0o777) | 0o666) & !umask | 0o600
}
