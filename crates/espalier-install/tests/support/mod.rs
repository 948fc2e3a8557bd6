//! What the tests of this crate share: small recorded registries, a server that misbehaves on
//! purpose, and settings that point to either.

pub mod archive;
pub mod scene;
pub mod scripted;

use std::path::Path;
use std::sync::Arc;

use espalier_install::activity::Activity;
use espalier_install::cache::Cache;
use espalier_install::config::settings::Settings;
use espalier_install::config::{Config, Environment, Value};
use espalier_install::registry::Registry;
use serde_json::json;

/// A recording of the packages that the tests ask for, in a folder that lives as long as the test.
pub fn recording() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let packument = json!({
        "_id": "a", "name": "a", "dist-tags": {"latest": "1.1.0"},
        "versions": {
            "1.0.0": {"name": "a", "version": "1.0.0", "license": "MIT", "dist": {"tarball": "/a/-/a-1.0.0.tgz"}},
            "1.1.0": {"name": "a", "version": "1.1.0", "license": "ISC", "dist": {"tarball": "/a/-/a-1.1.0.tgz"}},
        },
        "time": {"1.0.0": "2026-01-01T00:00:00.000Z", "1.1.0": "2026-02-01T00:00:00.000Z"},
    });
    write(folder.path(), "packuments/a.json", packument.to_string().as_bytes());
    write(folder.path(), "tarballs/a/a-1.0.0.tgz", &tarball());
    folder
}

/// A tarball with one manifest.
pub fn tarball() -> Vec<u8> {
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let manifest = br#"{"name":"a","version":"1.0.0"}"#;
    let mut header = tar::Header::new_gnu();
    header.set_size(manifest.len() as u64);
    builder.append_data(&mut header, "package/package.json", manifest.as_slice()).expect("into memory");
    builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("into memory")
}

fn write(folder: &Path, file: &str, body: &[u8]) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    std::fs::write(path, body).expect("written");
}

/// Serves a recording.
pub async fn serve(folder: &Path, settings: espalier_replay::Settings) -> espalier_replay::Server {
    let registry = espalier_replay::Registry::open(folder).expect("a recording");
    espalier_replay::Server::start(Arc::new(registry), settings).await.expect("a server")
}

/// The settings of a registry's client: flags by npm's names, and no other configuration.
pub fn settings(flags: &[(&str, &str)]) -> Settings {
    let quick = [("fetch-retry-mintimeout", "1"), ("fetch-retry-maxtimeout", "2")];
    let flags = quick.iter().chain(flags).map(|(key, value)| ((*key).to_owned(), Value::Text((*value).to_owned())));
    let environment = Environment::of_variables([]);
    let config = Config::load(Path::new("/nonexistent"), flags.collect(), &environment).expect("a configuration");
    Settings::new(&config, &environment).expect("settings")
}

/// A client without a cache.
pub fn client(flags: &[(&str, &str)]) -> Registry {
    Registry::new(&settings(flags), None, Arc::default()).expect("a client")
}

/// A client with the cache in this folder; the cache is for flushing.
pub fn cached_client(flags: &[(&str, &str)], folder: &Path) -> (Registry, Arc<Cache>, Arc<Activity>) {
    let cache = Arc::new(Cache::at(folder));
    let activity = Arc::<Activity>::default();
    let registry = Registry::new(&settings(flags), Some(Arc::clone(&cache)), Arc::clone(&activity));
    (registry.expect("a client"), cache, activity)
}

/// Damages the contents of all cached documents.
pub fn damage_documents(cache: &Path) {
    let mut files = std::fs::read_dir(cache).expect("a folder").map(|entry| entry.expect("an entry").path());
    let pack = files.find(|path| path.extension().is_some_and(|end| end == "pack")).expect("a pack");
    let length = std::fs::metadata(&pack).expect("a file").len();
    std::fs::write(pack, vec![0; usize::try_from(length).expect("a small file")]).expect("written");
}

/// Damages the compressed bodies of all cached documents behind their headers. Summaries are not
/// compressed, and stay. Returns the number of bodies.
pub fn damage_bodies(cache: &Path) -> usize {
    let mut files = std::fs::read_dir(cache).expect("a folder").map(|entry| entry.expect("an entry").path());
    let pack = files.find(|path| path.extension().is_some_and(|end| end == "pack")).expect("a pack");
    let mut bytes = std::fs::read(&pack).expect("a pack");
    let bodies: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"\x1f\x8b\x08")).collect();
    for at in &bodies {
        bytes[at + 12] ^= 1;
    }
    std::fs::write(pack, bytes).expect("written");
    bodies.len()
}
