//! `exec` of a program that is not installed. It is fetched into a folder of its own and then runs.

use std::fs;

use crate::support::{Outcome, Stage, Tarball, assert_screen};
use serde_json::{Value, json};

/// A program that prints its name and its arguments.
fn program(name: &str, version: &str) -> Tarball {
    let manifest = json!({"name": name, "version": version, "bin": "cli.sh"});
    Tarball::new(manifest).with("cli.sh", &format!("#!/bin/sh\necho {name} {version} \"$@\"\n"))
}

fn stage() -> Stage {
    let several =
        json!({"name": "several", "version": "1.0.0", "bin": {"one": "one.sh", "two": "one.sh", "three": "3.sh"}});
    let library = json!({"name": "library", "version": "1.0.0"});
    let scripted = json!({"name": "scripted", "version": "1.0.0", "bin": "cli.sh",
        "scripts": {"postinstall": "echo ran > built"}});
    let here = "#!/bin/sh\ncd \"$(dirname \"$(readlink -f \"$0\")\")\" && ls built 2>/dev/null || echo blocked\n";
    Stage::with_tarballs(&[
        program("tool", "1.0.0"),
        program("tool", "1.1.0"),
        program("@scope/kit", "2.0.0"),
        Tarball::new(several).with("one.sh", "#!/bin/sh\necho one\n").with("3.sh", "#!/bin/sh\necho three\n"),
        Tarball::new(library),
        Tarball::new(scripted).with("cli.sh", here),
    ])
}

fn exec(stage: &Stage, arguments: &[&str]) -> Outcome {
    stage.run(stage.with_programs(&[&["exec"], arguments].concat()))
}

#[test]
fn what_is_not_installed_is_fetched_and_runs_where_it_was_called_for() {
    let stage = stage();
    let outcome = exec(&stage, &["tool", "a", "--flag"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "tool 1.1.0 a --flag\n"), "{}", outcome.stderr);
    assert_screen("exec-fetched", &outcome.stderr);
    assert!(!stage.path("project/node_modules").exists(), "the project is none of its business");
    let again = exec(&stage, &["tool"]);
    assert_eq!((again.stdout.as_str(), again.stderr.as_str()), ("tool 1.1.0\n", ""));
}

#[test]
fn a_version_a_scope_or_another_name_can_be_asked_for() {
    let stage = stage();
    assert_eq!(exec(&stage, &["-y", "tool@1.0.0"]).stdout, "tool 1.0.0\n");
    assert_eq!(exec(&stage, &["--yes", "@scope/kit", "x"]).stdout, "@scope/kit 2.0.0 x\n");
    assert_eq!(exec(&stage, &["--yes", "other@npm:tool@~1.0.0"]).stdout, "tool 1.0.0\n");
    assert_eq!(exec(&stage, &["-y", "-p", "several", "-p", "tool", "-c", "one; tool x"]).stdout, "one\ntool 1.1.0 x\n");
    assert_eq!(exec(&stage, &["-y", "--package=several", "--", "three"]).stdout, "three\n");
}

#[test]
fn what_is_installed_is_not_fetched() {
    let stage = stage();
    let added = stage.run(stage.with_programs(&["add", "tool@1.0.0"]));
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    for arguments in [&["tool"][..], &["--offline", "tool@^1.0.0"], &["--package=tool", "tool"]] {
        let outcome = exec(&stage, arguments);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("tool 1.0.0\n", ""), "{arguments:?}");
    }
    assert_eq!(exec(&stage, &["-y", "tool@1.1.0"]).stdout, "tool 1.1.0\n");
}

#[test]
fn no_means_no() {
    let stage = stage();
    let outcome = exec(&stage, &["--no", "tool", "moo"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    assert_screen("exec-not-fetched", &outcome.stderr);
    assert!(!stage.path("cache/exec-1").exists());
}

#[test]
fn a_package_without_the_program_says_what_it_has() {
    let stage = stage();
    let outcome = exec(&stage, &["-y", "several"]);
    assert_eq!(outcome.code, Some(1));
    assert_screen("exec-no-program", &outcome.stderr);
    assert_eq!(exec(&stage, &["-y", "library"]).code, Some(1));
    let outcome = exec(&stage, &["-y", "nowhere"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("E404"), "{}", outcome.stderr);
    stage.write("package-lock.json", "{}");
    let outcome = exec(&stage, &["-y", "tool@9.0.0"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("Choose a version that exists."), "{}", outcome.stderr);
}

#[test]
fn scripts_of_what_is_fetched_run_only_if_the_user_says_so() {
    let stage = stage();
    // The project in the current folder has no influence.
    stage.write("package.json", r#"{"name": "hostile", "allowScripts": {"scripted": true}}"#);
    stage.write(".npmrc", "allow-scripts=scripted\n");
    let outcome = exec(&stage, &["-y", "scripted"]);
    assert_eq!(outcome.stdout, "blocked\n");
    assert_screen("exec-blocked", &outcome.stderr);
    fs::remove_dir_all(stage.path("cache/exec-1")).expect("removed");
    fs::write(stage.path("home/.npmrc"), "allow-scripts=scripted\n").expect("written");
    let outcome = exec(&stage, &["-y", "scripted"]);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("built\n", ""));
}

#[test]
fn there_need_not_be_a_project() {
    let stage = stage();
    fs::remove_file(stage.path("project/package.json")).expect("removed");
    assert_eq!(exec(&stage, &["-y", "tool"]).stdout, "tool 1.1.0\n");
    assert_eq!(stage.lockfile(), None::<Value>);
}

#[test]
fn commands_are_linked_again() {
    let stage = stage();
    let run = |arguments: &[&str]| stage.run(stage.with_programs(arguments));
    assert_eq!(run(&["add", "tool", "several"]).code, Some(0));
    fs::remove_dir_all(stage.path("project/node_modules/.bin")).expect("removed");
    assert_eq!(run(&["rebuild", "tool"]).code, Some(0));
    assert_eq!(exec(&stage, &["tool"]).stdout, "tool 1.1.0\n");
    assert!(!stage.path("project/node_modules/.bin/three").exists(), "it wasn't asked for");
    assert_eq!(run(&["rebuild"]).code, Some(0));
    assert_eq!(exec(&stage, &["three"]).stdout, "three\n");
}

#[cfg(unix)]
#[test]
fn an_interruption_while_it_is_fetched_ends_it_with_the_code_of_one() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    // The registry has the documents and never sends the tarball.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let dist = json!({"tarball": format!("{origin}/tool/-/tool-1.0.0.tgz"), "integrity": "sha512-AAAA"});
    let version = json!({"name": "tool", "version": "1.0.0", "bin": "cli.sh", "dist": dist});
    let packument = json!({"name": "tool", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}});
    let stage = Stage::bare().at(origin);
    stage.write("package.json", "{}");
    let mut command = stage.with_programs(&["exec", "--yes", "tool"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
    let mut open = Vec::new();
    loop {
        let (mut connection, _) = listener.accept().expect("a connection");
        let lines = BufReader::new(connection.try_clone().expect("the same")).lines();
        let request = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).next().unwrap_or_default();
        if request.contains(".tgz") {
            open.push(connection);
            break;
        }
        let document = if request.contains("/tool/1.0.0") { &packument["versions"]["1.0.0"] } else { &packument };
        let body = document.to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
        write!(connection, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("an answer");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let outcome = stage.outcome(child);
    assert_eq!(outcome.code, Some(130), "{}", outcome.stderr);
}
