//! What `--omit` leaves out, of a project with links to folders. All expectations are npm's.

use crate::support::scene::Scene;
use serde_json::{Value, json};

fn listed(scene: &Scene, file: &str) -> Vec<String> {
    let lockfile: Value = serde_json::from_str(&scene.read(file)).expect("JSON");
    lockfile["packages"].as_object().expect("packages").keys().cloned().collect()
}

fn lockfile(scene: &Scene) -> Vec<String> {
    listed(scene, "package-lock.json")
}

fn noted(scene: &Scene) -> Vec<String> {
    listed(scene, "node_modules/.package-lock.json")
}

/// Installs what this workspace needs.
async fn install_only(scene: &Scene, workspace: &str) {
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut install = scene.prepare(false, &server.origin());
    install.lock.changes.workspaces = vec![workspace.to_owned()];
    install.run(|_| (), std::future::pending()).await.expect("installed");
}

/// The omitted link is inert in npm, and `commit` of `shrinkwrap.js` skips what is inert and has no
/// version.
#[tokio::test]
async fn an_omitted_link_to_a_package_without_a_version_is_not_in_the_lockfile() {
    let scene = Scene::new(&json!({
        "name": "app",
        "dependencies": { "p": "file:p" },
        "devDependencies": { "d": "file:d", "v": "file:v", "x": "file:../x", "missing": "file:missing" },
    }));
    let scene = scene.flag("omit", "dev");
    scene.write("p/package.json", r#"{"name":"p"}"#);
    scene.write("d/package.json", r#"{"name":"d"}"#);
    scene.write("v/package.json", r#"{"name":"v","version":"1.0.0"}"#);
    scene.write("../x/package.json", "{}");
    for _ in 0..2 {
        scene.install().await;
        assert_eq!(lockfile(&scene), ["", "../x", "d", "missing", "node_modules/p", "node_modules/v", "p", "v"]);
        assert_eq!(noted(&scene), ["../x", "d", "missing", "node_modules/p", "p", "v"]);
    }
    let scene = scene.flag("include", "dev");
    scene.install().await;
    let links = ["node_modules/d", "node_modules/missing", "node_modules/p", "node_modules/v", "node_modules/x"];
    let folders = ["../x", "d", "missing"].into_iter();
    let all: Vec<&str> = folders.chain(links).chain(["p", "v"]).collect();
    assert_eq!(noted(&scene), all);
    assert_eq!(lockfile(&scene)[1..], all);
}

/// Nothing clears the flags of what nobody needs (`calc-dep-flags.js`), so it is of every kind.
#[tokio::test]
async fn what_nobody_needs_is_omitted_with_any_kind() {
    let manifest = json!({ "name": "app", "version": "1.0.0", "workspaces": ["packages/*"] });
    let scene = Scene::new(&manifest).flag("omit", "dev");
    scene.write("packages/a/package.json", r#"{"name":"a","version":"1.0.0"}"#);
    scene.write("packages/a/node_modules/x/package.json", r#"{"name":"x","version":"1.0.0"}"#);
    scene.install().await;
    assert!(!scene.at("packages/a/node_modules/x").exists());
    assert_eq!(lockfile(&scene), ["", "node_modules/a", "packages/a", "packages/a/node_modules/x"]);
    assert_eq!(noted(&scene), ["node_modules/a", "packages/a"]);
}

/// A lockfile of version 2 keeps the link in its nested `dependencies`.
#[tokio::test]
async fn an_omitted_link_stays_in_the_dependencies_of_older_versions() {
    let manifest = json!({ "name": "app", "devDependencies": { "d": "file:d" } });
    let scene = Scene::new(&manifest).flag("omit", "dev").flag("lockfile-version", "2");
    scene.write("d/package.json", "{}");
    scene.install().await;
    assert_eq!(lockfile(&scene), ["", "d"]);
    let lockfile: Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
    assert_eq!(lockfile["dependencies"], json!({ "d": { "version": "file:d" } }));
}

/// `shouldOmit` of `node.js` omits packages of the project and its workspaces only.
#[tokio::test]
async fn what_a_linked_folder_needs_for_development_is_not_omitted() {
    let manifest = json!({
        "name": "app",
        "workspaces": ["w"],
        "dependencies": { "a": "2", "f": "file:f" },
    });
    let scene = Scene::new(&manifest).flag("omit", "dev").package("a@1.0.0", json!({})).package("a@2.0.0", json!({}));
    scene.write("f/package.json", r#"{"name":"f","version":"1.0.0","devDependencies":{"a":"1"}}"#);
    scene.write("w/package.json", r#"{"name":"w","version":"1.0.0","devDependencies":{"a":"1"}}"#);
    for _ in 0..2 {
        scene.install().await;
        assert_eq!(noted(&scene), ["f", "f/node_modules/a", "node_modules/a", "node_modules/f", "node_modules/w", "w"]);
        assert!(scene.at("f/node_modules/a/index.js").is_file() && !scene.at("w/node_modules").exists());
    }
    assert!(lockfile(&scene).contains(&"w/node_modules/a".to_owned()));
    scene.ci().await;
    assert!(scene.at("f/node_modules/a/index.js").is_file() && !scene.at("w/node_modules").exists());
}

/// The diff of a filtered installation passes over everything else (`diffNode` of `diff.js`).
#[tokio::test]
async fn what_other_workspaces_need_is_not_omitted_with_one_of_them() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["w/*"], "devDependencies": { "a": "*" } }))
        .package("a@1.0.0", json!({}))
        .package("b@1.0.0", json!({}))
        .package("c@1.0.0", json!({}));
    scene.write("w/one/package.json", r#"{"name":"one","version":"1.0.0","devDependencies":{"b":"*"}}"#);
    scene.write("w/two/package.json", r#"{"name":"two","version":"1.0.0","devDependencies":{"c":"*"}}"#);
    scene.install().await;
    let scene = scene.flag("omit", "dev");
    install_only(&scene, "one").await;
    assert!(scene.at("node_modules/a").is_dir() && scene.at("node_modules/c").is_dir());
    assert!(!scene.at("node_modules/b").exists());
    let others = ["node_modules/a", "node_modules/c", "node_modules/one", "node_modules/two", "w/one", "w/two"];
    assert_eq!(noted(&scene), others);
    assert!(lockfile(&scene).contains(&"node_modules/b".to_owned()));
}

/// `reify.js`: after a filtered installation, npm forgets the `tops` to which no link leads.
#[tokio::test]
async fn a_folder_without_its_link_is_not_noted_after_a_part_was_installed() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["w"] })).flag("omit", "dev");
    scene.write("w/package.json", r#"{"name":"w","version":"1.0.0","devDependencies":{"x":"file:../../x"}}"#);
    scene.write("../x/package.json", r#"{"name":"x","version":"1.0.0"}"#);
    install_only(&scene, "w").await;
    assert_eq!(noted(&scene), ["node_modules/w", "w"]);
    scene.install().await;
    assert_eq!(noted(&scene), ["../x", "node_modules/w", "w"]);
}

/// `assertNoNewer` of `shrinkwrap.js` looks at recorded folders even if no link leads there.
#[tokio::test]
async fn a_hidden_lockfile_with_the_target_of_an_omitted_link_is_trusted() {
    let manifest =
        json!({ "name": "app", "dependencies": { "a": "*" }, "devDependencies": { "d": "file:d", "x": "file:../x" } });
    let scene = Scene::new(&manifest).package("a@1.0.0", json!({}));
    let scene = scene.flag("omit", "dev").flag("package-lock", "false");
    scene.write("d/package.json", r#"{"name":"d","version":"1.0.0"}"#);
    scene.write("../x/package.json", r#"{"name":"x","version":"1.0.0"}"#);
    scene.install().await;
    let before = scene.read("node_modules/.package-lock.json");
    assert!(before.contains("\"integrity\"") && before.contains("\"../x\""), "{before}");
    scene.install().await;
    assert_eq!(scene.read("node_modules/.package-lock.json"), before);
    // A newer folder speaks against it. What is on disk states no integrity.
    scene.write("d/node_modules/b/package.json", r#"{"name":"b","version":"1.0.0"}"#);
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    std::fs::File::open(scene.at("d")).and_then(|folder| folder.set_modified(later)).expect("a time");
    scene.install().await;
    assert!(!scene.read("node_modules/.package-lock.json").contains("\"integrity\""));
}
