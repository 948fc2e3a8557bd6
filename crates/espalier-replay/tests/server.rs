//! The real server, asked by a real client over loopback.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use espalier_replay::{Habits, Registry, RegistryError, Server, Settings};
use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode, Version};
use serde_json::{Value, json};

const ABBREVIATED: &str = "application/vnd.npm.install-v1+json";

/// A recording of two packages, in a folder that lives as long as the test.
fn recording() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let packument = |name: &str, file: &str| {
        json!({
            "_id": name, "name": name, "dist-tags": {"latest": "1.1.0", "old": "1.0.0"},
            "versions": {
                "1.0.0": {"name": name, "version": "1.0.0", "license": "MIT",
                    "dist": {"tarball": format!("/{name}/-/{file}-1.0.0.tgz"), "shasum": "00"}},
                "1.1.0": {"name": name, "version": "1.1.0", "license": "MIT",
                    "dist": {"tarball": format!("/{name}/-/{file}-1.1.0.tgz"), "shasum": "11"}},
            },
            "time": {"modified": "2026-01-01T00:00:00.000Z"},
        })
        .to_string()
    };
    write(folder.path(), "packuments/plain.json", packument("plain", "plain").as_bytes());
    write(folder.path(), "packuments/@scope%2fpart.json", packument("@scope/part", "part").as_bytes());
    write(folder.path(), "packuments/broken.json", b"{\"name\":");
    write(folder.path(), "tarballs/@scope%2fpart/part-1.0.0.tgz", b"a tarball");
    folder
}

fn write(folder: &Path, file: &str, body: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, body).unwrap();
}

async fn serve(folder: &Path, settings: Settings) -> Server {
    Server::start(Arc::new(Registry::open(folder).unwrap()), settings).await.unwrap()
}

fn client() -> reqwest::ClientBuilder {
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    Client::builder().timeout(Duration::from_secs(20)).no_proxy()
}

async fn get(server: &Server, path: &str, headers: &[(header::HeaderName, &str)]) -> Response {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect();
    client().build().unwrap().get(format!("{}{path}", server.origin())).headers(headers).send().await.unwrap()
}

async fn body(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

#[tokio::test]
async fn full_documents_are_the_recording_with_the_servers_origin() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let response = get(&server, "/@scope%2fpart", &[]).await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "public, max-age=300");
    let document = body(response).await;
    let tarball = format!("{}/@scope/part/-/part-1.0.0.tgz", server.origin());
    assert_eq!(document["versions"]["1.0.0"]["dist"]["tarball"], Value::from(tarball));
    assert_eq!(document["versions"]["1.0.0"]["license"], "MIT");
}

#[tokio::test]
async fn abbreviated_documents_are_sent_to_those_who_accept_them() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let accept = format!("{ABBREVIATED}; q=1.0, application/json; q=0.8, */*");
    let response = get(&server, "/plain", &[(header::ACCEPT, &accept)]).await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], ABBREVIATED);
    let document = body(response).await;
    assert_eq!(document["versions"]["1.0.0"]["license"], Value::Null);
    assert_eq!(document["modified"], "2026-01-01T00:00:00.000Z");
}

#[tokio::test]
async fn a_registry_may_ignore_the_wish_for_abbreviated_documents() {
    let folder = recording();
    let server = serve(
        folder.path(),
        Settings { habits: Habits::new(None, ["full-only"]).expect("a habit"), ..Settings::default() },
    )
    .await;
    let response = get(&server, "/plain", &[(header::ACCEPT, ABBREVIATED)]).await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    assert_eq!(body(response).await["versions"]["1.0.0"]["license"], "MIT");
}

#[tokio::test]
async fn documents_are_compressed_for_those_who_accept_it() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let plain = get(&server, "/plain", &[]).await.bytes().await.unwrap();
    let response = get(&server, "/plain", &[(header::ACCEPT_ENCODING, "br, gzip;q=0.9")]).await;
    assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
    assert_eq!(response.headers()[header::VARY], "accept, accept-encoding");
    let mut inflated = Vec::new();
    let body = response.bytes().await.unwrap();
    flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut inflated).unwrap();
    assert_eq!(inflated, plain);
}

#[tokio::test]
async fn what_a_client_has_already_is_not_sent_again() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    for path in ["/plain", "/plain/1.0.0", "/@scope/part/-/part-1.0.0.tgz"] {
        let tag = get(&server, path, &[]).await.headers()[header::ETAG].to_str().unwrap().to_owned();
        assert!(tag.starts_with('"'), "{tag} is not a strong validator");
        let again = get(&server, path, &[(header::IF_NONE_MATCH, &format!("\"other\", W/{tag}"))]).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
        assert_eq!(again.headers()[header::ETAG].to_str().unwrap(), tag);
        assert!(again.bytes().await.unwrap().is_empty());
        let other = get(&server, path, &[(header::IF_NONE_MATCH, "\"other\"")]).await;
        assert_eq!(other.status(), StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn encodings_and_forms_have_validators_of_their_own() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let mut tags = Vec::new();
    for headers in [&[][..], &[(header::ACCEPT_ENCODING, "gzip")], &[(header::ACCEPT, ABBREVIATED)]] {
        tags.push(get(&server, "/plain", headers).await.headers()[header::ETAG].clone());
    }
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
}

#[tokio::test]
async fn one_version_is_named_by_number_or_tag() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    for (path, version) in [
        ("/plain/1.0.0", "1.0.0"),
        ("/plain/old", "1.0.0"),
        ("/@scope/part/latest", "1.1.0"),
        ("/@scope%2fpart/1.1.0", "1.1.0"),
    ] {
        assert_eq!(body(get(&server, path, &[]).await).await["version"], version, "{path}");
    }
}

#[tokio::test]
async fn a_range_names_a_version_only_where_the_settings_say() {
    let folder = recording();
    for (ranges, version) in [(false, Value::Null), (true, Value::from("1.1.0"))] {
        let server = serve(folder.path(), Settings { ranges, ..Settings::default() }).await;
        assert_eq!(body(get(&server, "/plain/%5E1.0.0", &[]).await).await["version"], version);
        assert_eq!(body(get(&server, "/plain/1.0.0", &[]).await).await["version"], "1.0.0");
        assert_eq!(get(&server, "/plain/%5E2.0.0", &[]).await.status(), StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn what_is_not_recorded_is_not_found() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    for path in [
        "/unknown",
        "/plain/9.9.9",
        "/plain/-/plain-1.0.0.tgz",
        "/",
        "/../packuments/plain.json",
        "/plain/-/..%2f..%2f",
    ] {
        let response = get(&server, path, &[]).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        assert!(body(response).await["error"].is_string(), "{path}");
    }
    assert_eq!(body(get(&server, "/unknown", &[]).await).await, json!({"error": "Not found"}));
}

#[tokio::test]
async fn a_broken_recording_is_the_servers_fault_and_named() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let response = get(&server, "/broken/1.0.0", &[]).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let message = body(response).await["error"].as_str().unwrap().to_owned();
    assert!(message.contains("packument of broken"), "{message}");
}

#[tokio::test]
async fn tarballs_are_sent_as_recorded() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let response = get(&server, "/@scope/part/-/part-1.0.0.tgz", &[(header::ACCEPT_ENCODING, "gzip")]).await;
    assert!(!response.headers().contains_key(header::CONTENT_ENCODING));
    assert_eq!(response.bytes().await.unwrap(), &b"a tarball"[..]);
}

#[tokio::test]
async fn origins_may_read_answers_and_errors_as_the_settings_say() {
    let folder = recording();
    for (cors, cors_on_errors) in [(true, false), (true, true), (false, false)] {
        let server = serve(folder.path(), Settings { cors, cors_on_errors, ..Settings::default() }).await;
        for (path, shared) in [("/plain", cors), ("/unknown", cors_on_errors)] {
            let response = get(&server, path, &[(header::ORIGIN, "http://page.test")]).await;
            let header = response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            assert_eq!(header.is_some(), shared, "{path} with cors {cors}, on errors {cors_on_errors}");
        }
    }
}

#[tokio::test]
async fn preflights_are_answered_only_where_the_settings_say() {
    let folder = recording();
    for preflight in [false, true] {
        let server = serve(folder.path(), Settings { preflight, ..Settings::default() }).await;
        let request = client().build().unwrap().request(Method::OPTIONS, format!("{}/plain", server.origin()));
        let response = request
            .header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET")
            .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "authorization")
            .send()
            .await
            .unwrap();
        assert_eq!(response.status().is_success(), preflight);
        let granted = response.headers().get(header::ACCESS_CONTROL_ALLOW_HEADERS);
        assert_eq!(granted.map(HeaderValue::as_bytes), preflight.then_some(&b"authorization"[..]));
    }
}

#[tokio::test]
async fn with_tls_clients_that_offer_it_get_h2_and_others_http_1() {
    let folder = recording();
    let server = serve(folder.path(), Settings { tls: true, ..Settings::default() }).await;
    let certificate = reqwest::Certificate::from_pem(server.certificate.as_ref().unwrap().as_bytes()).unwrap();
    let trusting = || client().tls_certs_only([certificate.clone()]);
    let url = format!("https://localhost:{}/plain", server.address.port());
    let response = trusting().build().unwrap().get(&url).send().await.unwrap();
    assert_eq!(response.version(), Version::HTTP_2);
    let tarball = body(response).await["versions"]["1.0.0"]["dist"]["tarball"].clone();
    assert_eq!(tarball, format!("{url}/-/plain-1.0.0.tgz"), "h2 names the host in :authority");
    let response = trusting().http1_only().build().unwrap().get(&url).send().await.unwrap();
    assert_eq!(response.version(), Version::HTTP_11);
}

#[tokio::test]
async fn padded_documents_are_larger_by_the_factor() {
    let folder = recording();
    let plain = serve(folder.path(), Settings::default()).await;
    let padded = serve(folder.path(), Settings { pad_full: 6.0, ..Settings::default() }).await;
    for path in ["/plain", "/plain/1.0.0"] {
        let [plain, padded] = [&plain, &padded].map(|server| get(server, path, &[]));
        let (plain, padded) = (plain.await.bytes().await.unwrap(), padded.await.bytes().await.unwrap());
        assert!(padded.len() > 3 * plain.len(), "{path}: {} against {}", padded.len(), plain.len());
    }
    let [plain, padded] = [&plain, &padded].map(|server| get(server, "/plain", &[(header::ACCEPT, ABBREVIATED)]));
    assert_eq!(plain.await.content_length(), padded.await.content_length());
}

#[tokio::test]
async fn the_first_byte_waits_for_the_delay() {
    let folder = recording();
    let delay = Duration::from_millis(60);
    let server = serve(folder.path(), Settings { delay, ..Settings::default() }).await;
    let start = std::time::Instant::now();
    get(&server, "/plain", &[]).await;
    assert!(start.elapsed() >= delay);
}

#[tokio::test]
async fn requests_and_bytes_are_counted() {
    let folder = recording();
    let server = serve(folder.path(), Settings::default()).await;
    let first = get(&server, "/plain", &[]).await;
    let tag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
    let length = first.content_length().unwrap();
    get(&server, "/plain", &[(header::IF_NONE_MATCH, &tag)]).await;
    get(&server, "/plain", &[(header::ACCEPT, ABBREVIATED), (header::IF_NONE_MATCH, &tag)]).await;
    get(&server, "/unknown/1.0.0", &[]).await;
    let counts = body(get(&server, "/-/stats", &[]).await).await;
    assert_eq!(counts, serde_json::to_value(server.statistics()).unwrap());
    assert_eq!(counts["requests"], 4);
    assert_eq!((&counts["fullPackuments"], &counts["abbreviatedPackuments"]), (&json!(2), &json!(1)));
    assert_eq!(
        (&counts["versionDocuments"], &counts["notModified"], &counts["errors"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert!(counts["bytes"].as_u64().unwrap() > length);
}

#[tokio::test]
async fn static_files_share_the_origin_and_stay_in_their_folder() {
    let folder = recording();
    write(folder.path(), "site/index.html", b"<!doctype html>");
    write(folder.path(), "site/assets/engine.wasm", b"\0asm");
    write(folder.path(), "secret.txt", b"secret");
    let static_root = Some(folder.path().join("site"));
    let server = serve(folder.path(), Settings { static_root, ..Settings::default() }).await;
    for (path, content_type) in
        [("/", "text/html"), ("/assets/engine.wasm", "application/wasm"), ("/plain", "application/json")]
    {
        let response = get(&server, path, &[]).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], content_type, "{path}");
    }
    assert_eq!(get(&server, "/..%2fsecret.txt", &[]).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_packed_recording_is_the_same_registry() {
    let folder = recording();
    let packed = tempfile::tempdir().unwrap();
    let mut packuments = tar::Builder::new(Vec::new());
    packuments.append_dir_all("packuments", folder.path().join("packuments")).unwrap();
    let compressed = zstd::encode_all(&packuments.into_inner().unwrap()[..], 3).unwrap();
    write(packed.path(), "registry.tar.zst", &compressed);
    let mut tarballs = tar::Builder::new(fs::File::create(packed.path().join("tarballs.tar")).unwrap());
    tarballs.append_dir_all("tarballs", folder.path().join("tarballs")).unwrap();
    tarballs.into_inner().unwrap().flush().unwrap();

    let (one, other) = (Registry::open(folder.path()).unwrap(), Registry::open(packed.path()).unwrap());
    let names = |registry: &Registry| {
        let mut names: Vec<_> = registry.names().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(names(&other), ["@scope/part", "broken", "plain"]);
    assert_eq!(names(&other), names(&one));
    for name in names(&one) {
        assert_eq!(other.packument(&name).unwrap().unwrap(), one.packument(&name).unwrap().unwrap(), "{name}");
    }
    let tarball = |registry: &Registry| registry.tarball("@scope/part", "part-1.0.0.tgz").unwrap().unwrap();
    assert_eq!(tarball(&other), tarball(&one));
}

#[test]
fn a_folder_without_a_recording_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let error = Registry::open(folder.path()).unwrap_err();
    assert!(matches!(&error, RegistryError::NotARegistry { folder: named } if named == folder.path()), "{error}");
}

#[test]
fn a_server_on_threads_of_its_own_ends_when_it_is_dropped() {
    let folder = recording();
    let server = Server::start_blocking(Arc::new(Registry::open(folder.path()).unwrap()), Settings::default()).unwrap();
    let address = server.address;
    let mut connection = std::net::TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    connection.write_all(b"GET /-/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("{}"), "{answer}");
    drop(server);
    let refused = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        std::net::TcpStream::connect(address).is_err()
    });
    assert!(refused, "still listening ten seconds after it was dropped");
}
