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
