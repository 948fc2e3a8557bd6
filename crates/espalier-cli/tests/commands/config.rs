//! `espalier config`, on real files.

use std::fs;

use crate::support::{Outcome, Stage};

fn run(stage: &Stage, arguments: &[&str]) -> Outcome {
    let all: Vec<&str> = ["config"].iter().chain(arguments).copied().collect();
    stage.run(stage.with_programs(&all))
}

fn stage() -> Stage {
    let stage = Stage::bare();
    stage.write("package.json", "{}");
    stage.write(".npmrc", "; ours\nfund=false\n//registry.test/:_authToken=s3cret\n");
    stage
}

#[test]
fn values_are_those_in_force() {
    let stage = stage();
    assert_eq!(run(&stage, &["get", "fund"]).stdout, "false\n");
    assert_eq!(run(&stage, &["get", "save-prefix", "omit"]).stdout, "save-prefix=^\nomit=\n");
    assert_eq!(run(&stage, &["get", "no-such-thing"]).stdout, "undefined\n");
}

#[test]
fn secrets_are_not_shown() {
    let stage = stage();
    let outcome = run(&stage, &["get", "//registry.test/:_authToken"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    for arguments in [&["list"][..], &["list", "--json"], &["list", "--long"]] {
        let outcome = run(&stage, arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(!outcome.stdout.contains("s3cret"), "{}", outcome.stdout);
    }
    assert!(run(&stage, &["list"]).stdout.contains("//registry.test/:_authToken = (protected)"));
}

#[test]
fn credentials_in_an_address_are_not_shown() {
    let stage = stage();
    stage.write(".npmrc", "proxy=http://me:s3cret@proxy.test:80/a@b?key=1\n");
    assert!(run(&stage, &["list"]).stdout.contains(r#"proxy = "http://***@proxy.test:80/a@b?key=1""#));
    let outcome = run(&stage, &["get", "proxy"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    assert!(outcome.stderr.contains("EPROTECTED") && !outcome.stderr.contains("s3cret"), "{}", outcome.stderr);
}

#[test]
fn settings_are_written_and_taken_out_again() {
    let stage = stage();
    assert_eq!(run(&stage, &["set", "save-exact=true", "tag", "next"]).code, Some(0));
    let users = stage.path("home/.npmrc");
    assert_eq!(fs::read_to_string(&users).expect("a file"), "save-exact=true\ntag=next\n");
    run(&stage, &["set", "--location", "project", "fund=true"]);
    run(&stage, &["delete", "tag"]);
    assert_eq!(fs::read_to_string(&users).expect("a file"), "save-exact=true\n");
    let text = fs::read_to_string(stage.path("project/.npmrc")).expect("a file");
    assert_eq!(text, "; ours\nfund=true\n//registry.test/:_authToken=s3cret\n");
}

#[cfg(unix)]
#[test]
fn the_users_file_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = stage();
    run(&stage, &["set", "//registry.test/:_authToken=other"]);
    let mode = fs::metadata(stage.path("home/.npmrc")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_npm_does_not_know_is_not_written() {
    let stage = stage();
    assert_eq!(run(&stage, &["set", "no-such-thing=1"]).code, Some(1));
    assert!(!stage.path("home/.npmrc").exists());
}

#[test]
fn a_file_that_is_not_text_stays_as_it_is() {
    let stage = stage();
    let users = stage.path("home/.npmrc");
    let latin = b"; caf\xe9\n//registry.test/:_authToken=s3cret\n";
    fs::create_dir_all(stage.path("home")).expect("a folder");
    fs::write(&users, latin).expect("written");
    let outcome = run(&stage, &["set", "tag=next"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains(".npmrc") && outcome.stderr.contains("UTF-8"), "{}", outcome.stderr);
    assert_eq!(fs::read(&users).expect("a file"), latin);
}
