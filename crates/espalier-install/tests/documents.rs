//! Packuments, version documents and tarballs from a well-behaved registry, and what the cache
//! makes of them.

use crate::support::scripted::{Reply, Scripted};
use crate::support::{cached_client, client, damage_documents, recording, serve, tarball};
use espalier_core::FetchFailureKind;
use espalier_install::integrity::Integrity;
use espalier_replay::{Habits, Settings};

fn with_habit(habit: &str) -> Settings {
    Settings { habits: Habits::new(None, [habit]).expect("a habit"), ..Settings::default() }
}

#[tokio::test]
async fn abbreviated_packuments_are_asked_for_and_recognised() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let packument = client(&[("registry", &server.origin())]).packument("a", false).await.expect("a packument");
    assert!(packument.is_abbreviated(0));
    assert_eq!(packument.len(), 2);
}

#[tokio::test]
async fn a_registry_that_sends_full_ones_is_understood() {
    let folder = recording();
    let server = serve(folder.path(), with_habit("full-only")).await;
    let packument = client(&[("registry", &server.origin())]).packument("a", false).await.expect("a packument");
    assert!(!packument.is_abbreviated(0));
}

#[tokio::test]
async fn an_abbreviated_packument_without_its_type_is_recognised() {
    let folder = recording();
    let server = serve(folder.path(), with_habit("plain-types")).await;
    let client = client(&[("registry", &server.origin())]);
    assert!(client.packument("a", false).await.expect("a packument").is_abbreviated(0));
    assert!(!client.packument("a", true).await.expect("a packument").is_abbreviated(0));
}

/// The second packument is requested in full, to see how long it is.
#[tokio::test]
async fn a_registry_that_cannot_send_a_full_packument_is_asked_for_the_abbreviated_one() {
    let packument = |name: &str| {
        let text = format!(r#"{{"name":"{name}","dist-tags":{{}},"versions":{{"1.0.0":{{}}}}}}"#);
        Reply::Respond("200 OK".into(), Vec::new(), text.into())
    };
    let failing = Reply::Respond("500 Internal Server Error".into(), Vec::new(), Vec::new());
    let server = Scripted::start([packument("a"), failing, packument("b")]).await;
    let client = client(&[("registry", server.origin.as_str()), ("fetch-retries", "0")]);
    for name in ["a", "b"] {
        assert_eq!(client.packument(name, false).await.expect("a packument").len(), 1);
    }
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn full_packuments_say_when_versions_were_published() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let client = client(&[("registry", &server.origin())]);
    assert_eq!(client.packument("a", true).await.expect("a packument").time.len(), 2);
}

#[tokio::test]
async fn a_version_has_its_own_document() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let document =
        client(&[("registry", &server.origin())]).version_document("a", "1.0.0", None).await.expect("a document");
    assert!(document.contains("\"license\":\"MIT\""), "{document}");
    assert_eq!(server.statistics().version_documents, 1);
}

#[tokio::test]
async fn a_registry_without_version_documents_is_asked_for_the_packument() {
    let packument = r#"{"name":"a","dist-tags":{},"versions":{"1.0.0":{"license":"MIT"}}}"#;
    let server = Scripted::start([Reply::status("405 Method Not Allowed"), Reply::ok(packument)]).await;
    let document = client(&[("registry", &server.origin)]).version_document("a", "1.0.0", None).await;
    assert_eq!(document, Ok(r#"{"license":"MIT"}"#.to_owned()));
    assert_eq!(server.seen()[1].line, "GET /a HTTP/1.1");
}

#[tokio::test]
async fn a_registry_without_version_documents_is_soon_not_asked_for_them() {
    let folder = recording();
    for (habit, asked) in [("version-documents=404", 3), ("version-documents=400", 3), ("plain-types", 10)] {
        let server = serve(folder.path(), with_habit(habit)).await;
        let client = client(&[("registry", &server.origin())]);
        for _ in 0..10 {
            let document = client.version_document("a", "1.0.0", None).await.expect("a document");
            assert!(document.contains("\"license\":\"MIT\""), "{document}");
        }
        assert_eq!(server.statistics().version_documents, asked, "{habit}");
        let failure = client.version_document("a", "9.0.0", None).await.expect_err("no such version");
        assert_eq!(failure.kind, FetchFailureKind::NotFound, "{habit}");
    }
}

#[tokio::test]
async fn what_stands_in_for_several_versions_is_fetched_once() {
    let folder = recording();
    let server = serve(folder.path(), with_habit("version-documents=404")).await;
    let client = client(&[("registry", &server.origin())]);
    for _ in 0..3 {
        client.version_document("a", "1.0.0", None).await.expect("a document");
    }
    let before = server.statistics().full_packuments;
    let (one, other) =
        tokio::join!(client.version_document("a", "1.0.0", None), client.version_document("a", "1.1.0", None));
    assert!(one.expect("a document").contains("MIT") && other.expect("a document").contains("ISC"));
    assert_eq!(server.statistics().full_packuments, before + 1);
}

#[tokio::test]
async fn a_fresh_document_is_not_asked_for_again() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    for _ in 0..2 {
        let (client, cache, _) = cached_client(&[("registry", &server.origin())], place.path());
        assert!(client.packument("a", false).await.expect("a packument").is_abbreviated(0));
        client.version_document("a", "1.1.0", None).await.expect("a document");
        cache.flush();
    }
    assert_eq!(server.statistics().requests, 2);
}

#[tokio::test]
async fn what_a_version_says_is_kept_for_as_long_as_it_is_the_same_publication() {
    let reply = || {
        let document = r#"{"name":"a","license":"MIT","dist":{"integrity":"sha512-one"}}"#;
        Reply::Respond("200 OK".into(), vec!["cache-control: max-age=0".into()], document.into())
    };
    let server = Scripted::start([reply(), reply(), reply()]).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    for (integrity, expected) in [("sha512-one", 1), ("sha512-one", 1), ("sha512-two", 2), ("sha512-two", 3)] {
        let (client, cache, _) = cached_client(&[("registry", server.origin.as_str())], place.path());
        client.version_document("a", "1.0.0", Some(integrity)).await.expect("a document");
        cache.flush();
        assert_eq!(server.seen().len(), expected, "{integrity}");
    }
}

#[tokio::test]
async fn an_old_document_is_confirmed_and_not_sent_again() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    for flag in ["prefer-offline", "prefer-online"] {
        let (client, cache, _) = cached_client(&[("registry", &server.origin()), (flag, "true")], place.path());
        assert_eq!(client.packument("a", false).await.expect("a packument").len(), 2);
        cache.flush();
    }
    let statistics = server.statistics();
    assert_eq!((statistics.requests, statistics.not_modified), (2, 1));
}

#[tokio::test]
async fn a_document_is_confirmed_to_each_user() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    let registry = server.origin();
    let token = format!("{}/:_authToken", registry.trim_start_matches("http:"));
    let fetch = async |credential: Option<&str>, freshness: Option<&str>| {
        let mut flags = vec![("registry", registry.as_str())];
        flags.extend(credential.map(|credential| (token.as_str(), credential)));
        flags.extend(freshness.map(|freshness| (freshness, "true")));
        let (client, cache, activity) = cached_client(&flags, place.path());
        client.packument("a", false).await.expect("a packument");
        cache.flush();
        activity.network_requests.get()
    };
    for (credential, freshness, requests) in [
        (Some("one"), None, 1),
        (Some("one"), None, 0),
        (Some("two"), None, 1),
        (Some("two"), None, 0),
        (None, Some("prefer-offline"), 1),
        (None, None, 0),
        (Some("two"), Some("offline"), 0),
    ] {
        assert_eq!(fetch(credential, freshness).await, requests, "{credential:?} {freshness:?}");
    }
    assert_eq!(server.statistics().not_modified, 2);
}

/// Its integrity comes from the packument, which the registry has given to this user.
#[tokio::test]
async fn the_document_of_a_version_is_for_whoever_knows_its_integrity() {
    let integrity = "sha512-abc";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dist = serde_json::json!({"tarball": "/a/-/a-1.0.0.tgz", "integrity": integrity});
    let versions = serde_json::json!({"1.0.0": {"name": "a", "version": "1.0.0", "dist": dist}});
    let packument = serde_json::json!({"name": "a", "dist-tags": {"latest": "1.0.0"}, "versions": versions});
    std::fs::create_dir(folder.path().join("packuments")).expect("a folder");
    std::fs::write(folder.path().join("packuments/a.json"), packument.to_string()).expect("written");
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    let registry = server.origin();
    let token = format!("{}/:_authToken", registry.trim_start_matches("http:"));
    for credential in ["one", "two"] {
        let (client, cache, _) = cached_client(&[("registry", &registry), (&token, credential)], place.path());
        client.version_document("a", "1.0.0", Some(integrity)).await.expect("a document");
        cache.flush();
    }
    assert_eq!(server.statistics().requests, 1);
}

#[tokio::test]
async fn offline_there_is_only_the_cache() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    let registry = server.origin();
    let offline = [("registry", registry.as_str()), ("offline", "true")];

    let failure = cached_client(&offline, place.path()).0.packument("a", false).await.expect_err("nothing cached");
    assert_eq!(failure.kind, FetchFailureKind::NotCached);
    assert!(failure.message.contains("--offline"), "{failure}");

    let (client, cache, _) = cached_client(&offline[..1], place.path());
    client.packument("a", false).await.expect("a packument");
    cache.flush();
    let requests = server.statistics().requests;
    cached_client(&offline, place.path()).0.packument("a", false).await.expect("from the cache");
    assert_eq!(server.statistics().requests, requests);
}

#[tokio::test]
async fn a_document_that_must_not_be_kept_is_not() {
    let packument = r#"{"name":"a","dist-tags":{},"versions":{}}"#;
    let no_store = || Reply::Respond("200 OK".into(), vec!["cache-control: no-store".into()], packument.into());
    let server = Scripted::start([no_store(), no_store()]).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    for _ in 0..2 {
        let flags = [("registry", server.origin.as_str()), ("prefer-offline", "true")];
        let (client, cache, _) = cached_client(&flags, place.path());
        client.packument("a", false).await.expect("a packument");
        cache.flush();
    }
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_damaged_entry_heals() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    let registry = server.origin();
    let fetch = async || {
        let (client, cache, activity) = cached_client(&[("registry", &registry)], place.path());
        client.packument("a", false).await.expect("a packument");
        cache.flush();
        activity.network_requests.get()
    };
    assert_eq!(fetch().await, 1);
    damage_documents(place.path());
    assert_eq!(fetch().await, 1);
    assert_eq!(fetch().await, 0);
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn a_name_cannot_lead_elsewhere() {
    let server = Scripted::start([]).await;
    let registry = format!("{}/npm/", server.origin);
    for name in ["..", ".", "%2e%2e", "a?b"] {
        let failure = client(&[("registry", &registry)]).packument(name, false).await.expect_err("no such name");
        assert_eq!(failure.kind, FetchFailureKind::Invalid, "{name}");
    }
    assert!(server.seen().is_empty());
    client(&[("registry", &registry), ("fetch-retries", "0")])
        .packument("@x/../../y", false)
        .await
        .expect_err("no answer");
    assert_eq!(server.seen()[0].line, "GET /npm/@x%2f..%2f..%2fy HTTP/1.1");
}

#[tokio::test]
async fn a_tarball_is_verified_and_listed() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let client = client(&[("registry", &server.origin())]);
    let integrity = Integrity::of(&tarball()).to_string();
    let absolute = format!("{}/a/-/a-1.0.0.tgz", server.origin());
    for address in ["/a/-/a-1.0.0.tgz", &absolute] {
        let listing = client.tarball(address, Some(&integrity)).await.expect("a listing");
        assert_eq!(listing.files, ["package.json"]);
        assert_eq!(listing.integrity, integrity);
    }
}

#[tokio::test]
async fn another_tarball_is_refused_and_not_kept() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    let (client, _, _) = cached_client(&[("registry", &server.origin()), ("fetch-retries", "1")], place.path());
    let other = Integrity::of(b"other").to_string();
    let failure = client.tarball("/a/-/a-1.0.0.tgz", Some(&other)).await.expect_err("another one");
    assert_eq!(failure.kind, FetchFailureKind::Integrity);
    assert!(failure.message.contains("is not the expected tarball"), "{failure}");
    assert_eq!(server.statistics().tarballs, 2);
    assert!(files(place.path()).is_empty());
}

#[tokio::test]
async fn a_cached_tarball_needs_no_network() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let place = tempfile::tempdir().expect("a temporary folder");
    let registry = server.origin();
    let integrity = Integrity::of(&tarball()).to_string();
    let (client, _, _) = cached_client(&[("registry", &registry)], place.path());
    client.tarball("/a/-/a-1.0.0.tgz", Some(&integrity)).await.expect("a listing");
    let (client, _, _) = cached_client(&[("registry", &registry), ("offline", "true")], place.path());
    client.tarball("/a/-/a-1.0.0.tgz", Some(&integrity)).await.expect("from the cache");
}
