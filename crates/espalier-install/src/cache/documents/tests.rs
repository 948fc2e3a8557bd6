use std::fs;

use espalier_registry::Address;
use espalier_registry::document::Form;
use rusqlite::Connection;

use super::{BATCH, DocumentKey, Documents, Entry, open};
use crate::body::Encoding;
use espalier_registry::Validators;

fn address(text: &str) -> Address {
    Address::parse(text, |text| Some(text.to_owned())).expect("an address")
}

fn key(name: &str, form: Form) -> DocumentKey {
    DocumentKey { registry: address("http://registry.test:4873/npm/"), name: name.into(), form, integrity: None }
}

fn entry(fresh_for: u64) -> Entry {
    let validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    Entry::new("application/json".into(), Encoding::Identity, validators, fresh_for, b"{}\n{}".to_vec())
}

/// A cache with one entry, which has been written to its file.
fn one_entry(key: &DocumentKey) -> (tempfile::TempDir, Documents) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let documents = Documents::new(folder.path().join("documents"));
    documents.write(key, entry(60));
    documents.flush();
    (folder, documents)
}

#[test]
fn what_was_written_is_read() {
    let key = key("@babel/core", Form::Abbreviated);
    let (_folder, documents) = one_entry(&key);
    let read = documents.read(&key).expect("an entry");
    assert_eq!(*read.body, b"{}\n{}");
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
        assert_eq!(documents.read(&other), None, "{other:?}");
    }
}

#[test]
fn a_damaged_body_is_none_until_it_is_written_again() {
    let key = key("a", Form::Full);
    let (folder, documents) = one_entry(&key);
    let database = Connection::open(folder.path().join("documents")).expect("a database");
    database.execute("UPDATE document SET body = x'7b7d'", []).expect("damaged");
    assert_eq!(documents.read(&key), None);
    documents.write(&key, entry(60));
    documents.flush();
    assert!(documents.read(&key).is_some());
}

#[test]
fn a_summary_is_kept_and_a_damaged_one_is_none() {
    let key = key("a", Form::Abbreviated);
    let (folder, documents) = one_entry(&key);
    documents.write(&key, Entry { summary: b"summary".to_vec(), ..entry(60) });
    documents.flush();
    assert_eq!(documents.read(&key).expect("an entry").summary, b"summary");
    let database = Connection::open(folder.path().join("documents")).expect("a database");
    database.execute("UPDATE document SET summary = x'73756d6d617279ff'", []).expect("damaged");
    documents.flush();
    assert_eq!(documents.read(&key), None);
}

#[test]
fn a_damaged_database_is_made_anew() {
    let key = key("a", Form::Full);
    let (folder, documents) = one_entry(&key);
    let file = folder.path().join("documents");
    let whole = fs::read(&file).expect("the database");
    for damaged in [
        &b"no database at all, but longer than the header of one, which has a hundred bytes, all of them".repeat(9),
        &whole[..whole.len() / 2],
    ] {
        fs::write(&file, damaged).expect("written");
        assert_eq!(documents.read(&key), None);
        documents.write(&key, entry(60));
        documents.flush();
        assert!(documents.read(&key).is_some());
        documents.flush();
    }
}

#[test]
fn an_entry_ages_and_is_renewed() {
    let key = key("a", Form::Full);
    let (_folder, documents) = one_entry(&key);
    documents.write(&key, entry(0));
    documents.flush();
    assert!(!documents.read(&key).expect("an entry").is_fresh());
    documents.confirm(&key, 60);
    documents.flush();
    assert!(documents.read(&key).expect("an entry").is_fresh());
    let mut from_the_future = entry(60);
    from_the_future.about.confirmed += 3600;
    from_the_future.about.fresh_until += 3600;
    assert!(!from_the_future.is_fresh());
}

#[test]
fn a_package_is_forgotten() {
    let key = key("a", Form::Abbreviated);
    let (_folder, documents) = one_entry(&key);
    documents.forget(&key.registry, "a");
    documents.flush();
    assert_eq!(documents.read(&key), None);
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
    assert_eq!(documents.read(&key), None);
}

#[test]
fn many_open_a_new_database_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("documents");
        let start = std::sync::Barrier::new(16);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    start.wait();
                    open(&file).map(drop).expect("a database");
                });
            }
        });
    }
}

#[test]
fn caches_of_the_same_folder_write_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("documents");
    let name = |cache: usize, index: usize| format!("{cache}-{index}");
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
}
