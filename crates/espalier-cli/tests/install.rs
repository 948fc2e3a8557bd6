//! `espalier ci`, `install` and `store` as a person uses them, also killed at any moment, and eight
//! at once.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::workshop::{FILES, PACKAGES, Workshop};
use serde_json::{Value, json};

/// Scripts need a shell.
#[cfg(unix)]
#[test]
fn approved_scripts_run_and_a_failure_undoes_everything() {
    let workshop = Workshop::new();
    let manifest = fs::read_to_string(workshop.stage.path("project/package.json")).expect("a manifest");
    let mut manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    manifest["allowScripts"] = json!({ "p0": true });
    manifest["scripts"] =
        json!({ "preinstall": "echo $npm_command > own", "postinstall": "cat node_modules/p0/built >> own" });
    workshop.stage.write("package.json", &manifest.to_string());
    workshop.stage.write("fail", "");

    let mut command = workshop.command("project", &["install"]);
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    let failed = workshop.stage.run(command);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    let first = failed.stderr.lines().next().unwrap_or_default();
    assert_eq!(first, "error: the script postinstall of node_modules/p0 ended with exit code 1 (ELIFECYCLE)");
    assert!(failed.stderr.ends_with("\nno\n"), "{}", failed.stderr);
    assert!(workshop.tree("project").is_empty() && workshop.stage.lockfile().is_none());

    fs::remove_file(workshop.stage.path("project/fail")).expect("removed");
    let mut command = workshop.command("project", &["install"]);
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    let outcome = workshop.stage.run(command);
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), "  1 package ran install scripts\n"));
    assert_eq!(fs::read_to_string(workshop.stage.path("project/own")).expect("a file"), "install\nyes\n");
    workshop.assert_sound_store();
}

#[test]
fn installing_says_what_was_done_and_what_was_not() {
    let workshop = Workshop::new();
    let outcome = workshop.succeed(&["install"]);
    assert!(outcome.stdout.starts_with("40 packages added in "), "{}", outcome.stdout);
    assert_eq!(
        outcome.stderr,
        "  1 package has install scripts that were not run; espalier approve lists them\n    p0\n"
    );
    assert_eq!(workshop.tree("project").len(), PACKAGES * (FILES + 1) + PACKAGES + 1);
    let again = workshop.succeed(&["install"]);
    assert!(again.stdout.starts_with("40 packages up to date in "), "{}", again.stdout);
    assert_eq!(again.stderr, "");
}

#[test]
fn pruning_can_leave_node_modules_alone() {
    let workshop = Workshop::of(1);
    // npm ignores names.
    workshop.succeed(&["prune", "p0", "--package-lock-only"]);
    assert!(workshop.tree("project").is_empty() && workshop.stage.lockfile().is_some());
}

#[test]
fn machines_get_one_object() {
    let workshop = Workshop::new();
    let outcome = workshop.succeed(&["install", "--json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(
        (&report["ok"], &report["command"], &report["lockfile"]["written"]),
        (&json!(true), &json!("install"), &json!("created"))
    );
    assert_eq!(report["added"].as_array().map(Vec::len), Some(PACKAGES));
    assert_eq!(report["withScripts"], json!([{ "location": "node_modules/p0", "name": "p0", "version": "1.0.0" }]));
    fs::remove_file(workshop.stage.path("project/package-lock.json")).expect("removed");
    let outcome = workshop.run(&["ci", "--json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!((outcome.code, &report["error"]["code"]), (Some(1), &json!("EUSAGE")));
}

#[test]
fn the_store_serves_a_second_project_without_the_registry() {
    let workshop = Workshop::new();
    workshop.succeed(&["install"]);
    let other = workshop.stage.path("other");
    fs::create_dir(&other).expect("a folder");
    for file in ["package.json", "package-lock.json"] {
        fs::copy(workshop.stage.path("project").join(file), other.join(file)).expect("copied");
    }
    let outcome = workshop.stage.run(workshop.command("other", &["ci", "--offline"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(workshop.tree("other"), workshop.tree("project"));
    workshop.assert_sound_store();
    fs::remove_dir_all(workshop.stage.path("project/node_modules")).expect("removed");
    fs::remove_dir_all(other).expect("removed");
    let pruned = workshop.succeed(&["store", "prune"]);
    assert!(pruned.stdout.starts_with("40 packages removed ("), "{}", pruned.stdout);
}

#[test]
fn the_store_is_in_the_cache_folder_unless_it_has_a_place_of_its_own() {
    let workshop = Workshop::of(2);
    let install = |arguments: &[&str], store: Option<&str>| {
        let _ = fs::remove_dir_all(workshop.stage.path("project/node_modules"));
        let mut command = workshop.command("project", &[&["install"], arguments].concat());
        command.env_remove("ESPALIER_STORE");
        command.envs(store.map(|store| ("ESPALIER_STORE", workshop.stage.path(store))));
        let outcome = workshop.stage.run(command);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    };
    let has_store = |folder: &str| workshop.stage.path(folder).join("v2/packages").is_dir();
    install(&["--cache-dir", "../moved"], None);
    assert!(has_store("moved/store") && !has_store("cache/store"));
    install(&[], None);
    assert!(has_store("cache/store"));
    install(&["--cache-dir", "../again"], Some("own"));
    assert!(has_store("own") && !has_store("again/store"));
    install(&["--cache-dir", "../again", "--store-dir", "../named"], Some("own"));
    assert!(has_store("named") && !has_store("again/store"));
    assert!(!workshop.stage.path("home/.cache").exists());
}

/// `ESPALIER_KILLS` raises the number of attempts.
#[test]
fn a_killed_installation_is_finished_by_the_next_one() {
    let kills: u32 = std::env::var("ESPALIER_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(8);
    let workshop = Workshop::new();
    let start = Instant::now();
    workshop.succeed(&["install"]);
    let whole = start.elapsed().max(Duration::from_millis(50));
    let expected = workshop.tree("project");
    for attempt in 0..kills {
        // Every other attempt starts from nothing. The moments are spread over the whole run.
        if attempt % 2 == 0 {
            let _ = fs::remove_dir_all(workshop.stage.path("store"));
        }
        let _ = fs::remove_dir_all(workshop.stage.path("project/node_modules"));
        let command = if attempt % 3 == 0 { "ci" } else { "install" };
        let mut child = workshop.command("project", &[command]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command");
        std::thread::sleep(whole * (attempt * 7 % kills) / kills);
        child.kill().expect("killed");
        child.wait().expect("ended");
        workshop.succeed(&["install"]);
        assert!(workshop.tree("project") == expected, "attempt {attempt} left another tree");
        workshop.assert_sound_store();
    }
}

/// The cache of documents, its index and the notes of earlier resolutions are as robust as the
/// store.
#[test]
fn a_killed_lock_leaves_a_cache_that_the_next_one_can_use() {
    let kills: u32 = std::env::var("ESPALIER_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(8);
    let workshop = Workshop::new();
    let lockfile = workshop.stage.path("project/package-lock.json");
    let start = Instant::now();
    workshop.succeed(&["lock"]);
    let whole = start.elapsed().max(Duration::from_millis(20));
    let expected = fs::read_to_string(&lockfile).expect("a lockfile");
    for attempt in 0..kills {
        // Every third attempt keeps the cache of the last one.
        if attempt % 3 != 2 {
            let _ = fs::remove_dir_all(workshop.stage.path("cache"));
        }
        let _ = fs::remove_file(&lockfile);
        let mut child = workshop.command("project", &["lock"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command");
        std::thread::sleep(whole * (attempt * 5 % kills) / kills);
        child.kill().expect("killed");
        child.wait().expect("ended");
        // If there is a lockfile, it is complete.
        assert!(
            fs::read_to_string(&lockfile).map_or(true, |text| text == expected),
            "attempt {attempt} left half a lock"
        );
        // The second time, the resolution may be remembered.
        for _ in 0..2 {
            let _ = fs::remove_file(&lockfile);
            workshop.succeed(&["lock"]);
            assert!(
                fs::read_to_string(&lockfile).is_ok_and(|text| text == expected),
                "attempt {attempt} left another cache"
            );
        }
    }
}

#[test]
fn eight_locks_share_a_cache_at_once() {
    let workshop = Workshop::new();
    let start = |number: usize| {
        let folder = format!("{number}/project");
        fs::create_dir_all(workshop.stage.path(&folder)).expect("a folder");
        fs::copy(workshop.stage.path("project/package.json"), workshop.stage.path(&folder).join("package.json"))
            .expect("copied");
        let mut command = workshop.command(&folder, &["lock"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command")
    };
    for child in (0..8).map(start).collect::<Vec<_>>() {
        let outcome = workshop.stage.outcome(child);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    workshop.succeed(&["lock"]);
    let lock =
        |folder: &str| fs::read_to_string(workshop.stage.path(folder).join("package-lock.json")).expect("a lockfile");
    assert!((0..8).all(|number| lock(&format!("{number}/project")) == lock("project")));
}

#[test]
fn eight_installations_share_a_store_at_once() {
    let workshop = Workshop::new();
    workshop.succeed(&["lock"]);
    let folders: Vec<String> = (0..8).map(|number| format!("project-{number}")).collect();
    let children: Vec<_> = folders
        .iter()
        .map(|folder| {
            fs::create_dir(workshop.stage.path(folder)).expect("a folder");
            for file in ["package.json", "package-lock.json"] {
                fs::copy(workshop.stage.path("project").join(file), workshop.stage.path(folder).join(file))
                    .expect("copied");
            }
            let mut command = workshop.command(folder, &["ci"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command")
        })
        .collect();
    for child in children {
        let outcome = workshop.stage.outcome(child);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    let expected = workshop.tree(&folders[0]);
    assert_eq!(expected.len(), PACKAGES * (FILES + 1) + PACKAGES + 1);
    for folder in &folders {
        assert!(workshop.tree(folder) == expected, "{folder} has another tree");
    }
    workshop.assert_sound_store();
}

#[test]
fn two_installations_of_one_project_take_turns() {
    let workshop = Workshop::new();
    workshop.succeed(&["lock"]);
    let start = |_| {
        let mut command = workshop.command("project", &["install"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command")
    };
    for child in (0..3).map(start).collect::<Vec<_>>() {
        let outcome = workshop.stage.outcome(child);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    assert_eq!(workshop.tree("project").len(), PACKAGES * (FILES + 1) + PACKAGES + 1);
}

#[test]
fn a_damaged_tarball_is_named_with_its_package_and_url() {
    let workshop = Workshop::new();
    let file = workshop.stage.path("registry/tarballs/p3/p3-1.0.0.tgz");
    let bytes = fs::read(&file).expect("a tarball");
    fs::File::create(&file).and_then(|mut file| file.write_all(&bytes[..bytes.len() / 2])).expect("written");
    let outcome = workshop.run(&["install"]);
    assert_eq!(outcome.code, Some(1));
    for words in ["p3@1.0.0", "/p3/-/p3-1.0.0.tgz", "is not the expected tarball", "Try again"] {
        assert!(outcome.stderr.contains(words), "{words} is missing:\n{}", outcome.stderr);
    }
    assert!(workshop.tree("project").is_empty());
    assert!(!workshop.stage.path("project/package-lock.json").exists());
}
