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

/// Its package.json names a folder of commands, or a link has taken its place.
#[tokio::test]
async fn commands_that_are_harder_to_find_go_as_well() {
    let scene = Scene::new(&json!({ "name": "app", "dependencies": { "d": "file:d", "@s/b": "*" } }))
        .package("@s/b@1.0.0", json!({ "bin": "index.js" }));
    scene.write("d/package.json", r#"{"name":"d","version":"1.0.0","directories":{"bin":"./bin"}}"#);
    scene.write("d/bin/one", "");
    scene.install().await;
    fs::rename(scene.at("node_modules/@s"), scene.path("scope")).expect("moved");
    symlink("../../scope", scene.at("node_modules/@s")).expect("a link");
    let paths = ["node_modules/.bin/one", "node_modules/.bin/b"];
    assert_eq!(kinds(&scene, &paths), ["../d/bin/one", "../@s/b/index.js"]);
    scene.write("package.json", r#"{"name":"app"}"#);
    scene.install().await;
    assert_eq!(kinds(&scene, &paths), ["", ""]);
    assert!(scene.path("scope/b/index.js").exists() && scene.at("d/bin/one").exists());
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
    for path in FOREIGN {
        scene.write(&format!("{folder}/node_modules/{path}"), "{}");
    }
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
        for folder in ["packages/a", "packages/b", "lib"] {
            add_entries(&scene, folder);
        }
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
    for folder in ["packages/a", "packages/b", "lib"] {
        add_entries(&scene, folder);
    }
    scene.install().await;
    for folder in ["packages/a", "packages/b", "lib"] {
        assert_eq!(left(&scene, folder), [".cache/file", ".bin/file", ".package-lock.json"]);
    }
}

/// The hidden lockfile lists what is installed, and does not know the folder. The next installation
/// does not trust it, because it does not list everything.
#[tokio::test]
async fn packages_in_a_new_workspace_stay_until_the_next_installation() {
    let scene = workspaces();
    scene.install().await;
    scene.write("packages/z/package.json", r#"{"name":"z","version":"1.0.0"}"#);
    add_entries(&scene, "packages/z");
    scene.install().await;
    assert_eq!(left(&scene, "packages/z"), FOREIGN);
    scene.install().await;
    assert_eq!(left(&scene, "packages/z"), [".cache/file", ".bin/file", ".package-lock.json"]);
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

const OF_FORMER: [&str; 8] = [
    "node_modules/a",
    "node_modules/outside",
    "packages/a/node_modules/c",
    "packages/a/node_modules/.bin/c",
    "packages/a/node_modules/tools",
    "packages/a/node_modules/.cache",
    "tools/node_modules/mine",
    "../outside/node_modules/mine",
];

/// Two workspaces, of which `a` is one no longer. Links lead from it to another folder, and from
/// `node_modules` to one outside.
async fn former_workspace() -> Scene {
    let scene = workspaces().package("e@1.0.0", json!({}));
    scene.install().await;
    for path in
        ["tools/node_modules/mine/file", "../outside/node_modules/mine/file", "packages/a/node_modules/.cache/file"]
    {
        scene.write(path, "");
    }
    link(&scene, "../../../tools", "packages/a/node_modules/tools");
    link(&scene, "../../outside", "node_modules/outside");
    without_first_workspace(&scene, &json!({}));
    scene
}

fn without_first_workspace(scene: &Scene, dependencies: &serde_json::Value) {
    let manifest =
        json!({ "name": "app", "version": "1.0.0", "workspaces": ["packages/b"], "dependencies": dependencies });
    scene.write("package.json", &manifest.to_string());
}

/// For npm, every folder of the project to which a link in `node_modules` leads is in the tree.
#[tokio::test]
async fn a_former_workspace_loses_its_packages() {
    let scene = former_workspace().await;
    let before = kinds(&scene, &OF_FORMER);
    assert!(before.iter().all(|kind| !kind.is_empty()), "{before:?}");
    without_first_workspace(&scene, &json!({ "e": "*" }));
    scene.replace_tarball("e@1.0.0", b"not a tarball");
    scene.fail_to_install().await;
    assert_eq!(kinds(&scene, &OF_FORMER), before, "a failure restores everything");
    without_first_workspace(&scene, &json!({}));
    scene.install().await;
    assert_eq!(kinds(&scene, &OF_FORMER), ["", "", "", "", "", "folder", "", "folder"]);
}

/// The folder is no workspace when `ci` empties those, and nothing links to it afterwards.
#[tokio::test]
async fn ci_leaves_a_former_workspace_alone() {
    let scene = former_workspace().await;
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut lock: serde_json::Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
    let packages = lock["packages"].as_object_mut().expect("packages");
    packages.retain(|location, _| !location.ends_with("node_modules/a") && !location.starts_with("packages/a"));
    packages.retain(|location, _| {
        !matches!(&**location, "node_modules/lib" | "lib" | "node_modules/c") && !location.starts_with("lib/")
    });
    packages[""] = serde_json::from_str(&scene.read("package.json")).expect("JSON");
    scene.write("package-lock.json", &lock.to_string());
    scene.ci().await;
    let after = kinds(&scene, &OF_FORMER);
    assert_eq!(after[..2], ["", ""]);
    assert!(after[2..].iter().all(|kind| !kind.is_empty()), "{after:?}");
}

/// It is the store of npm's `linked` strategy.
#[tokio::test]
async fn a_store_of_linked_packages_is_removed() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    scene.install().await;
    scene.write("node_modules/.store/a/file", "");
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut install = scene.prepare(false, &server.origin());
    install.without_workspaces = true;
    install.run(|_| (), std::future::pending()).await.expect("installed");
    assert!(scene.at("node_modules/.store").exists(), "another part of the tree may be in it");
    scene.install().await;
    assert!(!scene.at("node_modules/.store").exists());
}

/// Without a lockfile, an installation starts with what is there, and only `prune` removes what
/// nobody needs (`prune` of `build-ideal-tree.js`).
#[tokio::test]
async fn prune_needs_no_lockfile_to_remove_packages_of_workspaces() {
    for (prune, kind) in [(false, "folder"), (true, "")] {
        let scene = workspaces();
        scene.write("packages/a/node_modules/x/package.json", r#"{"name":"x","version":"1.0.0"}"#);
        let server = scene.serve().await;
        let mut install = scene.prepare(false, &server.origin());
        install.lock.settings.options.prune = prune;
        install.run(|_| (), std::future::pending()).await.expect("installed");
        assert_eq!(kinds(&scene, &["packages/a/node_modules/x", "packages/a/node_modules/c"]), [kind, "folder"]);
        assert_eq!(scene.read("package-lock.json").contains("node_modules/x"), !prune);
    }
}
