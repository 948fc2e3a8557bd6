//! The specs that a resolution saves.

use std::sync::Arc;

use espalier_core::{
    Answer, ChangedManifest, Changes, Detail, Options, Packument, Progress, Project, Request, Resolution, Update,
};
use serde_json::{Value, json};

/// npm 12.2.0 saves the override's spec for the workspace, because it confuses the effective spec
/// with the requested one.
#[test]
fn an_update_saves_the_spec_of_the_override_in_force() {
    let project = Project {
        manifest: json!({ "workspaces": ["packages/*"], "overrides": { "a": "^3.0.0" } }).to_string(),
        folder_name: "project".into(),
        changes: Changes { update: Update::All, ..Changes::default() },
        ..Project::default()
    };
    let workspace = json!({ "name": "two", "dependencies": { "a": "^2.0.0" } }).to_string();
    let mut resolution = Resolution::new(project, Options::default());
    while resolution.advance() == Progress::Waiting {
        while let Some((request, _)) = resolution.next_request() {
            let answer = match &request {
                Request::PackageFolders => Answer::PackageFolders(vec!["packages/two".into()]),
                Request::Folder { .. } => Answer::Folder(Some(workspace.clone())),
                Request::Packument { .. } => Answer::Packument(Arc::new(packument())),
                other => panic!("{other:?}"),
            };
            resolution.supply(&request, Ok(answer));
        }
    }
    let changed = resolution.finish().expect("a lock").changed_manifests;
    let [ChangedManifest { folder, text }] = changed.as_slice() else { panic!("{changed:?}") };
    let manifest: Value = serde_json::from_str(text).expect("a manifest");
    assert_eq!((folder.as_str(), &manifest["dependencies"]["a"]), ("packages/two", &json!("^3.0.0")));
}

fn packument() -> Packument {
    let version =
        |version: &str| json!({ "name": "a", "version": version, "license": "MIT", "dist": { "tarball": "/a.tgz" } });
    let versions = json!({ "2.0.0": version("2.0.0"), "3.0.0": version("3.0.0") });
    let text = json!({ "name": "a", "dist-tags": { "latest": "3.0.0" }, "versions": versions });
    Packument::parse(text.to_string().as_bytes(), Detail::Whole).expect("a packument")
}
