//! Whole runs: every kind of request answered by the real thing, and the same lock however the
//! answers come.

use espalier_core::Changes;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::support::{self, recording, serve, settings, tarball};
use espalier_install::lock::{Lock, LockError, Locked};
use espalier_install::project::{ProjectError, ProjectFolder, Written};
use serde_json::{Value, json};

fn project(files: &[(&str, Value)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a temporary folder");
    for (path, content) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, content.to_string()).expect("written");
    }
    root
}

async fn lock(
    project: &Path,
    flags: &[(&str, &str)],
    interruption: impl Future<Output = ()>,
) -> Result<Locked, LockError> {
    change(project, flags, Changes::default(), interruption).await
}

async fn change(
    project: &Path,
    flags: &[(&str, &str)],
    changes: Changes,
    interruption: impl Future<Output = ()>,
) -> Result<Locked, LockError> {
    let lock = Lock {
        is_last: false,
        with_graph: true,
        changes,
        project: ProjectFolder::at(project).expect("a project"),
        settings: settings(flags),
        node_version: Some("22.14.0".into()),
        cache: None,
        activity: Arc::default(),
    };
    lock.run(|_| {}, interruption).await
}

fn packages(locked: &Locked) -> Vec<String> {
    let lockfile: Value = serde_json::from_str(locked.outcome.lockfile.text()).expect("JSON");
    lockfile["packages"].as_object().expect("packages").keys().cloned().collect()
}

#[tokio::test]
async fn a_lock_has_its_licenses_however_documents_are_sent() {
    let folder = recording();
    for habit in [None, Some("plain-types"), Some("full-only"), Some("version-documents=405")] {
        let habits = espalier_replay::Habits::new(None, habit).expect("a habit");
        let settings = espalier_replay::Settings { habits, ..Default::default() };
        let server = serve(folder.path(), settings).await;
        let root = project(&[("package.json", json!({"dependencies": {"a": "1"}}))]);
        let flags = [("registry", server.origin())];
        let flags = flags.each_ref().map(|(key, value)| (*key, value.as_str()));
        let locked = lock(root.path(), &flags, std::future::pending()).await.expect("a lock");
        assert!(locked.outcome.lockfile.text().contains(r#""license": "ISC""#), "{habit:?}");
    }
}

#[tokio::test]
async fn workspaces_folders_and_tarballs_come_from_the_disk() {
    let folder = recording();
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let root = project(&[
        (
            "package.json",
            json!({"workspaces": ["packages/*"], "dependencies": {"packed": "file:packed.tgz", "a": "1"}}),
        ),
        (
            "packages/ui/package.json",
            json!({"name": "ui", "version": "1.0.0", "dependencies": {"linked": "file:../../linked"}}),
        ),
        ("linked/package.json", json!({"name": "linked", "version": "1.0.0"})),
    ]);
    fs::write(root.path().join("packed.tgz"), tarball()).expect("written");
    let locked = lock(root.path(), &[("registry", &server.origin())], std::future::pending()).await.expect("a lock");
    assert_eq!(locked.written, Written::Created);
    assert_eq!(
        packages(&locked),
        [
            "",
            "linked",
            "node_modules/a",
            "node_modules/linked",
            "node_modules/packed",
            "node_modules/ui",
            "packages/ui"
        ]
    );
}

/// The name that npm doesn't repeat in the lock is that of the absolute folder.
#[tokio::test]
async fn the_project_may_lie_in_a_folder_that_it_depends_on() {
    let root = project(&[
        ("@acme/ui/package.json", json!({"name": "@acme/ui", "version": "1.0.0"})),
        ("@acme/ui/docs/package.json", json!({"dependencies": {"@acme/ui": "file:.."}})),
    ]);
    let locked = lock(&root.path().join("@acme/ui/docs"), &[], std::future::pending()).await.expect("a lock");
    let lockfile: Value = serde_json::from_str(locked.outcome.lockfile.text()).expect("JSON");
    assert_eq!(lockfile["packages"][".."], json!({"version": "1.0.0"}));
}

/// npm resolves the path before it names the root by its folder.
#[tokio::test]
async fn the_folder_gives_its_name_however_it_is_written() {
    let root = project(&[("app/package.json", json!({})), ("app/inner/readme.json", json!({}))]);
    for path in ["app", "app/", "app/.", "app/inner/..", "app/inner/../"] {
        let locked = lock(&root.path().join(path), &[], std::future::pending()).await.expect("a lock");
        let lockfile: Value = serde_json::from_str(locked.outcome.lockfile.text()).expect("JSON");
        assert_eq!(lockfile["name"], "app", "{path}");
    }
}

/// npm saves where a folder really is (`build-ideal-tree.js`, `realpath`).
#[cfg(unix)]
#[tokio::test]
async fn a_folder_added_by_way_of_a_link_is_saved_as_what_it_is() {
    let root =
        project(&[("package.json", json!({})), ("real/package.json", json!({"name": "local", "version": "1.0.0"}))]);
    std::os::unix::fs::symlink("real", root.path().join("alias")).expect("a link");
    let changes = Changes { add: vec!["./alias".into()], ..Changes::default() };
    let locked = change(root.path(), &[], changes, std::future::pending()).await.expect("a lock");
    assert_eq!(packages(&locked), ["", "node_modules/local", "real"]);
    let manifest = fs::read_to_string(root.path().join("package.json")).expect("a manifest");
    assert!(manifest.contains("\"file:real\""), "{manifest}");
}

#[tokio::test]
async fn one_request_at_a_time_gives_the_same_lock() {
    let folder = recording();
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let registry = server.origin();
    let root = project(&[("package.json", json!({"dependencies": {"a": "~1.0.0", "again": "npm:a@^1.1.0"}}))]);
    let mut locks = Vec::new();
    for sockets in ["1", "64"] {
        let flags = [("registry", registry.as_str()), ("maxsockets", sockets)];
        locks.push(
            lock(root.path(), &flags, std::future::pending()).await.expect("a lock").outcome.lockfile.text().to_owned(),
        );
        fs::remove_file(root.path().join("package-lock.json")).expect("a lockfile");
    }
    assert_eq!(locks[0], locks[1]);
}

/// A project that depends on `a`, and its lock with this cache.
fn with_cache(flags: &[(&str, &str)], spec: &str, cache: &Path) -> (tempfile::TempDir, Lock) {
    let root = project(&[("package.json", json!({"name": "one", "dependencies": {"a": spec}}))]);
    let lock = Lock {
        is_last: false,
        with_graph: true,
        changes: Changes::default(),
        project: ProjectFolder::at(root.path()).expect("a project"),
        settings: settings(flags),
        node_version: Some("22.14.0".into()),
        cache: Some(cache.to_owned()),
        activity: Arc::default(),
    };
    (root, lock)
}

/// Locks a project that depends on `a` with this cache, and says how many requests that took.
async fn lock_with_cache(registry: &str, spec: &str, cache: &Path) -> (String, u64) {
    let (_root, lock) = with_cache(&[("registry", registry)], spec, cache);
    let activity = Arc::clone(&lock.activity);
    let locked = lock.run(|_| {}, std::future::pending()).await.expect("a lock");
    // The next one shall resolve, too.
    fs::remove_dir_all(cache.join("resolutions-1")).expect("an outcome was kept");
    (locked.outcome.lockfile.text().to_owned(), activity.network_requests.get())
}

#[tokio::test]
async fn what_the_cache_says_in_short_makes_the_same_lock() {
    let folder = recording();
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
    let (first, requests) = lock_with_cache(&registry, "1", cache.path()).await;
    assert_eq!(requests, 2);
    assert_eq!(lock_with_cache(&registry, "1", cache.path()).await, (first.clone(), 0));
    // The summary has not got this version: it is in the document, and only its license is asked
    // for.
    let (other, requests) = lock_with_cache(&registry, "~1.0.0", cache.path()).await;
    assert_eq!(requests, 1);
    assert_eq!(other, lock_with_cache(&registry, "~1.0.0", &cache.path().join("new")).await.0);
}

/// A recording of `count` packages, each of which depends on the next one.
fn chain(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("packuments")).expect("a folder");
    for index in 0..count {
        let name = if index == 0 { "a".to_owned() } else { format!("a{index}") };
        let mut version = json!({
            "name": name, "version": "1.0.0", "license": "ISC",
            "dist": { "integrity": format!("sha512-{index:0>86}=="), "tarball": format!("/{name}/-/{name}-1.0.0.tgz") },
        });
        if index + 1 < count {
            version["dependencies"] = json!({ format!("a{}", index + 1): "^1.0.0" });
        }
        let packument = json!({
            "name": name, "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": version },
            "time": { "1.0.0": "2026-01-01T00:00:00.000Z" },
        });
        fs::write(folder.path().join(format!("packuments/{name}.json")), packument.to_string()).expect("written");
    }
    folder
}

#[tokio::test]
async fn packuments_are_requested_in_the_cheaper_form() {
    let folder = chain(12);
    let mut locks = Vec::new();
    // Full packuments that are hardly longer, and full packuments that are several times as long, as
    // the second one shows.
    for (pad_full, expected) in [(1.0, (1, 11, 1)), (5.0, (11, 1, 11))] {
        let server = serve(folder.path(), espalier_replay::Settings { pad_full, ..Default::default() }).await;
        let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
        let counts = async |flag: (&str, &str)| {
            let before = server.statistics();
            let (_root, lock) = with_cache(&[("registry", &registry), ("maxsockets", "1"), flag], "1", cache.path());
            let locked = lock.run(|_| {}, std::future::pending()).await.expect("a lock");
            // The next one shall resolve, too.
            let _ = fs::remove_dir_all(cache.path().join("resolutions-1"));
            (locked.outcome.lockfile.text().replace(&registry, ""), server.statistics().since(&before))
        };
        let (lock, counted) = counts(("prefer-online", "false")).await;
        let found = (counted.abbreviated_packuments, counted.full_packuments, counted.version_documents);
        assert_eq!(found, expected, "{pad_full}");
        assert_eq!(lock.matches(r#""license": "ISC""#).count(), 12);
        // Each document is confirmed in the form in which it was sent.
        let (again, counted) = counts(("prefer-online", "true")).await;
        let sent = expected.0 + expected.1 + expected.2;
        assert_eq!((counted.requests, counted.not_modified), (sent, sent), "{pad_full}");
        let (offline, counted) = counts(("offline", "true")).await;
        assert_eq!(counted.requests, 0, "{pad_full}");
        assert!(again == lock && offline == lock, "{pad_full}");
        locks.push(lock);
    }
    assert_eq!(locks[0], locks[1]);
}

/// Before the document of an exact version is requested, the cache is searched for the packument.
#[tokio::test]
async fn a_search_in_the_cache_is_no_request_for_a_packument() {
    let folder = chain(12);
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
    let full_packuments = async |dependencies: Value| {
        let before = server.statistics();
        let flags = [("registry", registry.as_str()), ("maxsockets", "1")];
        let (root, lock) = with_cache(&flags, "1", cache.path());
        fs::write(root.path().join("package.json"), json!({ "dependencies": dependencies }).to_string())
            .expect("written");
        let lock = Lock { project: ProjectFolder::at(root.path()).expect("a project"), ..lock };
        lock.run(|_| {}, std::future::pending()).await.expect("a lock");
        server.statistics().since(&before).full_packuments
    };
    assert_eq!(full_packuments(json!({ "a11": "1.0.0" })).await, 0);
    let exact = json!({ "a6": "1.0.0", "a7": "1.0.0", "a8": "1.0.0", "a": "^1.0.0" });
    assert!(full_packuments(exact).await > 0, "none showed which form is cheaper");
}

/// npm asks for abbreviated packuments to complete a lock of version 1, and writes no license from
/// them.
#[tokio::test]
async fn an_old_lock_gets_no_more_than_abbreviated_packuments_have() {
    let folder = chain(12);
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
    let (first, _) = lock_with_cache(&registry, "1", cache.path()).await;
    assert!(server.statistics().full_packuments > 0);
    let entry = |index: usize| {
        let name = if index == 0 { "a".to_owned() } else { format!("a{index}") };
        let requires = if index < 11 { json!({ format!("a{}", index + 1): "^1.0.0" }) } else { json!({}) };
        (name, json!({ "version": "1.0.0", "requires": requires }))
    };
    let entries: serde_json::Map<_, _> = (0..12).map(entry).collect();
    let old = json!({ "name": "one", "lockfileVersion": 1, "requires": true, "dependencies": entries }).to_string();
    let mut locks = Vec::new();
    for cache in [cache.path(), &cache.path().join("new")] {
        let (root, lock) = with_cache(&[("registry", &registry)], "1", cache);
        fs::write(root.path().join("package-lock.json"), &old).expect("written");
        let lock = Lock { project: ProjectFolder::at(root.path()).expect("a project"), ..lock };
        let locked = lock.run(|_| {}, std::future::pending()).await.expect("a lock");
        locks.push(locked.outcome.lockfile.text().to_owned());
    }
    assert!(locks[0].contains("sha512-") && !locks[0].contains("license"), "{}", locks[0]);
    assert_eq!(locks[0], locks[1]);
    // The cache still has the full packuments, whose licenses nothing else has.
    let (_root, lock) = with_cache(&[("registry", &registry), ("offline", "true")], "1", cache.path());
    let locked = lock.run(|_| {}, std::future::pending()).await.expect("a lock");
    assert_eq!(locked.outcome.lockfile.text(), first);
}

#[tokio::test]
async fn damaged_documents_are_fetched_again() {
    let folder = recording();
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
    let (first, _) = lock_with_cache(&registry, "1", cache.path()).await;
    support::damage_documents(cache.path());
    assert_eq!(lock_with_cache(&registry, "1", cache.path()).await, (first.clone(), 2));
    assert_eq!(lock_with_cache(&registry, "1", cache.path()).await, (first, 0));
}

#[tokio::test]
async fn a_packument_whose_damage_shows_late_is_fetched_for_another_run() {
    let folder = recording();
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
    lock_with_cache(&registry, "1", cache.path()).await;
    assert_eq!(support::damage_bodies(cache.path()), 2);
    // The version is not in the summary. The packument and the license are fetched.
    let (lock, requests) = lock_with_cache(&registry, "~1.0.0", cache.path()).await;
    assert_eq!(requests, 2);
    assert_eq!(lock, lock_with_cache(&registry, "~1.0.0", &cache.path().join("new")).await.0);
    assert_eq!(lock_with_cache(&registry, "~1.0.0", cache.path()).await, (lock, 0));
}

/// Takes a snapshot. Returns how many documents it has, how many it lacks, and the number of
/// requests.
async fn snapshot_with_cache(flags: &[(&str, &str)], cache: &Path) -> (usize, usize, u64) {
    let (_root, lock) = with_cache(flags, "1", cache);
    let snapshot = lock.snapshot(|_| {}, std::future::pending()).await.expect("a snapshot");
    (snapshot.documents, snapshot.left_out, lock.activity.network_requests.get())
}

#[tokio::test]
async fn a_snapshot_has_the_documents_that_were_damaged_in_the_cache() {
    let folder = recording();
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
    let flags = [("registry", registry.as_str())];
    assert_eq!(snapshot_with_cache(&flags, cache.path()).await, (2, 0, 2));
    assert_eq!(support::damage_bodies(cache.path()), 2);
    assert_eq!(snapshot_with_cache(&flags, cache.path()).await, (2, 0, 2));
    assert_eq!(snapshot_with_cache(&flags, cache.path()).await, (2, 0, 0));
}

#[tokio::test]
async fn a_snapshot_lacks_what_the_cache_has_from_a_run_with_a_token() {
    let folder = recording();
    // The cache keeps the document of a version with an integrity for good.
    let packument = folder.path().join("packuments/a.json");
    let text = fs::read_to_string(&packument).expect("a packument");
    let text = text.replace(r#""dist":{"#, r#""dist":{"integrity":"sha512-abc","#);
    fs::write(packument, text).expect("written");
    let server = serve(folder.path(), espalier_replay::Settings::default()).await;
    let (registry, cache) = (server.origin(), tempfile::tempdir().expect("a temporary folder"));
    let token = format!("{}/:_authToken", registry.trim_start_matches("http:"));
    let flags = [("registry", registry.as_str()), ("offline", "true")];
    assert_eq!(snapshot_with_cache(&[flags[0], (&token, "secret")], cache.path()).await, (0, 2, 2));
    assert_eq!(snapshot_with_cache(&flags, cache.path()).await, (0, 2, 0));
    // The registry confirms to anybody that they are public.
    assert_eq!(snapshot_with_cache(&flags[..1], cache.path()).await, (2, 0, 2));
    assert_eq!(server.statistics().not_modified, 2);
    assert_eq!(snapshot_with_cache(&flags, cache.path()).await, (2, 0, 0));
}

#[tokio::test]
async fn an_interruption_leaves_the_project_alone() {
    let server = support::scripted::Scripted::start([support::scripted::Reply::Stall]).await;
    let root = project(&[("package.json", json!({"dependencies": {"a": "1"}}))]);
    let soon = async {
        while server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let result = lock(root.path(), &[("registry", &server.origin)], soon).await;
    assert!(matches!(result, Err(LockError::Interrupted)), "{result:?}");
    assert!(!root.path().join("package-lock.json").exists());
}

#[tokio::test]
async fn a_lockfile_that_cannot_be_read_is_an_error() {
    let root = project(&[("package.json", json!({})), ("package-lock.json/inside", json!({}))]);
    let result = lock(root.path(), &[], std::future::pending()).await;
    assert!(matches!(result, Err(LockError::Project(ProjectError::Unreadable { .. }))), "{result:?}");
}
