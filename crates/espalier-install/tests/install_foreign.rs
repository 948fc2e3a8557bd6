//! Entries of a `node_modules` that no installation made: what stays and what goes is npm's answer.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::scene::Scene;
use serde_json::json;

/// The text of links, `file` for files, and nothing for what doesn't exist.
fn kinds(scene: &Scene, paths: &[&str]) -> Vec<String> {
    let kind = |path: &&str| match fs::symlink_metadata(scene.at(path)) {
        Ok(found) if found.is_symlink() => fs::read_link(scene.at(path)).expect("a link").display().to_string(),
        Ok(found) if found.is_file() => "file".to_owned(),
        Ok(_) => "folder".to_owned(),
        Err(_) => String::new(),
    };
    paths.iter().map(kind).collect()
}

fn link(scene: &Scene, target: &str, path: &str) {
    fs::create_dir_all(scene.at(path).parent().expect("a parent")).expect("a folder");
    symlink(target, scene.at(path)).expect("a link");
}

const COMMANDS: [&str; 5] = ["file", "folder", "dangling", "to-a", "out"];

/// Puts entries into a `.bin` folder that aren't the commands of packages.
fn add_commands(scene: &Scene, folder: &str) {
    scene.write(&format!("{folder}/file"), "");
    scene.write(&format!("{folder}/folder/file"), "");
    for (name, target) in [("dangling", "../nothing"), ("to-a", "../a/index.js"), ("out", "/bin/sh")] {
        link(scene, target, &format!("{folder}/{name}"));
    }
}

fn commands(scene: &Scene, folder: &str) -> usize {
    COMMANDS.iter().filter(|name| fs::symlink_metadata(scene.at(folder).join(name)).is_ok()).count()
}

#[tokio::test]
async fn commands_of_others_stay_until_ci() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({ "bin": "index.js" }));
    scene.install().await;
    add_commands(&scene, "node_modules/.bin");
    scene.install().await;
    assert_eq!(commands(&scene, "node_modules/.bin"), COMMANDS.len());
    let done = scene.ci().await;
    assert_eq!(commands(&scene, "node_modules/.bin"), 0);
    assert_eq!((done.report.kept, kinds(&scene, &["node_modules/.bin/a"])), (1, vec!["../a/index.js".to_owned()]));
}

/// They may be links to anything by now, and even files.
#[tokio::test]
async fn the_commands_of_a_removed_package_go_with_it() {
    let without = |names: &[&str]| {
        let dependencies: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), "*".into())).collect();
        json!({ "name": "app", "version": "1.0.0", "dependencies": dependencies }).to_string()
    };
    let scene = Scene::of(&["a", "@s/b", "c", "d"])
        .package("a@1.0.0", json!({ "bin": "index.js" }))
        .package("@s/b@1.0.0", json!({ "bin": "index.js" }))
        .package("c@1.0.0", json!({ "bin": { "c": "index.js", "more": "index.js" } }))
        .package("d@1.0.0", json!({ "bin": { "more": "index.js" } }))
        .package("e@1.0.0", json!({}));
    scene.install().await;
    let paths = ["node_modules/.bin/b", "node_modules/.bin/c", "node_modules/.bin/more", "node_modules/.bin/dangling"];
    link(&scene, "../nothing", paths[3]);
    fs::remove_file(scene.at(paths[0])).expect("removed");
    scene.write(paths[0], "");
    let before = kinds(&scene, &paths);
    assert_eq!(before, ["file", "../c/index.js", "../c/index.js", "../nothing"]);
    // A failure restores them.
    scene.write("package.json", &without(&["a", "d", "e"]));
    scene.replace_tarball("e@1.0.0", b"not a tarball");
    scene.fail_to_install().await;
    assert_eq!(kinds(&scene, &paths), before);
    scene.write("package.json", &without(&["a", "d"]));
    scene.install().await;
    assert_eq!(kinds(&scene, &paths), ["", "", "../d/index.js", "../nothing"]);
}

/// Its command was there before, and its script fails.
#[tokio::test]
async fn the_commands_of_a_package_that_is_left_out_go_with_it() {
    let manifest = |version: &str| json!({ "name": "app", "optionalDependencies": { "a": version }, "allowScripts": { "a": true } });
    let scene = Scene::new(&manifest("1"))
        .package("a@1.0.0", json!({ "bin": "index.js" }))
        .package("a@2.0.0", json!({ "bin": "index.js", "scripts": { "install": "exit 1" }, "hasInstallScript": true }));
    scene.install().await;
    assert_eq!(kinds(&scene, &["node_modules/.bin/a"]), ["../a/index.js"]);
    scene.write("package.json", &manifest("2").to_string());
    let done = scene.install().await;
    assert_eq!(done.report.left_out.len(), 1);
    assert_eq!(kinds(&scene, &["node_modules/a", "node_modules/.bin/a"]), ["", ""]);
}

#[tokio::test]
async fn ci_keeps_the_commands_that_a_package_brings() {
    let scene = Scene::of(&["a"]).package_of(
        "a@1.0.0",
        json!({ "dependencies": { "b": "1" }, "bundleDependencies": ["b"] }),
        |archive| {
            archive
                .file("package/node_modules/b/package.json", br#"{"name":"b","version":"1.0.0"}"#)
                .file("package/node_modules/.bin/own", b"")
        },
    );
    scene.install().await;
    link(&scene, "../b", "node_modules/a/node_modules/.bin/foreign");
    let paths = ["node_modules/a/node_modules/.bin/own", "node_modules/a/node_modules/.bin/foreign"];
    let done = scene.ci().await;
    assert_eq!((kinds(&scene, &paths), done.report.kept), (vec!["file".to_owned(), String::new()], 1));
}

/// Two workspaces and a linked folder, each with a package of its own.
fn workspaces() -> Scene {
    let scene = Scene::new(&json!({
        "name": "app", "version": "1.0.0", "workspaces": ["packages/*"], "dependencies": { "lib": "file:lib", "c": "1" },
    }))
    .package("c@1.0.0", json!({}))
    .package("c@2.0.0", json!({ "bin": "index.js" }));
    for (folder, name) in [("packages/a", "a"), ("packages/b", "b"), ("lib", "lib")] {
        let manifest = json!({ "name": name, "version": "1.0.0", "dependencies": { "c": "2" } });
        scene.write(&format!("{folder}/package.json"), &manifest.to_string());
    }
    scene
}

const FOREIGN: [&str; 6] =
    ["x/package.json", ".cache/file", ".bin/file", "@s/x/package.json", ".package-lock.json", "file"];

fn add_entries(scene: &Scene, folder: &str) {
    FOREIGN.iter().for_each(|path| scene.write(&format!("{folder}/node_modules/{path}"), "{}"));
}

fn left(scene: &Scene, folder: &str) -> Vec<&'static str> {
    FOREIGN.into_iter().filter(|path| scene.at(&format!("{folder}/node_modules/{path}")).exists()).collect()
}

/// `lib/commands/ci.js` empties the folders of all workspaces, selected or not, and no other ones.
#[tokio::test]
async fn ci_empties_the_folders_of_workspaces_only() {
    for selected in [&["a"][..], &[]] {
        let scene = workspaces();
        scene.install().await;
        ["packages/a", "packages/b", "lib"].iter().for_each(|folder| add_entries(&scene, folder));
        let server = scene.serve().await;
        scene.rebase(&server.origin());
        let mut ci = scene.prepare(true, &server.origin());
        ci.lock.changes.workspaces = selected.iter().map(|&name| name.to_owned()).collect();
        ci.run(|_| (), std::future::pending()).await.expect("installed");
        assert_eq!(left(&scene, "packages/a"), [""; 0]);
        assert_eq!(left(&scene, "packages/b"), [""; 0]);
        assert_eq!(left(&scene, "lib"), FOREIGN);
        let paths = ["packages/a/node_modules/c", "packages/b/node_modules/c", "lib/node_modules/c"];
        let other = if selected.is_empty() { "folder" } else { "" };
        // The linked folder is not selected either, so nothing changes in it.
        assert_eq!(kinds(&scene, &paths), ["folder", other, "folder"]);
    }
}

#[tokio::test]
async fn install_removes_packages_and_no_hidden_entries_from_workspaces() {
    let scene = workspaces();
    scene.install().await;
    ["packages/a", "packages/b", "lib"].iter().for_each(|folder| add_entries(&scene, folder));
    scene.install().await;
    for folder in ["packages/a", "packages/b", "lib"] {
        assert_eq!(left(&scene, folder), [".cache/file", ".bin/file", ".package-lock.json"]);
    }
}

/// npm loads no package whose name begins with a dot.
#[tokio::test]
async fn hidden_entries_of_scopes_stay_until_ci() {
    let scene = Scene::of(&["@s/a"]).package("@s/a@1.0.0", json!({}));
    scene.install().await;
    for path in ["@s/.file", "@s/x/file", "@other/.cache/file", "@other/x/file"] {
        scene.write(&format!("node_modules/{path}"), "");
    }
    let paths = ["@s/.file", "@s/x", "@other/.cache", "@other/x", "@s/a"].map(|path| format!("node_modules/{path}"));
    let paths = paths.iter().map(String::as_str).collect::<Vec<_>>();
    scene.install().await;
    assert_eq!(kinds(&scene, &paths), ["file", "", "folder", "", "folder"]);
    scene.ci().await;
    assert_eq!(kinds(&scene, &paths), ["", "", "", "", "folder"]);
    assert!(!scene.at("node_modules/@other").exists());
}
