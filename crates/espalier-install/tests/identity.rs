//! A registry that requires a client certificate.

use crate::support;
use std::sync::Arc;

use espalier_core::FetchFailureKind;
use rcgen::{CertifiedKey, KeyPair};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto, pki_types::PrivateKeyDer};

const PACKUMENT: &str =
    r#"{"name":"a","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"a","version":"1.0.0"}}}"#;

fn certificate(name: &str) -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate")
}

/// Starts a server on loopback that trusts this one client. Returns its address.
async fn registry(server: &CertifiedKey<KeyPair>, client: &CertifiedKey<KeyPair>) -> String {
    let provider = Arc::new(crypto::ring::default_provider());
    let mut trusted = RootCertStore::empty();
    trusted.add(client.cert.der().clone()).expect("a certificate");
    let verifier = WebPkiClientVerifier::builder_with_provider(trusted.into(), Arc::clone(&provider));
    let key = PrivateKeyDer::try_from(server.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = config.with_client_cert_verifier(verifier.build().expect("a verifier"));
    let config = config.with_single_cert(vec![server.cert.der().clone()], key).expect("a configuration");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = vec![0; 4096];
            let _ = stream.read(&mut request).await;
            let head =
                format!("content-type: application/json\r\ncontent-length: {}\r\nconnection: close", PACKUMENT.len());
            let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{PACKUMENT}").as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    format!("localhost:{}", address.port())
}

#[tokio::test]
async fn only_who_has_the_certificate_gets_in() {
    let (server, client) = (certificate("localhost"), certificate("me"));
    let host = registry(&server, &client).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    };
    let (ca, certfile, keyfile) = (
        file("ca.pem", &server.cert.pem()),
        file("cert.pem", &client.cert.pem()),
        file("key.pem", &client.signing_key.serialize_pem()),
    );
    let address = format!("https://{host}/");
    let (cert_key, key_key) = (format!("//{host}/:certfile"), format!("//{host}/:keyfile"));
    let usual = [("registry", address.as_str()), ("cafile", &ca), ("fetch-retries", "0")];

    let known = [&usual[..], &[(cert_key.as_str(), certfile.as_str()), (&key_key, &keyfile)]].concat();
    let packument = support::client(&known).packument("a", false).await.expect("a packument");
    assert_eq!(packument.version(0), "1.0.0");

    let (cert, key) = (client.cert.pem().replace('\n', "\\n"), client.signing_key.serialize_pem().replace('\n', "\\n"));
    let inline = [&usual[..], &[("cert", cert.as_str()), ("key", &key)]].concat();
    support::client(&inline).packument("a", false).await.expect("a packument");

    let failure = support::client(&usual).packument("a", false).await.expect_err("nobody");
    assert_eq!(failure.kind, FetchFailureKind::Unreachable);
}
