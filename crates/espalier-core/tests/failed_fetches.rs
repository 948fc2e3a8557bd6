//! Failed fetches, and their effect on a resolution.

use std::sync::Arc;

use espalier_core::{
    Answer, Detail, FetchFailure, FetchFailureKind, Options, Packument, Progress, Project, Request, Resolution,
    ResolveError, Warning,
};
use serde_json::{Value, json};

/// The packages in the lock of a project and its warnings, if each fetch of `broken` fails in this
/// way.
fn resolve(manifest: &Value, kind: FetchFailureKind) -> Result<(Vec<String>, Vec<Warning>), ResolveError> {
    let project = Project { manifest: manifest.to_string(), folder_name: "project".into(), ..Project::default() };
    let mut resolution = Resolution::new(project, Options::default());
    while resolution.advance() == Progress::Waiting {
        while let Some((request, _)) = resolution.next_request() {
            let Request::Packument { name, .. } = &request else { panic!("{request:?}") };
            let answer = if name == "broken" {
                Err(FetchFailure { kind, message: "the line is dead".into(), url: String::new() })
            } else {
                let version = json!({ "name": name, "version": "1.0.0", "dist": { "tarball": "/t.tgz" } });
                let text =
                    json!({ "name": name, "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": version } });
                let packument = Packument::parse(text.to_string().as_bytes(), Detail::Whole).expect("a packument");
                Ok(Answer::Packument(Arc::new(packument)))
            };
            resolution.supply(&request, answer);
        }
    }
    let outcome = resolution.finish()?;
    let lock: Value = serde_json::from_str(outcome.lockfile.text()).expect("a lockfile");
    let packages = lock["packages"].as_object().expect("packages").keys().cloned().collect();
    Ok((packages, outcome.warnings))
}

#[test]
fn an_optional_package_that_could_not_be_fetched_is_left_out_with_a_warning() {
    let manifest = json!({ "dependencies": { "a": "1" }, "optionalDependencies": { "broken": "1" } });
    let (packages, warnings) = resolve(&manifest, FetchFailureKind::Unreachable).expect("a lock");
    assert_eq!(packages, ["", "node_modules/a"]);
    let message = "the optional package broken is left out, because it could not be fetched: the line is dead";
    let expected =
        Warning { code: "ENETUNREACH".into(), message: message.into(), location: "node_modules/broken".into() };
    assert_eq!(warnings, [expected]);
}

#[test]
fn an_optional_package_that_the_registry_does_not_have_is_left_out_as_npm_does_it() {
    let manifest = json!({ "dependencies": { "a": "1" }, "optionalDependencies": { "broken": "1" } });
    let (packages, warnings) = resolve(&manifest, FetchFailureKind::NotFound).expect("a lock");
    assert_eq!(packages, ["", "node_modules/a"]);
    assert_eq!(warnings, []);
}

#[test]
fn a_package_that_is_needed_ends_the_resolution() {
    let manifest = json!({ "dependencies": { "broken": "1" } });
    let error = resolve(&manifest, FetchFailureKind::Unreachable).expect_err("no lock");
    assert!(matches!(error, ResolveError::Fetch { name, .. } if name == "broken"));
}
