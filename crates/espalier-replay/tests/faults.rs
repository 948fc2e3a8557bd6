//! Faults as a client sees them, over HTTP/1.1 and over h2.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use espalier_replay::{Registry, Server, Settings, Statistics};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, header};
use serde_json::{Value, json};

const TARBALL: &str = "/plain/-/plain-1.0.0.tgz";
const BODY: &[u8] = b"0123456789012345678901234567890123456789";

fn recording() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dist = json!({"tarball": TARBALL, "integrity": "sha512-AAAA", "shasum": "0000"});
    let versions = json!({"1.0.0": {"name": "plain", "version": "1.0.0", "dist": dist}});
    let packument = json!({"name": "plain", "dist-tags": {"latest": "1.0.0"}, "versions": versions});
    write(folder.path(), "packuments/plain.json", packument.to_string().as_bytes());
    write(folder.path(), "tarballs/plain/plain-1.0.0.tgz", BODY);
    folder
}

fn write(folder: &Path, file: &str, body: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, body).unwrap();
}

struct Scene {
    _folder: tempfile::TempDir,
    server: Server,
    client: Client,
}

impl Scene {
    async fn new(faults: &[&str], tls: bool) -> Self {
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let folder = recording();
        let registry = Arc::new(Registry::open(folder.path()).unwrap());
        let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        let server = Server::start(registry, Settings { tls, faults, ..Settings::default() }).await.unwrap();
        let mut client = Client::builder().timeout(Duration::from_secs(20)).no_proxy().redirect(Policy::none());
        if let Some(certificate) = &server.certificate {
            client = client.tls_certs_only([reqwest::Certificate::from_pem(certificate.as_bytes()).unwrap()]);
        }
        Self { _folder: folder, server, client: client.build().unwrap() }
    }

    async fn get(&self, path: &str) -> reqwest::Result<Response> {
        self.client.get(format!("{}{path}", self.server.origin())).send().await
    }

    fn statistics(&self) -> Statistics {
        self.server.statistics()
    }
}

#[tokio::test]
async fn a_status_is_sent_with_retry_after_and_then_no_more() {
    let scene = Scene::new(&["429,times=1,retry-after=3"], false).await;
    let refused = scene.get("/plain").await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()[header::RETRY_AFTER], "3");
    assert_eq!(scene.get("/plain").await.unwrap().status(), StatusCode::OK);
    assert_eq!((scene.statistics().faults, scene.statistics().errors), (1, 1));
}

#[tokio::test]
async fn what_is_cut_ends_in_an_error() {
    for tls in [false, true] {
        let scene = Scene::new(&["reset,of=documents", "truncate"], tls).await;
        assert!(scene.get("/plain").await.is_err(), "tls {tls}");
        let mut halved = scene.get(TARBALL).await.unwrap();
        assert_eq!(halved.content_length(), Some(BODY.len() as u64));
        assert_eq!(halved.chunk().await.unwrap().unwrap(), BODY[..BODY.len() / 2], "tls {tls}");
        assert!(halved.chunk().await.is_err(), "tls {tls}");
    }
}

#[tokio::test]
async fn what_stalls_says_nothing_more() {
    for tls in [false, true] {
        let scene = Scene::new(&["stall,of=documents", "stall-body"], tls).await;
        let patience = Duration::from_millis(200);
        assert!(tokio::time::timeout(patience, scene.get("/plain")).await.is_err(), "tls {tls}");
        let mut halved = scene.get(TARBALL).await.unwrap();
        assert_eq!(halved.chunk().await.unwrap().unwrap().len(), BODY.len() / 2);
        assert!(tokio::time::timeout(patience, halved.chunk()).await.is_err(), "tls {tls}");
    }
}

#[tokio::test]
async fn bodies_are_shorter_or_other_than_recorded() {
    for tls in [false, true] {
        let scene = Scene::new(&["short-length,times=1", "corrupt"], tls).await;
        let short = scene.get(TARBALL).await.unwrap().bytes().await.unwrap();
        assert_eq!(short, BODY[..BODY.len() / 2]);
        let corrupt = scene.get(TARBALL).await.unwrap().bytes().await.unwrap();
        assert_eq!(corrupt.len(), BODY.len());
        assert_eq!((0..BODY.len()).filter(|&at| corrupt[at] != BODY[at]).count(), 1);
    }
}

#[tokio::test]
async fn hashes_are_wrong_and_the_next_document_is_right() {
    let scene = Scene::new(&["wrong-hash,times=1"], false).await;
    let mut dists = Vec::new();
    for _ in 0..2 {
        let document = scene.get("/plain").await.unwrap().bytes().await.unwrap();
        let mut document: Value = serde_json::from_slice(&document).unwrap();
        dists.push(document["versions"]["1.0.0"]["dist"].take());
    }
    assert_eq!(dists[1]["integrity"], "sha512-AAAA");
    for hash in ["integrity", "shasum"] {
        assert_ne!(dists[0][hash], dists[1][hash]);
    }
    assert_eq!(dists[0]["tarball"], dists[1]["tarball"]);
}

#[tokio::test]
async fn a_redirect_leads_to_another_origin_that_answers() {
    let scene = Scene::new(&["redirect"], false).await;
    let sent_on = scene.get(TARBALL).await.unwrap();
    assert_eq!(sent_on.status(), StatusCode::FOUND);
    assert_eq!(sent_on.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    let location = sent_on.headers()[header::LOCATION].to_str().unwrap();
    assert!(location.starts_with("http://localhost:"), "{location}");
    assert_eq!(scene.client.get(location).send().await.unwrap().bytes().await.unwrap(), BODY);
}

#[tokio::test]
async fn nothing_goes_wrong_with_the_counts() {
    let scene = Scene::new(&["500"], false).await;
    assert_eq!(scene.get("/plain").await.unwrap().status(), StatusCode::INTERNAL_SERVER_ERROR);
    let counts = scene.get("/-/stats").await.unwrap().bytes().await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&counts).unwrap()["faults"], 1);
}
