//! Where package managers and node-tar have failed before, and which test keeps that from happening here.
//!
//! | what happened | test |
//! |---|---|
//! | CVE-2019-16775, -16776, -16777: commands that lead out of their package, or replace others' | `install.rs`: `commands_are_linked_and_executable_and_the_first_has_the_name`; `cve_2019_16777_…` here |
//! | CVE-2016-3956: a token for any host | `config/tests.rs`: `a_token_goes_to_its_own_host_and_path_only`; `faults.rs`: `a_redirect_to_another_origin_leaves_the_token_behind` |
//! | CVE-2020-15095: secrets in URLs that are shown | `faults.rs`: `a_token_is_sent_to_its_registry_and_never_shown`; `trust.rs`: `secrets_are_not_shown`; `git/mod.rs`: `credentials_are_not_told` |
//! | CVE-2021-32803, CVE-2026-23745: files through links | `unpack.rs`: `a_file_does_not_go_through_a_link` |
//! | CVE-2021-32804: absolute paths | `unpack.rs`: `absolute_paths_stay_inside` |
//! | CVE-2021-37701, -37712: climbing drives | `unpack.rs`: `drives_do_not_hide_a_climb` |
//! | CVE-2021-37713, CVE-2024-47829: colliding names | `unpack.rs`: `names_that_collide_are_what_the_file_system_makes_of_them` |
//! | CVE-2021-39134: a link, and a package whose name differs in case only | `cve_2021_39134_…` here |
//! | CVE-2021-39135: `node_modules` that is a link | `install_hostile.rs`: `links_in_the_place_of_folders_are_not_followed` |
//! | CVE-2021-43616: `ci` with another lock | `install.rs`: `ci_needs_a_lockfile_that_fits` |
//! | CVE-2023-37478: an entry that comes twice | `unpack.rs`: `the_last_of_two_files_counts` |
//! | CVE-2024-53866: a poisoned cache | `cve_2024_53866_…` here; `documents.rs`: `another_tarball_is_refused_and_not_kept` |
//! | CVE-2025-69263: URLs without a hash | `cve_2025_69263_…` here |
//! | CVE-2025-69264: scripts of git dependencies | `install_packed.rs`: `a_repository_is_packed_and_prepared_only_if_it_may_be` |
//! | CVE-2026-23889: backslashes | `cve_2026_23889_…` here |
//! | CVE-2026-23890: commands with a scope | `bins.rs`: `names_and_paths_stay_where_they_belong` |
//! | CVE-2026-24056: links in folders and repositories | `install_packed.rs`: `links_in_repositories_and_folders_are_not_installed` |
//! | CVE-2026-24131: `directories.bin` that leads out | `cve_2026_24131_…` here |
//! | CVE-2026-24910: trust by name only | `script_policy.rs`: `entries_allow_and_deny_whom_npm_allows_and_denies`; `cve_2026_24910_…` here |
//! | CVE-2026-26960: hard links | `unpack.rs`: `a_hard_link_is_not_written_through` |
//! | GHSA-3qhv-2rgh-x77r: variables in a project's .npmrc | `config/tests.rs`: `a_project_that_redirects_the_registry_and_reads_a_variable_is_pointed_out` |
#![cfg(unix)]

mod support;

use std::fs;

use serde_json::json;
use support::archive::{Archive, manifest};
use support::scene::Scene;

#[tokio::test]
async fn cve_2019_16777_a_command_does_not_replace_another_packages() {
    let scene = Scene::of(&["a", "b"])
        .package_of("a@1.0.0", json!({ "bin": { "tool": "a.js" } }), |archive| archive.file("package/a.js", b"a"))
        .package_of("b@1.0.0", json!({ "bin": { "tool": "b.js" } }), |archive| archive.file("package/b.js", b"b"));
    scene.install().await;
    assert_eq!(scene.read("node_modules/.bin/tool"), "a");
}

#[tokio::test]
async fn cve_2021_39134_a_link_of_another_case_is_not_written_through() {
    let scene = Scene::new(&json!({ "name": "app", "dependencies": { "FOO": "file:../outside", "foo": "1" } }));
    fs::create_dir_all(scene.path("outside")).expect("a folder");
    fs::write(scene.path("outside/package.json"), r#"{"name":"FOO","version":"1.0.0"}"#).expect("written");
    let scene = scene.package("foo@1.0.0", json!({}));
    scene.install().await;
    let names: Vec<_> = fs::read_dir(scene.path("outside")).expect("a folder").flatten().collect();
    assert_eq!(names.len(), 1, "something was written through the link");
}

#[tokio::test]
async fn cve_2024_53866_one_registrys_documents_are_not_anothers() {
    let of = |text: &str| {
        Scene::of(&["a"]).package_of("a@1.0.0", json!({}), |archive| archive.file("package/x.js", text.as_bytes()))
    };
    let (evil, good) = (of("evil"), of("good"));
    let cache = tempfile::tempdir().expect("a folder");
    for (scene, expected) in [(evil, "evil"), (good, "good")] {
        let server = scene.serve().await;
        let mut install = scene.prepare(false, &server.origin());
        install.lock.cache = Some(cache.path().to_owned());
        install.run(|_| (), std::future::pending()).await.expect("installed");
        assert_eq!(scene.read("node_modules/a/x.js"), expected);
    }
}

#[tokio::test]
async fn cve_2025_69263_a_tarball_by_url_is_held_to_the_locks_hash() {
    let scene = Scene::new(&json!({ "name": "app" })).package("a@1.0.0", json!({})).flag("allow-remote", "all");
    let server = scene.serve().await;
    let url = format!("{}/a/-/a-1.0.0.tgz", server.origin());
    scene.write("package.json", &json!({ "name": "app", "dependencies": { "a": url } }).to_string());
    scene.prepare(false, &server.origin()).run(|_| (), std::future::pending()).await.expect("installed");
    assert!(scene.read("package-lock.json").contains("\"integrity\""));
    scene.replace_tarball("a@1.0.0", &Archive::default().file("package/package.json", &manifest("a", "1.0.0")).tgz());
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    fs::remove_dir_all(scene.path("store")).expect("removed");
    let error = scene.prepare(true, &server.origin()).run(|_| (), std::future::pending()).await.expect_err("refused");
    assert!(error.to_string().contains("is not the expected tarball"), "{error}");
}

#[tokio::test]
async fn cve_2026_23889_backslashes_lead_nowhere() {
    let scene = Scene::of(&["a"]).package_of("a@1.0.0", json!({}), |archive| {
        archive
            .file("package\\..\\..\\evil", b"x")
            .file("package/..\\..\\evil", b"x")
            .file("package/sub\\..\\..\\..\\evil", b"x")
    });
    scene.install().await;
    let outside = ["evil", "../evil", "../../evil", "node_modules/evil"];
    assert!(outside.iter().all(|path| !scene.at(path).exists()), "{:?}", scene.tree());
}

#[tokio::test]
async fn cve_2026_24131_folders_of_commands_lead_nowhere() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({ "directories": { "bin": "../../../.." } }));
    fs::write(scene.path("secret"), "x").expect("written");
    scene.install().await;
    assert!(!scene.at("node_modules/.bin").exists());
}

/// A package by another way that calls itself what is approved.
#[tokio::test]
async fn cve_2026_24910_a_name_is_not_enough_to_run_scripts() {
    let scene = Scene::new(&json!({
        "name": "app", "dependencies": { "alias": "file:../folder" }, "allowScripts": { "trusted": true },
    }));
    let scene = scene.flag("install-links", "true");
    fs::create_dir_all(scene.path("folder")).expect("a folder");
    let package =
        json!({ "name": "trusted", "version": "1.0.0", "scripts": { "install": "touch ran", "prepare": "touch ran" } });
    fs::write(scene.path("folder/package.json"), package.to_string()).expect("written");
    let done = scene.install().await;
    assert_eq!(done.report.scripts_run, 0);
    assert!(!scene.at("node_modules/alias/ran").exists() && !scene.path("folder/ran").exists());
}
