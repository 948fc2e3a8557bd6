//! `espalier lock` as a person uses it: the real program, on a real project, with a real registry
//! on loopback.

use std::fs;

use crate::support::{Outcome, Stage, assert_screen};
use serde_json::{Value, json};

fn project(dependencies: &Value) -> Value {
    json!({"name": "my-app", "version": "1.0.0", "dependencies": dependencies})
}

/// The terminal's content after a failure.
#[track_caller]
fn assert_failure(outcome: &Outcome, code: i32, screen: &str) {
    assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert_screen(screen, &outcome.stderr);
}

#[test]
fn a_lockfile_is_created_and_nothing_else() {
    let stage = Stage::new(
        &project(&json!({"a": "^1.0.0"})),
        &[("a@1.0.0", json!({"dependencies": {"b": "^2.0.0"}})), ("b@2.1.0", json!({}))],
    );
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "2 packages resolved in <time>; package-lock.json created.\n");
    assert_eq!(outcome.stderr, "");
    let lockfile = stage.lockfile().expect("a lockfile");
    assert_eq!(lockfile["packages"]["node_modules/b"]["license"], "MIT");
    let mut names: Vec<_> = fs::read_dir(stage.path("project"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["package-lock.json", "package.json"]);
}

/// A resolution starts before Node has stated its version, with the version in the header beside
/// Node.
#[cfg(unix)]
#[test]
fn what_was_resolved_for_another_node_than_there_is_is_thrown_away() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new(
        &project(&json!({"a": "1"})),
        &[
            ("a@1.0.0", json!({"engines": {"node": ">=18"}})),
            ("a@1.1.0", json!({"engines": {"node": ">=22"}})),
            ("a@1.2.0", json!({"engines": {"node": ">=99"}, "deprecated": "no"})),
        ],
    );
    for (folder, file, text) in [
        ("bin", "node", "#!/bin/sh\nsleep 0.2\necho v18.20.0\n"),
        (
            "include/node",
            "node_version.h",
            "#define NODE_MAJOR_VERSION 22\n#define NODE_MINOR_VERSION 1\n#define NODE_PATCH_VERSION 0\n",
        ),
    ] {
        let folder = stage.path("node").join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(file), text).expect("written");
    }
    let program = stage.path("node/bin/node");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    let mut command = stage.espalier(&["lock"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display()));
    let outcome = stage.run(command);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let lockfile = stage.lockfile().expect("a lockfile");
    assert_eq!(lockfile["packages"]["node_modules/a"]["version"], "1.0.0");
}

#[test]
fn a_path_that_begins_with_a_tilde_leads_to_the_home_folder() {
    let stage = Stage::new(&project(&json!({"lib": "~/lib"})), &[]);
    fs::create_dir_all(stage.path("home/lib")).expect("a folder");
    fs::write(stage.path("home/lib/package.json"), r#"{"name":"lib","version":"1.0.0"}"#).expect("written");
    let packages = |dependency: &str| {
        json!({
            "": {"name": "my-app", "version": "1.0.0", "dependencies": {"lib": dependency}},
            "../home/lib": {"version": "1.0.0"},
            "node_modules/lib": {"resolved": "../home/lib", "link": true},
        })
    };
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(stage.lockfile().expect("a lockfile")["packages"], packages("~/lib"));
    for argument in ["lib", "file:~/lib"] {
        let outcome = stage.run(stage.espalier(&["install", argument]));
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(stage.lockfile().expect("a lockfile")["packages"], packages("file:../home/lib"), "{argument}");
    }
}

#[test]
fn a_workspace_whose_manifest_is_not_json_is_an_error() {
    let mut manifest = project(&json!({}));
    manifest["workspaces"] = json!(["packages/*"]);
    let stage = Stage::new(&manifest, &[]);
    fs::create_dir_all(stage.path("project/packages/a")).expect("a folder");
    for text in ["", "<<<<<<< main\n{\"name\":\"a\"}\n"] {
        fs::write(stage.path("project/packages/a/package.json"), text).expect("written");
        let outcome = stage.lock(&[]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("packages/a/package.json"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("EJSONPARSE"), "{}", outcome.stderr);
    }
    fs::write(stage.path("project/packages/a/package.json"), r#"{"name":"B b"}"#).expect("written");
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("EINVALIDPACKAGENAME"), "{}", outcome.stderr);
}

/// As in npm, for which it is the current folder (`install.js`).
#[test]
fn an_empty_argument_adds_nothing() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({}))]);
    let outcome = stage.run(stage.espalier(&["install", "", "--package-lock-only"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(stage.lockfile().expect("a lockfile")["packages"]["node_modules/a"]["version"], "1.0.0");
}

#[test]
fn a_lockfile_that_is_right_is_left_alone() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({}))]);
    stage.lock(&[]);
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.stdout, "1 package resolved in <time>; package-lock.json was up to date.\n");
}

#[test]
fn a_second_run_asks_the_registry_nothing() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({}))]);
    stage.lock(&[]);
    let requests = stage.requests();
    fs::remove_file(stage.path("project/package-lock.json")).expect("a lockfile");
    assert_eq!(stage.lock(&[]).code, Some(0));
    assert_eq!(stage.lock(&["--offline"]).code, Some(0));
    assert_eq!(stage.requests(), requests);
}

#[test]
fn the_project_is_found_upwards_or_named() {
    let stage = Stage::new(&project(&json!({})), &[]);
    stage.write("src/index.js", "");
    let mut command = stage.command(&[]);
    command.current_dir(stage.path("project/src"));
    let outcome = stage.run(command);
    assert_eq!(outcome.stdout, "0 packages resolved in <time>; /project/package-lock.json created.\n");
    let mut command = stage.command(&["-C", "project"]);
    command.current_dir(stage.path(""));
    assert_eq!(stage.run(command).stdout, "0 packages resolved in <time>; project/package-lock.json was up to date.\n");
}

#[test]
fn what_is_not_for_this_machine_says_who_asks_and_what_helps() {
    let stage = Stage::new(
        &project(&json!({"a": "1"})),
        &[
            ("a@1.0.0", json!({"dependencies": {"picky": "1"}})),
            ("picky@1.0.0", json!({"engines": {"node": ">=99"}, "os": ["nowhere"]})),
        ],
    );
    assert_failure(&stage.lock(&["--engine-strict"]), 1, "bad-engine");
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.code, Some(1));
    for said in ["(EBADPLATFORM)", "   └─ picky 1.0.0   wanted as 1\n", "`optionalDependencies`"] {
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
}

#[test]
fn what_deserves_a_look_is_said_in_few_lines() {
    let stage = Stage::new(
        &project(&json!({"old": "1", "picky": "1"})),
        &[("old@1.0.0", json!({"deprecated": "use new"})), ("picky@1.0.0", json!({"engines": {"node": ">=99"}}))],
    );
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.code, Some(0));
    assert_screen("warnings", &outcome.stderr);
}

#[test]
fn quiet_says_nothing_when_it_works() {
    let stage = Stage::new(&project(&json!({"old": "1"})), &[("old@1.0.0", json!({"deprecated": "use new"}))]);
    let outcome = stage.lock(&["--quiet"]);
    assert_eq!((outcome.code, outcome.stdout, outcome.stderr), (Some(0), String::new(), String::new()));
}

#[test]
fn timings_say_where_the_time_went() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({}))]);
    let outcome = stage.lock(&["--timings"]);
    for label in ["starting", "waiting for answers", "cpu: resolving", "2 requests"] {
        assert!(outcome.stderr.contains(label), "{}", outcome.stderr);
    }
}

#[test]
fn no_manifest() {
    let stage = Stage::bare();
    assert_failure(&stage.lock(&[]), 1, "no-manifest");
    assert_failure(&stage.lock(&["-C", "."]), 1, "no-manifest-in-named-folder");
    assert_failure(&stage.lock(&["-C", "nowhere"]), 1, "no-folder");
}

#[test]
fn invalid_json() {
    let stage = Stage::bare();
    stage.write("package.json", "{\n  \"name\": \"my-app\",\n  \"dependencies\": {\n    \"a\": \"^1.0.0\",\n  }\n}\n");
    assert_failure(&stage.lock(&[]), 1, "invalid-json");
}

#[test]
fn a_spec_that_is_no_string() {
    let stage = Stage::new(
        &project(&json!({"a": "1"})),
        &[("a@1.0.0", json!({"dependencies": {"b": 5}})), ("c@1.0.0", json!({"dependencies": {"Foo Bar": "1"}}))],
    );
    assert_failure(&stage.lock(&[]), 1, "no-string-deep");
    stage.write("package.json", &project(&json!({"a": null})).to_string());
    assert_failure(&stage.lock(&[]), 1, "no-string");
    stage.write("package.json", &project(&json!({"c": "1"})).to_string());
    assert_failure(&stage.lock(&[]), 1, "invalid-name");
}

#[test]
fn the_projects_own_engines_and_platform() {
    let stage = Stage::bare();
    stage.write("package.json", &json!({"name": "my-app", "engines": {"node": ">=99"}}).to_string());
    assert_failure(&stage.lock(&["--engine-strict"]), 1, "bad-engine-own");
    stage.write("package.json", &json!({"name": "my-app", "os": "plan9"}).to_string());
    assert_failure(&stage.lock(&["--os=linux", "--cpu=x64"]), 1, "bad-platform-own");
}

#[test]
fn a_git_dependency() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({"dependencies": {"b": "me/b"}}))]);
    assert_failure(&stage.lock(&[]), 1, "git-not-allowed-deep");
    stage.write("package.json", &project(&json!({"b": "me/b"})).to_string());
    assert_failure(&stage.lock(&[]), 1, "git-not-allowed");
    stage.write("package.json", &project(&json!({"b": "git+file:///nowhere/b.git"})).to_string());
    assert_failure(&stage.lock(&["--allow-git=root"]), 1, "git-unreadable");
    // The name of a registry's package can end like the address of a repository.
    stage.write("package.json", &project(&json!({"b.git": "1"})).to_string());
    let outcome = stage.lock(&[]);
    assert!(outcome.stderr.starts_with("error: the registry does not have b.git"), "{}", outcome.stderr);
}

#[test]
fn a_version_of_the_lockfile_that_the_registry_lacks() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({}))]);
    let lockfile = json!({"lockfileVersion": 3, "packages": {
        "": {"name": "my-app", "version": "1.0.0", "dependencies": {"a": "1"}},
        "node_modules/a": {"version": "1.2.0"},
    }});
    stage.write("package-lock.json", &lockfile.to_string());
    let outcome = stage.run(stage.espalier(&["ci"]));
    assert_failure(&outcome, 1, "no-locked-version");
    // The lockfile has nothing to do with a tag.
    let outcome = stage.run(stage.espalier(&["install", "a@absent", "--package-lock-only"]));
    assert_failure(&outcome, 1, "no-such-tag");
}

#[test]
fn unknown_package() {
    let stage = Stage::new(&project(&json!({"no-such-package": "^1.0.0"})), &[]);
    assert_failure(&stage.lock(&[]), 1, "unknown-package");
    assert_eq!(stage.lockfile(), None);
}

#[test]
fn unknown_package_deep_in_the_tree() {
    let stage = Stage::new(
        &project(&json!({"a": "^1.0.0"})),
        &[
            ("a@1.2.0", json!({"dependencies": {"b": "~2.0.0"}})),
            ("b@2.0.5", json!({"dependencies": {"@gone/package": "*"}})),
        ],
    );
    assert_failure(&stage.lock(&[]), 1, "unknown-package-deep");
}

#[test]
fn an_optional_package_may_be_unknown() {
    let manifest = json!({"name": "my-app", "optionalDependencies": {"no-such-package": "1"}});
    let stage = Stage::new(&manifest, &[]);
    assert_eq!(stage.lock(&[]).code, Some(0));
}

#[test]
fn no_matching_version() {
    let packages = [
        ("a@1.0.0", json!({})),
        ("a@1.4.0", json!({})),
        ("a@2.0.0", json!({})),
        ("b@1.0.0", json!({"dependencies": {"a": "^7"}})),
    ];
    let stage = Stage::new(&project(&json!({"a": "^3.0.0"})), &packages);
    assert_failure(&stage.lock(&[]), 1, "no-matching-version");
    let stage = Stage::new(&project(&json!({"b": "^1.0.0"})), &packages);
    assert_failure(&stage.lock(&[]), 1, "no-matching-version-deep");
}

#[test]
fn registry_unreachable() {
    let stage = Stage::bare();
    stage.write("package.json", &project(&json!({"a": "^1.0.0"})).to_string());
    assert_failure(&stage.lock(&[]), 1, "registry-unreachable");
}

#[test]
fn a_version_that_does_not_exist_is_not_asked_for_in_each_run() {
    let stage = Stage::new(
        &json!({"name": "app", "dependencies": {"a": "^1.0.0"}}),
        &[("a@1.0.0", json!({"optionalDependencies": {"b": "9.0.0"}})), ("b@1.0.0", json!({}))],
    );
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    stage.write(
        "package.json",
        &json!({"name": "app", "version": "2.0.0", "dependencies": {"a": "^1.0.0"}}).to_string(),
    );
    fs::remove_file(stage.path("project/package-lock.json")).expect("removed");
    let outcome = stage.lock(&["--json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(report["network"]["requests"], 0, "{report}");
}

#[test]
fn the_manifest_of_an_exact_version_completes_a_range_offline() {
    let packages = [("a@1.0.0", json!({"license": "MIT"}))];
    let stage = Stage::new(&json!({"name": "app", "dependencies": {"a": "1.0.0", "b": "npm:a@1"}}), &packages);
    let outcome = stage.lock(&[]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    // Now only the packument leads to this version, so a document has to complete its manifest.
    stage.write("package.json", &json!({"name": "app", "dependencies": {"b": "npm:a@1"}}).to_string());
    fs::remove_file(stage.path("project/package-lock.json")).expect("removed");
    let outcome = stage.lock(&["--offline"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(stage.lockfile().expect("a lock")["packages"]["node_modules/b"]["license"], "MIT");
}

#[test]
fn offline_and_not_cached() {
    let stage = Stage::new(&project(&json!({"a": "^1.0.0"})), &[("a@1.0.0", json!({}))]);
    assert_failure(&stage.lock(&["--offline"]), 1, "offline");
    assert_eq!(stage.requests(), 0);
}

/// `ui` needs another version of `react` than the project.
fn conflicting() -> Stage {
    Stage::new(
        &project(&json!({"react": "^19.0.0", "ui": "^3.0.0"})),
        &[
            ("react@18.3.1", json!({})),
            ("react@19.1.0", json!({})),
            ("ui@3.0.0", json!({"peerDependencies": {"react": "^18.0.0"}})),
        ],
    )
}

#[test]
fn conflicting_peers() {
    assert_failure(&conflicting().lock(&[]), 1, "conflicting-peers");
}

/// The remedy is in the workspace's package.json.
#[test]
fn conflicting_peers_of_a_workspace() {
    let stage = Stage::new(
        &json!({"name": "my-app", "version": "1.0.0", "workspaces": ["packages/*"]}),
        &[
            ("react@18.3.1", json!({})),
            ("react@19.1.0", json!({})),
            ("ui@3.0.0", json!({"peerDependencies": {"react": "^18.0.0"}})),
            ("ui@4.0.0", json!({"peerDependencies": {"react": "^19.0.0"}})),
        ],
    );
    let site = json!({"name": "site", "version": "1.0.0", "dependencies": {"react": "^19.0.0", "ui": "^3.0.0"}});
    stage.write("packages/site/package.json", &site.to_string());
    assert_failure(&stage.lock(&[]), 1, "conflicting-peers-workspace");
}

#[test]
fn flags_get_past_conflicting_peers() {
    let stage = conflicting();
    let outcome = stage.lock(&["--legacy-peer-deps"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let outcome = stage.lock(&["--force"]);
    assert_eq!(outcome.code, Some(0));
    stage.write(".npmrc", "legacy-peer-deps=true");
    fs::remove_file(stage.path("project/package-lock.json")).expect("a lockfile");
    assert_eq!(stage.lock(&["--legacy-peer-deps=false"]).code, Some(1));
    assert_eq!(stage.lock(&[]).code, Some(0));
}

#[test]
fn a_registry_that_is_no_url_is_a_usage_error() {
    let stage = Stage::new(&project(&json!({})), &[]);
    assert_failure(&stage.lock(&["--registry", "registry.test"]), 2, "registry-no-url");
    assert_eq!(stage.lock(&["--no-such-flag"]).code, Some(2));
    assert_eq!(stage.lock(&["--node-version", "22"]).code, Some(2));
}

#[test]
fn a_credential_without_a_registry_is_refused() {
    let stage = Stage::new(&project(&json!({})), &[]);
    stage.write(".npmrc", "_authToken=s3cret");
    let outcome = stage.lock(&[]);
    assert_failure(&outcome, 1, "unscoped-credential");
    assert!(!outcome.stderr.contains("s3cret"));
}

#[test]
fn success_as_json() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({"deprecated": "use b"}))]);
    let outcome = stage.lock(&["--json"]);
    assert_eq!(outcome.stderr, "");
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(report["schema"], 1);
    assert_eq!(report["ok"], true);
    assert_eq!(report["lockfile"], json!({"path": "/project/package-lock.json", "written": "created"}));
    assert_eq!(report["packages"], 1);
    assert_eq!(report["warnings"][0]["code"], "deprecated");
    assert_eq!(report["network"]["requests"], 2);
    assert!(report["elapsedMs"].is_f64() && report["timingsMs"]["resolving"].is_f64(), "{report}");
}

#[test]
fn failure_as_json() {
    let outcome = conflicting().lock(&["--json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), ""));
    assert_screen("conflicting-peers-json", &outcome.stdout);
}

#[cfg(unix)]
#[test]
fn an_interruption_ends_it_cleanly() {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    // A registry that takes the request and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let stage = Stage::bare().at(format!("http://{}", listener.local_addr().expect("an address")));
    stage.write("package.json", &project(&json!({"a": "1"})).to_string());
    stage.write("package-lock.json", "{}");
    let child = stage.command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
    let (mut connection, _) = listener.accept().expect("a connection");
    connection.read_exact(&mut [0]).expect("a request");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let outcome = stage.outcome(child);
    assert_eq!(outcome.code, Some(130));
    assert_screen("interrupted", &outcome.stderr);
    assert_eq!(fs::read_to_string(stage.path("project/package-lock.json")).expect("a file"), "{}");
}

#[test]
fn a_verbose_log_says_why_a_package_is_where_it_is() {
    let stage = Stage::new(
        &project(&json!({"a": "1", "b": "1"})),
        &[("a@1.0.0", json!({"dependencies": {"b": "2"}})), ("b@1.0.0", json!({})), ("b@2.0.0", json!({}))],
    );
    let log = stage.lock(&["--loglevel=verbose"]).stderr;
    let nested = "placed b@2.0.0 at node_modules/a/node_modules/b";
    let why = "node_modules/a: free; the project: 1.0.0 is in the way (conflict)";
    assert!(log.lines().any(|line| line.contains(nested) && line.contains(why)), "{log}");
    assert!(log.contains("picked b@1.0.0 for 1"), "{log}");
    assert!(!log.contains("visit"), "{log}");
    fs::remove_file(stage.path("project/package-lock.json")).expect("a lockfile");
    assert!(stage.lock(&["-ddd"]).stderr.contains("visit"));
}

#[test]
fn a_trace_says_what_was_done_when() {
    let stage = Stage::new(&project(&json!({"a": "1"})), &[("a@1.0.0", json!({}))]);
    let trace = stage.path("trace.json");
    let outcome = stage.lock(&["--trace", trace.to_str().expect("text")]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let trace: Value = serde_json::from_slice(&fs::read(&trace).expect("a trace")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let names = |phase: &str| {
        let of_phase = events.iter().filter(|event| event["ph"] == phase);
        of_phase.map(|event| event["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    for work in ["decide", "wait", "inflate", "parse", "write"] {
        assert!(names("X").iter().any(|name| name == work), "{work}: {events:?}");
    }
    let requests = names("b");
    assert_eq!(requests, names("e"));
    assert!(requests.iter().any(|name| name == "body"), "{requests:?}");
    assert!(requests.iter().any(|address| address.ends_with("/a")), "{requests:?}");
    let is_in_time = |event: &Value| event["dur"].as_f64().is_none_or(|length| length >= 0.0);
    assert!(events.iter().all(is_in_time), "{events:?}");
    let outcome = stage.lock(&["--trace", "/nowhere/trace.json"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("cannot write /nowhere/trace.json"), "{}", outcome.stderr);
}
