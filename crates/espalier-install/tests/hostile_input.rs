//! Reading input from outside never panics and always ends: archives, lockfiles, specs, settings,
//! patches and globs. The inputs are mutations of valid ones, `PROPTEST_CASES` of each kind. The
//! properties are those of the fuzz targets (`fuzz/`), checked in every test run.

#[path = "../../../fuzz/src/lib.rs"]
mod entry;

use std::path::Path;

use crate::support::archive::Archive;
use espalier_install::config::{Config, Environment};
use espalier_install::integrity::Hashed;
use espalier_install::{packing, patch};
use proptest::prelude::*;

/// Bytes of which a few are changed, removed or repeated.
fn altered(seed: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let length = seed.len();
    let edit = (0..length, 0..4_u8, any::<u8>(), 0..64_usize);
    prop::collection::vec(edit, 1..12).prop_map(move |edits| {
        let mut bytes = seed.clone();
        for (at, kind, byte, count) in edits {
            let at = at.min(bytes.len().saturating_sub(1));
            let end = (at + count).min(bytes.len());
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    })
}

fn altered_text(seed: &str) -> impl Strategy<Value = String> + use<> {
    altered(seed.as_bytes().to_vec()).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn archive() -> Archive {
    Archive::default()
        .file("package/package.json", br#"{"name":"a","version":"1.0.0"}"#)
        .file("package/lib/index.js", b"module.exports = 1")
        .file_of_mode("package/bin/cli.js", 0o755, b"#!/usr/bin/env node\n")
}

const LOCKFILE: &str = r#"{"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
    "":{"name":"app","version":"1.0.0","dependencies":{"a":"^1.0.0","b":"npm:c@2"},"workspaces":["packages/*"]},
    "node_modules/a":{"version":"1.0.0","resolved":"http://registry.test/a/-/a-1.0.0.tgz","integrity":"sha512-AAAA","bin":{"a":"cli.js"},
    "dependencies":{"d":"*"},"peerDependencies":{"b":"*"},"os":["linux"],"engines":{"node":">=1"}},
    "node_modules/b":{"name":"c","version":"2.0.0","dev":true,"optional":true},"node_modules/w":{"resolved":"packages/w","link":true},
    "packages/w":{"version":"0.0.1"},"node_modules/a/node_modules/d":{"version":"1.0.0","inBundle":true}}}"#;

const OLD_LOCKFILE: &str = r#"{"name":"app","version":"1.0.0","lockfileVersion":1,"requires":true,"dependencies":{
    "a":{"version":"1.0.0","resolved":"http://registry.test/a.tgz","integrity":"sha1-AAAA=","requires":{"b":"1"},
    "dependencies":{"b":{"version":"git+ssh://git@host.test/b.git#0123456789012345678901234567890123456789","from":"b@host"}}}}}"#;

const NPMRC: &str = "registry=http://registry.test/\n@s:registry = http://${HOST}/\n//registry.test/:_authToken=${TOKEN}\n\
                     ; a comment\nomit[]=dev\nca=\"-----BEGIN\\n\"\n[section]\nkey=value # more\nnull=null\n";

const PATCH: &str = "diff --git a/a.js b/a.js\n--- a/a.js\t2026\n+++ b/a.js\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n three\n\\ No newline\n";

proptest! {
    #[test]
    fn archives(bytes in prop_oneof![altered(archive().tar()), altered(archive().tgz())]) {
        entry::archive(&bytes);
        let folder = tempfile::tempdir().expect("a folder");
        let store = espalier_install::store::Store::open(&folder.path().join("store")).expect("a store");
        let _ = store.add(&Hashed::new(&bytes), None);
    }

    #[test]
    fn lockfiles(text in prop_oneof![altered_text(LOCKFILE), altered_text(OLD_LOCKFILE)]) {
        entry::lockfile(&text);
    }

    #[test]
    fn specs(text in prop_oneof![
        "\\PC{0,40}",
        "(npm:|file:|git\\+ssh://|github:|https?://|@|\\.\\./|~/)?[a-z@/:#.*^~<>=|% -]{0,30}(#(semver:)?[a-z0-9^]{0,8})?",
    ]) {
        entry::spec(&text);
    }

    #[test]
    fn versions(text in "[v=]{0,2}[0-9x]{1,3}(\\.[0-9x*]{1,17}){0,3}(-[0-9a-z.-]{0,6})?(\n[<>=^~ 0-9.x*|-]{0,20}){0,3}") {
        entry::semver(&text);
    }

    #[test]
    fn settings(text in altered_text(NPMRC)) {
        entry::npmrc(&text);
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(".npmrc"), &text).expect("written");
        let environment = Environment::of_variables([("TOKEN", "secret"), ("HOST", "host.test")]);
        if let Ok(config) = Config::load(folder.path(), indexmap::IndexMap::default(), &environment) {
            let _ = espalier_install::config::settings::Settings::new(&config, &environment);
        }
    }

    #[test]
    fn patches(patch in altered_text(PATCH), source in altered_text("one\ntwo\nthree\n")) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.js"), source).expect("written");
        let _ = patch::apply_to(folder.path(), &patch);
        prop_assert!(Path::new(folder.path()).is_dir());
    }

    #[test]
    fn ignore_files(ignored in "[a-c!/*?{},.()|@+\\[\\]\\\\\n -]{0,60}", files in prop::collection::vec("[a-c!/*?{},.()|@+\\[\\] -]{0,20}", 0..4)) {
        let folder = tempfile::tempdir().expect("a folder");
        let manifest = serde_json::json!({ "name": "a", "files": files });
        for (path, text) in [("package.json", manifest.to_string()), ("a", String::new()), (".npmignore", ignored)] {
            std::fs::write(folder.path().join(path), text).expect("written");
        }
        prop_assert!(packing::pack(folder.path()).is_ok());
    }
}
