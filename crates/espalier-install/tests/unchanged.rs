//! An installation does nothing if it finds the same state as the last one, and everything
//! otherwise.

use std::fs;
use std::path::Path;

use crate::support::scene::Scene;
use espalier_install::install::{Done, Install};
use serde_json::json;

/// A project that was found up to date, with the server that it was installed from.
struct Settled {
    scene: Scene,
    origin: String,
    _server: espalier_replay::Server,
}

impl Settled {
    async fn new(scene: Scene) -> Self {
        let server = scene.serve().await;
        let settled = Self { scene, origin: server.origin(), _server: server };
        settled.install().await;
        let second = settled.install().await;
        assert_eq!(second.report.added.len() + second.report.changed.len(), 0, "{:?}", second.report);
        assert!(settled.is_noted(), "nothing was noted");
        settled
    }

    /// `a` and `b`, and a folder `c`.
    async fn usual() -> Self {
        let dependencies = json!({ "a": "1", "b": "1", "c": "file:c" });
        let scene = Scene::new(&json!({ "name": "app", "version": "1.0.0", "dependencies": dependencies }))
            .package("a@1.0.0", json!({ "bin": "index.js", "dependencies": { "b": "1" } }))
            .package("b@1.0.0", json!({ "engines": { "node": "1" } }));
        scene.write("c/package.json", &json!({ "name": "c", "version": "1.0.0" }).to_string());
        Self::new(scene).await
    }

    fn prepare(&self) -> Install {
        let mut install = self.scene.prepare(false, &self.origin);
        install.lock.cache = Some(self.scene.path("cache"));
        install
    }

    async fn install(&self) -> Done {
        self.run(self.prepare()).await
    }

    async fn run(&self, install: Install) -> Done {
        install.run(|_| (), std::future::pending()).await.unwrap_or_else(|error| panic!("{error}"))
    }

    fn is_noted(&self) -> bool {
        fs::read_dir(self.scene.path("cache/unchanged-1")).is_ok_and(|entries| entries.count() == 1)
    }

    /// Whether the whole procedure ran: it writes npm's note each time.
    async fn is_done_in_full(&self, install: Install) -> bool {
        let note = self.scene.at("node_modules/.package-lock.json");
        let before = fs::metadata(&note).ok().and_then(|found| found.modified().ok());
        self.run(install).await;
        before != fs::metadata(&note).ok().and_then(|found| found.modified().ok())
    }

    #[track_caller]
    fn touch(&self, path: &str) {
        fs::File::open(self.scene.at(path))
            .and_then(|file| file.set_modified(std::time::SystemTime::now()))
            .expect(path);
    }
}

#[tokio::test]
async fn the_same_is_said_and_nothing_is_touched() {
    let settled = Settled::usual().await;
    let full = settled.scene.prepare(false, &settled.origin);
    let full = settled.run(full).await;
    settled.install().await;
    let note =
        fs::metadata(settled.scene.at("node_modules/.package-lock.json")).expect("a note").modified().expect("a time");
    let quick = settled.install().await;
    assert_eq!(
        fs::metadata(settled.scene.at("node_modules/.package-lock.json")).expect("a note").modified().expect("a time"),
        note
    );
    assert_eq!((quick.report.kept, quick.lockfile), (full.report.kept, full.lockfile));
    assert_eq!(quick.warnings, full.warnings);
    assert_eq!(quick.warnings.first().map(|warning| &*warning.code), Some("EBADENGINE"));
}

/// A project that was just up to date notices each of these changes.
#[tokio::test]
async fn every_change_leads_to_the_whole_procedure() {
    type Change = fn(&Scene);
    let changes: [(&str, Change); 14] = [
        ("package.json", |scene| scene.write("package.json", &(scene.read("package.json") + "\n"))),
        ("the lock", |scene| scene.write("package-lock.json", &(scene.read("package-lock.json") + "\n"))),
        ("overrides", |scene| {
            let text = scene.read("package.json").replacen('{', "{\"overrides\":{\"x\":\"1\"},", 1);
            scene.write("package.json", &text);
        }),
        ("allowScripts", |scene| {
            let text = scene.read("package.json").replacen('{', "{\"allowScripts\":{\"a\":true},", 1);
            scene.write("package.json", &text);
        }),
        ("a folder that is depended on", |scene| {
            scene.write("c/package.json", &json!({ "name": "c", "version": "1.0.1" }).to_string());
        }),
        ("a package that is gone", |scene| fs::remove_dir_all(scene.at("node_modules/b")).expect("removed")),
        ("a package of one's own", |scene| fs::create_dir(scene.at("node_modules/mine")).expect("made")),
        ("a file in a package", |scene| scene.write("node_modules/a/new.js", "")),
        ("a command that is gone", |scene| fs::remove_file(scene.at("node_modules/.bin/a")).expect("removed")),
        ("a link that is gone", |scene| fs::remove_file(scene.at("node_modules/c")).expect("removed")),
        ("npm's note", |scene| fs::remove_file(scene.at("node_modules/.package-lock.json")).expect("removed")),
        ("everything", |scene| fs::remove_dir_all(scene.at("node_modules")).expect("removed")),
        ("a yarn.lock", |scene| scene.write("yarn.lock", "# yarn lockfile v1\n")),
        ("the project's .npmrc", |scene| scene.write(".npmrc", "fund=false\n")),
    ];
    for (what, change) in changes {
        let settled = Settled::usual().await;
        assert!(!settled.is_done_in_full(settled.prepare()).await, "before {what}");
        change(&settled.scene);
        assert!(settled.is_done_in_full(settled.prepare()).await, "{what} was not seen");
        for path in ["node_modules/a/index.js", "node_modules/b/index.js", "node_modules/c/package.json"] {
            assert!(settled.scene.at(path).is_file(), "{path} after {what}");
        }
    }
}

#[tokio::test]
async fn other_settings_and_another_node_lead_to_the_whole_procedure() {
    type Change = fn(&mut Install);
    let changes: [(&str, Change); 5] = [
        ("another Node", |install| install.lock.node_version = Some("24.0.0".to_owned())),
        ("commands", |install| install.bin_links = false),
        ("workspaces", |install| install.without_workspaces = true),
        ("strictness", |install| install.scripts.strict = true),
        ("trust", |install| install.trust.git = espalier_core::Allow::All),
    ];
    for (what, change) in changes {
        let settled = Settled::usual().await;
        let mut install = settled.prepare();
        change(&mut install);
        assert!(settled.is_done_in_full(install).await, "{what}");
    }
    for (name, value) in
        [("omit", "dev"), ("before", "2026-01-31"), ("min-release-age", "3"), ("legacy-peer-deps", "true")]
    {
        let mut settled = Settled::usual().await;
        settled.scene.flags.push((name.to_owned(), value.to_owned()));
        assert!(settled.is_done_in_full(settled.prepare()).await, "{name}");
        // The next installation knows the new state, although the date that an age stands for has
        // moved on.
        assert!(!settled.is_done_in_full(settled.prepare()).await, "{name} again");
    }
}

#[tokio::test]
async fn a_workspace_is_looked_for_each_time() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["packages/*"] })).package("a@1.0.0", json!({}));
    let member = |name: &str| json!({ "name": name, "version": "1.0.0", "dependencies": { "a": "1" } }).to_string();
    scene.write("packages/one/package.json", &member("one"));
    let settled = Settled::new(scene).await;
    assert!(!settled.is_done_in_full(settled.prepare()).await);
    settled.scene.write("packages/two/package.json", &member("two"));
    settled.install().await;
    assert!(settled.scene.at("node_modules/two").exists());
}

#[tokio::test]
async fn a_folder_that_was_written_to_is_seen_although_its_time_was_put_back() {
    let settled = Settled::usual().await;
    let folder = settled.scene.at("node_modules/a");
    let time = fs::metadata(&folder).and_then(|found| found.modified()).expect("a time");
    settled.scene.write("node_modules/a/new.js", "");
    fs::File::open(&folder).and_then(|folder| folder.set_modified(time)).expect("a time");
    // The time of a file's change cannot be set back, where the file system records it.
    assert!(settled.is_done_in_full(settled.prepare()).await || cfg!(not(unix)));
}

#[tokio::test]
async fn a_package_that_could_not_be_had_is_tried_again() {
    let scene =
        Scene::new(&json!({ "name": "app", "optionalDependencies": { "a": "1" } })).package("a@1.0.0", json!({}));
    let good = fs::read(scene.path("registry/tarballs/a/a-1.0.0.tgz")).expect("a tarball");
    scene.replace_tarball("a@1.0.0", b"not a tarball");
    let server = scene.serve().await;
    let settled = Settled { origin: server.origin(), scene, _server: server };
    for _ in 0..3 {
        let done = settled.install().await;
        assert_eq!(done.report.left_out.len(), 1, "{:?}", done.report);
    }
    settled.scene.replace_tarball("a@1.0.0", &good);
    assert_eq!(settled.install().await.report.added.len(), 1);
}

#[tokio::test]
async fn ci_looks_at_every_file_all_the_same() {
    let settled = Settled::usual().await;
    let file = settled.scene.at("node_modules/a/index.js");
    fs::remove_file(&file).expect("removed");
    fs::write(&file, "changed").expect("written");
    let mut install = settled.scene.prepare(true, &settled.origin);
    install.lock.cache = Some(settled.scene.path("cache"));
    let done = settled.run(install).await;
    assert_eq!(done.report.repaired.len(), 1, "{:?}", done.report);
}

/// The project's own scripts run as they do with npm, whether there is something to install or not.
#[cfg(unix)]
#[tokio::test]
async fn the_projects_own_scripts_run_each_time() {
    let scripts =
        json!({ "preinstall": "echo pre >> ran", "postinstall": "echo post >> ran", "prepare": "echo prepare >> ran" });
    let scene = Scene::new(&json!({ "name": "app", "dependencies": { "a": "1" }, "scripts": scripts }));
    let settled = Settled::new(scene.package("a@1.0.0", json!({}))).await;
    fs::remove_file(settled.scene.at("ran")).expect("removed");
    assert!(!settled.is_done_in_full(settled.prepare()).await);
    assert_eq!(settled.scene.read("ran"), "pre\npost\nprepare\n");
}

/// The next installation notices what a script of the project has changed in `node_modules`.
#[cfg(unix)]
#[tokio::test]
async fn what_a_script_changes_is_seen() {
    let scripts = json!({ "postinstall": "touch node_modules/a/built-$(date +%s%N)" });
    let scene = Scene::new(&json!({ "name": "app", "dependencies": { "a": "1" }, "scripts": scripts }));
    let scene = scene.package("a@1.0.0", json!({}));
    let server = scene.serve().await;
    let settled = Settled { origin: server.origin(), scene, _server: server };
    for _ in 0..3 {
        assert!(settled.is_done_in_full(settled.prepare()).await);
    }
}

#[tokio::test]
async fn a_damaged_note_is_none() {
    let settled = Settled::usual().await;
    let file = fs::read_dir(settled.scene.path("cache/unchanged-1")).expect("a folder").next().expect("a file");
    let file = file.expect("a file").path();
    let whole = fs::read(&file).expect("a note");
    for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..cut]).expect("written");
        assert!(settled.is_done_in_full(settled.prepare()).await, "{cut} bytes");
    }
    assert!(Path::new(&file).exists());
    settled.touch("node_modules/.package-lock.json");
    assert!(settled.is_done_in_full(settled.prepare()).await);
}
