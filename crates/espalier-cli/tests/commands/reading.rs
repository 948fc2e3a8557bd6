//! The commands that only read, in a project with many kinds of packages and problems, compared
//! with npm's output.
//!
//! `installed/project.json` is the project. `installed/npm.json` has the output and the exit codes
//! of npm 12.2.0.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use crate::support::{Outcome, Stage, assert_screen};
use espalier_replay::{Registry, Server, Settings};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Project {
    files: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Recorded {
    arguments: Vec<String>,
    code: i32,
    stdout: String,
}

const HIDDEN: &str = "node_modules/.package-lock.json";

fn stage() -> Stage {
    let stage = Stage::bare();
    let project: Project = serde_json::from_str(include_str!("installed/project.json")).expect("JSON");
    for (file, text) in &project.files {
        if file != HIDDEN {
            stage.write(file, text);
        }
    }
    for (link, target) in &project.links {
        let link = stage.path("project").join(link);
        fs::create_dir_all(link.parent().expect("a folder")).expect("a folder");
        std::os::unix::fs::symlink(target, link).expect("a link");
    }
    // npm writes the hidden lockfile last, and trusts it because it is newest.
    stage.write(HIDDEN, &project.files[HIDDEN]);
    stage
}

fn run(stage: &Stage, arguments: &[&str]) -> Outcome {
    stage.run(stage.with_programs(arguments))
}

/// Compares every recorded command whose name `is_meant` picks.
fn compare(stage: &Stage, is_meant: impl Fn(&str) -> bool) {
    let recorded: BTreeMap<String, Recorded> = serde_json::from_str(include_str!("installed/npm.json")).expect("JSON");
    let mut wrong = String::new();
    for (name, npm) in recorded.iter().filter(|(name, _)| is_meant(name)) {
        let arguments: Vec<&str> = npm.arguments.iter().map(String::as_str).collect();
        let ours = run(stage, &arguments);
        if ours.stdout.trim_end() != npm.stdout.trim_end() || ours.code != Some(npm.code) {
            let _ = writeln!(
                wrong,
                "{name}: {}\n--- npm ({})\n{}\n--- here ({:?})\n{}\n{}",
                npm.arguments.join(" "),
                npm.code,
                npm.stdout,
                ours.code,
                ours.stdout,
                ours.stderr
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn trees_are_listed_as_npm_lists_them() {
    compare(&stage(), |name| name.starts_with("tree") && !name.ends_with("json"));
}

#[test]
fn trees_are_listed_for_machines_as_npm_lists_them() {
    compare(&stage(), |name| name.starts_with("tree") && name.ends_with("json"));
}

#[test]
fn packages_are_explained_as_npm_explains_them() {
    compare(&stage(), |name| name.starts_with("why"));
}

#[test]
fn folders_are_looked_through_where_something_has_changed() {
    let stage = stage();
    fs::remove_file(stage.path("project").join(HIDDEN)).expect("a file");
    compare(&stage, |name| matches!(name, "tree" | "tree-all" | "tree-names" | "tree-parseable"));
    fs::remove_dir_all(stage.path("project/node_modules/stray")).expect("a folder");
    let outcome = run(&stage, &["tree"]);
    assert!(!outcome.stdout.contains("stray"), "{}", outcome.stdout);
}

#[test]
fn a_hidden_lockfile_that_is_out_of_date_is_not_believed() {
    let stage = stage();
    fs::remove_dir_all(stage.path("project/node_modules/stray")).expect("a folder");
    let outcome = run(&stage, &["tree"]);
    assert!(!outcome.stdout.contains("stray"), "{}", outcome.stdout);
}

#[test]
fn in_a_workspace_only_that_is_listed() {
    let stage = stage();
    let mut command = stage.with_programs(&["tree"]);
    command.current_dir(stage.path("project/packages/ui"));
    let here = stage.run(command).stdout;
    assert_eq!(here, run(&stage, &["tree", "--workspace", "@my/ui"]).stdout);
    assert!(here.contains("@my/ui@0.1.0") && !here.contains("wrong"), "{here}");
}

#[test]
fn problems_are_one_screen() {
    let outcome = run(&stage(), &["tree"]);
    assert_screen("tree-problems", &outcome.stderr);
}

#[test]
fn what_is_not_installed_cannot_be_explained() {
    let outcome = run(&stage(), &["why", "nothing"]);
    assert_eq!(outcome.code, Some(1));
    assert_screen("why-nothing", &outcome.stderr);
}

#[test]
fn a_lockfile_has_to_be_there_to_be_listed() {
    let stage = Stage::bare();
    stage.write("package.json", "{}");
    let outcome = run(&stage, &["tree", "--package-lock-only"]);
    assert_eq!(outcome.code, Some(1));
    assert_screen("tree-no-lockfile", &outcome.stderr);
}

#[test]
fn outdated_dependencies_are_a_table() {
    let manifest = json!({"name": "my-app", "dependencies": {"a": "^1.0.0", "gone": "1", "x": "npm:real@^1.0.0"},
        "devDependencies": {"fresh": "^1.0.0", "unseen": "1"}});
    let stage = Stage::new(
        &manifest,
        &[
            ("a@1.0.0", json!({})),
            ("a@1.4.0", json!({})),
            ("a@2.0.0", json!({})),
            ("gone@1.0.0", json!({})),
            ("real@1.0.0", json!({})),
            ("real@2.0.0", json!({})),
            ("fresh@1.0.0", json!({})),
            ("unseen@1.0.0", json!({})),
        ],
    );
    for (folder, name) in [("a", "a"), ("x", "real"), ("fresh", "fresh")] {
        stage.write(
            &format!("node_modules/{folder}/package.json"),
            &json!({"name": name, "version": "1.0.0"}).to_string(),
        );
    }
    let outcome = run(&stage, &["outdated"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), ""));
    assert_screen("outdated", &outcome.stdout);
    let machine: Value = serde_json::from_str(&run(&stage, &["outdated", "--json", "a"]).stdout).expect("JSON");
    let expected = json!({"a": {"current": "1.0.0", "wanted": "1.4.0", "latest": "2.0.0", "dependent": "project",
        "location": "/project/node_modules/a"}});
    assert_eq!(machine, expected);
    assert_eq!(run(&stage, &["outdated", "fresh"]).code, Some(0));
}

/// As in npm 12.2.0, `E403` and `E404` are skipped, and `E401` is not.
#[test]
fn a_registry_that_wants_a_token_fails_outdated_and_one_that_forbids_a_package_does_not() {
    for (status, code) in [(401, Some(1)), (403, Some(0)), (404, Some(0))] {
        let stage = Stage::new(&json!({"dependencies": {"a": "1"}}), &[("a@1.0.0", json!({}))]);
        stage.write("node_modules/a/package.json", r#"{"name": "a", "version": "1.0.0"}"#);
        let faults = vec![status.to_string().parse().expect("a fault")];
        let registry = Registry::open(&stage.path("registry")).expect("a registry");
        let server = Server::start_blocking(Arc::new(registry), Settings { faults, ..Settings::default() });
        let server = server.expect("a server");
        let outcome = run(&stage.at(server.origin()), &["outdated"]);
        assert_eq!((outcome.code, outcome.stderr.is_empty()), (code, code == Some(0)), "{}", outcome.stderr);
    }
}
