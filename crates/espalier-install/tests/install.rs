//! Installations: the files on disk afterwards, and the files that stay unchanged.

use std::fs;

use crate::support::archive::Archive;
use crate::support::scene::Scene;
use espalier_install::install::InstallError;
use serde_json::json;

const BIN: &[u8] = b"#!/usr/bin/env node\n";

#[cfg(unix)]
fn links_and_mode(scene: &Scene, path: &str) -> (u64, u32) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let found = fs::metadata(scene.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    (found.nlink(), found.permissions().mode() & 0o777)
}

#[cfg(unix)]
fn inode(scene: &Scene, path: &str) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(scene.at(path)).unwrap_or_else(|error| panic!("{path}: {error}")).ino()
}

#[tokio::test]
async fn packages_go_where_the_lockfile_says() {
    let scene = Scene::of(&["a", "b"])
        .package("a@1.0.0", json!({ "dependencies": { "b": "^1.0.0" } }))
        .package("b@1.0.0", json!({}))
        .package("b@2.0.0", json!({}));
    let done = scene.install().await;
    assert_eq!(
        scene.tree(),
        [
            ".package-lock.json",
            "a/",
            "a/index.js",
            "a/node_modules/",
            "a/node_modules/b/",
            "a/node_modules/b/index.js",
            "a/node_modules/b/package.json",
            "a/package.json",
            "b/",
            "b/index.js",
            "b/package.json",
        ]
    );
    assert_eq!(scene.read("node_modules/a/node_modules/b/index.js"), "module.exports = 'b@1.0.0'");
    assert_eq!(scene.read("node_modules/b/index.js"), "module.exports = 'b@2.0.0'");
    assert_eq!(done.report.added.len(), 3);
    let hidden: serde_json::Value = serde_json::from_str(&scene.read("node_modules/.package-lock.json")).expect("JSON");
    let keys: Vec<&String> = hidden["packages"].as_object().expect("packages").keys().collect();
    assert_eq!(keys, ["node_modules/a", "node_modules/a/node_modules/b", "node_modules/b"]);
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_shared_with_the_store_until_scripts_may_change_them() {
    let script = json!({ "scripts": { "postinstall": "echo changed > index.js" }, "hasInstallScript": true });
    let manifest = json!({ "name": "app", "version": "1.0.0", "dependencies": { "a": "*", "b": "*", "c": "*" }, "allowScripts": { "b": true } });
    let scene = Scene::new(&manifest).package("a@1.0.0", script.clone()).package("b@1.0.0", script).package_of(
        "c@1.0.0",
        json!({}),
        |archive| archive.file("package/binding.gyp", b"{}"),
    );
    let done = scene.install().await;
    assert_eq!(links_and_mode(&scene, "node_modules/a/index.js"), (2, 0o644));
    assert_eq!(links_and_mode(&scene, "node_modules/b/index.js"), (1, 0o644));
    assert_eq!(links_and_mode(&scene, "node_modules/c/binding.gyp"), (2, 0o644));
    let names: Vec<&str> = done.report.with_scripts.iter().map(|package| package.name.as_str()).collect();
    assert_eq!((done.report.scripts_run, names), (1, vec!["a", "c"]));
    assert_eq!(scene.read("node_modules/b/index.js"), "changed\n");
    // The store still has what the registry sent.
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    let scene = scene.flag("ignore-scripts", "true");
    scene.ci().await;
    assert_eq!(scene.read("node_modules/b/index.js"), "module.exports = 'b@1.0.0'");
}

#[cfg(unix)]
#[tokio::test]
async fn no_script_runs_before_the_files_of_all_are_copies() {
    // Two packages have scripts in one round. The first notes how many names a file of the second
    // has.
    let counts = json!({ "scripts": { "postinstall": "ls -l ../b/index.js | awk '{ print $2 }' > seen" }, "hasInstallScript": true });
    let other = json!({ "scripts": { "postinstall": "exit 0" }, "hasInstallScript": true });
    let manifest = json!({ "name": "app", "version": "1.0.0", "dependencies": { "a": "*", "b": "*" }, "allowScripts": { "a": true, "b": true } });
    let scene = Scene::new(&manifest).package("a@1.0.0", counts).package("b@1.0.0", other);
    assert_eq!(scene.install().await.report.scripts_run, 2);
    assert_eq!(scene.read("node_modules/a/seen"), "1\n");
}

#[cfg(unix)]
#[tokio::test]
async fn a_package_that_two_threads_place_is_whole() {
    const FILES: usize = 301;
    let files = |archive| {
        (0..FILES)
            .fold(archive, |archive: Archive, file| archive.file(&format!("package/{}/{file}.js", file % 7), b"x"))
    };
    let scene = Scene::of(&["a"]).package_of("a@1.0.0", json!({}), files);
    scene.install().await;
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    scene.ci().await;
    for file in 0..FILES {
        assert_eq!(links_and_mode(&scene, &format!("node_modules/a/{}/{file}.js", file % 7)), (2, 0o644));
    }
    // A changed file in the store is noticed in either half. The package is fetched again.
    for file in [0, FILES - 1] {
        let path = format!("node_modules/a/{}/{file}.js", file % 7);
        fs::write(scene.at(&path), "changed").expect("written");
        fs::remove_dir_all(scene.at("node_modules")).expect("removed");
        scene.ci().await;
        assert_eq!(scene.read(&path), "x");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn commands_are_linked_and_executable_and_the_first_has_the_name() {
    let bin = |name: &str| json!({ "bin": { name: "cli.js", "../../../evil": "../../../../etc/passwd" } });
    let scene = Scene::of(&["a", "b"])
        .package_of("a@1.0.0", bin("tool"), |archive| archive.file("package/cli.js", BIN))
        .package_of("b@1.0.0", bin("tool"), |archive| archive.file("package/cli.js", b"#!/bin/sh\r\necho\r\n"));
    scene.install().await;
    assert_eq!(fs::read_link(scene.at("node_modules/.bin/tool")).expect("a link").to_str(), Some("../a/cli.js"));
    assert_eq!(links_and_mode(&scene, "node_modules/a/cli.js"), (1, 0o755));
    // The file of the other package was not linked, so it stays as it was packed.
    assert_eq!(links_and_mode(&scene, "node_modules/b/cli.js"), (2, 0o644));
    let names: Vec<_> = fs::read_dir(scene.at("node_modules/.bin")).expect("a folder").flatten().collect();
    assert_eq!(names.len(), 1, "a command that leads out of its package was linked: {names:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_from_windows_loses_its_carriage_return() {
    let scene = Scene::of(&["a"]).package_of("a@1.0.0", json!({ "bin": "cli.js" }), |archive| {
        archive.file_of_mode("package/cli.js", 0o755, b"#!/bin/sh\r\necho\r\n")
    });
    scene.install().await;
    assert_eq!(scene.read("node_modules/a/cli.js"), "#!/bin/sh\necho\r\n");
}

#[cfg(unix)]
#[tokio::test]
async fn ci_repairs_what_is_wrong_and_leaves_what_is_right() {
    let scene = Scene::of(&["a", "b", "c"])
        .package("a@1.0.0", json!({}))
        .package("b@1.0.0", json!({}))
        .package("c@1.0.0", json!({}));
    scene.install().await;
    let right = inode(&scene, "node_modules/c");
    // The script must not write into the store, which would damage it for all projects.
    fs::remove_file(scene.at("node_modules/a/index.js")).expect("removed");
    scene.write("node_modules/a/index.js", "evil");
    scene.write("node_modules/b/more.js", "evil");
    scene.write("node_modules/unknown/index.js", "evil");
    scene.write("node_modules/.cache/x", "evil");
    let done = scene.ci().await;
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
    assert!(!scene.at("node_modules/b/more.js").exists() && !scene.at("node_modules/unknown").exists());
    assert!(!scene.at("node_modules/.cache").exists());
    assert_eq!(inode(&scene, "node_modules/c"), right);
    assert_eq!((done.report.repaired.len(), done.report.kept), (2, 1));
    assert!(done.lockfile.is_none());
}

#[cfg(unix)]
#[tokio::test]
async fn a_second_installation_does_nothing() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({ "bin": "index.js" }));
    scene.install().await;
    let (before, folder) = (scene.tree(), inode(&scene, "node_modules/a"));
    let done = scene.install().await;
    assert_eq!((done.report.added.len(), done.report.repaired.len(), done.report.kept), (0, 0, 1));
    assert_eq!((scene.tree(), inode(&scene, "node_modules/a")), (before, folder));
}

#[tokio::test]
async fn what_is_not_needed_any_more_is_removed() {
    let scene =
        Scene::of(&["a", "@s/b"]).package("a@1.0.0", json!({})).package("@s/b@1.0.0", json!({ "bin": "index.js" }));
    scene.install().await;
    scene.write("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"a\":\"*\"}}");
    scene.write("node_modules/.cache/mine", "stays");
    scene.install().await;
    assert_eq!(scene.tree(), [".cache/", ".cache/mine", ".package-lock.json", "a/", "a/index.js", "a/package.json"]);
}

#[tokio::test]
async fn the_commands_of_a_package_go_when_another_one_of_its_version_takes_its_place() {
    let scene = Scene::of(&["a"])
        .package_of("a@1.0.0", json!({ "bin": "a.js" }), |archive| archive.file("package/a.js", BIN))
        .package("b@1.0.0", json!({}));
    scene.install().await;
    assert!(scene.tree().iter().any(|path| path == ".bin/a"));
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut install = scene.prepare(false, &server.origin());
    install.lock.changes.add = vec!["a@npm:b@1.0.0".to_owned()];
    install.run(|_| (), std::future::pending()).await.expect("installed");
    assert_eq!(scene.tree(), [".package-lock.json", "a/", "a/index.js", "a/package.json"]);
}

#[tokio::test]
async fn a_bundle_comes_in_its_package() {
    let scene = Scene::of(&["a"]).package_of(
        "a@1.0.0",
        json!({ "dependencies": { "b": "1" }, "bundleDependencies": ["b"] }),
        |archive| {
            archive
                .file(
                    "package/node_modules/b/package.json",
                    b"{\"name\":\"b\",\"version\":\"1.2.3\",\"bin\":\"cli.js\"}",
                )
                .file("package/node_modules/b/cli.js", BIN)
        },
    );
    scene.install().await;
    assert!(scene.at("node_modules/a/node_modules/b/cli.js").is_file());
    assert!(scene.at("node_modules/a/node_modules/.bin/b").exists());
    let before = scene.tree();
    let done = scene.ci().await;
    assert_eq!((done.report.kept, scene.tree()), (1, before));
}

/// npm computes the flags again only from the package with the bundle (`loadActual` of
/// `load-actual.js`).
#[tokio::test]
async fn a_bundle_leaves_the_flags_of_what_it_shadows() {
    let manifest = json!({ "name": "app", "dependencies": { "a": "*" }, "devDependencies": { "d": "*" } });
    let scene = Scene::new(&manifest)
        .package_of("a@1.0.0", json!({ "dependencies": { "b": "1" }, "bundleDependencies": ["b"] }), |archive| {
            archive.file("package/node_modules/b/package.json", br#"{"name":"b","version":"1.2.3"}"#)
        })
        .package("b@1.2.3", json!({}))
        .package("d@1.0.0", json!({ "dependencies": { "b": "1" } }));
    scene.install().await;
    let lock: serde_json::Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
    let flags = |location: &str| lock["packages"][location]["dev"] == true;
    assert_eq!((flags("node_modules/b"), flags("node_modules/d")), (false, true));
}

#[tokio::test]
async fn a_link_that_is_omitted_is_not_made() {
    let manifest = json!({ "name": "app", "dependencies": { "p": "file:p" }, "devDependencies": { "d": "file:d" } });
    let scene = Scene::new(&manifest).flag("omit", "dev");
    scene.write("p/package.json", r#"{"name":"p","version":"1.0.0"}"#);
    scene.write("d/package.json", r#"{"name":"d","version":"1.0.0","bin":"d.js"}"#);
    scene.write("d/d.js", "");
    scene.install().await;
    assert_eq!(scene.tree(), [".package-lock.json", "p"]);
    // The folder stays in the hidden lockfile.
    let note = scene.read("node_modules/.package-lock.json");
    assert!(note.contains("\"d\": {") && !note.contains("node_modules/d"), "{note}");
    scene.ci().await;
    assert_eq!(scene.tree(), [".package-lock.json", "p"]);
}

#[tokio::test]
async fn what_is_omitted_is_not_installed_and_stays_in_the_lock() {
    let manifest = json!({ "name": "app", "dependencies": { "a": "*" }, "devDependencies": { "b": "*" } });
    let scene = Scene::new(&manifest).package("a@1.0.0", json!({})).package("b@1.0.0", json!({})).flag("omit", "dev");
    scene.install().await;
    assert_eq!(scene.tree(), [".package-lock.json", "a/", "a/index.js", "a/package.json"]);
    assert!(scene.read("package-lock.json").contains("node_modules/b"));
    assert!(!scene.read("node_modules/.package-lock.json").contains("node_modules/b"));
}

#[tokio::test]
async fn optional_packages_of_other_platforms_are_not_installed() {
    let scene = Scene::new(&json!({ "name": "app", "optionalDependencies": { "a": "*", "b": "*" } }))
        .package("a@1.0.0", json!({}))
        .package("b@1.0.0", json!({ "os": ["nowhere"] }));
    scene.install().await;
    assert_eq!(scene.tree(), [".package-lock.json", "a/", "a/index.js", "a/package.json"]);
}

#[tokio::test]
async fn an_optional_package_that_cannot_be_had_is_left_out_with_what_only_it_needs() {
    let scene =
        Scene::new(&json!({ "name": "app", "dependencies": { "a": "*" }, "optionalDependencies": { "b": "*" } }))
            .package("a@1.0.0", json!({}))
            .package("b@1.0.0", json!({ "dependencies": { "c": "*" } }))
            .package("c@1.0.0", json!({}));
    scene.replace_tarball("b@1.0.0", b"not a tarball");
    let done = scene.install().await;
    assert_eq!(scene.tree(), [".package-lock.json", "a/", "a/index.js", "a/package.json"]);
    assert_eq!(done.report.left_out.len(), 1);
    assert!(scene.read("package-lock.json").contains("node_modules/c"));
    assert!(!scene.read("node_modules/.package-lock.json").contains("node_modules/c"));
}

#[cfg(unix)]
#[tokio::test]
async fn workspaces_are_linked_and_their_commands_made_executable() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["packages/*"] })).package("a@1.0.0", json!({}));
    scene.write(
        "packages/ui/package.json",
        "{\"name\":\"@s/ui\",\"version\":\"1.0.0\",\"bin\":\"cli.js\",\"dependencies\":{\"a\":\"*\"}}",
    );
    scene.write("packages/ui/cli.js", "#!/usr/bin/env node\n");
    scene.install().await;
    assert_eq!(fs::read_link(scene.at("node_modules/@s/ui")).expect("a link").to_str(), Some("../../packages/ui"));
    assert_eq!(fs::read_link(scene.at("node_modules/.bin/ui")).expect("a link").to_str(), Some("../@s/ui/cli.js"));
    assert_eq!(links_and_mode(&scene, "packages/ui/cli.js"), (1, 0o755));
    assert_eq!(scene.install().await.report.kept, 2);
}

/// npm ignores a lockfile then, but not what is installed, and removes nothing unless something
/// changes.
#[tokio::test]
async fn without_a_lockfile_the_installed_packages_stay() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    scene.install().await;
    let scene = scene.package("a@1.1.0", json!({})).flag("package-lock", "false");
    fs::remove_file(scene.at("package-lock.json")).expect("removed");
    scene.write("node_modules/x/package.json", r#"{"name":"x","version":"1.0.0"}"#);
    scene.install().await;
    assert!(scene.read("node_modules/a/package.json").contains("1.0.0"));
    assert!(scene.at("node_modules/x/package.json").is_file());
}

/// npm updates the names when it writes a lockfile, and `ci` writes none.
#[tokio::test]
async fn the_hidden_lockfile_of_ci_has_the_names_of_the_lockfile() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    scene.install().await;
    let lockfile = scene.read("package-lock.json");
    assert!(scene.read("node_modules/.package-lock.json").contains("\"name\": \"app\""));
    scene.write("package-lock.json", &lockfile.replacen("\"app\"", "\"other\"", 1));
    scene.try_ci().await.expect("installed");
    assert!(scene.read("node_modules/.package-lock.json").contains("\"name\": \"other\""));
}

#[tokio::test]
async fn ci_needs_a_lockfile_that_fits() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({})).package("b@1.0.0", json!({}));
    assert!(matches!(scene.try_ci().await, Err(InstallError::NoLockfile)));
    scene.write("package-lock.json", "no JSON");
    assert!(matches!(scene.try_ci().await, Err(InstallError::BrokenLockfile)));
    fs::remove_file(scene.at("package-lock.json")).expect("removed");
    scene.install().await;
    let lockfile = scene.read("package-lock.json");
    scene.write("package.json", "{\"name\":\"app\",\"dependencies\":{\"a\":\"*\",\"b\":\"*\"}}");
    let Err(InstallError::Disagreement { differences }) = scene.try_ci().await else { panic!("it fits") };
    assert_eq!(differences, ["Missing: b@1.0.0 from lock file"]);
    assert!(scene.at("node_modules/a/index.js").is_file());
    assert_eq!(scene.read("package-lock.json").len(), lockfile.len());
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    let server = scene.serve().await;
    let mut install = scene.prepare(false, &server.origin());
    install.dry_run = true;
    let done = install.run(|_| (), std::future::pending()).await.expect("a plan");
    let plan = done.plan.expect("a plan").to_string();
    assert_eq!(plan, "fetch    a@1.0.0\nadd      node_modules/a a@1.0.0\n");
    assert!(!scene.at("node_modules").exists() && !scene.at("package-lock.json").exists());
}

/// Locks of `omit-lockfile-registry-resolved` and of npm 6. npm requests the version from the
/// registry (`reify.js`).
#[tokio::test]
async fn a_lock_that_only_says_versions_is_installed_and_stays_as_it_is() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({})).package("a@1.1.0", json!({}));
    let lock = "{\n  \"name\": \"scene\",\n  \"lockfileVersion\": 3,\n  \"requires\": true,\n  \"packages\": {\n    \"\": {\n      \
                \"dependencies\": {\n        \"a\": \"*\"\n      }\n    },\n    \"node_modules/a\": {\n      \
                \"version\": \"1.0.0\"\n    }\n  }\n}\n";
    scene.write("package-lock.json", lock);
    assert_eq!(scene.ci().await.report.added.len(), 1);
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
    assert_eq!(scene.read("package-lock.json"), lock);
    assert_eq!(scene.install().await.report.added.len(), 0, "it is noted as npm notes it");
    let scene = scene.flag("offline", "true");
    assert_eq!(scene.install().await.report.kept, 1, "nobody has to be asked");
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    let error = scene.fail_to_install().await.to_string();
    assert!(error.contains("fetch") || error.contains("--offline"), "{error}");
    assert!(!scene.at("node_modules").exists());
}

/// For npm, what cannot be loaded is a package without a version.
#[tokio::test]
async fn ci_needs_every_optional_dependency_in_the_lockfile() {
    let scene = Scene::of(&[]).package("a@1.0.0", json!({ "optionalDependencies": { "gone": "1" } }));
    scene.write("package.json", r#"{"dependencies":{"a":"1"},"optionalDependencies":{"absent":"1"}}"#);
    scene.install().await;
    let Err(InstallError::Disagreement { differences }) = scene.try_ci().await else { panic!("it fits") };
    assert_eq!(differences, ["Missing: absent@ from lock file", "Missing: gone@ from lock file"]);
}

#[tokio::test]
async fn ci_does_not_need_what_a_folder_outside_needs() {
    let scene = Scene::of(&[]);
    scene.write("package.json", r#"{"dependencies":{"outside":"file:../outside"}}"#);
    scene.write("../outside/package.json", r#"{"name":"outside","version":"1.0.0","dependencies":{"gone":"1"}}"#);
    scene.install().await;
    scene.try_ci().await.expect("it fits");
}

#[tokio::test]
async fn ci_installs_from_a_lock_of_version_1() {
    let scene =
        Scene::of(&["a"]).package("a@1.0.0", json!({ "dependencies": { "b": "1" } })).package("b@1.0.0", json!({}));
    let entry = |requires: &str| format!("{{ \"version\": \"1.0.0\"{requires} }}");
    let (a, b) = (entry(", \"requires\": { \"b\": \"1\" }"), entry(""));
    // Before npm 5, a lockfile had no `requires`.
    for requires in ["", "\"requires\": true, "] {
        let lock = |dependencies: &str| {
            format!("{{ \"lockfileVersion\": 1, {requires}\"dependencies\": {{ {dependencies} }} }}")
        };
        scene.write("package-lock.json", &lock(&format!("\"a\": {a}, \"b\": {b}")));
        assert_eq!(scene.ci().await.report.added.len(), 2);
        scene.write("package-lock.json", &lock(&format!("\"a\": {a}")));
        let Err(InstallError::Disagreement { differences }) = scene.try_ci().await else { panic!("it fits") };
        assert_eq!(differences, ["Missing: b@1.0.0 from lock file"]);
        fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    }
}
