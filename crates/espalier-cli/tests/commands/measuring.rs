//! `--timings` and `--trace` of every command that does some work.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::workshop::Workshop;

/// The lines of a command's timings, and the names in its trace.
struct Measured {
    timings: String,
    trace: BTreeSet<String>,
}

impl Measured {
    #[track_caller]
    fn assert(&self, labels: &[&str], names: &[&str]) {
        for label in labels {
            assert!(
                self.timings.lines().any(|line| line.trim_start().starts_with(label)),
                "{label}:\n{}",
                self.timings
            );
        }
        for name in names {
            assert!(self.trace.contains(*name), "{name}: {:?}", self.trace);
        }
    }
}

/// Runs a command with both options. They precede the program of `exec`.
#[track_caller]
fn measure(workshop: &Workshop, words: &[&str], code: i32) -> Measured {
    let trace = workshop.stage.path("trace.json");
    let _ = fs::remove_file(&trace);
    let options = [words[0], "--timings", "--trace", trace.to_str().expect("text")];
    let mut command = workshop.command("project", &[&options, &words[1..]].concat());
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    let outcome = workshop.stage.run(command);
    assert_eq!(outcome.code, Some(code), "{words:?}: {}", outcome.stderr);
    let trace: Value = serde_json::from_slice(&fs::read(&trace).expect("a trace")).expect("JSON");
    let names = trace["traceEvents"].as_array().expect("events").iter();
    let names =
        names.filter(|event| event["ph"] != "M").map(|event| event["name"].as_str().expect("a name").to_owned());
    Measured { timings: outcome.stderr, trace: names.collect() }
}

#[test]
fn each_command_says_what_took_how_long() {
    let workshop = Workshop::of(4);
    let manifest = fs::read_to_string(workshop.stage.path("project/package.json")).expect("a manifest");
    let mut manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    manifest["allowScripts"] = json!({ "p0": true });
    workshop.stage.write("package.json", &manifest.to_string());

    let resolution = ["starting", "waiting for answers", "finishing", "cpu: resolving", "cpu: parsing"];
    let installation =
        ["planning", "placing", "scripts", "cpu: hashing", "cpu: unpacking", "cpu: placing", "cpu: writing"];
    measure(&workshop, &["lock"], 0).assert(&resolution, &["decide", "parse", "body", "wait", "write"]);
    let installed = measure(&workshop, &["install"], 0);
    installed.assert(&resolution, &["decide", "body", "hash", "inflate", "unpack", "write", "link"]);
    installed.assert(&installation, &[]);
    for words in [&["ci"][..], &["update"], &["remove", "p3"], &["add", "p3"], &["dedupe"], &["prune"]] {
        let measured = measure(&workshop, words, 0);
        measured.assert(&resolution, &["decide", "write"]);
        measured.assert(&installation, &[]);
    }
    measure(&workshop, &["rebuild"], 0)
        .assert(&["reading", "linking commands", "postinstall"], &["reading", "postinstall"]);
    measure(&workshop, &["outdated"], 0).assert(&["reading", "asking"], &["asking"]);
    measure(&workshop, &["snapshot"], 0).assert(&["resolving", "writing", "cpu: resolving"], &["decide", "resolving"]);
    measure(&workshop, &["remove", "p3"], 0);
    let fetched = measure(&workshop, &["exec", "--yes", "--package", "p3", "--call", "true"], 0);
    fetched.assert(&["asking", "planning", "placing", "running"], &["asking", "decide", "link", "running"]);
    measure(&workshop, &["store", "verify"], 0).assert(&["opening", "verifying"], &["opening", "verifying"]);
    measure(&workshop, &["store", "prune"], 0).assert(&["opening", "pruning"], &["opening", "pruning"]);
    let after_the_action = workshop.succeed(&["store", "verify", "--timings"]);
    assert!(after_the_action.stderr.contains("verifying"), "{}", after_the_action.stderr);
}
