//! Edits of package.json, compared with npm's.
//!
//! `manifest_edit/cases.json` has the package.json that npm 12.2.0 wrote with `npm <command>
//! --package-lock-only` in a folder with `before` as its package.json and a package `d` in `lib/d`.
//! `found` has the versions in npm's lockfile.

use std::collections::BTreeMap;

use espalier_core::manifest_edit::{Edit, Found, SaveType, Saving};
use espalier_core::spec::Specs;
use serde::Deserialize;

const FOLDER: &str = "/p";

#[derive(Deserialize)]
struct Case {
    title: String,
    before: String,
    command: String,
    found: BTreeMap<String, Recorded>,
    after: String,
}

#[derive(Deserialize)]
struct Recorded {
    package: String,
    version: Option<String>,
}

/// The same steps as in `install`: enters the requests, resolves, and saves the results.
fn edited(case: &Case) -> String {
    let mut edit = Edit::of(&case.before).expect("JSON");
    let (flags, words): (Vec<_>, Vec<_>) = case.command.split(' ').partition(|word| word.starts_with('-'));
    let (verb, packages) = words.split_first().expect("a verb");
    if *verb == "uninstall" {
        for name in packages {
            edit.remove(name);
        }
        return edit.finish().unwrap_or_else(|| case.before.clone());
    }
    let mut saving = Saving::default();
    let mut prefix = "^";
    for flag in flags {
        match flag {
            "-D" => saving.kind = Some(SaveType::Dev),
            "-O" => saving.kind = Some(SaveType::Optional),
            "--save-peer" => saving.kind = Some(SaveType::Peer),
            "--save-prod" => saving.kind = Some(SaveType::Prod),
            "-B" => saving.bundle = true,
            "--save-exact" => prefix = "",
            "--save-prefix=~" => prefix = "~",
            other => panic!("{other}"),
        }
    }
    let requests: Vec<_> = packages.iter().map(|package| request(package)).collect();
    for (name, spec) in &requests {
        edit.add(name, spec, saving);
    }
    for (name, _) in &requests {
        let recorded = &case.found[name];
        let found = Found {
            package: &recorded.package,
            version: recorded.version.as_deref(),
            workspace: case.before.contains("workspaces"),
            overridden: None,
        };
        edit.found(name, &found, FOLDER, prefix, &Specs::default());
    }
    edit.finish().unwrap_or_else(|| case.before.clone())
}

/// The name and spec of an argument. Tags and folders have the form in which npm enters them.
fn request(argument: &str) -> (String, String) {
    if argument.contains("lib/d") {
        return ("d".to_owned(), "file:lib/d".to_owned());
    }
    let (name, spec) = argument.split_once('@').unwrap_or((argument, "*"));
    (name.to_owned(), if spec == "next" { "3.0.0-beta.1" } else { spec }.to_owned())
}

#[test]
fn files_are_edited_as_npm_edits_them() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("manifest_edit/cases.json")).expect("JSON");
    let mut wrong = Vec::new();
    for case in &cases {
        let edited = edited(case);
        if edited != case.after {
            wrong.push(format!("{} ({})\n--- npm\n{}\n--- here\n{edited}", case.title, case.command, case.after));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_text_to_resolve_has_what_was_asked_for() {
    let mut edit = Edit::of("{\"devDependencies\":{\"a\":\"1\"}}").expect("JSON");
    edit.add("a", "^2", Saving { kind: Some(SaveType::Prod), bundle: false });
    assert_eq!(edit.manifest(), "{\"dependencies\":{\"a\":\"^2\"}}");
}

#[test]
fn a_repository_is_saved_by_its_shortcut_unless_https_was_asked_for() {
    let saved = |spec: &str| {
        let mut edit = Edit::of("{}").expect("JSON");
        edit.add("cli", spec, Saving::default());
        edit.found(
            "cli",
            &Found { package: "cli", version: Some("1.0.0"), workspace: false, overridden: None },
            FOLDER,
            "^",
            &Specs::default(),
        );
        let manifest: serde_json::Value = serde_json::from_str(&edit.manifest()).expect("JSON");
        manifest["dependencies"]["cli"].as_str().expect("a spec").to_owned()
    };
    assert_eq!(saved("npm/cli#v1"), "github:npm/cli#v1");
    assert_eq!(saved("git+ssh://git@github.com/npm/cli.git#v1"), "github:npm/cli#v1");
    assert_eq!(saved("git+https://github.com/npm/cli.git#semver:^1"), "git+https://github.com/npm/cli.git#semver:^1");
    assert_eq!(saved("git+https://me:secret@github.com/npm/cli.git"), "git+https://me:secret@github.com/npm/cli.git");
    assert_eq!(saved("git+file:///srv/cli.git"), "git+file:///srv/cli.git");
    assert_eq!(saved("http://registry.test/cli.tgz"), "http://registry.test/cli.tgz");
}
