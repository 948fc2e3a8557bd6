//! Installing a part of a tree, and the requests for it.

use std::fs;

use crate::support::scene::Scene;
use espalier_install::install::{Done, InstallError};
use serde_json::json;

/// Two workspaces that need different versions of `c`; what `a` needs is also needed by nobody
/// else.
fn workspaces() -> Scene {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["packages/*"] }))
        .package("c@1.0.0", json!({}))
        .package("c@2.0.0", json!({}))
        .package("d@1.0.0", json!({}));
    for (name, dependencies) in [("a", json!({ "c": "1", "d": "1" })), ("b", json!({ "c": "2" }))] {
        let manifest = json!({ "name": name, "version": "1.0.0", "dependencies": dependencies });
        scene.write(&format!("packages/{name}/package.json"), &manifest.to_string());
    }
    scene
}

async fn install_only(scene: &Scene, workspace: &str, clean: bool) -> Done {
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut install = scene.prepare(clean, &server.origin());
    install.lock.changes.workspaces = vec![workspace.to_owned()];
    install.run(|_| (), std::future::pending()).await.expect("installed")
}

fn noted(scene: &Scene) -> Vec<String> {
    let note: serde_json::Value = serde_json::from_str(&scene.read("node_modules/.package-lock.json")).expect("JSON");
    note["packages"].as_object().expect("packages").keys().cloned().collect()
}

#[tokio::test]
async fn one_workspace_is_installed_and_the_lock_is_about_all() {
    let scene = workspaces();
    install_only(&scene, "a", false).await;
    assert!(scene.at("node_modules/d").is_dir() && !scene.at("node_modules/b").exists());
    assert!(scene.read("package-lock.json").contains("packages/b"));
    let first = ["node_modules/a", "node_modules/c", "node_modules/d", "packages/a"];
    assert_eq!(noted(&scene), first);
    // The other one joins it.
    install_only(&scene, "b", false).await;
    assert!(scene.at("node_modules/d").is_dir() && scene.at("node_modules/b").exists());
    assert_eq!(noted(&scene).len(), 7);
    // `ci` begins from nothing.
    install_only(&scene, "b", true).await;
    assert!(!scene.at("node_modules/d").exists() && !scene.at("node_modules/a").exists());
    assert_eq!(
        fs::read_dir(scene.at("packages/a")).expect("a folder").count(),
        1,
        "a project's own folder was changed"
    );
}

/// Two workspaces and the project, each with packages of its own, all installed.
async fn three_parts() -> Scene {
    let scene = Scene::new(&json!({
        "name": "app", "workspaces": ["packages/*"], "dependencies": { "r": "1" }, "devDependencies": { "v": "1" },
    }));
    let with_command =
        |scene: Scene, name: &&str| scene.package(&format!("{name}@1.0.0"), json!({ "bin": "index.js" }));
    let scene = ["r", "v", "a", "b", "x"].iter().fold(scene, with_command);
    write_workspace(&scene, "a", &json!({ "a": "1" }));
    write_workspace(&scene, "b", &json!({ "b": "1" }));
    scene.install().await;
    scene
}

fn write_workspace(scene: &Scene, name: &str, dependencies: &serde_json::Value) {
    let manifest = json!({ "name": format!("w{name}"), "version": "1.0.0", "dependencies": dependencies });
    scene.write(&format!("packages/{name}/package.json"), &manifest.to_string());
}

/// Of these packages, those that are installed with their commands. Neither is there without the
/// other.
fn packages(scene: &Scene, names: &[&'static str]) -> Vec<&'static str> {
    let is_there = |name: &str| {
        let is_there = scene.at("node_modules").join(name).is_dir();
        let command = scene.at("node_modules/.bin").join(name);
        assert_eq!(command.symlink_metadata().is_ok(), is_there, "the command of {name}");
        is_there
    };
    names.iter().copied().filter(|name| is_there(name)).collect()
}

/// `diff.js` looks at the selected part only, with the hidden lockfile or without it.
#[tokio::test]
async fn what_belongs_to_another_part_stays() {
    for has_hidden_lockfile in [true, false] {
        let scene = three_parts().await;
        for place in ["node_modules", "packages/a/node_modules", "packages/b/node_modules"] {
            scene.write(&format!("{place}/foreign/package.json"), "{}");
            scene.write(&format!("{place}/file"), "");
        }
        if !has_hidden_lockfile {
            fs::remove_file(scene.at("node_modules/.package-lock.json")).expect("removed");
        }
        let scene = scene.flag("omit", "dev");
        install_only(&scene, "wa", false).await;
        assert_eq!(packages(&scene, &["r", "v", "a", "b"]), ["r", "v", "a", "b"]);
        assert!(noted(&scene).contains(&"node_modules/v".to_owned()), "--omit concerns the selected part only");
        let is_there =
            |place: &str| scene.at(&format!("{place}/foreign")).exists() && scene.at(&format!("{place}/file")).exists();
        assert!(is_there("node_modules") && is_there("packages/b/node_modules"));
        assert!(!scene.at("packages/a/node_modules").exists());
    }
}

/// As far as its package.json still says so when the installation begins.
#[tokio::test]
async fn what_a_part_needed_so_far_belongs_to_it() {
    let scene = three_parts().await;
    // In npm, nobody selected needs this any more, so it stays.
    scene.write("package.json", r#"{"name":"app","workspaces":["packages/*"]}"#);
    write_workspace(&scene, "b", &json!({}));
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut uninstall = scene.prepare(false, &server.origin());
    uninstall.lock.changes.workspaces = vec!["wa".to_owned()];
    uninstall.lock.changes.remove = vec!["a".to_owned()];
    uninstall.run(|_| (), std::future::pending()).await.expect("installed");
    assert_eq!(packages(&scene, &["r", "v", "a", "b"]), ["r", "v", "b"]);
    assert!(!scene.read("package-lock.json").contains("node_modules/b"));
    scene.install().await;
    assert_eq!(packages(&scene, &["r", "v", "a", "b"]), [""; 0]);
}

/// npm takes an empty filter for none.
#[tokio::test]
async fn a_project_that_needs_nothing_is_installed_as_a_whole() {
    let scene = workspaces();
    let server = scene.serve().await;
    let mut install = scene.prepare(false, &server.origin());
    install.without_workspaces = true;
    install.run(|_| (), std::future::pending()).await.expect("installed");
    assert!(scene.at("node_modules/a").exists() && scene.at("node_modules/d").is_dir());
}

#[tokio::test]
async fn prune_without_workspaces_removes_them() {
    let scene = three_parts().await;
    let lock = scene.read("package-lock.json");
    let run = async |prunes: bool| {
        let server = scene.serve().await;
        scene.rebase(&server.origin());
        let mut install = scene.prepare(false, &server.origin());
        install.without_workspaces = true;
        install.lock.settings.options.prune = prunes;
        install.run(|_| (), std::future::pending()).await.expect("installed")
    };
    run(false).await;
    assert_eq!(packages(&scene, &["r", "v", "a", "b"]), ["r", "v", "a", "b"]);
    let done = run(true).await;
    assert_eq!(packages(&scene, &["r", "v", "a", "b"]), ["r", "v"]);
    assert!(!scene.at("node_modules/wa").exists() && scene.at("packages/a/package.json").exists());
    assert_eq!(done.report.removed, ["node_modules/a", "node_modules/b", "node_modules/wa", "node_modules/wb"]);
    assert_eq!(noted(&scene), ["node_modules/r", "node_modules/v"]);
    assert_eq!(scene.read("package-lock.json").lines().count(), lock.lines().count());
}

/// Once while it is resolved or once afterwards, but not twice.
#[tokio::test]
async fn each_tarball_is_fetched_once() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let scene = names.iter().fold(Scene::of(&names), |scene, name| scene.package(&format!("{name}@1.0.0"), json!({})));
    let server = scene.serve().await;
    scene.prepare(false, &server.origin()).run(|_| (), std::future::pending()).await.expect("installed");
    assert_eq!(server.statistics().tarballs, 6);
    // From the lock alone, and what the store has not even then.
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    scene.prepare(true, &server.origin()).run(|_| (), std::future::pending()).await.expect("installed");
    assert_eq!(server.statistics().tarballs, 6);
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    fs::remove_dir_all(scene.path("store")).expect("removed");
    scene.prepare(true, &server.origin()).run(|_| (), std::future::pending()).await.expect("installed");
    assert_eq!(server.statistics().tarballs, 12);
}

#[tokio::test]
async fn strictness_stops_before_anything_is_changed() {
    let script = json!({ "scripts": { "install": "touch ran" }, "hasInstallScript": true });
    let scene = Scene::of(&["a"]).package("a@1.0.0", script).flag("strict-allow-scripts", "true");
    let error = scene.fail_to_install().await;
    let InstallError::Unreviewed { packages } = &error else { panic!("{error}") };
    assert_eq!(packages, &["a@1.0.0"]);
    assert!(!scene.at("node_modules").exists() && !scene.at("package-lock.json").exists());
    for decision in [false, true] {
        let manifest = json!({ "name": "app", "dependencies": { "a": "*" }, "allowScripts": { "a": decision } });
        scene.write("package.json", &manifest.to_string());
        scene.install().await;
        fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    }
}
