use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use espalier_core::packument::Source;
use espalier_core::{Detail, Packument};
use espalier_registry::Validators;
use espalier_registry::document::Form;
use indexmap::IndexMap;

use super::{Document, Permanence, Provenance, Unread};
use crate::body::Encoding;
use crate::cache::Cache;
use crate::cache::documents::{DocumentKey, Entry};
use crate::cache::recipients::Recipient;
use crate::config::settings::Settings;
use crate::config::{Config, Environment};
use crate::registry::Registry;

/// A client of a registry that is never asked.
fn registry(cache: &Path) -> Registry {
    let environment = Environment::of_variables([]);
    let config = Config::load(Path::new("/nonexistent"), IndexMap::default(), &environment).expect("a configuration");
    let settings = Settings::new(&config, &environment).expect("settings");
    Registry::new(&settings, Some(Arc::new(Cache::at(cache))), Arc::default()).expect("a client")
}

fn document(registry: &Registry, form: Form, integrity: Option<&str>) -> Document {
    let get = registry.registries.document("a", &form).expect("a request");
    let of = registry.registries.of_package("a").clone();
    let key = DocumentKey { registry: of, name: "a".to_owned(), form, integrity: integrity.map(str::to_owned) };
    Document { registry: registry.clone(), get, key, recipient: Recipient::ANYBODY }
}

fn entry(encoding: Encoding, body: &[u8]) -> Entry {
    let kind = "application/json".to_owned();
    Entry::new(kind, encoding, Validators::default(), 60, Recipient::ANYBODY, body.to_vec())
}

#[test]
fn a_body_that_cannot_be_inflated_counts_as_damaged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = registry(folder.path());
    let cache = registry.cache.as_ref().expect("a cache");
    let documents = &cache.documents;
    let document = document(&registry, Form::Abbreviated, None);
    let packument = Packument::parse(br#"{"versions":{"1.0.0":{},"1.1.0":{}}}"#, Detail::Abbreviated);
    let summary = packument.expect("a packument").summary();
    let entry = Entry { summary: summary.into(), ..entry(Encoding::Gzip, b"\x1f\x8b, and then anything") };
    documents.write(&document.key, entry);
    cache.flush();
    let stored = documents.read(&document.key).expect("an entry");
    let key = document.key.clone();
    let unread = Unread { document, came: Provenance::Stored(stored), attempts: 0 };
    let (packument, unsettled) = unread.read_packument().expect("read");
    let summarised = unsettled.expect("work to do").settle(Arc::clone(&packument)).expect("it is kept");
    assert_eq!((packument.manifest(0), packument.manifest(1)), ("", ""));
    assert_eq!(documents.found_damage(), 1);
    // What was read of it must not get into its summary.
    summarised.complete();
    cache.flush();
    assert!(documents.read(&key).is_none());
}

/// A later run would not get it from the cache under this integrity.
#[test]
fn a_document_of_another_publication_is_not_final() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = registry(folder.path());
    for (integrity, permanence) in [("sha512-mine", Permanence::Final), ("sha512-another", Permanence::Unknown)] {
        let document = document(&registry, Form::Version("1.0.0".to_owned()), Some(integrity));
        let text = br#"{"name":"a","version":"1.0.0","dist":{"integrity":"sha512-mine"}}"#;
        let came = Provenance::New(entry(Encoding::Identity, text), true);
        let (_, _, found) = Unread { document, came, attempts: 0 }.read().expect("read");
        assert_eq!(found, permanence, "{integrity}");
    }
}

/// A gzip body.
fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("into memory");
    encoder.finish().expect("into memory")
}

#[test]
fn a_manifest_that_is_read_late_is_in_the_summary_of_the_next_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = registry(folder.path());
    let cache = registry.cache.as_ref().expect("a cache");
    let document = || document(&registry, Form::Abbreviated, None);
    let body = gzip(br#"{"versions":{"1.0.0":{"a":0},"1.1.0":{"a":1},"1.2.0":{"a":2}}}"#);
    let mut came = Provenance::New(entry(Encoding::Gzip, &body), true);
    // The first run gets it from the registry, the second one from the cache.
    for (late, known) in [(0, 2), (1, 3)] {
        let is_new = matches!(came, Provenance::New(..));
        let unread = Unread { document: document(), came, attempts: 0 };
        let (packument, unsettled) = unread.read_packument().expect("read");
        let settle = || unsettled.expect("work to do").settle(Arc::clone(&packument)).expect("it is kept");
        // A manifest that the summary lacks may be read before or after the packument is settled.
        let summarised = if is_new {
            let summarised = settle();
            packument.manifest(late);
            summarised
        } else {
            packument.manifest(late);
            settle()
        };
        summarised.complete();
        cache.flush();
        let stored = cache.documents.read(&document().key).expect("an entry");
        let summary = stored.summary.clone();
        let source = Source::new(|| panic!("the body is needed"));
        let packument = Packument::from_summary(&summary, source).expect("a summary");
        assert_eq!((packument.known_manifests(), packument.manifest(late)), (known, &*format!(r#"{{"a":{late}}}"#)));
        came = Provenance::Stored(stored);
    }
}

#[test]
fn a_stored_packument_without_a_readable_summary_gets_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = registry(folder.path());
    let cache = registry.cache.as_ref().expect("a cache");
    let document = || document(&registry, Form::Abbreviated, None);
    let body = gzip(br#"{"versions":{"1.0.0":{"a":0},"1.1.0":{"a":1}}}"#);
    // An earlier version of the program wrote the first one, and another command the second one.
    for summary in [b"\x01 an earlier format".as_slice(), b""] {
        cache.documents.write(&document().key, Entry { summary: summary.into(), ..entry(Encoding::Gzip, &body) });
        cache.flush();
        let stored = cache.documents.read(&document().key).expect("an entry");
        let number = stored.number;
        let unread = Unread { document: document(), came: Provenance::Stored(stored), attempts: 0 };
        let (packument, unsettled) = unread.read_packument().expect("read");
        unsettled.expect("work to do").settle(packument).expect("it is kept").complete();
        cache.flush();
        let stored = cache.documents.read(&document().key).expect("an entry");
        let source = Source::new(|| panic!("the body is needed"));
        let packument = Packument::from_summary(&stored.summary, source).expect("a summary");
        assert_eq!((packument.manifest(1), stored.number), (r#"{"a":1}"#, number));
    }
}
