//! What is in a package's tarball, as far as it decides a tree: the paths and the manifests. Nothing is unpacked.
//!
//! Archives are hostile input: sizes and counts are bounded, and a path is only ever reported, never opened.

use std::io::Read;

use espalier_core::TarballListing;
use flate2::bufread::MultiGzDecoder;
use indexmap::IndexMap;
use tar::{Archive, EntryType};

use crate::integrity::Integrity;

/// The most bytes that an archive may inflate to.
const LONGEST_ARCHIVE: u64 = 4 << 30;
/// The longest package.json.
const LONGEST_MANIFEST: u64 = 16 << 20;
/// The most entries.
const MOST_ENTRIES: usize = 500_000;

/// Why an archive can't be listed.
#[derive(Debug, thiserror::Error)]
pub enum TarballError {
    /// It is damaged, or no archive at all.
    #[error("is not a readable tarball: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is larger than any package should be.
    #[error("holds more than {0}")]
    TooLarge(String),
}

/// Lists a tarball, compressed or not.
pub fn list(bytes: &[u8]) -> Result<TarballListing, TarballError> {
    const GZIP: &[u8] = &[0x1f, 0x8b];
    let integrity = Integrity::of(bytes).to_string();
    let (files, manifests) =
        if bytes.starts_with(GZIP) { contents(MultiGzDecoder::new(bytes))? } else { contents(bytes)? };
    Ok(TarballListing { integrity, files, manifests })
}

type Contents = (Vec<String>, Vec<(String, String)>);

fn contents(archive: impl Read) -> Result<Contents, TarballError> {
    let mut archive = Archive::new(Bounded { inner: archive, left: LONGEST_ARCHIVE });
    let mut files = Vec::new();
    // Of a path that comes twice the last one is what unpacking leaves.
    let mut manifests: IndexMap<String, String> = IndexMap::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if !matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Continuous) {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let Some(path) = inside(&path) else { continue };
        if files.len() == MOST_ENTRIES {
            return Err(TarballError::TooLarge(format!("{MOST_ENTRIES} files")));
        }
        if path == "package.json" || path.ends_with("/package.json") {
            if entry.size() > LONGEST_MANIFEST {
                return Err(TarballError::TooLarge(format!("{} MB in {path}", LONGEST_MANIFEST >> 20)));
            }
            let mut text = Vec::new();
            entry.read_to_end(&mut text)?;
            manifests.insert(path.clone(), String::from_utf8_lossy(&text).into_owned());
        }
        files.push(path);
    }
    Ok((files, manifests.into_iter().collect()))
}

/// The path below the archive's one folder, whatever that is called; npm drops what lies beside it.
fn inside(path: &str) -> Option<String> {
    let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
    let path = steps.skip(1).collect::<Vec<_>>().join("/");
    (!path.is_empty() && !path.split('/').any(|step| step == "..")).then_some(path)
}

/// A reader that fails where [`Read::take`] would end, because a cut archive can look like a whole one.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(buffer)?;
        match self.left.checked_sub(length as u64) {
            Some(left) => self.left = left,
            None => return Err(std::io::Error::other("it inflates to more than 4 GB")),
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, EntryType, Header};

    use super::list;

    fn tarball(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, kind, text) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(text.len() as u64);
            // Written by hand, because the builder refuses the paths that a hostile archive has.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, text.as_bytes()).expect("into memory");
        }
        builder.into_inner().and_then(GzEncoder::finish).expect("into memory")
    }

    #[test]
    fn files_and_manifests_are_listed_below_the_first_folder() {
        let bytes = tarball(&[
            ("package/package.json", EntryType::Regular, "{\"name\":\"a\"}"),
            ("package/index.js", EntryType::Regular, ""),
            ("package/node_modules/b/package.json", EntryType::Regular, "{\"name\":\"b\"}"),
            ("package/not-package.json", EntryType::Regular, "no"),
        ]);
        let listing = list(&bytes).expect("a listing");
        assert_eq!(
            listing.files,
            ["package.json", "index.js", "node_modules/b/package.json", "not-package.json"].map(str::to_owned)
        );
        let paths: Vec<_> = listing.manifests.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["package.json", "node_modules/b/package.json"]);
        assert!(listing.integrity.starts_with("sha512-"));
    }

    #[test]
    fn links_folders_and_paths_that_climb_are_left_out() {
        let bytes = tarball(&[
            ("package/dist/", EntryType::Directory, ""),
            ("package/link", EntryType::Symlink, ""),
            ("package/../../package.json", EntryType::Regular, "{}"),
            ("package.json", EntryType::Regular, "{}"),
            ("/root/package/a", EntryType::Regular, ""),
        ]);
        assert_eq!(list(&bytes).expect("a listing").files, ["package/a"]);
    }

    #[test]
    fn the_last_of_two_manifests_counts() {
        let bytes = tarball(&[
            ("package/package.json", EntryType::Regular, "{\"version\":\"1.0.0\"}"),
            ("package/package.json", EntryType::Regular, "{\"version\":\"2.0.0\"}"),
        ]);
        assert_eq!(list(&bytes).expect("a listing").manifests[0].1, "{\"version\":\"2.0.0\"}");
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        let bytes = tarball(&[("package/package.json", EntryType::Regular, "{}")]);
        assert!(list(&bytes[..bytes.len() / 2]).is_err());
        assert!(list(b"<html>not found</html>").is_err());
    }
}
