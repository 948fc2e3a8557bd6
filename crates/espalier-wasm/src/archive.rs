//! What a tar archive contains, read piece by piece: its paths and its package.json files.
//!
//! Contents are skipped, except for the manifests. Links, devices and folders don't count as files, as for
//! npm. Every size is bounded, because a registry can send anything.

use tar_core::parse::{Limits, ParseError, ParseEvent, Parser};

/// The largest archive, inflated.
const MAX_SIZE: u64 = 2 << 30;
/// The most files in an archive.
const MAX_FILES: usize = 200_000;
/// The largest package.json.
const MAX_MANIFEST: u64 = 8 << 20;
/// tar's unit: contents are padded to a multiple of it.
const BLOCK: u64 = 512;

/// Why an archive can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It isn't tar, or damaged.
    #[error("the archive is damaged: {0}")]
    Damaged(#[from] ParseError),
    /// It ends in the middle of something.
    #[error("the archive is cut off")]
    CutOff,
    /// It is larger than any package.
    #[error("the archive has more than {limit} {unit}")]
    TooLarge {
        /// The bound.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
}

/// What an archive contains. Paths are without their first component (`package/`).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// All files, in the archive's order.
    pub files: Vec<String>,
    /// Path and text of each package.json among them.
    pub manifests: Vec<(String, String)>,
}

/// Reads an archive that comes in pieces.
pub struct Lister {
    parser: Parser,
    /// What was received and isn't understood yet: at most some headers, or one manifest.
    buffer: Vec<u8>,
    next: Next,
    size: u64,
    ended: bool,
    contents: Contents,
}

/// What comes next in the archive.
enum Next {
    Header,
    /// So many bytes that are of no interest.
    Skip(u64),
    /// A package.json.
    Manifest {
        path: String,
        size: usize,
        padded: usize,
    },
}

impl Default for Lister {
    fn default() -> Self {
        let limits = Limits { max_path_len: Some(4096), ..Limits::default() };
        Self {
            parser: Parser::new(limits),
            buffer: Vec::new(),
            next: Next::Header,
            size: 0,
            ended: false,
            contents: Contents::default(),
        }
    }
}

impl Lister {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), ArchiveError> {
        self.size += piece.len() as u64;
        if self.size > MAX_SIZE {
            return Err(ArchiveError::TooLarge { limit: MAX_SIZE, unit: "bytes" });
        }
        self.buffer.extend_from_slice(piece);
        while !self.ended && self.step()? {}
        Ok(())
    }

    /// What the archive contains, once all pieces were taken.
    pub fn finish(self) -> Result<Contents, ArchiveError> {
        // Some archives lack the two empty blocks at the end; node-tar accepts them.
        let complete = self.ended || (self.buffer.is_empty() && matches!(self.next, Next::Header));
        if complete { Ok(self.contents) } else { Err(ArchiveError::CutOff) }
    }

    /// Understands one more thing; says whether there may be another.
    fn step(&mut self) -> Result<bool, ArchiveError> {
        match &mut self.next {
            Next::Skip(left) => {
                let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(self.buffer.len());
                self.buffer.drain(..skipped);
                *left -= skipped as u64;
                if *left > 0 {
                    return Ok(false);
                }
                self.next = Next::Header;
                Ok(true)
            }
            Next::Manifest { path, size, padded } => {
                if self.buffer.len() < *padded {
                    return Ok(false);
                }
                let text = String::from_utf8_lossy(&self.buffer[..*size]).into_owned();
                let path = std::mem::take(path);
                // Of two files with one path the later stays, as when they are unpacked.
                self.contents.manifests.retain(|(earlier, _)| *earlier != path);
                self.contents.manifests.push((path, text));
                self.buffer.drain(..*padded);
                self.next = Next::Header;
                Ok(true)
            }
            Next::Header => self.header(),
        }
    }

    fn header(&mut self) -> Result<bool, ArchiveError> {
        let consumed = match self.parser.parse(&self.buffer)? {
            ParseEvent::NeedData { .. } => return Ok(false),
            ParseEvent::Entry { consumed, entry } => {
                let size = entry.size;
                let path = entry.is_file().then(|| inner_path(&entry.path_lossy())).flatten();
                self.next = after_header(path.as_deref(), size)?;
                self.contents.files.extend(path);
                consumed
            }
            ParseEvent::SparseEntry { consumed, entry, .. } => {
                self.next = Next::Skip(entry.padded_size());
                consumed
            }
            ParseEvent::GlobalExtensions { consumed, .. } => consumed,
            ParseEvent::End { consumed } => {
                self.ended = true;
                consumed
            }
        };
        if self.contents.files.len() > MAX_FILES {
            return Err(ArchiveError::TooLarge { limit: MAX_FILES as u64, unit: "files" });
        }
        self.buffer.drain(..consumed);
        Ok(true)
    }
}

fn after_header(path: Option<&str>, size: u64) -> Result<Next, ArchiveError> {
    let padded = size.next_multiple_of(BLOCK);
    let Some(path) = path.filter(|path| *path == "package.json" || path.ends_with("/package.json")) else {
        return Ok(Next::Skip(padded));
    };
    match (usize::try_from(size), usize::try_from(padded)) {
        (Ok(size), Ok(padded)) if padded as u64 <= MAX_MANIFEST => {
            Ok(Next::Manifest { path: path.to_owned(), size, padded })
        }
        _ => Err(ArchiveError::TooLarge { limit: MAX_MANIFEST, unit: "bytes in a package.json" }),
    }
}

/// The path without its first component; nothing for what would lie outside the package.
fn inner_path(path: &str) -> Option<String> {
    let (_, inner) = path.split_once('/')?;
    let outside = path.starts_with('/') || inner.split('/').any(|part| part == "..");
    (!outside && !inner.is_empty()).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar_core::builder::EntryBuilder;

    fn file(path: &str, text: &str) -> Vec<u8> {
        let mut archive = EntryBuilder::new_ustar()
            .path(path.as_bytes())
            .mode(0o644)
            .and_then(|builder| builder.size(text.len() as u64))
            .map(EntryBuilder::finish_bytes)
            .unwrap();
        archive.extend_from_slice(text.as_bytes());
        archive.resize(archive.len().next_multiple_of(512), 0);
        archive
    }

    fn listed(archive: &[u8], piece: usize) -> Result<Contents, ArchiveError> {
        let mut lister = Lister::default();
        archive.chunks(piece).try_for_each(|piece| lister.push(piece))?;
        lister.finish()
    }

    fn package() -> Vec<u8> {
        let mut archive = file("package/package.json", r#"{"name":"a"}"#);
        archive.extend(file("package/index.js", &"x".repeat(2000)));
        archive.extend(file("package/node_modules/b/package.json", r#"{"name":"b"}"#));
        archive.extend([0; 1024]);
        archive
    }

    #[test]
    fn manifests_are_found_however_the_pieces_are_cut() {
        for piece in [1, 100, 512, 100_000] {
            let Contents { files, manifests } = listed(&package(), piece).unwrap();
            assert_eq!(files, ["package.json", "index.js", "node_modules/b/package.json"]);
            let texts: Vec<_> = manifests.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let expected = [("package.json", r#"{"name":"a"}"#), ("node_modules/b/package.json", r#"{"name":"b"}"#)];
            assert_eq!(texts, expected);
        }
    }

    #[test]
    fn an_archive_that_stops_early_is_refused() {
        let archive = package();
        assert!(matches!(listed(&archive[..700], 512), Err(ArchiveError::CutOff)));
        assert!(matches!(listed(&archive[..100], 512), Err(ArchiveError::CutOff)));
    }

    #[test]
    fn the_empty_blocks_at_the_end_may_be_missing() {
        let archive = package();
        assert!(listed(&archive[..archive.len() - 1024], 512).is_ok());
    }

    #[test]
    fn what_lies_outside_the_package_is_not_listed() {
        let mut archive = file("package/../../evil/package.json", "{}");
        archive.extend(file("/absolute/package.json", "{}"));
        assert_eq!(listed(&archive, 512).unwrap(), Contents::default());
    }

    #[test]
    fn noise_is_refused() {
        assert!(matches!(listed(&[7; 2048], 512), Err(ArchiveError::Damaged(_))));
    }
}
