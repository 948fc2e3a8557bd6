//! Archives that arrive in pieces. `espalier-install/tests/unpack.rs` tests hostile archives, where
//! they are written to a disk.

use espalier_package::archive::{ArchiveError, Limits, Reader, Receiver, list};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

fn tar(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, kind, text) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        // Written by hand, because the builder refuses the paths that a hostile archive has.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        builder.append(&header, text.as_bytes()).expect("into memory");
    }
    builder.into_inner().expect("into memory")
}

fn compressed(archive: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::Write::write_all(&mut encoder, archive).expect("into memory");
    encoder.finish().expect("into memory")
}

fn package() -> Vec<u8> {
    let long = format!("package/{}/file.js", "x".repeat(80));
    tar(&[
        ("package/package.json", EntryType::Regular, "{\"name\":\"a\"}"),
        ("package/empty", EntryType::Regular, ""),
        ("package/index.js", EntryType::Regular, &"y".repeat(2000)),
        (&long, EntryType::Regular, "deep"),
        ("package/node_modules/b/package.json", EntryType::Regular, "{\"name\":\"b\"}"),
    ])
}

/// A receiver that keeps all entries.
#[derive(Default)]
struct Kept(Vec<(String, Vec<u8>, bool)>);

impl Receiver for Kept {
    type Error = std::convert::Infallible;
    fn begin(&mut self, path: &str, _: u32) -> Result<(), Self::Error> {
        self.0.push((path.to_owned(), Vec::new(), false));
        Ok(())
    }
    fn content(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.last_mut().expect("a file was begun").1.extend_from_slice(bytes);
        Ok(())
    }
    fn end(&mut self) -> Result<(), Self::Error> {
        self.0.last_mut().expect("a file was begun").2 = true;
        Ok(())
    }
}

fn read(archive: &[u8], piece: usize) -> Vec<(String, Vec<u8>, bool)> {
    let mut reader = Reader::new(archive.len() as u64, Limits::default());
    let mut kept = Kept::default();
    for piece in archive.chunks(piece) {
        reader.push(piece, &mut kept).unwrap_or_else(|error| panic!("{error:?}"));
    }
    reader.finish(&mut kept).unwrap_or_else(|error| panic!("{error:?}"));
    kept.0
}

#[test]
fn files_are_the_same_however_the_pieces_are_cut() {
    let (plain, packed) = (package(), compressed(&package()));
    let whole = read(&plain, usize::MAX);
    assert_eq!(whole.len(), 5);
    assert!(whole.iter().all(|(_, _, ended)| *ended));
    assert_eq!(whole[2].1, [b'y'; 2000]);
    for piece in [2, 100, 511, 512, 513, 5000] {
        assert_eq!(read(&plain, piece), whole, "pieces of {piece}");
        assert_eq!(read(&packed, piece), whole, "compressed pieces of {piece}");
    }
}

#[test]
fn an_archive_that_stops_early_is_refused() {
    let whole = package();
    // The pieces end in the middle of a header and in the middle of a file.
    for archive in [&whole[..100], &whole[..520], &whole[..2500]] {
        for archive in [archive.to_vec(), compressed(archive)] {
            assert!(matches!(list(&archive, Limits::default()), Err(ArchiveError::Unreadable(_))));
        }
    }
    let packed = compressed(&whole);
    assert!(matches!(list(&packed[..packed.len() / 2], Limits::default()), Err(ArchiveError::Unreadable(_))));
}

#[test]
fn the_empty_blocks_at_the_end_may_be_missing() {
    let whole = package();
    let without = &whole[..whole.len() - 1024];
    assert_eq!(read(without, 512), read(&whole, 512));
    assert_eq!(read(&compressed(&whole[..whole.len() - 512]), 512), read(&whole, 512));
}

#[test]
fn what_follows_the_archive_is_passed_over() {
    let mut packed = compressed(&package());
    packed.extend(b"something else");
    assert_eq!(read(&packed, 512), read(&package(), 512));
    assert_eq!(read(&packed, usize::MAX), read(&package(), 512));
}

#[test]
fn an_archive_may_be_compressed_in_parts() {
    let whole = package();
    let packed = [compressed(&whole[..1000]), compressed(&whole[1000..])].concat();
    assert_eq!(read(&packed, 300), read(&whole, 512));
}

#[test]
fn files_and_manifests_are_listed() {
    let (files, manifests) = list(&compressed(&package()), Limits::default()).expect("a listing");
    assert_eq!(files.len(), 5);
    let texts: Vec<_> = manifests.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(texts, [("package.json", "{\"name\":\"a\"}"), ("node_modules/b/package.json", "{\"name\":\"b\"}")]);
}

#[test]
fn what_is_no_file_of_the_package_is_not_listed() {
    let archive = tar(&[
        ("package/dist/", EntryType::Directory, ""),
        ("package/link", EntryType::Symlink, ""),
        ("package/../../package.json", EntryType::Regular, "{}"),
        ("package.json", EntryType::Regular, "{}"),
        ("/package/a", EntryType::Regular, ""),
    ]);
    assert_eq!(list(&archive, Limits::default()).expect("a listing").0, ["package/a"]);
}

#[test]
fn the_last_of_two_manifests_counts() {
    let archive = tar(&[
        ("package/package.json", EntryType::Regular, "{\"version\":\"1.0.0\"}"),
        ("package/package.json", EntryType::Regular, "{\"version\":\"2.0.0\"}"),
    ]);
    let (_, manifests) = list(&archive, Limits::default()).expect("a listing");
    assert_eq!(manifests, [("package.json".to_owned(), "{\"version\":\"2.0.0\"}".to_owned())]);
}

#[test]
fn noise_is_refused() {
    for noise in [&[7; 2048][..], b"<html>not found</html>", &[0x1f, 0x8b, 8, 0, 0, 0]] {
        assert!(matches!(list(noise, Limits::default()), Err(ArchiveError::Unreadable(_))));
    }
}
