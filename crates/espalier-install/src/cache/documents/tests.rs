use std::fs;
use std::path::PathBuf;

use espalier_registry::Address;
use espalier_registry::document::Form;

use super::{BATCH, Deferred, DocumentKey, Documents, Entry};
use crate::body::Encoding;
use crate::cache::recipients::Recipient;
use espalier_registry::Validators;

fn address(text: &str) -> Address {
    Address::parse(text, |text| Some(text.to_owned())).expect("an address")
}

fn key(name: &str, form: Form) -> DocumentKey {
    DocumentKey { registry: address("http://registry.test:4873/npm/"), name: name.into(), form, integrity: None }
}

fn entry(fresh_for: u64) -> Entry {
    let validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    let recipient = Recipient::ANYBODY;
    Entry::new("application/json".into(), Encoding::Identity, validators, fresh_for, recipient, b"{}\n{}".to_vec())
}

/// A cache with one entry, which has been written to its file.
fn one_entry(key: &DocumentKey) -> (tempfile::TempDir, Documents) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let documents = Documents::new(folder.path().join("documents"));
    documents.write(key, entry(60));
    documents.flush();
    (folder, documents)
}

fn body(entry: &Entry) -> Vec<u8> {
    entry.body.read().expect("an undamaged body").to_vec()
}

/// The file with this extension.
fn file(folder: &tempfile::TempDir, extension: &str) -> PathBuf {
    let files = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|found| found == extension)).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[test]
fn what_was_written_is_read() {
    let key = key("@babel/core", Form::Abbreviated);
    let (_folder, documents) = one_entry(&key);
    let read = documents.read(&key).expect("an entry");
    assert_eq!(body(&read), b"{}\n{}");
    assert_eq!(read.about.validators.etag.as_deref(), Some("\"1\""));
    assert!(read.is_fresh());
}

#[test]
fn forms_names_and_registries_are_kept_apart() {
    let stored = key("a", Form::Abbreviated);
    let (_folder, documents) = one_entry(&stored);
    let elsewhere = address("http://other.test/");
    for other in [
        key("a", Form::Full),
        key("a", Form::Version("1.0.0".into())),
        key("A", Form::Abbreviated),
        DocumentKey { integrity: Some("sha512-x".into()), ..stored.clone() },
        DocumentKey { registry: elsewhere, ..stored },
    ] {
        assert!(documents.read(&other).is_none(), "{other:?}");
    }
}

#[test]
fn a_summary_is_kept() {
    let key = key("a", Form::Abbreviated);
    let (_folder, documents) = one_entry(&key);
    documents.write(&key, Entry { summary: b"summary".as_slice().into(), ..entry(60) });
    documents.flush();
    let read = documents.read(&key).expect("an entry");
    assert_eq!((read.summary.as_ref(), body(&read).as_slice()), (b"summary".as_slice(), b"{}\n{}".as_slice()));
}

/// Damages a file in every way that a power cut can: each byte changed, and each length.
#[test]
fn a_damaged_entry_is_none_until_it_is_written_again() {
    let key = key("a", Form::Full);
    for extension in ["pack", "index"] {
        let (folder, documents) = one_entry(&key);
        let file = file(&folder, extension);
        let whole = fs::read(&file).expect("a file");
        let shorter = (0..whole.len()).map(|length| whole[..length].to_vec());
        let other = (0..whole.len()).map(|at| {
            let mut other = whole.clone();
            other[at] ^= 1;
            other
        });
        for damaged in shorter.chain(other) {
            fs::write(&file, damaged).expect("written");
            let documents = Documents::new(documents.path.clone());
            assert!(documents.read(&key).is_none());
        }
        for damaged in [Vec::new(), whole[..whole.len() - 1].to_vec()] {
            let (folder, documents) = one_entry(&key);
            fs::write(self::file(&folder, extension), damaged).expect("written");
            let documents = Documents::new(documents.path.clone());
            documents.write(&key, entry(60));
            documents.flush();
            assert!(documents.read(&key).is_some());
        }
    }
}

#[test]
fn a_damaged_body_behind_a_summary_shows_when_it_is_read() {
    let key = key("a", Form::Abbreviated);
    let (folder, documents) = one_entry(&key);
    documents.write(&key, Entry { summary: b"summary".as_slice().into(), ..entry(60) });
    documents.flush();
    let pack = file(&folder, "pack");
    let mut bytes = fs::read(&pack).expect("a file");
    *bytes.last_mut().expect("a body") ^= 1;
    fs::write(&pack, bytes).expect("written");
    let read = documents.read(&key).expect("an entry");
    assert!(read.body.read().is_none());
    documents.found_damaged(&read.body);
    assert_eq!(documents.found_damage(), 1);
    assert!(documents.read(&key).is_none());
    documents.flush();
    assert!(Documents::new(documents.path.clone()).read(&key).is_none());
    documents.write(&key, entry(60));
    documents.flush();
    assert!(documents.read(&key).is_some());
}

#[test]
fn a_confirmation_is_for_the_recipient_who_asked() {
    let key = key("a", Form::Full);
    let (_folder, documents) = one_entry(&key);
    let read = documents.read(&key).expect("an entry");
    let state = Documents::revision(&key, &read);
    assert!(documents.are_current(&[state], |is_fresh| is_fresh));
    documents.confirm(&key, Recipient(7), 60);
    documents.flush();
    let confirmed = documents.read(&key).expect("an entry");
    assert_eq!((read.about.recipient, confirmed.about.recipient), (Recipient::ANYBODY, Recipient(7)));
    // What was resolved for others is not recalled for them any more.
    assert!(!documents.are_current(&[state], |is_fresh| is_fresh));
    assert!(documents.are_current(&[Documents::revision(&key, &confirmed)], |is_fresh| is_fresh));
}

#[test]
fn an_entry_ages_and_is_renewed() {
    let key = key("a", Form::Full);
    let (_folder, documents) = one_entry(&key);
    documents.write(&key, entry(0));
    documents.flush();
    assert!(!documents.read(&key).expect("an entry").is_fresh());
    documents.confirm(&key, Recipient::ANYBODY, 60);
    documents.flush();
    assert!(documents.read(&key).expect("an entry").is_fresh());
    let mut from_the_future = entry(60);
    from_the_future.about.confirmed += 3600;
    from_the_future.about.fresh_until += 3600;
    assert!(!from_the_future.is_fresh());
}

#[test]
fn an_entry_of_the_same_batch_is_renewed() {
    let key = key("a", Form::Full);
    let (_folder, documents) = one_entry(&key);
    documents.write(&key, Entry { body: Deferred::Read(b"[]".as_slice().into()), ..entry(0) });
    documents.confirm(&key, Recipient::ANYBODY, 60);
    documents.flush();
    let read = documents.read(&key).expect("an entry");
    assert!(read.is_fresh());
    assert_eq!(body(&read), b"[]");
}

#[test]
fn a_package_is_forgotten() {
    let key = key("a", Form::Abbreviated);
    let (_folder, documents) = one_entry(&key);
    let manifest = self::key("a", Form::Version("1.0.0".into()));
    let of_tarball = DocumentKey { integrity: Some("sha512-1".into()), ..manifest.clone() };
    documents.write(&manifest, entry(60));
    documents.write(&of_tarball, entry(60));
    documents.forget(&key.registry, "a", Some("1.0.0"));
    documents.flush();
    assert!(documents.read(&key).is_none());
    assert!(documents.read(&manifest).is_none());
    // This one was made for a tarball with this integrity.
    assert!(documents.read(&of_tarball).is_some());
}

#[test]
fn the_manifest_of_an_exact_version_is_the_document_of_its_integrity() {
    let manifest = key("a", Form::Version("1.0.0".into()));
    let (_folder, documents) = one_entry(&manifest);
    let summary = br#"{"dist":{"integrity":"sha512-1"}}"#;
    documents.write(&manifest, Entry { summary: summary.as_slice().into(), ..entry(60) });
    documents.flush();
    let with = |integrity: &str| documents.read(&DocumentKey { integrity: Some(integrity.into()), ..manifest.clone() });
    assert!(with("sha512-1").is_some());
    assert!(with("sha512-2").is_none());
}

#[test]
fn a_folder_that_cannot_be_written_is_not_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let documents = Documents::new(file.join("inside"));
    let key = key("a", Form::Full);
    documents.write(&key, entry(60));
    documents.flush();
    assert!(documents.read(&key).is_none());
}

#[test]
fn caches_of_the_same_folder_write_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("documents");
    let name = |cache: usize, index: usize| format!("{cache}-{index}");
    // The lock file, the index and one pack: whoever comes first makes them.
    std::thread::scope(|scope| {
        for cache in 0..8 {
            let file = file.clone();
            scope.spawn(move || {
                let documents = Documents::new(file);
                for index in 0..2 * BATCH {
                    documents.write(&key(&name(cache, index), Form::Full), entry(60));
                    documents.read(&key(&name(cache, index / 2), Form::Full));
                }
            });
        }
    });
    let documents = Documents::new(file);
    for cache in 0..8 {
        for index in 0..2 * BATCH {
            assert!(documents.read(&key(&name(cache, index), Form::Full)).is_some(), "{cache} {index}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3);
}

#[test]
fn superseded_entries_go_while_others_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let reader = Documents::new(folder.path().join("documents"));
    let writer = Documents::new(folder.path().join("documents"));
    let (kept, changed) = (key("kept", Form::Full), key("changed", Form::Full));
    writer.write(&kept, entry(60));
    let first = 1 << 20;
    for round in 0..80 {
        writer.write(&changed, Entry { body: Deferred::Read(vec![round; first].into()), ..entry(60) });
        writer.flush();
        reader.look_again();
        assert!(reader.read(&kept).is_some());
        assert_eq!(body(&reader.read(&changed).expect("an entry")), vec![round; first]);
    }
    assert!(fs::metadata(file(&folder, "pack")).expect("a file").len() < 40 << 20);
}

#[test]
fn another_summary_changes_only_the_entry_that_it_was_made_of() {
    let key = key("a", Form::Abbreviated);
    let (_folder, documents) = one_entry(&key);
    let made_of = documents.read(&key).expect("an entry");
    let summarised = |summary: &'static [u8]| Entry { summary: summary.into(), ..made_of.clone() };
    let summary = || documents.read(&key).map(|entry| entry.summary.to_vec());
    // A confirmation leaves the entry as it is, with other times.
    documents.confirm(&key, Recipient(7), 1000);
    documents.summarise(&key, summarised(b"second"));
    documents.flush();
    let read = documents.read(&key).expect("an entry");
    assert_eq!((&*read.summary, read.about.recipient), (b"second".as_slice(), Recipient(7)));
    assert!(read.about.fresh_until > made_of.about.fresh_until);
    // Another process has stored a newer document, or has found the former one to be wrong.
    documents.write(&key, entry(60));
    documents.summarise(&key, summarised(b"third"));
    documents.flush();
    assert_eq!(summary().as_deref(), Some(b"".as_slice()));
    documents.forget(&key.registry, &key.name, None);
    documents.summarise(&key, summarised(b"fourth"));
    documents.flush();
    assert_eq!(summary(), None);
}
