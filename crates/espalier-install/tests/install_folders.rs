//! The `node_modules` of folders of the project: of those that become part of it, and of those that
//! no longer are. All expectations are npm's.

use std::fs;

use crate::support::scene::Scene;
use serde_json::{Value, json};

const MINE: &str = "f/node_modules/mine/package.json";

fn scene(manifest: &Value) -> Scene {
    let scene = Scene::new(manifest).package("a@1.0.0", json!({ "bin": "index.js" })).package("a@2.0.0", json!({}));
    scene.write("f/package.json", r#"{"name":"f","version":"1.0.0","dependencies":{"a":"1"}}"#);
    scene
}

/// npm finds such a folder by its link (`load-actual.js`).
#[tokio::test]
async fn packages_of_a_folder_stay_until_a_link_leads_there() {
    let scene = scene(&json!({ "name": "app", "dependencies": { "a": "2", "f": "file:f" } }));
    scene.write(MINE, "{}");
    scene.install().await;
    assert!(scene.at(MINE).exists() && scene.at("f/node_modules/a/index.js").is_file());
    // `npm ci` removes all links before it looks.
    scene.ci().await;
    assert!(scene.at(MINE).exists());
    scene.install().await;
    assert!(!scene.at(MINE).exists() && scene.at("f/node_modules/a/index.js").is_file());
    // Another link is no reason.
    scene.write(MINE, "{}");
    scene.write("g/package.json", "{}");
    fs::remove_file(scene.at("node_modules/f")).expect("removed");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../g", scene.at("node_modules/f")).expect("a link");
    scene.install().await;
    assert!(scene.at(MINE).exists());
}

#[tokio::test]
async fn a_workspace_has_no_packages_of_others() {
    for clean in [false, true] {
        let scene = scene(&json!({ "name": "app", "dependencies": { "a": "2" }, "workspaces": ["f"] }));
        scene.install().await;
        scene.write(MINE, "{}");
        fs::remove_dir_all(scene.at("node_modules")).expect("removed");
        if clean {
            scene.ci().await
        } else {
            scene.install().await
        };
        assert!(!scene.at(MINE).exists() && scene.at("f/node_modules/a/index.js").is_file(), "{clean}");
    }
}

/// npm finds the packages in the hidden lockfile, and none of them in the new tree.
#[tokio::test]
async fn what_was_installed_in_a_folder_goes_with_the_folder() {
    let rest = json!({ "a": "2" });
    for (before, after) in [
        (json!({ "dependencies": { "a": "2", "f": "file:f" } }), json!({ "dependencies": rest })),
        (
            json!({ "dependencies": rest, "workspaces": ["f", "g"] }),
            json!({ "dependencies": rest, "workspaces": ["g"] }),
        ),
    ] {
        let scene = scene(&before);
        scene.write("g/package.json", r#"{"name":"g","version":"1.0.0"}"#);
        scene.install().await;
        assert!(scene.at("f/node_modules/a/index.js").is_file() && scene.at("f/node_modules/.bin/a").exists());
        scene.write("package.json", &after.to_string());
        scene.install().await;
        assert!(!scene.at("f/node_modules/a").exists() && !scene.at("f/node_modules/.bin/a").exists());
        assert!(scene.at("f/package.json").is_file() && !scene.at("node_modules/f").exists());
        assert!(!scene.read("node_modules/.package-lock.json").contains("\"f"));
    }
}
