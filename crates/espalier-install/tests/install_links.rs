//! Links in `node_modules` and in the place of workspaces. Nothing behind them is written, moved or
//! removed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::scene::Scene;
use espalier_install::install::InstallError;
use espalier_install::installed::{Installed, Source};
use espalier_install::project::ProjectFolder;
use serde_json::{Value, json};

/// A folder beside the project. Returns a check that it is unchanged.
fn outside(scene: &Scene, files: &[(&str, &str)]) -> impl Fn(&str) + use<> {
    let folder = scene.path("outside");
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    fs::create_dir_all(&folder).expect("a folder");
    let before = content(&folder);
    move |what| assert_eq!(content(&folder), before, "{what}")
}

/// The paths in a folder, with the text of files.
fn content(folder: &Path) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        all.push((path.to_string_lossy().into_owned(), fs::read_to_string(&path).ok()));
        if entry.file_type().expect("a kind").is_dir() {
            all.extend(content(&path));
        }
    }
    all.sort();
    all
}

fn replace_by_link(scene: &Scene, location: &str, text: &str) {
    fs::remove_dir_all(scene.at(location)).expect("removed");
    symlink(text, scene.at(location)).expect("a link");
}

/// Runs `install` or `ci`.
async fn run(scene: &Scene, clean: bool) -> Result<(), InstallError> {
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    scene.prepare(clean, &server.origin()).run(|_| (), std::future::pending()).await.map(drop)
}

/// Writes the hidden lockfile, so that it is newer than everything else.
fn note(scene: &Scene, change: impl FnOnce(&mut Value)) {
    let mut noted: Value = serde_json::from_str(&scene.read("node_modules/.package-lock.json")).expect("JSON");
    change(&mut noted["packages"]);
    scene.write("node_modules/.package-lock.json", &noted.to_string());
}

/// `npm link`: npm replaces the link and leaves the folder alone.
#[tokio::test]
async fn a_package_under_development_keeps_its_own_packages() {
    for clean in [false, true] {
        let scene = Scene::new(&json!({ "name": "app", "dependencies": { "a": "1", "c": "2" } }))
            .package("a@1.0.0", json!({ "dependencies": { "c": "1" } }))
            .package("c@1.0.0", json!({}))
            .package("c@2.0.0", json!({}));
        scene.install().await;
        let unchanged = outside(
            &scene,
            &[
                ("package.json", r#"{"name":"a","version":"1.0.0","dependencies":{"c":"1"}}"#),
                ("node_modules/devtool/package.json", r#"{"name":"devtool","version":"1.0.0"}"#),
                ("node_modules/c/mine", ""),
            ],
        );
        replace_by_link(&scene, "node_modules/a", "../../outside");
        run(&scene, clean).await.expect("installed");
        unchanged("a developed package");
        assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
        assert_eq!(scene.read("node_modules/a/node_modules/c/index.js"), "module.exports = 'c@1.0.0'");
    }
}

/// The folder is outside, although the path to it isn't.
#[tokio::test]
async fn a_linked_folder_outside_keeps_its_own_packages() {
    for manifest in [
        json!({ "name": "app", "workspaces": ["packages/*"], "dependencies": { "a": "*" } }),
        json!({ "name": "app", "dependencies": { "a": "*", "ui": "file:packages/ui" } }),
    ] {
        for clean in [false, true] {
            let scene = Scene::new(&manifest).package("a@1.0.0", json!({}));
            let unchanged = outside(
                &scene,
                &[
                    ("package.json", r#"{"name":"ui","version":"1.0.0"}"#),
                    ("node_modules/mine/package.json", r#"{"name":"mine","version":"1.0.0"}"#),
                ],
            );
            fs::create_dir_all(scene.at("packages")).expect("a folder");
            symlink("../../outside", scene.at("packages/ui")).expect("a link");
            run(&scene, false).await.expect("installed");
            run(&scene, clean).await.expect("installed");
            unchanged(&manifest.to_string());
            assert!(scene.at("node_modules/ui").is_symlink() && scene.at("node_modules/a").is_dir());
        }
    }
}

#[tokio::test]
async fn a_folder_outside_is_refused_whatever_its_name_is() {
    for name in ["ui", "ui-node_modules", "node_modules-ui"] {
        for clean in [false, true] {
            let scene =
                Scene::new(&json!({ "name": "app", "workspaces": ["packages/*"], "dependencies": { "a": "2" } }))
                    .package("a@1.0.0", json!({}))
                    .package("a@2.0.0", json!({}));
            let text = r#"{"name":"ui","version":"1.0.0","dependencies":{"a":"1"}}"#;
            scene.write(&format!("packages/{name}/package.json"), text);
            run(&scene, false).await.expect("installed");
            assert_eq!(scene.read(&format!("packages/{name}/node_modules/a/index.js")), "module.exports = 'a@1.0.0'");
            let unchanged = outside(&scene, &[("package.json", text), ("node_modules/mine/index.js", "")]);
            replace_by_link(&scene, &format!("packages/{name}"), "../../outside");
            let result = run(&scene, clean).await;
            assert!(matches!(result, Err(InstallError::Outside(_))), "{name}: {result:?}");
            unchanged(name);
        }
    }
}

/// A link on the way to a workspace is followed inside the project, as in npm.
#[tokio::test]
async fn a_workspace_behind_a_link_inside_the_project_is_installed() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["packages/*"], "dependencies": { "a": "2" } }))
        .package("a@1.0.0", json!({}))
        .package("a@2.0.0", json!({}));
    scene.write("libs/ui/package.json", r#"{"name":"ui","version":"1.0.0","dependencies":{"a":"1"}}"#);
    scene.write("packages/.keep", "");
    symlink("../libs/ui", scene.at("packages/ui")).expect("a link");
    scene.install().await;
    assert_eq!(scene.read("libs/ui/node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
}

fn bundling() -> Scene {
    Scene::new(&json!({ "name": "app", "dependencies": { "bun": "1", "@s/b": "2", "c": "2", "old": "npm:c@1" } }))
        .package_of(
            "bun@1.0.0",
            json!({ "dependencies": { "@s/b": "1", "inner": "1", "c": "3" }, "bundleDependencies": ["inner"] }),
            |archive| {
                let inner = br#"{"name":"inner","version":"1.0.0","dependencies":{"c":"1"}}"#;
                archive.file("package/node_modules/inner/package.json", inner)
            },
        )
        .package("@s/b@1.0.0", json!({}))
        .package("@s/b@2.0.0", json!({}))
        .package("c@1.0.0", json!({}))
        .package("c@2.0.0", json!({}))
        .package("c@3.0.0", json!({}))
}

/// CVE-2021-39135, with a repository that contains its `node_modules`.
#[tokio::test]
async fn a_link_in_the_place_of_a_scope_is_not_followed() {
    for clean in [false, true] {
        let scene = bundling();
        scene.install().await;
        let scope = "node_modules/bun/node_modules/@s";
        let unchanged = outside(&scene, &[]);
        replace_by_link(&scene, scope, "../../../../outside");
        note(&scene, |packages| {
            packages.as_object_mut().expect("an object").shift_remove(&format!("{scope}/b"));
            packages[scope] = json!({ "resolved": "../outside", "link": true });
            packages["../outside"] = json!({ "version": "1.0.0" });
        });
        run(&scene, clean).await.expect("installed");
        unchanged("a scope");
        assert_eq!(scene.read(&format!("{scope}/b/index.js")), "module.exports = '@s/b@1.0.0'");
    }
}

/// The same with a bundled package, below which another one is placed.
#[tokio::test]
async fn a_link_in_the_place_of_a_bundled_package_is_not_followed() {
    for clean in [false, true] {
        let scene = bundling();
        scene.install().await;
        let inner = "node_modules/bun/node_modules/inner";
        // No resolution places a package there, but a lockfile can.
        let mut lock: Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
        lock["packages"][format!("{inner}/node_modules/c")] = lock["packages"]["node_modules/old"].take();
        lock["packages"][format!("{inner}/node_modules/c")].as_object_mut().expect("an entry").shift_remove("name");
        lock["packages"].as_object_mut().expect("an object").shift_remove("node_modules/old");
        lock["packages"][""]["dependencies"].as_object_mut().expect("an object").shift_remove("old");
        scene.write("package-lock.json", &lock.to_string());
        scene.write("package.json", &lock["packages"][""].to_string());
        scene.install().await;
        assert!(scene.at(&format!("{inner}/node_modules/c")).is_dir());
        let unchanged = outside(&scene, &[("package.json", "{}")]);
        replace_by_link(&scene, inner, "../../../../outside");
        note(&scene, |packages| {
            packages.as_object_mut().expect("an object").shift_remove(&format!("{inner}/node_modules/c"));
            packages[inner] = json!({ "resolved": "../outside", "link": true });
            packages["../outside"] = json!({ "version": "1.0.0" });
        });
        run(&scene, clean).await.expect("installed");
        unchanged("a bundled package");
        assert_eq!(scene.read(&format!("{inner}/node_modules/c/index.js")), "module.exports = 'c@1.0.0'");
        assert!(scene.at(&format!("{inner}/package.json")).is_file());
    }
}

/// A command's file can be a link in a package that is taken for installed.
#[tokio::test]
async fn a_file_outside_does_not_become_a_command() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({ "bin": "index.js" }));
    scene.install().await;
    let unchanged = outside(&scene, &[("file", "#!/bin/sh\r\n")]);
    fs::set_permissions(scene.path("outside/file"), fs::Permissions::from_mode(0o600)).expect("permissions");
    fs::remove_file(scene.at("node_modules/.bin/a")).expect("removed");
    fs::remove_file(scene.at("node_modules/a/index.js")).expect("removed");
    symlink("../../../outside/file", scene.at("node_modules/a/index.js")).expect("a link");
    note(&scene, |_| ());
    scene.install().await;
    unchanged("a command");
    let mode = fs::metadata(scene.path("outside/file")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// `rebuild.js` passes over a package if it also links the commands of a link to it.
#[tokio::test]
async fn a_link_to_a_package_has_the_commands_of_the_package() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new(&json!({ "name": "app", "dependencies": { "a": "*", "z": "file:node_modules/a" } }))
        .package("a@1.0.0", json!({ "bin": "index.js" }));
    for clean in [false, false, true] {
        run(&scene, clean).await.expect("installed");
        let command = scene.at("node_modules/.bin/a");
        assert_eq!(fs::read_link(&command).expect("a link"), Path::new("../z/index.js"));
        assert_eq!(fs::metadata(&command).expect("a file").permissions().mode() & 0o111, 0o111);
        fs::remove_dir_all(scene.at("node_modules/.bin")).expect("removed");
        let project = ProjectFolder::at(&scene.at("")).expect("a project");
        Installed::load(&project, Source::NodeModules).expect("installed").relink(None).expect("linked");
        assert_eq!(fs::read_link(&command).expect("a link"), Path::new("../z/index.js"));
    }
}
