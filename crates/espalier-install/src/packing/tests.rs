use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::{list, pack};

#[derive(Deserialize)]
struct Case {
    files: BTreeMap<String, String>,
    /// What `npm-packlist` lists.
    packed: Vec<String>,
}

fn write(folder: &Path, path: &str, content: &str) {
    fs::create_dir_all(folder.join(path).parent().expect("a parent")).expect("a folder");
    fs::write(folder.join(path), content).expect("written");
}

/// Recorded by `tests/oracle/packing.mjs`.
#[test]
fn a_folder_is_packed_as_npm_packs_it() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/packing/lists.json")).expect("cases");
    let mut different = Vec::new();
    for case in cases {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, content) in &case.files {
            write(folder.path(), path, content);
        }
        let packed: Vec<String> = list::files_of(folder.path()).expect("a list").into_iter().collect();
        if packed != case.packed {
            different.push(format!("{:#?}\nours {packed:?}\nnpm's {:?}", case.files, case.packed));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

/// CVE-2026-24056: a link in a package must not bring files from outside into the archive.
#[cfg(unix)]
#[test]
fn links_are_not_packed_and_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().expect("a folder");
    write(outside.path(), "secret", "s3cret");
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "package.json", r#"{"name":"a","files":["lib","link","secret"],"main":"secret"}"#);
    write(folder.path(), "lib/a.js", "");
    symlink(outside.path(), folder.path().join("link")).expect("a link");
    symlink(outside.path().join("secret"), folder.path().join("secret")).expect("a link");
    symlink(outside.path().join("secret"), folder.path().join("lib/secret")).expect("a link");
    symlink(outside.path().join("secret"), folder.path().join("README.md")).expect("a link");
    let packed: Vec<String> = list::files_of(folder.path()).expect("a list").into_iter().collect();
    assert_eq!(packed, ["lib/a.js", "package.json"]);
}

#[test]
fn patches_stay_at_home() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest =
        "{\n\t\"name\": \"a\",\n\t\"patchedDependencies\": {\"b\": \"patches/b.patch\"},\n\t\"main\": \"a.js\"\n}\n";
    write(folder.path(), "package.json", manifest);
    write(folder.path(), "patches/b.patch", "");
    let archive = pack(folder.path()).expect("packed");
    let text = String::from_utf8_lossy(&archive);
    assert!(text.contains("{\n\t\"name\": \"a\",\n\t\"main\": \"a.js\"\n}\n") && !text.contains("b.patch"));
}
