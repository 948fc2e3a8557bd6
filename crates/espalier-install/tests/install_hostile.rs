//! Malicious lockfiles, registries and folders. They are refused before anything is changed, or
//! they have no effect.

use std::fs;
use std::time::Duration;

use crate::support::archive::{Archive, manifest};
use crate::support::scene::Scene;
use espalier_core::Event;
use espalier_install::install::InstallError;
use espalier_install::plan::layout::LayoutError;
use espalier_install::reify::ReifyError;
use serde_json::json;

async fn installed(scene: Scene) -> Scene {
    scene.install().await;
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    scene
}

fn edit_lock(scene: &Scene, from: &str, to: &str) {
    let text = scene.read("package-lock.json");
    assert!(text.contains(from), "{from} is not in {text}");
    scene.write("package-lock.json", &text.replace(from, to));
}

#[tokio::test]
async fn a_lockfile_cannot_send_a_name_to_another_host() {
    let scene = installed(Scene::of(&["a"]).package("a@1.0.0", json!({}))).await;
    let text = scene.read("package-lock.json");
    let at = text.find("http://").expect("a URL");
    let end = at + text[at..].find("/a/-/").expect("a path");
    scene.write("package-lock.json", &text.replace(&text[at..end], "http://elsewhere.test"));
    let Err(InstallError::Refused(refusal)) = scene.try_ci().await else { panic!("it was fetched") };
    assert_eq!((refusal.code, refusal.setting), ("EALLOWREMOTE", Some("allow-remote")));
    assert!(!scene.at("node_modules").exists());
}

/// A package that a bundle lacks may only come from its registry, because nobody approved any other
/// source.
#[tokio::test]
async fn a_lockfile_cannot_fetch_what_a_bundle_lacks_from_elsewhere() {
    let bundling = json!({ "dependencies": { "b": "1" }, "bundleDependencies": ["b"] });
    let scene = installed(Scene::of(&["a"]).package("a@1.0.0", bundling)).await;
    let mut lock: serde_json::Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
    lock["packages"]["node_modules/a/node_modules/b"] =
        json!({ "version": "1.0.0", "resolved": "http://elsewhere.test/b/-/b-1.0.0.tgz", "inBundle": true });
    scene.write("package-lock.json", &lock.to_string());
    let done = scene.ci().await;
    let left_out: Vec<&str> = done.report.left_out.iter().map(|(location, _)| location.as_str()).collect();
    assert_eq!(left_out, ["node_modules/a/node_modules/b"]);
}

/// The integrity is that of another package, which may already be in the store.
#[tokio::test]
async fn a_lockfile_cannot_put_another_package_under_a_name() {
    let scene = Scene::of(&["a", "b"]).package("a@1.0.0", json!({})).package("b@1.0.0", json!({}));
    let scene = installed(scene).await;
    let lock: serde_json::Value = serde_json::from_str(&scene.read("package-lock.json")).expect("JSON");
    let of = |name: &str, key: &str| lock["packages"][name][key].as_str().expect("text").to_owned();
    edit_lock(&scene, &of("node_modules/a", "resolved"), &of("node_modules/b", "resolved"));
    edit_lock(&scene, &of("node_modules/a", "integrity"), &of("node_modules/b", "integrity"));
    let Err(InstallError::Refused(refusal)) = scene.try_ci().await else { panic!("it was installed") };
    assert_eq!(refusal.code, "ELOCKNAME");
}

#[tokio::test]
async fn a_tarball_has_to_be_of_the_package_that_was_asked_for() {
    let other = Archive::default().file("package/package.json", &manifest("evil", "1.0.0")).tgz();
    let scene = Scene::of(&["a"]).package_as("a@1.0.0", json!({ "name": "a", "version": "1.0.0" }), &other);
    for _ in 0..2 {
        let InstallError::Reify(ReifyError::Fetch { name, failure, .. }) = scene.fail_to_install().await else {
            panic!("it was installed")
        };
        assert_eq!(name, "a");
        assert_eq!(failure.message, "its tarball is of evil@1.0.0, but a@1.0.0 was asked for");
        assert!(!scene.at("node_modules/a").exists());
    }
}

#[tokio::test]
async fn a_tarball_has_to_have_its_integrity() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    let other = Archive::default().file("package/package.json", &manifest("a", "1.0.0")).tgz();
    scene.replace_tarball("a@1.0.0", &other);
    let InstallError::Reify(ReifyError::Fetch { failure, .. }) = scene.fail_to_install().await else {
        panic!("it was installed")
    };
    assert!(failure.message.contains("is not the expected tarball"), "{failure}");
    assert!(failure.url.ends_with("/a/-/a-1.0.0.tgz"), "{}", failure.url);
    assert!(!scene.at("node_modules/a").exists());
}

#[tokio::test]
async fn a_lockfile_cannot_name_places_outside() {
    for place in ["node_modules/../../evil", "../evil/node_modules/a", "node_modules/.bin", "node_modules/x/y"] {
        let scene = installed(Scene::of(&["a"]).package("a@1.0.0", json!({}))).await;
        let entry = scene.read("package-lock.json");
        edit_lock(
            &scene,
            "\"node_modules/a\": {",
            &format!("\"{place}\": {{\"version\":\"1.0.0\"}}, \"node_modules/a\": {{"),
        );
        let result = scene.try_ci().await;
        let refused = matches!(
            &result,
            Err(InstallError::Layout(LayoutError::Location(_))
                | InstallError::Disagreement { .. }
                | InstallError::Lock(_))
        );
        // The resolution may also drop a package on which nothing depends.
        assert!(
            refused || result.is_ok_and(|_| !scene.read("node_modules/.package-lock.json").contains(place)),
            "{place} in {entry}"
        );
        assert!(!scene.path("evil").exists() && !scene.at("../evil").exists(), "{place}");
    }
}

/// CVE-2021-39135: a `node_modules` that is a link.
#[cfg(unix)]
#[tokio::test]
async fn links_in_the_place_of_folders_are_not_followed() {
    let scene = Scene::of(&["a", "@s/b"])
        .package("a@1.0.0", json!({ "dependencies": { "c": "1" } }))
        .package("@s/b@1.0.0", json!({}))
        .package("c@1.0.0", json!({}))
        .package("c@2.0.0", json!({}));
    for link in ["node_modules", "node_modules/a", "node_modules/@s", "node_modules/.bin"] {
        let outside = scene.path("outside");
        fs::create_dir_all(&outside).expect("a folder");
        let _ = fs::remove_dir_all(scene.at("node_modules"));
        fs::create_dir_all(scene.at(link).parent().expect("a parent")).expect("a folder");
        std::os::unix::fs::symlink(&outside, scene.at(link)).expect("a link");
        scene.install().await;
        assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 0, "{link} was followed");
        assert_eq!(scene.read("node_modules/@s/b/index.js"), "module.exports = '@s/b@1.0.0'");
        assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
    }
}

/// npm removes such a link, too. A failed installation restores it.
#[cfg(unix)]
#[tokio::test]
async fn a_link_that_made_way_comes_back_when_the_installation_fails() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["w"], "dependencies": { "a": "*", "b": "*" } }))
        .package("a@1.0.0", json!({}))
        .package("a@2.0.0", json!({}))
        .package("b@1.0.0", json!({}));
    scene.write("w/package.json", r#"{"name":"w","version":"1.0.0","dependencies":{"a":"1"}}"#);
    scene.replace_tarball("b@1.0.0", b"not a tarball");
    let outside = scene.path("outside");
    fs::create_dir_all(&outside).expect("a folder");
    fs::write(outside.join("mine"), "").expect("written");
    for folder in ["node_modules", "w/node_modules"] {
        std::os::unix::fs::symlink(&outside, scene.at(folder)).expect("a link");
    }
    scene.fail_to_install().await;
    for folder in ["node_modules", "w/node_modules"] {
        assert_eq!(fs::read_link(scene.at(folder)).expect("a link"), outside, "{folder}");
    }
    fs::remove_file(scene.at("node_modules")).expect("removed");
    scene.write("node_modules", "a file");
    scene.fail_to_install().await;
    assert_eq!(scene.read("node_modules"), "a file");
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
}

/// A workspace whose folder is outside the project.
#[cfg(unix)]
#[tokio::test]
async fn nothing_is_installed_through_a_workspace_that_is_a_link_to_elsewhere() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["packages/*"], "dependencies": { "a": "2" } }))
        .package("a@1.0.0", json!({}))
        .package("a@2.0.0", json!({}));
    let outside = scene.path("outside");
    fs::create_dir_all(&outside).expect("a folder");
    fs::write(outside.join("package.json"), "{\"name\":\"ui\",\"version\":\"1.0.0\",\"dependencies\":{\"a\":\"1\"}}")
        .expect("written");
    fs::create_dir_all(scene.at("packages")).expect("a folder");
    std::os::unix::fs::symlink(&outside, scene.at("packages/ui")).expect("a link");
    // In every case, the folder outside stays unchanged.
    let server = scene.serve().await;
    let _ = scene.prepare(false, &server.origin()).run(|_| (), std::future::pending()).await;
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
}

#[tokio::test]
async fn a_failed_update_leaves_everything_as_it_was() {
    let scene = Scene::of(&["a", "b"]).package("a@1.0.0", json!({ "bin": "index.js" })).package("b@1.0.0", json!({}));
    scene.install().await;
    // The server has another port each time.
    scene.rebase("http://registry.test");
    let (tree, lockfile) = (scene.tree(), scene.read("package-lock.json"));
    let scene = scene.package("a@2.0.0", json!({ "bin": "index.js" })).package("c@1.0.0", json!({}));
    scene.write("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"a\":\"2\",\"c\":\"*\"}}");
    scene.replace_tarball("c@1.0.0", b"not a tarball");
    let error = scene.fail_to_install().await;
    assert!(matches!(error, InstallError::Reify(ReifyError::Fetch { .. })), "{error}");
    scene.rebase("http://registry.test");
    assert_eq!((scene.tree(), scene.read("package-lock.json")), (tree, lockfile));
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
}

#[tokio::test]
async fn a_damaged_store_is_healed() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    scene.install().await;
    // An editor that writes into the file, and so into the store.
    scene.write("node_modules/a/index.js", "edited in place");
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    scene.install().await;
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
}

#[tokio::test]
async fn a_store_that_cannot_be_written_is_done_without() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    // Not a folder, which nobody can write into, whoever they are.
    fs::write(scene.path("store"), "").expect("written");
    let done = scene.install().await;
    assert!(done.note.is_some_and(|note| note.contains("cannot be written to")));
    assert_eq!(scene.tree(), [".package-lock.json", "a/", "a/index.js", "a/package.json"]);
}

#[tokio::test]
async fn what_a_killed_installation_left_is_put_right() {
    let scene = Scene::of(&["a", "b"]).package("a@1.0.0", json!({})).package("b@1.0.0", json!({}));
    scene.install().await;
    let tree = scene.tree();
    fs::remove_file(scene.at("node_modules/.package-lock.json")).expect("removed");
    fs::remove_file(scene.at("node_modules/a/package.json")).expect("removed");
    scene.write("node_modules/.espalier-retired/0/index.js", "retired");
    scene.write("node_modules/.espalier-store/v2/x", "left");
    scene.install().await;
    assert_eq!(scene.tree(), tree);
}

#[tokio::test]
async fn an_interruption_leaves_everything_as_it_was() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    scene.install().await;
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let error =
        scene.prepare(false, &server.origin()).run(|_| (), std::future::ready(())).await.expect_err("interrupted");
    assert!(error.to_string().starts_with("interrupted"), "{error}");
    assert!(scene.tree().is_empty());
}

/// The thread that notices the interruption places packages itself.
#[tokio::test]
async fn an_interruption_while_stored_packages_are_placed_undoes_it() {
    use std::task::Poll;
    let names = ["a", "b", "c", "d"];
    let scene = names.iter().fold(Scene::of(&names), |scene, name| scene.package(&format!("{name}@1.0.0"), json!({})));
    scene.install().await;
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let is_one_placed = || names.iter().any(|name| scene.at(&format!("node_modules/{name}/package.json")).exists());
    let interruption = std::future::poll_fn(|_| if is_one_placed() { Poll::Ready(()) } else { Poll::Pending });
    let error = scene.prepare(false, &server.origin()).run(|_| (), interruption).await.expect_err("interrupted");
    assert!(error.to_string().starts_with("interrupted"), "{error}");
    assert!(scene.tree().is_empty());
}

/// The script runs in the background and ignores what a terminal sends.
#[cfg(unix)]
#[tokio::test]
async fn an_interruption_while_a_script_runs_undoes_the_installation() {
    let script = json!({ "scripts": { "install": "trap '' INT; touch ../began; sleep 30" }, "hasInstallScript": true });
    let manifest = json!({ "name": "app", "dependencies": { "a": "*" }, "allowScripts": { "a": true } });
    let scene = Scene::new(&manifest).package("a@1.0.0", script);
    let server = scene.serve().await;
    let interruption = async {
        while !scene.at("node_modules/began").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let install = scene.prepare(false, &server.origin());
    let error = install.run(|_| (), interruption).await.expect_err("interrupted");
    assert!(error.to_string().starts_with("interrupted"), "{error}");
    assert!(!scene.at("node_modules/a").exists() && !scene.at("package-lock.json").exists());
}

/// Another process may lock the index of the store for a minute. Each installation leaves a thread
/// of the runtime waiting for it, and a thread has to notice the interruption.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_interruption_ends_the_wait_for_the_index_of_the_store() {
    let scene = installed(Scene::of(&["a"]).package("a@1.0.0", json!({}))).await;
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let index = rusqlite::Connection::open(scene.path("store/v2/index.sqlite")).expect("an index");
    index.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    for clean in [false, true] {
        let settled = tokio::sync::Notify::new();
        let observe = |event| {
            if let Event::Settled { .. } = event {
                settled.notify_one();
            }
        };
        let interruption = async {
            settled.notified().await;
            // The resolution ends a moment after the event.
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        let error = scene.prepare(clean, &server.origin()).run(observe, interruption).await.expect_err("interrupted");
        assert!(matches!(error, InstallError::Reify(ReifyError::Interrupted)), "{error}");
    }
    // The runtime ends when its threads have opened the store.
    index.execute_batch("COMMIT").expect("unlocked");
    assert!(scene.tree().is_empty());
}

/// Waiting is a future, which can be dropped, and ends when the other one does, however it does.
#[cfg(unix)]
#[tokio::test]
async fn an_installation_waits_for_another_one_of_the_same_project() {
    use espalier_install::reify::Hold;
    use std::task::Poll;
    let scene = Scene::of(&["a"]);
    let first = Hold::of(&scene.at(""), &[]).await.expect("a folder").expect("it can be locked");
    let project = scene.at("");
    let mut second = std::pin::pin!(Hold::of(&project, &[]));
    let is_waiting = std::future::poll_fn(|context| Poll::Ready(second.as_mut().poll(context).is_pending())).await;
    assert!(is_waiting);
    drop(first);
    assert!(second.await.expect("a folder").is_some());
    assert!(!scene.at("node_modules").exists(), "nothing came into it");
}

/// It would wait for its own end.
#[cfg(unix)]
#[tokio::test]
async fn an_installation_in_a_script_of_an_installation_fails_at_once() {
    use espalier_install::reify::Hold;
    let scene = Scene::of(&["a"]).flag("dangerously-allow-all-scripts", "true").package(
        "a@1.0.0",
        json!({
            "scripts": { "postinstall": "printf %s \"$ESPALIER_PROJECTS_ABOVE\" > above" }, "hasInstallScript": true,
        }),
    );
    scene.install().await;
    let above = scene.read("node_modules/a/above");
    assert_eq!(fs::canonicalize(&above).expect("a folder"), scene.at("").canonicalize().expect("a folder"));
    let server = scene.serve().await;
    scene.rebase(&server.origin());
    let mut nested = scene.prepare(true, &server.origin());
    nested.scripts.above = vec![above.into()];
    let hold = Hold::of(&scene.at(""), &[]).await.expect("a folder").expect("it can be locked");
    let result = nested.run(|_| (), std::future::pending()).await;
    assert!(matches!(result, Err(InstallError::Reify(ReifyError::Nested { .. }))));
    drop(hold);
}
