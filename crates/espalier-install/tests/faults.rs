//! Registries that fail: which requests are repeated, who receives a credential, and what the error
//! says.

use std::io::Write as _;
use std::sync::Arc;

use crate::support::scripted::{Reply, Scripted};
use crate::support::{self, client, recording, serve};
use espalier_core::FetchFailureKind;
use espalier_install::config::settings::Settings;
use espalier_install::config::{Config, Environment};
use espalier_install::registry::Registry;

const PACKUMENT: &str = r#"{"name":"a","dist-tags":{},"versions":{}}"#;

/// A client whose project has this .npmrc.
fn configured(npmrc: &str) -> Registry {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(".npmrc"), npmrc).expect("written");
    let environment = Environment::of_variables([]);
    let config = Config::load(folder.path(), [].into_iter().collect(), &environment).expect("a configuration");
    let settings = Settings::new(&config, &environment).expect("settings");
    Registry::new(&settings, None, Arc::default()).expect("a client")
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    for trouble in [
        Reply::status("500 Internal Server Error"),
        Reply::status("503 Service Unavailable"),
        Reply::status("408 Request Timeout"),
        Reply::status("420 Enhance Your Calm"),
        Reply::Respond("429 Too Many Requests".into(), vec!["retry-after: 0".into()], Vec::new()),
        Reply::HangUp,
        Reply::BreakOff(PACKUMENT.into()),
        Reply::ok("{\"name\":"),
        Reply::ok("<html>maintenance</html>"),
    ] {
        let server = Scripted::start([trouble.clone(), trouble.clone(), Reply::ok(PACKUMENT)]).await;
        let packument = client(&[("registry", &server.origin)]).packument("a", false).await;
        assert!(packument.is_ok(), "{trouble:?}: {packument:?}");
        assert_eq!(server.seen().len(), 3, "{trouble:?}");
    }
}

#[tokio::test]
async fn a_compressed_body_that_was_cut_is_fetched_again() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(PACKUMENT.as_bytes()).expect("into memory");
    let whole = encoder.finish().expect("into memory");
    let reply = |body: &[u8]| Reply::Respond("200 OK".into(), vec!["content-encoding: gzip".into()], body.to_owned());
    let server = Scripted::start([reply(&whole[..whole.len() - 6]), reply(&whole)]).await;
    let packument = client(&[("registry", &server.origin)]).packument("a", false).await;
    assert!(packument.is_ok(), "{packument:?}");
}

#[tokio::test]
async fn a_refusal_is_an_answer() {
    for (line, kind) in [
        ("401 Unauthorized", FetchFailureKind::Unauthorized),
        ("403 Forbidden", FetchFailureKind::Forbidden),
        ("404 Not Found", FetchFailureKind::NotFound),
        ("418 I'm a teapot", FetchFailureKind::Status(418)),
    ] {
        let server = Scripted::start([Reply::status(line)]).await;
        let failure = client(&[("registry", &server.origin)]).packument("a", false).await.expect_err("refused");
        assert_eq!(failure.kind, kind);
        assert_eq!(server.seen().len(), 1, "{line}");
    }
}

#[tokio::test]
async fn retries_end() {
    let server = Scripted::start(std::iter::repeat_n(Reply::status("502 Bad Gateway"), 9)).await;
    let failure = client(&[("registry", &server.origin)]).packument("a", false).await.expect_err("never well");
    assert_eq!(failure.kind, FetchFailureKind::Status(502));
    assert!(failure.message.ends_with("failed (502 Bad Gateway) (tried 3 times)"), "{failure}");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_silent_registry_is_given_up() {
    let server = Scripted::start([Reply::Stall, Reply::Stall]).await;
    let flags = [("registry", server.origin.as_str()), ("fetch-timeout", "100"), ("fetch-retries", "1")];
    let failure = client(&flags).packument("a", false).await.expect_err("no answer");
    assert_eq!(failure.kind, FetchFailureKind::Unreachable);
    assert!(failure.message.ends_with("timed out (tried 2 times)"), "{failure}");
}

#[tokio::test]
async fn a_closed_port_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let failure =
        client(&[("registry", &format!("http://{address}"))]).packument("a", false).await.expect_err("closed");
    assert_eq!(failure.kind, FetchFailureKind::Unreachable);
    let expected = format!("cannot connect to {address}: Connection refused");
    assert!(failure.message.starts_with(&expected), "{failure}");
}

#[tokio::test]
async fn what_the_registry_says_is_passed_on() {
    let body = r#"{"error":"blocked by\u001b[31m policy"}"#;
    let server = Scripted::start([Reply::Respond("403 Forbidden".into(), Vec::new(), body.into())]).await;
    let failure = client(&[("registry", &server.origin)]).packument("a", false).await.expect_err("forbidden");
    assert!(failure.message.ends_with("denies access (403 Forbidden): blocked by [31m policy"), "{failure}");
}

#[tokio::test]
async fn a_token_is_sent_to_its_registry_and_never_shown() {
    let server = Scripted::start([Reply::status("403 Forbidden")]).await;
    let host = server.origin.strip_prefix("http:").expect("a plain origin");
    let registry = configured(&format!("registry={}\n{host}/:_authToken=s3cret", server.origin));
    let failure = registry.packument("a", false).await.expect_err("forbidden");
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer s3cret"));
    assert!(!format!("{failure:?}").contains("s3cret"));
}

#[tokio::test]
async fn a_redirect_to_another_origin_leaves_the_token_behind() {
    let elsewhere = Scripted::start([Reply::ok(PACKUMENT)]).await;
    let server =
        Scripted::start([Reply::redirect("/moved"), Reply::redirect(&format!("{}/a", elsewhere.origin))]).await;
    let host = server.origin.strip_prefix("http:").expect("a plain origin");
    let registry = configured(&format!("registry={}\n{host}/:_authToken=s3cret", server.origin));
    registry.packument("a", false).await.expect("a packument");
    let authorizations: Vec<_> = server.seen().iter().map(|seen| seen.header("authorization").is_some()).collect();
    assert_eq!(authorizations, [true, true]);
    assert_eq!(elsewhere.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn redirects_end() {
    let server = Scripted::start(std::iter::repeat_n(Reply::redirect("/a"), 50)).await;
    let failure = client(&[("registry", &server.origin)]).packument("a", false).await.expect_err("round and round");
    assert_eq!(failure.kind, FetchFailureKind::Invalid);
    assert!(failure.message.ends_with("redirects endlessly"), "{failure}");
}

#[tokio::test]
async fn certificates_are_verified_unless_told_otherwise() {
    let folder = recording();
    let server = serve(folder.path(), espalier_replay::Settings { tls: true, ..Default::default() }).await;
    let registry = format!("https://localhost:{}", server.address.port());
    let base = [("registry", registry.as_str()), ("fetch-retries", "0")];

    let failure = client(&base).packument("a", false).await.expect_err("an unknown certificate");
    assert_eq!(failure.kind, FetchFailureKind::Unreachable);
    assert!(failure.message.contains("is not secure"), "{failure}");

    let unchecked = [base.as_slice(), &[("strict-ssl", "false")]].concat();
    client(&unchecked).packument("a", false).await.expect("unchecked");

    let certificate = folder.path().join("certificate.pem");
    std::fs::write(&certificate, server.certificate.as_ref().expect("a certificate")).expect("written");
    let trusted = [base.as_slice(), &[("cafile", certificate.to_str().expect("a path"))]].concat();
    client(&trusted).packument("a", false).await.expect("trusted");

    // Only the first certificate of a file is looked at before a connection needs them.
    let broken = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
    let mut texts = std::fs::read_to_string(&certificate).expect("the certificate");
    texts.push_str(broken);
    std::fs::write(&certificate, texts).expect("written");
    let failure = client(&trusted).packument("a", false).await.expect_err("a broken certificate");
    assert!(failure.message.contains("the certificates of cafile"), "{failure}");
}

#[test]
fn a_file_without_certificates_is_an_error() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let settings = support::settings(&[("cafile", file.path().to_str().expect("a path"))]);
    let error = Registry::new(&settings, None, Arc::default()).expect_err("no certificates");
    assert!(error.to_string().starts_with("cannot use the certificates of cafile"), "{error}");
}

#[tokio::test]
async fn a_proxy_is_used_except_for_some_hosts() {
    let proxy = Scripted::start([Reply::ok(PACKUMENT)]).await;
    let through = [("registry", "http://registry.test/npm/"), ("proxy", proxy.origin.as_str())];
    client(&through).packument("a", false).await.expect("through the proxy");
    assert_eq!(proxy.seen()[0].line, "GET http://registry.test/npm/a HTTP/1.1");

    let server = Scripted::start([Reply::ok(PACKUMENT)]).await;
    let past = [("registry", server.origin.as_str()), ("proxy", &proxy.origin), ("noproxy", "127.0.0.1")];
    client(&past).packument("a", false).await.expect("past the proxy");
    assert_eq!(proxy.seen().len(), 1);
}
