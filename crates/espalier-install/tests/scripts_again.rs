//! The install scripts of packages that are in place already, as npm 12.2.0 ran them in the same
//! projects.

#![cfg(unix)]

use std::fs;

use crate::support::scene::Scene;
use espalier_install::install::InstallError;
use serde_json::{Value, json};

/// A package, a workspace and a linked folder, each with scripts that write one line. A second
/// package is not approved.
fn scene() -> Scene {
    let script = |name: &str| json!({ "scripts": { "postinstall": format!("echo {name} >> ../../log") }, "hasInstallScript": true });
    let manifest = json!({
        "name": "app", "version": "1.0.0", "workspaces": ["ws/*"], "dependencies": { "a": "*", "b": "*", "lib": "file:lib" },
        "allowScripts": { "a": true, "file:lib": true },
    });
    let scene = Scene::new(&manifest).package("a@1.0.0", script("a")).package("b@1.0.0", script("b"));
    scene.write(
        "ws/w/package.json",
        &folder("w", &json!({ "prepare": "echo w-prep >> ../../log", "postinstall": "echo w-post >> ../../log" })),
    );
    scene.write("lib/package.json", &folder("lib", &json!({ "postinstall": "echo lib >> ../log" })));
    scene
}

fn folder(name: &str, scripts: &Value) -> String {
    json!({ "name": name, "version": "1.0.0", "scripts": scripts }).to_string()
}

/// Runs `install` or `ci` without some or any scripts. Returns what the scripts wrote.
async fn run(scene: &Scene, clean: bool, change: impl FnOnce(&mut espalier_install::install::Install)) -> Vec<String> {
    let _ = fs::remove_file(scene.at("log"));
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut install = scene.prepare(clean, &server.origin());
    install.lock.cache = Some(scene.path("cache"));
    change(&mut install);
    install.run(|_| (), std::future::pending()).await.expect("an installation");
    let mut lines: Vec<String> =
        fs::read_to_string(scene.at("log")).unwrap_or_default().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

const ALL: [&str; 4] = ["a", "lib", "w-post", "w-prep"];
const LINKED: [&str; 3] = ["lib", "w-post", "w-prep"];

/// npm's `ci` deletes `node_modules`, and runs all scripts.
#[tokio::test]
async fn ci_runs_the_scripts_of_packages_that_stay() {
    let scene = scene();
    let none: [&str; 0] = [];
    assert_eq!(run(&scene, false, |install| install.scripts.gate.ignore_scripts = true).await, none);
    for round in ["never run", "run once", "run twice"] {
        assert_eq!(run(&scene, true, |_| ()).await, ALL, "{round}");
    }
    assert_eq!(run(&scene, true, |install| install.scripts.gate.ignore_scripts = true).await, none);
    assert_eq!(run(&scene, true, |install| install.without_workspaces = true).await, ["a", "lib"]);
    let only =
        |install: &mut espalier_install::install::Install| install.lock.changes.workspaces = vec!["w".to_owned()];
    assert_eq!(run(&scene, true, only).await, ["w-post", "w-prep"]);
}

/// `[_build]` of `reify.js` picks the project's links up.
#[tokio::test]
async fn every_installation_runs_the_scripts_of_links() {
    let scene = scene();
    let none: [&str; 0] = [];
    assert_eq!(run(&scene, false, |install| install.scripts.gate.ignore_scripts = true).await, none);
    for _ in 0..3 {
        assert_eq!(run(&scene, false, |_| ()).await, LINKED);
    }
    assert_eq!(run(&scene, false, |install| install.without_workspaces = true).await, ["lib"]);
    let only =
        |install: &mut espalier_install::install::Install| install.lock.changes.workspaces = vec!["w".to_owned()];
    assert_eq!(run(&scene, false, only).await, ["w-post", "w-prep"]);
    // A run in which no script runs leaves a note for the next one. A script is noticed all the
    // same.
    for name in ["ws/w", "lib"] {
        scene.write(&format!("{name}/package.json"), &folder(name.rsplit('/').next().expect("a name"), &json!({})));
    }
    for _ in 0..3 {
        assert_eq!(run(&scene, false, |_| ()).await, none);
    }
    scene.write("lib/package.json", &folder("lib", &json!({ "postinstall": "echo lib >> ../log" })));
    assert_eq!(run(&scene, false, |_| ()).await, ["lib"]);
}

/// Nothing was changed, so nothing is undone, and an optional package whose script fails goes.
#[tokio::test]
async fn a_script_of_a_package_that_stays_can_fail() {
    let script = json!({ "scripts": { "postinstall": "test ! -e ../../fail" }, "hasInstallScript": true });
    let manifest = |kind: &str| json!({ "name": "app", kind: { "a": "*" }, "allowScripts": { "a": true } });
    for (kind, stays) in [("dependencies", true), ("optionalDependencies", false)] {
        let scene = Scene::new(&manifest(kind)).package("a@1.0.0", script.clone());
        scene.install().await;
        scene.write("fail", "");
        let result = scene.try_ci().await;
        assert_eq!(matches!(result, Err(InstallError::Script(_))), stays, "{kind}");
        assert_eq!(scene.at("node_modules/a/index.js").exists(), stays, "{kind}");
        fs::remove_file(scene.at("fail")).expect("removed");
        assert_eq!(scene.ci().await.report.scripts_run, 1, "{kind}");
        assert!(scene.at("node_modules/a/index.js").exists(), "{kind}");
    }
}
