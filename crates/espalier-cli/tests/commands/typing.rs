//! The command line as people type it for npm.

use std::fs;

use crate::support::{Outcome, Stage, Tarball, assert_screen};
use serde_json::{Value, json};

fn stage() -> Stage {
    let package = |name: &str| Tarball::new(json!({"name": name, "version": "1.0.0"}));
    let failing = json!({"name": "failing", "version": "1.0.0", "scripts": {"postinstall": "exit 5"}});
    Stage::with_tarballs(&[package("a"), package("b"), package("c"), Tarball::new(failing)])
}

fn run(stage: &Stage, arguments: &[&str]) -> Outcome {
    stage.run(stage.with_programs(arguments))
}

#[track_caller]
fn succeed(stage: &Stage, arguments: &[&str]) -> Outcome {
    let outcome = run(stage, arguments);
    assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
    outcome
}

fn manifest(stage: &Stage, folder: &str) -> Value {
    let text = fs::read_to_string(stage.path(folder).join("package.json")).expect("a package.json");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn adding_where_there_is_no_project_makes_one() {
    let stage = stage();
    fs::remove_file(stage.path("project/package.json")).expect("removed");
    succeed(&stage, &["install", "a"]);
    let text = fs::read_to_string(stage.path("project/package.json")).expect("a file");
    assert_eq!(text, "{\n  \"dependencies\": {\n    \"a\": \"^1.0.0\"\n  }\n}\n");
    let lock = stage.lockfile().expect("a lockfile");
    assert_eq!((&lock["name"], &lock["packages"][""]), (&json!("project"), &json!({"dependencies": {"a": "^1.0.0"}})));
    let without = stage.path("project/elsewhere");
    fs::create_dir_all(&without).expect("a folder");
    succeed(&stage, &["-C", "elsewhere", "add", "b"]);
    assert_eq!(manifest(&stage, "project/elsewhere")["dependencies"], json!({"b": "^1.0.0"}));
}

#[test]
fn a_folder_without_a_project_is_an_empty_tree() {
    let stage = stage();
    fs::remove_file(stage.path("project/package.json")).expect("removed");
    assert_eq!(succeed(&stage, &["ls"]).stdout, "/project\n└── (empty)\n");
    assert_eq!(succeed(&stage, &["outdated"]).stdout, "");
    assert_eq!(succeed(&stage, &["config", "get", "save-prefix"]).stdout, "^\n");
}

#[test]
fn ci_accepts_no_option_that_tolerates_problems_with_patches() {
    let stage = stage();
    for option in ["--allow-unused-patches", "--ignore-patch-failures"] {
        let outcome = run(&stage, &["ci", option, "--json"]);
        let error: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!((outcome.code, &error["error"]["code"]), (Some(1), &json!("ECIPATCHFLAG")), "{option}");
    }
}

#[test]
fn npms_settings_and_short_forms_are_accepted() {
    let stage = stage();
    succeed(&stage, &["--no-audit", "i", "-DE", "a", "--no-fund", "--loglevel", "error", "--progress=false"]);
    assert_eq!(manifest(&stage, "project")["devDependencies"], json!({"a": "1.0.0"}));
    succeed(&stage, &["isntall", "b", "--save-exact", "false", "--omit=dev"]);
    assert_eq!(manifest(&stage, "project")["dependencies"], json!({"b": "^1.0.0"}));
    assert!(!stage.path("project/node_modules/a").exists());
    succeed(&stage, &["clean-install", "--production=false"]);
    assert!(stage.path("project/node_modules/a").exists());
    assert_eq!(succeed(&stage, &["ci", "--silent"]).stdout, "");
    succeed(&stage, &["un", "a"]);
    assert_eq!(manifest(&stage, "project")["devDependencies"], Value::Null);
}

#[test]
fn settings_work_from_the_environment_and_from_files() {
    let stage = stage();
    stage.write(".npmrc", "save-dev=true\npackage-lock-only=true\n");
    succeed(&stage, &["add", "a"]);
    assert_eq!(manifest(&stage, "project")["devDependencies"], json!({"a": "^1.0.0"}));
    assert!(!stage.path("project/node_modules").exists());
    stage.write(".npmrc", "production=true\n");
    succeed(&stage, &["install"]);
    assert!(!stage.path("project/node_modules/a").exists());
    let mut command = stage.with_programs(&["add", "b"]);
    command.env("npm_config_dry_run", "true");
    assert_eq!(stage.run(command).code, Some(0));
    assert_eq!(manifest(&stage, "project")["dependencies"], Value::Null);
}

#[test]
fn a_lockfile_of_the_first_version_can_be_written_and_installed() {
    let stage = stage();
    succeed(&stage, &["add", "a", "--lockfile-version=1"]);
    let lock = stage.lockfile().expect("a lockfile");
    assert_eq!((&lock["lockfileVersion"], &lock["packages"]), (&json!(1), &Value::Null));
    assert!(stage.path("project/node_modules/a/package.json").exists());
    let note = fs::read_to_string(stage.path("project/node_modules/.package-lock.json")).expect("a note");
    assert!(note.contains("\"node_modules/a\""), "{note}");
}

#[test]
fn an_optional_package_whose_script_fails_is_noted_nowhere() {
    let stage = stage();
    let manifest = json!({"optionalDependencies": {"failing": "1"}, "allowScripts": {"failing": true}});
    stage.write("package.json", &manifest.to_string());
    succeed(&stage, &["install"]);
    assert!(!stage.path("project/node_modules/failing").exists());
    let note = fs::read_to_string(stage.path("project/node_modules/.package-lock.json")).expect("a note");
    assert!(!note.contains("failing"), "{note}");
    stage.write(
        "package.json",
        &json!({"dependencies": {"failing": "1"}, "allowScripts": {"failing": true}}).to_string(),
    );
    assert_eq!(run(&stage, &["install"]).code, Some(5), "as the script ended");
}

#[test]
fn installing_and_testing_is_one_command() {
    let stage = stage();
    stage.write(
        "package.json",
        &json!({"dependencies": {"a": "1"}, "scripts": {"test": "ls node_modules"}}).to_string(),
    );
    assert!(succeed(&stage, &["it"]).stdout.ends_with("a\n"));
    assert!(succeed(&stage, &["cit"]).stdout.ends_with("a\n"));
    stage.write("package.json", &json!({"dependencies": {"a": "1"}, "scripts": {"test": "exit 4"}}).to_string());
    assert_eq!(run(&stage, &["install-test"]).code, Some(4));
}

#[test]
fn npms_other_layout_is_refused() {
    let stage = stage();
    let outcome = run(&stage, &["install", "--install-strategy=linked"]);
    assert_eq!(outcome.code, Some(2));
    assert_screen("no-linked-strategy", &outcome.stderr);
}

#[test]
fn without_workspaces_only_the_project_is_installed() {
    let stage = stage();
    stage.write("package.json", r#"{"workspaces": ["packages/*"], "dependencies": {"a": "1"}}"#);
    stage.write("packages/w/package.json", r#"{"name": "w", "version": "1.0.0", "dependencies": {"b": "1"}}"#);
    succeed(&stage, &["install", "--workspaces=false"]);
    let is_there = |name: &str| stage.path("project/node_modules").join(name).exists();
    assert_eq!(["a", "b", "w"].map(is_there), [true, false, false]);
    let lock = stage.lockfile().expect("a lockfile");
    assert!(lock["packages"]["node_modules/b"].is_object(), "it is about everything all the same");
    succeed(&stage, &["ci"]);
    assert_eq!(["a", "b", "w"].map(is_there), [true, true, true]);
    // The hidden lockfile is out of date now, but the packages are still installed.
    stage.write("node_modules/stray/package.json", "{}");
    succeed(&stage, &["install", "--workspaces=false"]);
    let note = fs::read_to_string(stage.path("project/node_modules/.package-lock.json")).expect("a note");
    assert!(note.contains("\"node_modules/b\"") && note.contains("\"node_modules/w\""), "{note}");
}

#[test]
fn the_project_is_not_added_to_itself() {
    let stage = stage();
    stage.write("package.json", "{\n  \"name\": \"self\"\n}\n");
    succeed(&stage, &["install", "."]);
    assert_eq!(manifest(&stage, "project"), json!({"name": "self"}));
}

#[test]
fn settings_about_files_are_followed() {
    let stage = Stage::with_tarballs(&[
        Tarball::new(json!({"name": "tool", "version": "1.0.0", "bin": "cli.sh"})).with("cli.sh", "#!/bin/sh\n")
    ]);
    stage.write(".npmrc", "bin-links=false\nformat-package-lock=false\n");
    succeed(&stage, &["add", "tool"]);
    assert!(!stage.path("project/node_modules/.bin").exists());
    let lock = fs::read_to_string(stage.path("project/package-lock.json")).expect("a lockfile");
    assert!(lock.starts_with("{\"name\":\"project\",\"lockfileVersion\":3,") && !lock.contains('\n'), "{lock}");
    assert_eq!(succeed(&stage, &["ci"]).code, Some(0));
}

#[test]
fn what_moved_up_is_gone_below() {
    let inner = json!({"name": "inner", "version": "1.0.0"});
    let outer =
        |name: &str| json!({"name": name, "version": "1.0.0", "dependencies": {"inner": "1", "@scope/inner": "1"}});
    let scoped = json!({"name": "@scope/inner", "version": "1.0.0"});
    let stage = Stage::with_tarballs(&[
        Tarball::new(inner),
        Tarball::new(scoped),
        Tarball::new(outer("outer")),
        // Its own business, and not noted by npm.
        Tarball::new(outer("other")).with("node_modules/own/index.js", ""),
    ]);
    succeed(&stage, &["add", "outer", "other", "--install-strategy=nested"]);
    let is_there = |path: &str| stage.path("project/node_modules").join(path).exists();
    let below = ["outer/node_modules/inner", "outer/node_modules/@scope/inner"];
    assert_eq!(below.map(is_there), [true, true]);
    succeed(&stage, &["dedupe"]);
    assert_eq!(below.map(is_there), [false, false]);
    assert_eq!(["inner", "@scope/inner", "other/node_modules/own"].map(is_there), [true, true, true]);
}
