//! Builds tarballs, also those that a well-behaved writer refuses to write.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};

/// An archive under construction.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
}

impl Archive {
    /// A plain file.
    pub fn file(self, path: &str, content: &[u8]) -> Self {
        self.entry(path, EntryType::Regular, 0o644, "", content)
    }

    /// A plain file with this mode.
    pub fn file_of_mode(self, path: &str, mode: u32, content: &[u8]) -> Self {
        self.entry(path, EntryType::Regular, mode, "", content)
    }

    /// A symbolic or hard link.
    pub fn link(self, path: &str, kind: EntryType, target: &str) -> Self {
        self.entry(path, kind, 0o777, target, b"")
    }

    /// Any entry.
    pub fn entry(mut self, path: &str, kind: EntryType, mode: u32, link: &str, content: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(content.len() as u64);
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self
    }

    /// The archive, uncompressed.
    pub fn tar(mut self) -> Vec<u8> {
        self.bytes.extend([0; 1024]);
        self.bytes
    }

    /// The archive, compressed.
    pub fn tgz(self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.tar()).expect("into memory");
        encoder.finish().expect("into memory")
    }
}

/// The package.json of a package.
pub fn manifest(name: &str, version: &str) -> Vec<u8> {
    format!("{{\"name\":\"{name}\",\"version\":\"{version}\"}}").into_bytes()
}
