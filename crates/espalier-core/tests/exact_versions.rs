//! The documents that a resolution requests for versions that packages name exactly.

use std::sync::Arc;

use espalier_core::{
    Answer, Detail, FetchFailure, FetchFailureKind, Options, Packument, Progress, Project, Request, Resolution,
};
use serde_json::{Value, json};

const REGISTRY: &str = "http://registry.test";

/// The manifest of a version, with its tarball below an origin.
fn version(name: &str, version: &str, dependencies: &Value, origin: &str) -> Value {
    let base = name.rsplit('/').next().unwrap_or(name);
    let tarball = format!("{origin}/{name}/-/{base}-{version}.tgz");
    json!({ "name": name, "version": version, "dependencies": dependencies, "dist": { "tarball": tarball } })
}

/// `a` names `b`, `@s/c` and `@s/d` exactly; `e` has a range for `b`.
fn packument(name: &str, origin: &str) -> Value {
    let dependencies = match name {
        "a" => json!({ "@s/c": "1.0.0", "@s/d": "1.0.0", "b": "1.0.0" }),
        "e" => json!({ "b": "^1.0.0" }),
        _ => json!({}),
    };
    let versions = ["1.0.0", "1.1.0"].map(|number| (number.to_owned(), version(name, number, &dependencies, origin)));
    json!({ "name": name, "dist-tags": { "latest": "1.1.0" }, "versions": serde_json::Map::from_iter(versions) })
}

/// The documents that a resolution requests in this order, and its lockfile. The documents of
/// versions have tarballs below another origin, or are missing.
fn resolved(dependencies: &Value, options: Options, documents: Option<&str>) -> (Vec<String>, String) {
    let manifest = json!({ "name": "project", "dependencies": dependencies }).to_string();
    let project = Project { manifest, folder_name: "project".into(), ..Project::default() };
    let mut resolution = Resolution::new(project, options);
    let mut requested = Vec::new();
    while resolution.advance() == Progress::Waiting {
        let (request, _) = resolution.next_request().expect("a request");
        let answer = match &request {
            Request::Packument { name, .. } => {
                requested.push(name.clone());
                let text = packument(name, REGISTRY).to_string();
                Ok(Answer::Packument(Arc::new(Packument::parse(text.as_bytes(), Detail::Whole).expect("a packument"))))
            }
            Request::VersionDocument { name, version, .. } => {
                requested.push(format!("{name}/{version}"));
                match documents {
                    Some(origin) => {
                        Ok(Answer::VersionDocument(packument(name, origin)["versions"][version].to_string()))
                    }
                    None => Err(FetchFailure {
                        kind: FetchFailureKind::NotFound,
                        message: "there are no such documents".into(),
                        url: format!("{REGISTRY}/{name}/{version}"),
                    }),
                }
            }
            other => panic!("{other:?}"),
        };
        resolution.supply(&request, answer);
    }
    (requested, resolution.finish().expect("a lock").lockfile.text().to_owned())
}

#[test]
fn the_document_of_an_exact_version_takes_the_place_of_the_packument() {
    let (requested, lock) = resolved(&json!({ "a": "^1.0.0" }), Options::default(), Some(REGISTRY));
    assert_eq!(requested, ["a", "@s/c/1.0.0", "@s/d/1.0.0", "b/1.0.0"]);
    assert!(lock.contains("\"resolved\": \"http://registry.test/@s/d/-/d-1.0.0.tgz\""), "{lock}");
}

#[test]
fn a_range_needs_the_packument() {
    let both = json!({ "a": "^1.0.0", "e": "^1.0.0" });
    let (requested, _) = resolved(&both, Options::default(), Some(REGISTRY));
    assert!(requested.contains(&"b".to_owned()), "{requested:?}");
}

#[test]
fn the_packuments_of_the_projects_own_dependencies_are_known() {
    // The remedies for a conflict list other versions of them.
    let own = json!({ "a": "1.0.0", "b": "1.0.0" });
    let (requested, _) = resolved(&own, Options::default(), Some(REGISTRY));
    assert_eq!(requested, ["a", "b", "@s/c/1.0.0", "@s/d/1.0.0"]);
}

#[test]
fn only_packuments_state_when_a_version_was_published() {
    let options = Options { before: Some(0), ..Options::default() };
    let (requested, _) = resolved(&json!({ "a": "^1.0.0" }), options, Some(REGISTRY));
    assert_eq!(requested, ["a", "@s/c", "@s/d", "b"]);
}

#[test]
fn a_document_with_another_tarball_than_the_packument_would_state_does_not_count() {
    let project = json!({ "a": "^1.0.0" });
    let (_, expected) = resolved(&project, Options::default(), Some(REGISTRY));
    for documents in [Some("http://elsewhere.test"), None] {
        let (requested, lock) = resolved(&project, Options::default(), documents);
        // The second package of a scope isn't tried.
        assert_eq!(requested, ["a", "@s/c/1.0.0", "@s/c", "@s/d", "b/1.0.0", "b"], "{documents:?}");
        assert_eq!(lock, expected, "{documents:?}");
    }
}
