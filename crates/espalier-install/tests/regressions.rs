//! Where package managers and node-tar have failed before, and which test keeps that from happening
//! here.
//!
//! | what happened | test |
//! |---|---|
//! | CVE-2016-3956: a token for any host | `config/tests.rs`: `a_token_goes_to_its_own_host_and_path_only`; `faults.rs`: `a_redirect_to_another_origin_leaves_the_token_behind` |
//! | CVE-2019-16775, -16776: commands that lead out of their package | `install.rs`: `commands_are_linked_and_executable_and_the_first_has_the_name`; `bin_field.rs`: `names_and_paths_stay_where_they_belong` |
//! | CVE-2019-16777: commands that replace others' | `cve_2019_16777_a_command_does_not_replace_another_packages` |
//! | CVE-2020-15095: secrets in URLs that are shown | `faults.rs`: `a_token_is_sent_to_its_registry_and_never_shown`; `address.rs`: `credentials_are_not_shown`, `a_shown_address_has_no_secrets`; `cve_2020_15095_secrets_in_a_lockfile_are_not_told` |
//! | CVE-2021-32803: a link, then files through it | `unpack.rs`: `a_file_does_not_go_through_a_link` |
//! | CVE-2021-32804: absolute paths | `unpack.rs`: `absolute_paths_stay_inside` |
//! | CVE-2021-37701, -37712: the same link by another spelling: backslashes, case, Unicode | `unpack.rs`: `a_file_does_not_go_through_a_link_by_another_spelling` |
//! | CVE-2021-37713: drives that hide a climb | `unpack.rs`: `drives_do_not_hide_a_climb` |
//! | CVE-2021-39134: a link, and a package whose name differs in case only | `cve_2021_39134_a_link_of_another_case_is_not_written_through`; `defaults.rs`: `a_lockfile_cannot_have_two_names_that_differ_in_case_only` |
//! | CVE-2021-39135: `node_modules` that is a link | `install_hostile.rs`: `links_in_the_place_of_folders_are_not_followed` |
//! | CVE-2021-43616: `ci` with another lock | `install.rs`: `ci_needs_a_lockfile_that_fits` |
//! | CVE-2023-37478: an entry that comes twice | `unpack.rs`: `the_last_of_two_files_counts` |
//! | CVE-2024-47829: two packages in one folder, because names were shortened | `cve_2024_47829_long_names_are_kept_apart` |
//! | CVE-2024-53866: what one project overrides is kept for others | `cve_2024_53866_what_one_project_changes_is_not_kept_for_another`, `cve_2024_53866_registries_do_not_share_documents`; `documents.rs`: `another_tarball_is_refused_and_not_kept` |
//! | CVE-2025-69263: URLs without a hash | `cve_2025_69263_a_tarball_by_url_is_held_to_the_locks_hash` |
//! | CVE-2025-69264: scripts of git dependencies | `install_packed.rs`: `a_repository_is_packed_and_prepared_only_if_it_may_be` |
//! | CVE-2026-23745: links to absolute paths | `unpack.rs`: `links_are_left_out`, `a_file_does_not_replace_what_an_absolute_link_leads_to` |
//! | CVE-2026-23889: backslashes | `cve_2026_23889_backslashes_lead_nowhere` |
//! | CVE-2026-23890: commands with a scope | `bin_field.rs`: `names_and_paths_stay_where_they_belong` |
//! | CVE-2026-24056: links in folders and repositories | `install_packed.rs`: `links_in_repositories_and_folders_are_not_installed` |
//! | CVE-2026-24131: `directories.bin` that leads out | `cve_2026_24131_folders_of_commands_lead_nowhere` |
//! | CVE-2026-24910: trust by name only | `script_policy.rs`: `entries_allow_and_deny_whom_npm_allows_and_denies`; `cve_2026_24910_a_name_is_not_enough_to_run_scripts` |
//! | CVE-2026-26960: hard links by way of links | `unpack.rs`: `a_hard_link_is_not_written_through` |
//! | GHSA-3qhv-2rgh-x77r: variables in a project's .npmrc | `config/tests.rs`: `a_project_that_redirects_the_registry_and_reads_a_variable_is_pointed_out` |
//!
//! What is safe by default, topic by topic:
//!
//! | topic | test |
//! |---|---|
//! | scripts are blocked unless allowed, by where a package came from; a denial wins | `script_policy.rs`: `entries_allow_and_deny_whom_npm_allows_and_denies`, `a_denial_wins`; `running.rs`: `install_scripts_wait_for_a_decision` |
//! | scripts of what is bundled never run | `defaults.rs`: `scripts_of_what_is_bundled_never_run` |
//! | versions that are too young | `defaults.rs`: `versions_that_are_too_young_do_not_exist_unless_they_are_excepted`; `config/tests.rs`: `the_nearest_of_the_two_age_limits_counts` |
//! | repositories and URLs that dependencies ask for | `defaults.rs`: `a_dependency_cannot_ask_for_repositories_and_urls` |
//! | hashes are verified first, never replaced; a mismatch is fetched again and then fails | `install_hostile.rs`: `a_tarball_has_to_have_its_integrity`; `defaults.rs`: `the_locks_hash_is_not_replaced_by_that_of_the_registry`; `install_faults.rs`: `what_may_pass_is_tried_again`, `what_does_not_pass_is_an_error_that_names_it`; `espalier-cli/tests/faults.rs`: `hashes_that_were_wrong_once_are_not_believed_again` |
//! | a tarball is of the package that was asked for | `install_hostile.rs`: `a_tarball_has_to_be_of_the_package_that_was_asked_for` |
//! | a lock sends nobody elsewhere | `install_hostile.rs`: `a_lockfile_cannot_send_a_name_to_another_host`, `a_lockfile_cannot_put_another_package_under_a_name`, `a_lockfile_cannot_name_places_outside`, `a_lockfile_cannot_fetch_what_a_bundle_lacks_from_elsewhere`; `defaults.rs`: `a_lockfile_cannot_take_a_package_of_the_registry_from_anywhere_else` |
//! | tokens: by the longest prefix, to their origin, never shown | `config/tests.rs`: `the_longest_prefix_that_makes_a_header_counts`, `a_token_goes_to_its_own_host_and_path_only`, `a_credential_without_a_registry_is_refused`; `faults.rs`: `a_redirect_to_another_origin_leaves_the_token_behind`; `install_faults.rs`: `a_redirect_to_another_origin_is_followed_without_the_token`; `tokens.spec.ts` |
//! | variables in .npmrc | `expand.rs`: `known_names_are_replaced`; `config/tests.rs`: `a_project_that_redirects_the_registry_and_reads_a_variable_is_pointed_out` |
//! | archives: no links, no climbing, npm's modes, no owners or times, the last counts, bounds | `unpack.rs`, all of it; `archive.rs`, all of it |
//! | no link is followed out of `node_modules`; names of commands; names that differ in case | `install_hostile.rs`: `links_in_the_place_of_folders_are_not_followed`, `nothing_is_installed_through_a_workspace_that_is_a_link_to_elsewhere`; `bin_field.rs`: `names_and_paths_stay_where_they_belong`; `defaults.rs`: `a_lockfile_cannot_have_two_names_that_differ_in_case_only` |
//! | what is tried again, how often, and what isn't | `faults.rs`: `what_may_pass_is_tried_again`, `a_refusal_is_an_answer`, `retries_end`; `espalier-registry/src/retry.rs`: `a_server_that_asks_for_a_wait_gets_it_within_reason` |
//! | no hang: silence, full disks, other processes | `faults.rs`: `a_silent_registry_is_given_up`, `redirects_end`; `espalier-cli/tests/faults.rs`: `documents_that_fail_are_had_after_all_or_named`, `tarballs_that_fail_are_had_after_all_or_named`; `disk.rs`, all of it; `install_hostile.rs`: `an_installation_waits_for_another_one_of_the_same_project`; `espalier-cli/tests/install.rs`: `two_installations_of_one_project_take_turns` |
//! | in a browser, installed code reaches nothing | `sandbox.spec.ts`; `tokens.spec.ts` |
//! | a crash at any moment | `espalier-cli/tests/install.rs`: `a_killed_installation_is_finished_by_the_next_one`, `a_killed_lock_leaves_a_cache_that_the_next_one_can_use`, `eight_locks_share_a_cache_at_once`, `eight_installations_share_a_store_at_once`; `store.rs`: `a_package_that_the_index_lost_is_taken_in_again`, `what_a_killed_process_left_is_removed`; `install_hostile.rs`: `a_failed_update_leaves_everything_as_it_was` |
//! | parsers meet anything | `hostile_input.rs`, and the targets of `fuzz/` |
#![cfg(unix)]

use crate::support;
use std::fs;
use std::path::Path;

use crate::support::archive::{Archive, manifest};
use crate::support::scene::Scene;
use serde_json::json;

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

/// The lock of a project that someone else wrote may hold credentials; what is said about it on a
/// terminal doesn't.
#[tokio::test]
async fn cve_2020_15095_secrets_in_a_lockfile_are_not_told() {
    let hash = "0123456789012345678901234567890123456789";
    let resolved = format!("git+https://s3cret@127.0.0.1:1/g.git#{hash}");
    let scene = Scene::new(&json!({ "name": "app", "dependencies": { "g": &resolved } })).flag("allow-git", "all");
    let root = json!({ "name": "app", "dependencies": { "g": &resolved } });
    let packages = json!({ "": root, "node_modules/g": { "version": "1.0.0", "resolved": resolved } });
    scene.write("package-lock.json", &json!({ "name": "app", "lockfileVersion": 3, "packages": packages }).to_string());
    for offline in ["true", "false"] {
        let mut install = scene.prepare(true, "http://127.0.0.1:1");
        let flags = [("offline", offline), ("fetch-retries", "0")];
        install.lock.settings = support::settings(&flags);
        let error = install.run(|_| (), std::future::pending()).await.expect_err("not to be had");
        assert!(error.to_string().contains("git") && !format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

/// In the folder, in the cache of documents and in the store: names of the greatest length that
/// differ in their last letter.
#[tokio::test]
async fn cve_2024_47829_long_names_are_kept_apart() {
    let names = ["x", "y"].map(|end| "long-name-".repeat(21) + end);
    let mut scene = Scene::of(&[&names[0], &names[1]]);
    for name in &names {
        let content = format!("the one that ends in {}", &name[210..]);
        scene = scene.package_of(&format!("{name}@1.0.0"), json!({}), |archive| {
            archive.file("package/x.js", content.as_bytes())
        });
    }
    let cache = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        let server = scene.serve().await;
        scene.rebase(&server.origin());
        let mut install = scene.prepare(false, &server.origin());
        install.lock.cache = Some(cache.path().to_owned());
        install.run(|_| (), std::future::pending()).await.expect("installed");
        for name in &names {
            let content = scene.read(&format!("node_modules/{name}/x.js"));
            assert_eq!(content, format!("the one that ends in {}", &name[210..]));
        }
        fs::remove_dir_all(scene.at("node_modules")).expect("removed");
        fs::remove_file(scene.at("package-lock.json")).expect("removed");
    }
}

#[tokio::test]
async fn cve_2024_53866_what_one_project_changes_is_not_kept_for_another() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({ "dependencies": { "b": "1" } }));
    let scene = scene.package("b@1.0.0", json!({})).package("b@2.0.0", json!({})).package("evil@1.0.0", json!({}));
    let cache = tempfile::tempdir().expect("a folder");
    let server = scene.serve().await;
    let changed = json!({
        "name": "app", "dependencies": { "a": "*" }, "overrides": { "b": "2" },
        "packageExtensions": { "a@*": { "dependencies": { "evil": "1" } } },
    });
    for (manifest, expected) in
        [(changed, ["a", "b@2", "evil"]), (json!({ "name": "other", "dependencies": { "a": "*" } }), ["a", "b@1", ""])]
    {
        scene.write("package.json", &manifest.to_string());
        for left in ["package-lock.json", "node_modules"] {
            let _ = fs::remove_file(scene.at(left)).or_else(|_| fs::remove_dir_all(scene.at(left)));
        }
        let mut install = scene.prepare(false, &server.origin());
        install.lock.cache = Some(cache.path().to_owned());
        install.run(|_| (), std::future::pending()).await.expect("installed");
        assert!(scene.read("node_modules/b/index.js").contains(expected[1]), "{expected:?}");
        assert_eq!(scene.at("node_modules/evil").exists(), !expected[2].is_empty(), "{expected:?}");
    }
}

#[tokio::test]
async fn cve_2024_53866_registries_do_not_share_documents() {
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

/// The tables above are kept true: what they name exists.
#[test]
fn every_test_that_is_named_above_exists() {
    fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
        for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !matches!(&*name, "node_modules" | "target" | "dist") {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "ts") {
                found.push((path.to_string_lossy().replace('\\', "/"), fs::read_to_string(&path).expect("text")));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["crates", "tests/e2e"] {
        sources(&root.join(folder), &mut found);
    }
    let mut named = 0;
    for row in include_str!("regressions.rs").lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let mut file = "regressions.rs";
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        for quoted in cell.split('`').skip(1).step_by(2) {
            if quoted.contains('.') {
                file = quoted;
                assert!(found.iter().any(|(path, _)| path.ends_with(file)), "there is no {file}");
            } else if !quoted.ends_with('/') {
                let file = if quoted.starts_with("cve_") { "regressions.rs" } else { file };
                let signature = format!("fn {quoted}(");
                let has = |(path, text): &(String, String)| path.ends_with(file) && text.contains(&signature);
                assert!(found.iter().any(has), "{file} has no {quoted}");
                named += 1;
            }
        }
    }
    assert!(named > 60, "{named} tests were found in the tables");
}
