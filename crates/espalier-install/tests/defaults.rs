//! Properties that are safe by default and that no other file tests. The table in `regressions.rs`
//! lists the tests of each topic.

use std::fs;

use crate::support::archive::{Archive, manifest};
use crate::support::scene::Scene;
use espalier_install::install::InstallError;
use espalier_install::lock::LockError;
use serde_json::{Value, json};

/// The code of an error that ended a resolution, or of a refusal after it.
fn code(error: &InstallError) -> String {
    match error {
        InstallError::Lock(LockError::Resolve { error, .. }) => error.code().into_owned(),
        InstallError::Refused(refusal) => refusal.code.to_owned(),
        other => other.to_string(),
    }
}

/// Installs a project, changes the entry of `a` in the lock, and removes the installation and the
/// store.
async fn with_lock(scene: Scene, edit: impl FnOnce(&mut Value)) -> Scene {
    scene.install().await;
    let mut lock: Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
    edit(&mut lock["packages"]);
    scene.write("package-lock.json", &lock.to_string());
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    fs::remove_dir_all(scene.path("store")).expect("removed");
    scene
}

#[tokio::test]
async fn versions_that_are_too_young_do_not_exist_unless_they_are_excepted() {
    for (flags, expected) in [
        (&[][..], "1.1.0"),
        (&[("before", "2021-01-01")], "1.0.0"),
        (&[("min-release-age", "1")], "1.0.0"),
        (&[("min-release-age", "1"), ("min-release-age-exclude", "a")], "1.1.0"),
    ] {
        let scene = Scene::of(&["a"]).package("a@1.0.0", json!({})).package("a@1.1.0", json!({}));
        // The second version will always be too young.
        let scene =
            scene.published("a@1.0.0", "2020-01-01T00:00:00.000Z").published("a@1.1.0", "2999-01-01T00:00:00.000Z");
        let scene = flags.iter().fold(scene, |scene, (name, value)| scene.flag(name, value));
        scene.install().await;
        assert_eq!(scene.read("node_modules/a/index.js"), format!("module.exports = 'a@{expected}'"), "{flags:?}");
    }
}

#[tokio::test]
async fn a_dependency_cannot_ask_for_repositories_and_urls() {
    let specs = [
        ("git+https://elsewhere.test/x.git", "allow-git", "EALLOWGIT"),
        ("someone/x", "allow-git", "EALLOWGIT"),
        ("http://elsewhere.test/x.tgz", "allow-remote", "EALLOWREMOTE"),
    ];
    for (spec, setting, expected) in specs {
        for allowed in ["none", "root"] {
            let scene = Scene::of(&["a"]).package("a@1.0.0", json!({ "dependencies": { "x": spec } }));
            let error = scene.flag(setting, allowed).fail_to_install().await;
            assert_eq!(code(&error), expected, "{spec} with {allowed}");
        }
        let scene = Scene::of(&["a"]).package("a@1.0.0", json!({ "dependencies": { "x": spec } }));
        assert_eq!(code(&scene.fail_to_install().await), expected, "{spec}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn scripts_of_what_is_bundled_never_run() {
    let script = json!({ "name": "b", "version": "1.0.0", "scripts": { "postinstall": "touch ran" } }).to_string();
    let scene = Scene::new(&json!({
        "name": "app", "dependencies": { "a": "*" }, "allowScripts": { "a": true, "b": true, "b@1.0.0": true },
    }));
    let fields = json!({
        "dependencies": { "b": "1" }, "bundleDependencies": ["b"], "scripts": { "postinstall": "touch ran" },
        "hasInstallScript": true,
    });
    let scene = scene
        .package_of("a@1.0.0", fields, |archive| archive.file("package/node_modules/b/package.json", script.as_bytes()))
        .flag("foreground-scripts", "false");
    let done = scene.install().await;
    assert_eq!(done.report.scripts_run, 1);
    assert!(scene.at("node_modules/a/ran").exists());
    assert!(!scene.at("node_modules/a/node_modules/b/ran").exists());
}

/// The lock's integrity of a version takes precedence over the registry's current one.
#[tokio::test]
async fn the_locks_hash_is_not_replaced_by_that_of_the_registry() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    let integrity = |scene: &Scene| {
        let lock: Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
        lock["packages"]["node_modules/a"]["integrity"].clone()
    };
    let scene = with_lock(scene, |_| ()).await;
    let first = integrity(&scene);
    // The version is published again, with a document that has the new integrity.
    let other = Archive::default().file("package/package.json", &manifest("a", "1.0.0")).tgz();
    let scene = scene.package_as("a@1.0.0", json!({ "name": "a", "version": "1.0.0" }), &other);
    let error = scene.fail_to_install().await.to_string();
    assert!(error.contains("is not the expected tarball"), "{error}");
    assert_eq!(integrity(&scene), first);
}

/// Only the registry's own address needs no permission. Another scheme, port, host or package does.
#[tokio::test]
async fn a_lockfile_cannot_take_a_package_of_the_registry_from_anywhere_else() {
    for (resolved, expected) in [
        ("file:../evil.tgz", "ELOCKNAME"),
        ("file:../folder", "ELOCKNAME"),
        ("git+ssh://git@elsewhere.test/a.git#0123456789012345678901234567890123456789", "ELOCKNAME"),
        ("https://127.0.0.1/a/-/a-1.0.0.tgz", "EALLOWREMOTE"),
        ("http://localhost:1/a/-/a-1.0.0.tgz", "EALLOWREMOTE"),
        ("ftp://127.0.0.1/a/-/a-1.0.0.tgz", "EALLOWREMOTE"),
    ] {
        let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
        fs::create_dir_all(scene.path("folder")).expect("a folder");
        fs::write(scene.path("folder/package.json"), manifest("a", "1.0.0")).expect("written");
        let evil = Archive::default().file("package/package.json", &manifest("a", "1.0.0")).tgz();
        fs::write(scene.path("evil.tgz"), evil).expect("written");
        let scene = with_lock(scene, |packages| {
            packages["node_modules/a"]["resolved"] = resolved.into();
            packages["node_modules/a"].as_object_mut().expect("an entry").remove("integrity");
        });
        let scene = scene.await;
        for clean in [true, false] {
            let result = if clean { scene.try_ci().await } else { Err(scene.fail_to_install().await) };
            assert_eq!(code(&result.expect_err("refused")), expected, "{resolved}");
            assert!(!scene.at("node_modules").exists(), "{resolved}");
        }
    }
}

/// On a file system that ignores case, the second package would be installed through the link of
/// the first.
#[tokio::test]
async fn a_lockfile_cannot_have_two_names_that_differ_in_case_only() {
    let scene = Scene::of(&["foo"]).package("foo@1.0.0", json!({}));
    fs::create_dir_all(scene.path("outside")).expect("a folder");
    let scene = with_lock(scene, |packages| {
        packages["node_modules/FOO"] = json!({ "resolved": "../outside", "link": true });
        packages["../outside"] = json!({ "version": "1.0.0" });
    })
    .await;
    let result = scene.try_ci().await;
    assert!(result.is_err() || !scene.at("node_modules/FOO").exists());
    assert_eq!(fs::read_dir(scene.path("outside")).expect("a folder").count(), 0);
}
