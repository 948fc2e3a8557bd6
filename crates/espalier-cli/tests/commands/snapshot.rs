//! `espalier snapshot`: the content of the file.

use std::fs;
use std::io::Read as _;

use crate::support::Stage;
use flate2::read::GzDecoder;
use serde_json::{Value, json};

fn stage() -> Stage {
    Stage::new(
        &json!({"name": "app", "dependencies": {"a": "^1.0.0"}}),
        &[("a@1.0.0", json!({"dependencies": {"@s/b": "^2.0.0"}})), ("@s/b@2.1.0", json!({"license": "ISC"}))],
    )
}

/// The file's head and its documents.
fn content(file: &[u8]) -> (Value, Vec<Value>) {
    let mut text = Vec::new();
    GzDecoder::new(file).read_to_end(&mut text).expect("gzip");
    let end = text.iter().position(|byte| *byte == b'\n').expect("a first line");
    let head: Value = serde_json::from_slice(&text[..end]).expect("JSON");
    let mut rest = &text[end + 1..];
    let mut documents = Vec::new();
    for document in head["documents"].as_array().expect("a list") {
        let length = usize::try_from(document["length"].as_u64().expect("a length")).expect("in memory");
        let (body, after) = rest.split_at(length);
        documents.push(serde_json::from_slice(body).expect("JSON"));
        rest = after;
    }
    assert!(rest.is_empty(), "{} bytes too many", rest.len());
    (head, documents)
}

#[test]
fn a_snapshot_has_all_documents_of_a_project() {
    let stage = stage();
    stage.write("package-lock.json", "{ \"lockfileVersion\": 3, \"packages\": {} }");
    let outcome = stage.run(stage.espalier(&["snapshot", "--out", "../taken", "--json"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!((&report["documents"], &report["leftOut"]), (&json!(4), &json!(0)), "{report}");
    let (head, documents) = content(&fs::read(stage.path("taken")).expect("the file"));
    assert_eq!(head["snapshot"], 1);
    let mut found: Vec<_> = (head["documents"].as_array().expect("a list").iter().zip(&documents))
        .map(|(about, document)| {
            let address = about["address"].as_str().expect("a text");
            let path = address.splitn(4, '/').last().expect("a path").to_owned();
            (path, about["final"] == true, document["name"].as_str().expect("a name").to_owned())
        })
        .collect();
    found.sort();
    let expected =
        [("@s%2fb", false, "@s/b"), ("@s%2fb/2.1.0", true, "@s/b"), ("a", false, "a"), ("a/1.0.0", true, "a")];
    let found: Vec<_> = found.iter().map(|(path, is_final, name)| (path.as_str(), *is_final, name.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_manifest_of_an_exact_version_can_change() {
    let stage = Stage::new(
        &json!({"name": "app", "dependencies": {"a": "1.0.0", "b": "^1.0.0"}}),
        &[("a@1.0.0", json!({})), ("b@1.0.0", json!({"dependencies": {"a": "1"}}))],
    );
    let outcome = stage.run(stage.espalier(&["snapshot", "--out", "../taken"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let (head, _) = content(&fs::read(stage.path("taken")).expect("the file"));
    let about = head["documents"].as_array().expect("a list").iter();
    let of_a = about.filter(|about| about["address"].as_str().is_some_and(|address| address.ends_with("/a/1.0.0")));
    assert_eq!(of_a.map(|about| about["final"] == true).collect::<Vec<_>>(), [false]);
}

#[test]
fn the_manifest_of_an_exact_version_is_in_it_although_the_packument_is_cached() {
    let stage = Stage::new(&json!({"name": "app", "dependencies": {"a": "^1.0.0"}}), &[("a@1.0.0", json!({}))]);
    assert_eq!(stage.lock(&[]).code, Some(0));
    stage.write("package.json", &json!({"name": "app", "dependencies": {"a": "1.0.0"}}).to_string());
    let outcome = stage.run(stage.espalier(&["snapshot", "--out", "../taken"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let (head, documents) = content(&fs::read(stage.path("taken")).expect("the file"));
    assert_eq!(documents.len(), 1, "{head}");
    assert!(head["documents"][0]["address"].as_str().is_some_and(|address| address.ends_with("/a/1.0.0")), "{head}");
}

#[test]
fn what_needed_a_token_is_left_out() {
    let stage = stage();
    let registry = stage.espalier(&[]).get_envs().find_map(|(key, value)| {
        let origin = value?.to_str()?;
        (key == "npm_config_registry").then(|| origin.trim_start_matches("http:").to_owned())
    });
    stage.write(".npmrc", &format!("{}/@s%2fb:_authToken=secret\n", registry.expect("a registry")));
    let outcome = stage.run(stage.espalier(&["snapshot", "--out", "../taken"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.ends_with("in ../taken; 2 left out.\n"), "{}", outcome.stdout);
    assert_eq!(content(&fs::read(stage.path("taken")).expect("the file")).1.len(), 2);
}

#[test]
fn what_a_registry_gives_to_a_named_user_is_left_out() {
    let stage = stage();
    let envs = stage.espalier(&[]);
    let registry =
        envs.get_envs().find(|(key, _)| *key == "npm_config_registry").and_then(|(_, value)| value?.to_str());
    let named = registry.expect("a registry").replace("http://", "http://me:secret@");
    let mut command = stage.espalier(&["snapshot", "--out", "../taken"]);
    command.env("npm_config_registry", named);
    let outcome = stage.run(command);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let (head, documents) = content(&fs::read(stage.path("taken")).expect("the file"));
    assert_eq!(documents.len(), 0);
    assert!(!format!("{head:?}").contains("secret"));
}

#[test]
fn a_project_that_cannot_be_resolved_leaves_no_file() {
    let stage = Stage::new(&json!({"dependencies": {"absent": "1"}}), &[]);
    let outcome = stage.run(stage.espalier(&["snapshot"]));
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    assert!(outcome.stderr.starts_with("error: the registry does not have absent (E404)"), "{}", outcome.stderr);
    assert!(!stage.path("project/espalier.snapshot").exists());
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_for_machines_too() {
    let stage = stage();
    let outcome = stage.run(stage.espalier(&["snapshot", "--out", "no-such-folder/taken", "--json"]));
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!((outcome.code, &report["error"]["code"], &*outcome.stderr), (Some(1), &json!("EWRITE"), ""));
}
