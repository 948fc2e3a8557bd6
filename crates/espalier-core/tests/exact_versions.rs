//! The documents that a resolution requests for versions that dependents name exactly.

use std::sync::Arc;

use espalier_core::{
    Answer, Changes, Detail, FetchFailure, FetchFailureKind, Options, Outcome, Packument, Progress, Project, Proposal,
    RegistryAddresses, Reporting, Request, Resolution, ResolveError, Update,
};
use serde_json::{Map, Value, json};

const REGISTRY: &str = "http://registry.test/";
const OF_SCOPE: &str = "http://scope.test/npm/";

/// A registry with the versions 1.0.0 and 1.1.0 of each package. `a` names `b`, `@s/c` and `@s/d`
/// exactly; `e` has a range for `b`.
struct World {
    /// The folder of tarballs in the documents of versions. `None` if there are no such documents.
    documents: Option<&'static str>,
    /// Changes a document.
    change: fn(&mut Value),
    /// The kind of failure of packuments of this package.
    failing: (&'static str, FetchFailureKind),
    /// Whether requests for documents of versions fail.
    unreachable: bool,
    options: Options,
}

fn world() -> World {
    let scopes = vec![("s".to_owned(), OF_SCOPE.to_owned())];
    let registries = RegistryAddresses { default: REGISTRY.to_owned(), scopes };
    World {
        documents: Some(""),
        change: |_| {},
        failing: ("", FetchFailureKind::NotFound),
        unreachable: false,
        options: Options { registries: Some(registries.into()), ..Options::default() },
    }
}

fn version(name: &str, number: &str, folder: &str) -> Value {
    let dependencies = match name {
        "a" => json!({ "@s/c": "1.0.0", "@s/d": "1.0.0", "b": "1.0.0" }),
        "e" => json!({ "b": "^1.0.0" }),
        _ => json!({}),
    };
    let registry = if name.starts_with("@s/") { OF_SCOPE } else { REGISTRY };
    let base = name.rsplit('/').next().unwrap_or(name);
    let dist = json!({
        "tarball": format!("{registry}{folder}{name}/-/{base}-{number}.tgz"),
        "integrity": format!("sha512-{base}{number}"),
    });
    json!({ "name": name, "version": number, "dependencies": dependencies, "dist": dist })
}

fn packument(name: &str) -> Packument {
    let versions = ["1.0.0", "1.1.0"].map(|number| (number.to_owned(), version(name, number, "")));
    let text = json!({ "name": name, "dist-tags": { "latest": "1.1.0" }, "versions": Map::from_iter(versions) });
    Packument::parse(text.to_string().as_bytes(), Detail::Whole).expect("a packument")
}

fn failure(kind: FetchFailureKind, name: &str) -> FetchFailure {
    FetchFailure { kind, message: "it fails".into(), url: format!("{REGISTRY}{name}") }
}

impl World {
    /// Resolves these dependencies. Returns the requests in their order, and the outcome.
    fn resolve(&self, dependencies: &Value) -> (Vec<String>, Result<Outcome, ResolveError>) {
        let manifest = json!({ "name": "project", "dependencies": dependencies }).to_string();
        self.run(Project { manifest, folder_name: "project".into(), ..Project::default() })
    }

    fn run(&self, project: Project) -> (Vec<String>, Result<Outcome, ResolveError>) {
        let mut resolution = Resolution::new(project, self.options.clone());
        let mut requested = Vec::new();
        while resolution.advance() == Progress::Waiting {
            let (request, _) = resolution.next_request().expect("a request");
            let answer = match &request {
                Request::Packument { name, .. } => {
                    requested.push(name.clone());
                    let (failing, kind) = self.failing;
                    if name == failing {
                        Err(failure(kind, name))
                    } else {
                        Ok(Answer::Packument(Arc::new(packument(name))))
                    }
                }
                Request::Manifest { name, version: number } => {
                    requested.push(format!("{name}/{number}"));
                    let document = self.documents.map(|folder| {
                        let mut document = version(name, number, folder);
                        (self.change)(&mut document);
                        document.to_string()
                    });
                    if self.unreachable {
                        Err(failure(FetchFailureKind::Unreachable, name))
                    } else {
                        Ok(document.map_or(Answer::NoDocument, Answer::VersionDocument))
                    }
                }
                other => panic!("{other:?}"),
            };
            resolution.supply(&request, answer);
        }
        (requested, resolution.finish())
    }

    fn lock(&self, dependencies: &Value) -> String {
        self.resolve(dependencies).1.expect("a lock").lockfile.text().to_owned()
    }

    fn requested(&self, dependencies: &Value) -> Vec<String> {
        self.resolve(dependencies).0
    }
}

#[test]
fn the_document_of_an_exact_version_takes_the_place_of_the_packument() {
    let (requested, outcome) = world().resolve(&json!({ "a": "1.0.0" }));
    assert_eq!(requested, ["a/1.0.0", "@s/c/1.0.0", "@s/d/1.0.0", "b/1.0.0"]);
    let lock = outcome.expect("a lock").lockfile;
    assert!(lock.text().contains(r#""resolved": "http://scope.test/npm/@s/d/-/d-1.0.0.tgz""#), "{}", lock.text());
}

#[test]
fn without_the_addresses_of_registries_there_are_only_packuments() {
    let unknown = World { options: Options::default(), ..world() };
    let project = json!({ "a": "1.0.0" });
    assert_eq!(unknown.requested(&project), ["a", "@s/c", "@s/d", "b"]);
    assert_eq!(unknown.lock(&project), world().lock(&project));
}

#[test]
fn a_range_needs_the_packument() {
    assert_eq!(world().requested(&json!({ "e": "1.0.0" })), ["e/1.0.0", "b"]);
}

#[test]
fn an_exact_version_does_not_depend_on_the_packument_that_a_range_needs() {
    // Whichever comes first, only the range fails.
    for dependencies in [json!({ "a": "1.0.0", "x": "npm:b@^1" }), json!({ "x": "npm:b@^1", "a": "1.0.0" })] {
        let manifest = json!({ "name": "project", "optionalDependencies": dependencies }).to_string();
        let world = World { failing: ("b", FetchFailureKind::NotFound), ..world() };
        let (_, outcome) = world.run(Project { manifest, folder_name: "project".into(), ..Project::default() });
        let lock = outcome.expect("a lock").lockfile.text().to_owned();
        assert!(lock.contains("node_modules/b\"") && !lock.contains("node_modules/x\""), "{lock}");
    }
}

#[test]
fn a_document_that_cannot_be_fetched_is_the_failure() {
    // No registry answers, so the packument would have to wait for the same failure.
    let unreachable = World { unreachable: true, ..world() };
    let (requested, outcome) = unreachable.resolve(&json!({ "a": "1.0.0" }));
    assert_eq!(requested, ["a/1.0.0"]);
    let Err(ResolveError::Fetch { name, failure, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((name.as_str(), failure.kind), ("a", FetchFailureKind::Unreachable));
}

#[test]
fn only_packuments_tell_what_these_options_need() {
    for options in
        [Options { before: Some(0), ..world().options }, Options { reporting: Reporting::Decisions, ..world().options }]
    {
        let world = World { options, ..world() };
        assert_eq!(world.requested(&json!({ "a": "1.0.0" }))[0], "a");
    }
}

#[test]
fn a_document_that_differs_from_what_a_packument_would_state_does_not_count() {
    let project = json!({ "a": "1.0.0" });
    let expected = world().lock(&project);
    let all_twice = ["a/1.0.0", "a", "@s/c/1.0.0", "@s/c", "@s/d/1.0.0", "@s/d", "b/1.0.0", "b"];
    for (what, other) in [
        ("no documents", World { documents: None, ..world() }),
        ("other tarballs", World { documents: Some("elsewhere/"), ..world() }),
        ("no integrity", World { change: |document| document["dist"]["integrity"] = Value::Null, ..world() }),
        (
            "only a SHA-1",
            World {
                change: |document| {
                    let tarball = document["dist"]["tarball"].take();
                    document["dist"] = json!({ "tarball": tarball, "shasum": "0".repeat(40) });
                },
                ..world()
            },
        ),
        ("another version", World { change: |document| document["version"] = "1.1.0".into(), ..world() }),
        ("another name", World { change: |document| document["name"] = "z".into(), ..world() }),
        (
            "another registry",
            World {
                change: |document| document["dist"]["tarball"] = "http://z.test/a/-/a-1.0.0.tgz".into(),
                ..world()
            },
        ),
        ("no object", World { change: |document| *document = Value::Null, ..world() }),
    ] {
        let (requested, outcome) = other.resolve(&project);
        assert_eq!(requested, all_twice, "{what}");
        assert_eq!(outcome.expect("a lock").lockfile.text(), expected, "{what}");
    }
}

#[test]
fn the_proposals_for_a_conflict_come_from_packuments() {
    // The project's own dependencies need none otherwise.
    let mut peers = world();
    peers.change = |document| {
        if document["name"] == "a" {
            document["peerDependencies"] = json!({ "b": "1.1.0" });
            document["dependencies"].take();
        }
    };
    let (requested, outcome) = peers.resolve(&json!({ "a": "1.0.0", "b": "1.0.0" }));
    let Err(ResolveError::PeerConflict(conflict)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(requested, ["a/1.0.0", "b/1.0.0", "b/1.1.0", "a", "b"]);
    // Only the packument tells that there is such a version.
    let is_other =
        |proposal: &Proposal| matches!(proposal, Proposal::Range { name, to, .. } if name == "b" && to == "^1.1.0");
    assert!(conflict.proposals.iter().any(is_other), "{:?}", conflict.proposals);
}

#[test]
fn an_old_lockfile_is_completed_by_packuments() {
    let lockfile = json!({
        "name": "project", "lockfileVersion": 1, "requires": true,
        "dependencies": { "a": { "version": "1.0.0", "resolved": "http://registry.test/a/-/a-1.0.0.tgz" } },
    });
    let project = Project {
        manifest: json!({ "name": "project", "dependencies": { "a": "1.0.0" } }).to_string(),
        lockfile: Some(lockfile.to_string().into()),
        folder_name: "project".into(),
        ..Project::default()
    };
    assert_eq!(world().run(project).0, ["a"]);
}

#[test]
fn an_update_chooses_the_exact_version_again() {
    let manifest = json!({ "name": "project", "dependencies": { "a": "1.0.0" } }).to_string();
    let lockfile = Some(world().lock(&json!({ "a": "1.0.0" })).into());
    let changes = Changes { update: Update::All, ..Changes::default() };
    let project = Project { manifest, lockfile, changes, folder_name: "project".into(), ..Project::default() };
    assert_eq!(world().run(project).0, ["a/1.0.0", "@s/c/1.0.0", "@s/d/1.0.0", "b/1.0.0"]);
}
