//! Decompresses bodies, up to a maximum length. It doesn't know whether they come from a registry
//! or from the cache.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Mutex, PoisonError};

use espalier_registry::{Trouble, printable};
use flate2::bufread::MultiGzDecoder;
use libdeflater::Decompressor;

/// The most memory that an idle inflater keeps for the next document.
const MOST_KEPT: usize = 16 << 20;
/// The lengths of an inflater's memory for tarballs. The system provides pages as far as tarballs
/// reach, so the longest one alone determines how many it has to clear.
const ROOMS: [usize; 2] = [2 << 20, 64 << 20];
/// The smallest piece of memory that is lent. Larger pieces have two, four, eight times its length
/// and so on, so that each fits many bodies.
const SHORTEST: usize = 4 << 10;
/// The largest piece that is kept for another body, and the maximum of all kept pieces together.
const LONGEST_SPARE: usize = 2 << 20;
const MOST_SPARE: usize = 8 << 20;
/// The beginning of a gzip member without optional fields: the magic number, deflate, no flags.
const PLAIN_HEADER: &[u8] = b"\x1f\x8b\x08\0";
/// The time, and two bytes about the compressor and its system.
const REST_OF_HEADER: usize = 6;

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    /// As it is.
    Identity,
    /// Compressed.
    Gzip,
}

impl Encoding {
    /// Parses a `Content-Encoding`. The request offers gzip only, so any other encoding is the
    /// server's mistake.
    pub(crate) fn of(content_encoding: Option<&str>) -> Result<Self, Trouble> {
        match content_encoding.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Identity),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            name => {
                let name = printable(name);
                Err(Trouble::Unusable(format!("is compressed with `{name}`, which was not requested")))
            }
        }
    }

    /// The decoded body, no longer than `limit`.
    pub(crate) fn decode<'a>(self, body: &'a [u8], limit: u64, inflater: &'a mut Inflater) -> Result<&'a [u8], String> {
        match self {
            Self::Identity => Ok(body),
            Self::Gzip => inflater.inflate(body, limit),
        }
    }

    /// The same, for a body whose encoded form nobody needs any more.
    pub(crate) fn undone(self, body: Vec<u8>, limit: u64) -> Result<Vec<u8>, String> {
        match self {
            Self::Identity => Ok(body),
            Self::Gzip => Inflater::with(|inflater| inflater.inflate(&body, limit).map(<[u8]>::to_vec)),
        }
    }

    /// The decoded body at the beginning of memory that the caller may keep, and its length.
    /// [`recycle`] takes the memory back.
    pub(crate) fn decode_to_keep(
        self,
        body: &[u8],
        limit: u64,
        inflater: &mut Inflater,
    ) -> Result<(Vec<u8>, usize), String> {
        match self {
            Self::Identity => Ok((body.to_vec(), body.len())),
            Self::Gzip => {
                let length = inflater.inflate(body, limit)?.len();
                Ok((std::mem::take(&mut inflater.inflated), length))
            }
        }
    }
}

/// Memory of former bodies, by length. Allocating it for each of thousands of bodies costs as much
/// as parsing them.
struct Spare {
    pieces: BTreeMap<usize, Vec<Vec<u8>>>,
    bytes: usize,
}

static SPARE: Mutex<Spare> = Mutex::new(Spare { pieces: BTreeMap::new(), bytes: 0 });

/// Memory for a body of that length.
fn memory(length: usize) -> Vec<u8> {
    if length > LONGEST_SPARE {
        // More than the body needs would be cleared for nothing.
        return vec![0; length.next_multiple_of(LONGEST_SPARE / 2)];
    }
    let length = length.max(SHORTEST).next_power_of_two();
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    match spare.pieces.get_mut(&length).and_then(Vec::pop) {
        Some(piece) => {
            spare.bytes -= length;
            piece
        }
        None => vec![0; length],
    }
}

/// Takes back the memory of a body.
pub(crate) fn recycle(piece: Vec<u8>) {
    let length = piece.len();
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_usual = length.is_power_of_two() && (SHORTEST..=LONGEST_SPARE).contains(&length);
    if is_usual && spare.bytes + length <= MOST_SPARE {
        spare.bytes += length;
        spare.pieces.entry(length).or_default().push(piece);
    }
}

/// Decompresses one body after the other, into the same memory.
pub(crate) struct Inflater {
    whole: Decompressor,
    inflated: Vec<u8>,
    /// For tarballs, whose memory nobody keeps.
    room: Vec<u8>,
}

/// The idle inflaters. The last one that was used is lent next, to whichever thread asks, because
/// its memory is in the processor's cache.
static IDLE: Mutex<Vec<Inflater>> = Mutex::new(Vec::new());

impl Inflater {
    fn new() -> Self {
        Self { whole: Decompressor::new(), inflated: Vec::new(), room: Vec::new() }
    }

    /// Lends one.
    pub(crate) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = idle().pop();
        let mut inflater = spare.unwrap_or_else(Self::new);
        let result = work(&mut inflater);
        if inflater.inflated.capacity() > MOST_KEPT {
            inflater.inflated = Vec::new();
        }
        idle().push(inflater);
        result
    }

    fn inflate(&mut self, body: &[u8], limit: u64) -> Result<&[u8], String> {
        let whole = GzipMember::of(body, limit).and_then(|whole| {
            if self.inflated.len() < whole.length {
                recycle(std::mem::replace(&mut self.inflated, memory(whole.length)));
            }
            whole.inflate(&mut self.whole, &mut self.inflated)
        });
        match whole {
            Some(length) => Ok(&self.inflated[..length]),
            None => self.inflate_in_pieces(body, limit),
        }
    }

    /// Decompresses a usual tarball in one go; `None` if it is unusual, damaged, or longer than
    /// `limit` or the largest of [`ROOMS`].
    pub(crate) fn tarball(&mut self, body: &[u8], limit: u64) -> Option<&[u8]> {
        let whole = GzipMember::of(body, limit)?;
        let room = ROOMS.into_iter().find(|room| whole.length <= *room)?;
        if self.room.len() < room {
            self.room = vec![0; room];
        }
        let length = whole.inflate(&mut self.whole, &mut self.room)?;
        Some(&self.room[..length])
    }

    fn inflate_in_pieces(&mut self, body: &[u8], limit: u64) -> Result<&[u8], String> {
        self.inflated.clear();
        match MultiGzDecoder::new(body).take(limit + 1).read_to_end(&mut self.inflated) {
            Ok(length) if length as u64 > limit => Err(too_long(limit)),
            Ok(_) => Ok(&self.inflated),
            Err(error) => Err(format!("cannot be decompressed: {error}")),
        }
    }
}

/// A body of one gzip member, whose length and checksum are at its end.
struct GzipMember<'a> {
    deflated: &'a [u8],
    length: usize,
    checksum: u32,
}

impl<'a> GzipMember<'a> {
    /// Reads what the body says of itself; `None` if it is unusual or longer than `limit`.
    fn of(body: &'a [u8], limit: u64) -> Option<Self> {
        let deflated = body.strip_prefix(PLAIN_HEADER)?.get(REST_OF_HEADER..)?;
        let (rest, length) = deflated.split_last_chunk()?;
        let (deflated, checksum) = rest.split_last_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        // Nothing is compressed further than this, and a length that isn't true shall not take
        // memory.
        let is_possible = length as u64 <= limit && length / 1032 <= body.len();
        is_possible.then_some(Self { deflated, length, checksum: u32::from_le_bytes(*checksum) })
    }

    /// Decompresses the body in one go, and returns its length; `None` if it has several members or
    /// is damaged.
    fn inflate(&self, decompressor: &mut Decompressor, memory: &mut [u8]) -> Option<usize> {
        let inflated = &mut memory[..self.length];
        let written = decompressor.deflate_decompress(self.deflated, inflated).ok()?;
        // With several gzip members, the trailer describes only the last one.
        let is_whole = written == self.length && crc32fast::hash(inflated) == self.checksum;
        is_whole.then_some(written)
    }
}

/// The complaint about a body that is too long.
pub(crate) fn too_long(limit: u64) -> String {
    format!("is longer than {} MB", limit / 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{Encoding, Inflater, LONGEST_SPARE, MOST_SPARE, ROOMS, SPARE, memory, recycle};

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("into memory");
        encoder.finish().expect("into memory")
    }

    fn inflated(body: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        Inflater::with(|inflater| Encoding::Gzip.decode(body, limit, inflater).map(<[u8]>::to_vec))
    }

    #[test]
    fn compressed_bodies_are_inflated() {
        assert_eq!(inflated(&compressed(b"hello"), 100).as_deref(), Ok(b"hello".as_slice()));
    }

    #[test]
    fn a_body_in_several_parts_is_read_to_its_end() {
        for (first, second) in [("hello ", "there"), ("hello ", "there!"), ("", "there"), ("hello", "")] {
            let parts = [compressed(first.as_bytes()), compressed(second.as_bytes())].concat();
            assert_eq!(inflated(&parts, 100), Ok(format!("{first}{second}").into_bytes()));
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let error = inflated(&compressed(&vec![0; 3_000_000]), 2_000_000);
        assert_eq!(error, Err("is longer than 2 MB".to_owned()));
    }

    #[test]
    fn tarballs_are_inflated_into_a_room_that_is_long_enough() {
        let mut inflater = Inflater::new();
        for (length, room) in [(1, ROOMS[0]), (ROOMS[0] + 1, ROOMS[1]), (2, ROOMS[1])] {
            let content = vec![7; length];
            assert_eq!(inflater.tarball(&compressed(&content), u64::MAX), Some(content.as_slice()));
            assert_eq!(inflater.room.len(), room);
        }
        let too_long = [vec![0; ROOMS[1] + 1], vec![7]].concat();
        assert_eq!(inflater.tarball(&compressed(&too_long), u64::MAX), None);
    }

    #[test]
    fn a_body_that_lies_about_its_length_is_read_as_it_is() {
        let mut body = compressed(b"hello");
        let length = body.len();
        body[length - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(inflated(&body, u64::MAX - 1).is_err());
    }

    #[test]
    fn a_truncated_body_is_an_error() {
        let whole = compressed(&[7; 1000]);
        assert!(inflated(&whole[..whole.len() - 9], 10_000).is_err());
    }

    #[test]
    fn a_body_is_kept_in_memory_of_its_own() {
        let keep = |body: &[u8]| Inflater::with(|inflater| Encoding::Gzip.decode_to_keep(body, 10_000, inflater));
        let (first, length) = keep(&compressed(b"hello")).expect("a body");
        let (second, _) = keep(&compressed(b"other")).expect("a body");
        assert_eq!((&first[..length], &second[..length]), (b"hello".as_slice(), b"other".as_slice()));
        assert!(keep(&compressed(&[7; 10_001])).is_err());
    }

    #[test]
    fn memory_is_long_enough_and_no_more_of_it_is_kept_than_it_may() {
        for length in [0, 1, 4096, 4097, LONGEST_SPARE, LONGEST_SPARE + 1] {
            assert!(memory(length).len() >= length);
        }
        let pieces: Vec<_> = (0..=MOST_SPARE / LONGEST_SPARE).map(|_| memory(LONGEST_SPARE)).collect();
        pieces.into_iter().for_each(recycle);
        recycle(vec![0; 2 * LONGEST_SPARE]);
        assert!(SPARE.lock().expect("nobody panics").bytes <= MOST_SPARE);
    }
}
