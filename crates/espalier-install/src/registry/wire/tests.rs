use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use espalier_registry::{Address, Broken, Get, Judged, Trouble, Validators};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::certificates::Trusted;
use super::super::hosts::Hosts;
use super::{Outcome, Patience, Protocol, Wire};

/// A registry that answers on each connection with the texts of the next script and then closes it.
/// After the last script, it is silent.
struct Registry {
    origin: String,
    connections: Arc<AtomicUsize>,
}

impl Registry {
    async fn of(scripts: &[&[&str]]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let connections = Arc::<AtomicUsize>::default();
        let accepted = Arc::clone(&connections);
        let scripts: Vec<Vec<String>> =
            scripts.iter().map(|script| script.iter().map(|text| (*text).to_owned()).collect()).collect();
        tokio::spawn(async move {
            let mut silent = Vec::new();
            let mut scripts = scripts.into_iter();
            while let Ok((mut stream, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::Relaxed);
                let Some(script) = scripts.next() else {
                    silent.push(stream);
                    continue;
                };
                for text in script {
                    read_request(&mut stream).await;
                    // A client that needs no more has closed the connection.
                    let _ = stream.write_all(text.as_bytes()).await;
                }
            }
        });
        Self { origin, connections }
    }

    fn get(&self) -> Get {
        let address = Address::parse(&format!("{}/a?b", self.origin), |text| Some(text.to_owned()));
        let (validators, authorization) = (Validators::default(), Some("Bearer x".to_owned()));
        Get { address: address.expect("an address"), accept: "*/*", authorization, validators, limit: 100 }
    }
}

async fn read_request(stream: &mut TcpStream) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut request).await.unwrap_or_default() == 0 {
            return;
        }
    }
    let text = String::from_utf8(request).expect("text");
    assert!(text.starts_with("GET /a?b HTTP/1.1\r\nhost: 127.0.0.1:"), "{text}");
    for header in ["\r\naccept: */*\r\n", "\r\nauthorization: Bearer x\r\n", "\r\naccept-encoding: gzip\r\n"] {
        assert!(text.contains(header), "{text}");
    }
}

fn wire(silence: Duration) -> Wire {
    let patience = Patience { connecting: Duration::from_mins(1), silence, attempt: Duration::from_mins(1) };
    Wire::new(Hosts::default(), Trusted::default(), "test", patience, 4)
}

/// The result of a request: the body, or the trouble.
async fn asked(wire: &Wire, registry: &Registry) -> Result<String, Trouble> {
    let Outcome::Answer(answer) =
        wire.exchange(&registry.get(), Protocol::Either, None).await.expect("nothing unusual")?
    else {
        panic!("it leads elsewhere")
    };
    assert!(matches!(answer.judged, Judged::Body(_)), "{answer:?}");
    Ok(String::from_utf8(answer.body).expect("text"))
}

async fn body(script: &str) -> Result<String, Trouble> {
    asked(&wire(Duration::from_mins(1)), &Registry::of(&[&[script]]).await).await
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let first = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst";
    let second = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x\r\nsec\r\n3\r\nond\r\n0\r\nx: y\r\n\r\n";
    let third = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nthe rest";
    let registry = Registry::of(&[&[first, second, third]]).await;
    let wire = wire(Duration::from_mins(1));
    for expected in ["first", "second", "the rest"] {
        assert_eq!(asked(&wire, &registry).await.expect("a body"), expected);
    }
    assert_eq!(registry.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_registry_that_hung_up_meanwhile_is_asked_over_another_connection() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let registry = Registry::of(&[&[answer], &[answer], &[answer]]).await;
    let wire = wire(Duration::from_mins(1));
    for _ in 0..3 {
        assert_eq!(asked(&wire, &registry).await.expect("a body"), "ok");
    }
    assert_eq!(registry.connections.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_registry_that_was_tired_of_waiting_is_asked_over_another_connection() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let tired = "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let registry = Registry::of(&[&[answer, tired], &[answer], &[tired]]).await;
    let wire = wire(Duration::from_mins(1));
    for _ in 0..2 {
        assert_eq!(asked(&wire, &registry).await.expect("a body"), "ok");
    }
    assert_eq!(registry.connections.load(Ordering::Relaxed), 2);
    // On a new connection, it is an answer.
    let outcome = self::wire(Duration::from_mins(1)).exchange(&registry.get(), Protocol::Either, None).await;
    let outcome = outcome.expect("nothing unusual").expect("an answer");
    let Outcome::Answer(answer) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(answer.judged, Judged::Refused { status, .. } if status == 408));
}

#[tokio::test]
async fn what_announces_a_piece_without_end_is_given_up() {
    let script = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;{}", "x".repeat(1 << 20));
    let trouble = body(&script).await.expect_err("no length");
    assert!(format!("{trouble:?}").contains("a piece of the answer has no length"), "{trouble:?}");
}

#[tokio::test]
async fn a_user_who_is_named_as_the_host_is_left_to_another_client() {
    let address = Address::parse("http://registry.test:secret@registry.test/a", |text| Some(text.to_owned()));
    let get = Get { address: address.expect("an address"), ..Registry::of(&[]).await.get() };
    assert!(wire(Duration::from_mins(1)).exchange(&get, Protocol::Either, None).await.is_none());
}

#[tokio::test]
async fn a_connection_that_is_to_be_closed_is_not_used_again() {
    let closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";
    let registry = Registry::of(&[&[closing, "nobody asks"], &[closing]]).await;
    let wire = wire(Duration::from_mins(1));
    for _ in 0..2 {
        assert_eq!(asked(&wire, &registry).await.expect("a body"), "ok");
    }
}

#[tokio::test]
async fn what_breaks_off_or_makes_no_sense_is_trouble() {
    for script in [
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfir",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nfi",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nfirst\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nfi",
        "+OK POP3 server ready\r\n\r\n",
    ] {
        let trouble = body(script).await.expect_err(script);
        assert!(matches!(trouble, Trouble::Broken(Broken::BrokeOff(_))), "{script}: {trouble:?}");
    }
}

#[tokio::test]
async fn no_more_is_read_than_may_be() {
    for head in ["content-length: 101", "transfer-encoding: chunked", "x: until it is closed"] {
        let length = if head.starts_with("transfer") { "65\r\n" } else { "" };
        let script = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{length}{}", "x".repeat(101));
        let trouble = body(&script).await.expect_err("too long");
        assert!(matches!(&trouble, Trouble::Unusable(reason) if reason.contains("longer")), "{head}: {trouble:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_left_to_another_client() {
    let registry = Registry::of(&[&["HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 5\r\n\r\n"]]).await;
    let outcome =
        wire(Duration::from_mins(1)).exchange(&registry.get(), Protocol::Either, None).await.expect("an answer");
    assert!(matches!(&outcome, Ok(Outcome::Elsewhere(location)) if location == "/b"), "{outcome:?}");
}

#[tokio::test]
async fn silence_is_not_waited_for_without_end() {
    let wire = wire(Duration::from_millis(20));
    let trouble = asked(&wire, &Registry::of(&[]).await).await.expect_err("silence");
    assert!(matches!(trouble, Trouble::Broken(Broken::NotInTime)), "{trouble:?}");
}

#[tokio::test]
async fn a_refusal_says_why() {
    let refusal = "HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno";
    let registry = Registry::of(&[&[refusal]]).await;
    let outcome =
        wire(Duration::from_mins(1)).exchange(&registry.get(), Protocol::Either, None).await.expect("nothing unusual");
    let Ok(Outcome::Answer(answer)) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(answer.judged, Judged::Refused { .. }));
    assert_eq!(answer.body, b"no");
}
