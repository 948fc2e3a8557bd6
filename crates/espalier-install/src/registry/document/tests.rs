use std::path::Path;
use std::sync::Arc;

use espalier_core::{Detail, Packument};
use espalier_registry::Validators;
use espalier_registry::document::Form;
use indexmap::IndexMap;

use super::{Came, Document, Permanence, Unread};
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
    let (packument, _) = Unread { document, came: Came::Stored(stored), attempts: 0 }.read_packument().expect("read");
    assert_eq!((packument.manifest(0), packument.manifest(1)), ("", ""));
    assert_eq!(documents.found_damage(), 1);
}

/// A later run would not get it from the cache under this integrity.
#[test]
fn a_document_of_another_publication_is_not_final() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = registry(folder.path());
    for (integrity, permanence) in [("sha512-mine", Permanence::Final), ("sha512-another", Permanence::Unknown)] {
        let document = document(&registry, Form::Version("1.0.0".to_owned()), Some(integrity));
        let text = br#"{"name":"a","version":"1.0.0","dist":{"integrity":"sha512-mine"}}"#;
        let came = Came::New(entry(Encoding::Identity, text), true);
        let (_, _, found) = Unread { document, came, attempts: 0 }.read().expect("read");
        assert_eq!(found, permanence, "{integrity}");
    }
}
