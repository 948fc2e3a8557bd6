//! A resolution that was done before isn't done again, and one that could end differently is.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::support::scene::Scene;
use espalier_install::lock::{Lock, Locked};
use serde_json::json;

/// A project that was resolved once, and its registry.
struct Resolved {
    scene: Scene,
    server: espalier_replay::Server,
}

impl Resolved {
    async fn new(scene: Scene) -> Self {
        let server = scene.serve().await;
        let resolved = Self { scene, server };
        assert!(!resolved.is_recalled().await, "nothing was there to recall");
        assert!(resolved.is_recalled().await, "nothing was noted");
        resolved
    }

    /// `a`, which needs `b` and an engine.
    async fn usual() -> Self {
        let manifest = json!({ "name": "app", "version": "1.0.0", "dependencies": { "a": "1" } });
        let scene = Scene::new(&manifest)
            .package("a@1.0.0", json!({ "dependencies": { "b": "1" }, "license": "MIT" }))
            .package("b@1.0.0", json!({ "engines": { "node": "1" } }));
        Self::new(scene).await
    }

    fn prepare(&self) -> Lock {
        let mut lock = self.scene.prepare(false, &self.server.origin()).lock;
        lock.cache = Some(self.scene.path("cache"));
        lock
    }

    /// Resolves without a lockfile. Also says whether that was recalled: then nothing is decided,
    /// and no event tells of it.
    async fn run(&self, lock: Lock) -> (Locked, bool) {
        let _ = fs::remove_file(self.scene.at("package-lock.json"));
        let events = Cell::new(0);
        let run = lock.run(|_| events.set(events.get() + 1), std::future::pending());
        let locked = run.await.unwrap_or_else(|error| panic!("{error}"));
        (locked, events.get() == 0)
    }

    async fn is_recalled(&self) -> bool {
        self.run(self.prepare()).await.1
    }

    /// Serves one more package, under the same address.
    async fn publish(&mut self, id: &str) {
        let Self { scene, server } = self;
        let port = server.origin().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
        *scene = std::mem::replace(scene, Scene::new(&json!({}))).package(id, json!({}));
        *server = scene.serve().await;
        let registry = Arc::new(espalier_replay::Registry::open(&scene.path("registry")).expect("a recording"));
        *server = loop {
            // The task that held the port ends when it is next looked at.
            tokio::task::yield_now().await;
            let settings = espalier_replay::Settings { port, ..Default::default() };
            match espalier_replay::Server::start(Arc::clone(&registry), settings).await {
                Ok(server) => break server,
                Err(espalier_replay::ServerError::Listen { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        };
    }

    /// The only note.
    fn note(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.scene.path("cache/resolutions-1")).expect("notes");
        let note = entries.next().expect("a note").expect("an entry").path();
        assert!(entries.next().is_none(), "more than one note");
        note
    }
}

fn hidden_lockfile(locked: &Locked) -> String {
    locked.outcome.lockfile.hidden(true, &|_| true)
}

#[tokio::test]
async fn the_outcome_is_the_same_and_no_registry_is_asked() {
    let resolved = Resolved::usual().await;
    let requests = resolved.server.statistics().requests;
    let (recalled, is_recalled) = resolved.run(resolved.prepare()).await;
    assert!(is_recalled);
    assert_eq!(resolved.server.statistics().requests, requests);
    let (full, _) = resolved.run(Lock { cache: None, ..resolved.prepare() }).await;
    assert_eq!(recalled.outcome.lockfile.text(), full.outcome.lockfile.text());
    assert_eq!(hidden_lockfile(&recalled), hidden_lockfile(&full));
    assert_eq!(format!("{:?}", recalled.outcome.graph), format!("{:?}", full.outcome.graph));
    assert_eq!(recalled.outcome.warnings, full.outcome.warnings);
    assert_eq!(recalled.outcome.warnings.first().map(|warning| &*warning.code), Some("EBADENGINE"));
    assert_eq!(recalled.outcome.statistics, full.outcome.statistics);
    assert_eq!(recalled.written, full.written);
}

#[tokio::test]
async fn every_other_input_leads_to_a_resolution() {
    type Change = fn(&Scene);
    let changes: [(&str, Change); 6] = [
        ("package.json", |scene| scene.write("package.json", &(scene.read("package.json") + "\n"))),
        ("the project's .npmrc", |scene| scene.write(".npmrc", "legacy-peer-deps=true\n")),
        ("a yarn.lock", |scene| scene.write("yarn.lock", "# yarn lockfile v1\n")),
        ("an installed package", |scene| {
            scene.write("node_modules/a/package.json", &json!({ "name": "a", "version": "1.0.0" }).to_string());
        }),
        ("the cache", |scene| fs::remove_file(scene.path("cache/documents-6.index")).expect("removed")),
        ("the note", |scene| fs::remove_dir_all(scene.path("cache/resolutions-1")).expect("removed")),
    ];
    for (what, change) in changes {
        let resolved = Resolved::usual().await;
        change(&resolved.scene);
        assert!(!resolved.is_recalled().await, "{what} was not seen");
    }
}

#[tokio::test]
async fn other_settings_lead_to_a_resolution() {
    type Change = fn(&mut Lock);
    let changes: [(&str, Change); 3] = [
        ("another Node", |lock| lock.node_version = Some("24.0.0".to_owned())),
        ("an addition", |lock| lock.changes.add = vec!["b".to_owned()]),
        ("an update", |lock| lock.changes.update = espalier_core::Update::All),
    ];
    for (what, change) in changes {
        let resolved = Resolved::usual().await;
        let mut lock = resolved.prepare();
        change(&mut lock);
        assert!(!resolved.run(lock).await.1, "{what}");
    }
    for (name, value) in [("prefer-online", "true"), ("omit", "dev"), ("loglevel", "verbose"), ("tag", "next")] {
        let mut resolved = Resolved::usual().await;
        resolved.scene.flags.push((name.to_owned(), value.to_owned()));
        assert!(!resolved.is_recalled().await, "{name}");
    }
}

/// A new answer of the registry counts, also for a project that was resolved with an older one.
#[tokio::test]
async fn a_document_that_changed_leads_to_a_resolution() {
    let mut resolved = Resolved::usual().await;
    let text = |locked: &Locked| locked.outcome.lockfile.text().to_owned();
    resolved.publish("b@1.0.1").await;
    assert!(resolved.is_recalled().await, "what is fresh is used without asking");
    resolved.scene.flags.push(("prefer-online".to_owned(), "true".to_owned()));
    let (asked, _) = resolved.run(resolved.prepare()).await;
    assert!(text(&asked).contains("b-1.0.1.tgz"));
    resolved.scene.flags.pop();
    let (after, is_recalled) = resolved.run(resolved.prepare()).await;
    assert!(!is_recalled);
    assert_eq!(text(&after), text(&asked));
}

#[tokio::test]
async fn a_damaged_note_is_none() {
    let resolved = Resolved::usual().await;
    let note = resolved.note();
    let whole = fs::read(&note).expect("a note");
    for damaged in [&whole[..whole.len() - 1], &whole[..3], &[]] {
        fs::write(&note, damaged).expect("written");
        assert!(!resolved.is_recalled().await, "{} bytes", damaged.len());
        assert_eq!(fs::read(&note).expect("a note").len(), whole.len(), "it wasn't replaced");
    }
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(&note, changed).expect("written");
    assert!(!resolved.is_recalled().await);
}

/// npm names a root by its folder.
#[tokio::test]
async fn a_project_elsewhere_is_the_same_if_its_folder_has_the_same_name() {
    let resolved =
        Resolved::new(Scene::new(&json!({ "dependencies": { "a": "1" } })).package("a@1.0.0", json!({}))).await;
    for (folder, is_same) in [("elsewhere/project", true), ("elsewhere/other", false)] {
        let folder = resolved.scene.path(folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::copy(resolved.scene.at("package.json"), folder.join("package.json")).expect("copied");
        let mut lock = resolved.prepare();
        lock.project = espalier_install::project::ProjectFolder::at(&folder).expect("a project");
        let (locked, is_recalled) = resolved.run(lock).await;
        assert_eq!(is_recalled, is_same, "{}", folder.display());
        assert_eq!(Path::new(&locked.outcome.graph.project), folder);
        let name = folder.file_name().expect("a name").to_string_lossy();
        assert_eq!(locked.outcome.graph.nodes[0].name, name);
        assert!(locked.outcome.lockfile.text().contains(&format!("\"name\": \"{name}\"")));
    }
}

/// A workspace is a file that the resolution asked for.
#[tokio::test]
async fn a_changed_workspace_leads_to_a_resolution() {
    let scene = Scene::new(&json!({ "name": "app", "workspaces": ["packages/*"], "dependencies": { "a": "1" } }))
        .package("a@1.0.0", json!({}))
        .package("b@1.0.0", json!({}));
    let ui = json!({ "name": "ui", "version": "1.0.0", "dependencies": { "a": "1" } });
    scene.write("packages/ui/package.json", &ui.to_string());
    let resolved = Resolved::new(scene).await;
    let ui = json!({ "name": "ui", "version": "1.0.0", "dependencies": { "b": "1" } });
    resolved.scene.write("packages/ui/package.json", &ui.to_string());
    let (locked, is_recalled) = resolved.run(resolved.prepare()).await;
    assert!(!is_recalled);
    assert!(locked.outcome.lockfile.text().contains("node_modules/b"));
    let more = json!({ "name": "more", "version": "1.0.0" });
    resolved.scene.write("packages/more/package.json", &more.to_string());
    assert!(!resolved.is_recalled().await, "a new workspace was not seen");
}

#[tokio::test]
async fn an_installation_from_a_recalled_outcome_is_whole() {
    let resolved = Resolved::usual().await;
    let install = || {
        let mut install = resolved.scene.prepare(false, &resolved.server.origin());
        install.lock.cache = Some(resolved.scene.path("cache"));
        install
    };
    let mut states = Vec::new();
    for _ in 0..2 {
        let _ = fs::remove_dir_all(resolved.scene.at("node_modules"));
        fs::remove_file(resolved.scene.at("package-lock.json")).expect("removed");
        let events = Cell::new(0);
        let run = install().run(|_| events.set(events.get() + 1), std::future::pending());
        run.await.unwrap_or_else(|error| panic!("{error}"));
        let files = [
            "package-lock.json",
            "node_modules/.package-lock.json",
            "node_modules/a/index.js",
            "node_modules/b/index.js",
        ];
        states.push((files.map(|file| resolved.scene.read(file)), events.get() == 0));
    }
    assert_eq!(states[0].0, states[1].0);
    assert_eq!((states[0].1, states[1].1), (false, true));
}

/// Old outcomes make room for new ones.
#[tokio::test]
async fn so_many_outcomes_are_kept_and_no_more() {
    let mut resolved = Resolved::usual().await;
    let first = resolved.note();
    for day in 0..40 {
        let other = fs::File::create(first.with_file_name(day.to_string())).expect("made");
        other.set_modified(SystemTime::UNIX_EPOCH + Duration::from_hours(24 * day)).expect("a time");
    }
    resolved.scene.flags.push(("tag".to_owned(), "next".to_owned()));
    resolved.run(resolved.prepare()).await;
    let count = fs::read_dir(first.parent().expect("a folder")).expect("notes").count();
    assert_eq!(count, 32);
    let kept = |day: i32| first.with_file_name(day.to_string()).exists();
    assert_eq!((kept(9), kept(10)), (false, true), "the oldest go first");
    assert!(resolved.is_recalled().await, "the newest is gone");
}
