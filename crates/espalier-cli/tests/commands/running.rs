//! The commands that run programs, in a real shell.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;

use crate::support::{Outcome, Stage, assert_screen};
use serde_json::{Value, json};

fn stage(manifest: &Value) -> Stage {
    let stage = Stage::bare();
    stage.write("package.json", &format!("{manifest:#}\n"));
    stage
}

fn run(stage: &Stage, arguments: &[&str]) -> Outcome {
    stage.run(stage.with_programs(arguments))
}

fn scripts(scripts: &Value) -> Stage {
    stage(&json!({"name": "r", "version": "1.2.3", "scripts": scripts, "config": {"port": 80}}))
}

/// A program of an installed package.
fn install_program(stage: &Stage, folder: &str, name: &str, text: &str) {
    let path = format!("{folder}/node_modules/.bin/{name}");
    stage.write(&path, text);
    let path = stage.path("project").join(path);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn a_script_runs_with_what_comes_before_and_after() {
    let stage = scripts(&json!({"pretest": "echo before", "test": "echo now", "posttest": "echo after"}));
    let outcome = run(&stage, &["run", "test", "--", "a", "b c", "it's", "--flag"]);
    assert_eq!(outcome.stdout, "before\nnow a b c it's --flag\nafter\n");
    assert_screen("run-said", &outcome.stderr);
    assert_eq!(run(&stage, &["test", "--ignore-scripts", "-s"]).stdout, "now\n");
}

#[test]
fn a_script_finds_npms_variables() {
    let stage = scripts(&json!({"show": "echo $npm_lifecycle_event $npm_package_name@$npm_package_version \
        $npm_package_config_port $npm_command; echo $npm_package_json; echo $INIT_CWD"}));
    let mut command = stage.with_programs(&["run", "show", "--quiet"]);
    fs::create_dir(stage.path("project/src")).expect("a folder");
    command.current_dir(stage.path("project/src"));
    let outcome = stage.run(command);
    assert_eq!(outcome.stdout, "show r@1.2.3 80 run\n/project/package.json\n/project/src\n", "{}", outcome.stderr);
}

#[test]
fn installed_programs_are_found_before_others() {
    let stage = scripts(&json!({"go": "tool from-script"}));
    install_program(&stage, ".", "tool", "#!/bin/sh\necho \"tool $*\"\n");
    assert_eq!(run(&stage, &["run", "go"]).stdout, "tool from-script\n");
    assert_eq!(run(&stage, &["exec", "tool", "--all", "b c"]).stdout, "tool --all b c\n");
    assert_eq!(run(&stage, &["x", "-c", "tool twice; tool"]).stdout, "tool twice\ntool \n");
}

#[test]
fn a_package_is_run_by_its_only_program() {
    let stage = scripts(&json!({}));
    stage.write("node_modules/compiler/package.json", r#"{"name": "compiler", "bin": {"cc": "cc.js"}}"#);
    install_program(&stage, ".", "cc", "#!/bin/sh\necho compiled\n");
    assert_eq!(run(&stage, &["exec", "compiler"]).stdout, "compiled\n");
}

#[test]
fn exit_codes_are_the_scripts() {
    let stage = scripts(&json!({"fail": "exit 3", "postfail": "echo never"}));
    let outcome = run(&stage, &["run", "fail"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""));
    assert_screen("run-failed", &outcome.stderr);
}

#[test]
fn a_signal_that_ends_a_script_ends_the_command() {
    let stage = scripts(&json!({"die": "kill -TERM $$"}));
    let mut command = stage.with_programs(&["run", "die"]);
    let status = command.status().expect("the command");
    assert_eq!(status.signal(), Some(15));
}

#[test]
fn a_missing_script_is_an_error_unless_it_may_be_missing() {
    let stage = scripts(&json!({"build": "true", "bundle": "true"}));
    let outcome = run(&stage, &["run", "biuld"]);
    assert_eq!(outcome.code, Some(1));
    assert_screen("run-missing", &outcome.stderr);
    let allowed = run(&stage, &["run", "biuld", "--if-present"]);
    assert_eq!((allowed.code, allowed.stderr.as_str()), (Some(0), ""));
}

#[test]
fn scripts_are_listed() {
    let stage = scripts(&json!({"build": "tsc -p .", "test": "jest", "pretest": "lint", "start:dev": "node ."}));
    assert_screen("run-list", &run(&stage, &["run"]).stdout);
    let machine: Value = serde_json::from_str(&run(&stage, &["run", "--json"]).stdout).expect("JSON");
    assert_eq!(machine["pretest"], "lint");
}

#[test]
fn a_package_json_that_is_no_json_is_shown() {
    let stage = Stage::bare();
    stage.write("package.json", "{\n  \"scripts\": {\n    \"test\": \"echo\",\n  }\n}\n");
    for arguments in [&["run", "test"][..], &["test"], &["run"]] {
        let outcome = run(&stage, arguments);
        assert_eq!(outcome.code, Some(1));
        assert_screen("run-invalid-json", &outcome.stderr);
    }
}

#[test]
fn restart_stops_and_starts_where_it_has_no_script() {
    let stage = scripts(&json!({"start": "echo started"}));
    assert_eq!(run(&stage, &["restart", "-s"]).stdout, "started\n");
}

#[test]
fn workspaces_run_their_own() {
    let stage = stage(
        &json!({"name": "root", "version": "1.0.0", "workspaces": ["packages/*"], "scripts": {"who": "echo root"}}),
    );
    for name in ["a", "b"] {
        let manifest = json!({"name": name, "version": "1.0.0", "dependencies": {"express": "4"},
            "scripts": {"who": format!("echo {name}; pwd")}});
        stage.write(&format!("packages/{name}/package.json"), &manifest.to_string());
    }
    assert_eq!(run(&stage, &["run", "who"]).stdout, "root\n");
    assert_eq!(run(&stage, &["run", "who", "--workspaces"]).stdout, "a\n/project/packages/a\nb\n/project/packages/b\n");
    assert_eq!(
        run(&stage, &["run", "who", "-w", "packages/b", "--include-workspace-root"]).stdout,
        "root\nb\n/project/packages/b\n"
    );
    let mut inside = stage.with_programs(&["run", "who"]);
    inside.current_dir(stage.path("project/packages/a"));
    assert_eq!(stage.run(inside).stdout, "a\n/project/packages/a\n");
    let outcome = run(&stage, &["run", "who", "-w", "nope"]);
    assert_eq!(outcome.code, Some(1));
    assert_screen("no-workspace", &outcome.stderr);
}

/// A project with two packages that have install scripts.
fn with_install_scripts() -> Stage {
    let stage =
        stage(&json!({"name": "my-app", "version": "1.0.0", "dependencies": {"native": "^1.0.0", "noisy": "^2.0.0"}}));
    let package = |name: &str, version: &str, scripts: Value| {
        stage.write(
            &format!("node_modules/{name}/package.json"),
            &json!({"name": name, "version": version, "scripts": scripts}).to_string(),
        );
    };
    package(
        "native",
        "1.0.0",
        json!({"install": "echo built > built.txt", "postinstall": "echo $npm_lifecycle_event > last.txt"}),
    );
    package("noisy", "2.1.0", json!({"postinstall": "echo please donate > /dev/null; exit 1"}));
    let entry = |name: &str, version: &str| {
        json!({"version": version, "hasInstallScript": true,
        "resolved": format!("http://registry.test/{name}/-/{name}-{version}.tgz")})
    };
    let lock = json!({"lockfileVersion": 3, "packages": {
        "node_modules/native": entry("native", "1.0.0"), "node_modules/noisy": entry("noisy", "2.1.0")}});
    stage.write("package-lock.json", &lock.to_string());
    stage
}

fn policy(stage: &Stage) -> Value {
    let text = fs::read_to_string(stage.path("project/package.json")).expect("a file");
    serde_json::from_str::<Value>(&text).expect("JSON")["allowScripts"].clone()
}

#[test]
fn install_scripts_wait_for_a_decision() {
    let stage = with_install_scripts();
    assert_screen("approve-pending", &run(&stage, &["approve"]).stdout);
    let outcome = run(&stage, &["rebuild"]);
    assert_eq!(outcome.stdout, "0 install scripts ran.\n");
    assert_screen("rebuild-blocked", &outcome.stderr);
    assert!(!stage.path("project/node_modules/native/built.txt").exists());
}

#[test]
fn what_is_approved_runs_and_nothing_else() {
    let stage = with_install_scripts();
    assert_screen("approve-approved", &run(&stage, &["approve", "native"]).stdout);
    assert_eq!(policy(&stage), json!({"native@1.0.0": true}));
    assert_eq!(run(&stage, &["deny", "noisy"]).code, Some(0));
    assert_eq!(policy(&stage), json!({"native@1.0.0": true, "noisy": false}));
    assert_eq!(run(&stage, &["approve"]).stdout, "All install scripts have been reviewed.\n");
    let outcome = run(&stage, &["rebuild"]);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("2 install scripts ran.\n", ""));
    let last = fs::read_to_string(stage.path("project/node_modules/native/last.txt")).expect("a file");
    assert_eq!(last, "postinstall\n");
    assert_screen("approve-denied", &run(&stage, &["approve", "noisy"]).stderr);
}

/// As in npm, `--workspace` has to name one, and limits nothing (`rebuild.js` does not pass it on).
#[test]
fn rebuild_can_leave_workspaces_out() {
    let stage = stage(&json!({"name": "root", "workspaces": ["packages/*"], "dependencies": {"a": "1"},
        "allowScripts": {"a": true, "b": true}}));
    for (location, name) in [("packages/w", "w"), ("node_modules/a", "a"), ("node_modules/b", "b")] {
        let script = format!("echo {name} >> $INIT_CWD/log");
        let dependencies = if name == "w" { json!({"b": "1"}) } else { json!({}) };
        let package =
            json!({"name": name, "version": "1.0.0", "dependencies": dependencies, "scripts": {"install": script}});
        stage.write(&format!("{location}/package.json"), &package.to_string());
    }
    std::os::unix::fs::symlink("../packages/w", stage.path("project/node_modules/w")).expect("a link");
    let log = stage.path("project/log");
    for (arguments, expected) in [
        (&["rebuild"][..], "a b w"),
        (&["rebuild", "-w", "w"], "a b w"),
        (&["rebuild", "-w", "packages/w", "a"], "a"),
        (&["rebuild", "--workspaces"], "a b w"),
        (&["rebuild", "--workspaces=false"], "a"),
        (&["rebuild", "--no-workspaces"], "a"),
        (&["rebuild", "--no-workspaces", "b"], "b"),
    ] {
        let outcome = run(&stage, arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
        let ran = fs::read_to_string(&log).expect("a file");
        let mut ran: Vec<&str> = ran.lines().collect();
        ran.sort_unstable();
        assert_eq!(ran.join(" "), expected, "{arguments:?}");
        fs::remove_file(&log).expect("removed");
    }
    let outcome = run(&stage, &["rebuild", "-w", "nope"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("nope") && !log.exists(), "{}", outcome.stderr);
}

#[test]
fn a_dry_run_decides_and_runs_nothing() {
    let stage = with_install_scripts();
    for arguments in [&["approve", "native"][..], &["approve", "--all"], &["deny", "noisy"], &["approve", "--prune"]] {
        let outcome = run(&stage, &[arguments, &["--dry-run"]].concat());
        assert_eq!((outcome.code, policy(&stage)), (Some(0), Value::Null), "{arguments:?}");
    }
    let outcome = run(&stage, &["approve", "native", "--dry-run"]);
    assert_eq!(outcome.stdout, "Would approve native\n  + native@1.0.0\n");
    run(&stage, &["approve", "--all"]);
    let outcome = run(&stage, &["rebuild", "--dry-run"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(!stage.path("project/node_modules/native/built.txt").exists());
}

#[test]
fn the_commands_of_a_folder_are_linked_again() {
    let stage = stage(&json!({"name": "r", "dependencies": {"a": "1"}}));
    let package = json!({"name": "a", "version": "1.0.0", "directories": {"bin": "./tools/"}});
    stage.write("node_modules/a/package.json", &package.to_string());
    for file in ["go", ".hidden", "more/go", "more/stop"] {
        stage.write(&format!("node_modules/a/tools/{file}"), "#!/bin/sh\n");
    }
    let outcome = run(&stage, &["rebuild"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let commands = stage.path("project/node_modules/.bin");
    let mut found: Vec<String> = fs::read_dir(&commands)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            format!(
                "{} {}",
                path.file_name().expect("a name").display(),
                fs::read_link(&path).expect("a link").display()
            )
        })
        .collect();
    found.sort();
    assert_eq!(found, ["go ../a/tools/more/go", "more ../a/tools/more", "stop ../a/tools/more/stop"]);
}

#[test]
fn a_script_that_fails_is_shown_with_what_it_printed() {
    let stage = with_install_scripts();
    let script = json!({"name": "noisy", "version": "2.1.0", "scripts": {"postinstall": "echo no compiler; exit 7"}});
    stage.write("node_modules/noisy/package.json", &script.to_string());
    run(&stage, &["approve", "--all", "--no-pin"]);
    assert_eq!(policy(&stage), json!({"native": true, "noisy": true}));
    let outcome = run(&stage, &["rebuild", "noisy"]);
    assert_eq!(outcome.code, Some(1));
    assert_screen("rebuild-failed", &outcome.stderr);
}

#[test]
fn only_what_is_installed_can_be_approved() {
    let stage = with_install_scripts();
    let outcome = run(&stage, &["approve", "native@2", "--json"]);
    assert_eq!(outcome.code, Some(1));
    let error: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(error["error"]["code"], "ENOMATCH");
    assert_eq!(policy(&stage), Value::Null);
}

#[test]
fn what_npm_has_and_espalier_does_not_is_said() {
    let stage = scripts(&json!({}));
    for (arguments, screen) in [
        (&["publish", "--tag", "next"][..], "no-publish"),
        (&["intsall"], "no-such-command"),
        (&["run", "x", "-g"], "no-globals"),
    ] {
        let outcome = run(&stage, arguments);
        assert_eq!(outcome.code, Some(2));
        assert_screen(screen, &outcome.stderr);
    }
}

#[test]
fn shells_can_complete() {
    let stage = Stage::bare();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let outcome = run(&stage, &["completions", shell]);
        assert!(outcome.stdout.contains("outdated") && outcome.stdout.contains("save-exact"), "{shell}");
        let typed =
            outcome.stdout.lines().any(|line| line.contains("--npm-setting") && line.trim() != "--npm-setting)");
        assert!(!typed, "{shell}: nobody types that");
    }
}
