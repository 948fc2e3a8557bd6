//! Tests with a server of the `h2` crate over TLS. Each test defines what the server does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use espalier_registry::{Address, Broken, Get, Judged, Trouble, Validators};
use futures_util::future::join_all;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http::{Request, Response};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::super::super::certificates::Trusted;
use super::super::super::hosts::Hosts;
use super::super::{Outcome, Patience, Protocol, Wire};
use super::{MOST_CONNECTIONS, MOST_UNPROCESSED};
use crate::config::pem::Pem;

/// The server's action for a request, by the number of earlier requests over all connections.
#[derive(Clone, Copy)]
enum Act {
    Answer,
    /// Answers only when another connection is closed, which never happens.
    Stall,
    Reset(Reason),
    /// Retires the connection at once, with all requests on it.
    GoAway,
    Redirect,
}

/// The behaviour of a server.
#[derive(Clone, Copy)]
struct Manners {
    act: fn(usize) -> Act,
    /// The maximum number of streams on a connection.
    streams: u32,
    /// The number of requests after which a connection is retired.
    requests: usize,
    protocols: &'static [&'static [u8]],
}

const GOOD: Manners =
    Manners { act: |_| Act::Answer, streams: 100, requests: usize::MAX, protocols: &[b"h2", b"http/1.1"] };

struct Registry {
    origin: String,
    certificate: String,
    connections: Arc<AtomicUsize>,
    /// The maximum number of streams that were open at once on a connection.
    most_open: Arc<AtomicUsize>,
}

impl Registry {
    async fn with(manners: Manners) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("versions").with_no_client_auth();
        let mut config = config.with_single_cert(vec![made.cert.der().clone()], key).expect("a certificate");
        config.alpn_protocols = manners.protocols.iter().map(|name| name.to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("https://{}", listener.local_addr().expect("an address"));
        let (connections, most_open, asked) = <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let registry = Self {
            origin,
            certificate: made.cert.pem(),
            connections: connections.clone(),
            most_open: most_open.clone(),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                let (acceptor, most_open, asked) = (acceptor.clone(), most_open.clone(), asked.clone());
                tokio::spawn(async move {
                    let stream = acceptor.accept(stream).await.expect("a handshake");
                    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                        serve(stream, manners, &most_open, &asked).await;
                    } else {
                        serve_plainly(stream).await;
                    }
                });
            }
        });
        registry
    }

    /// A registry that never answers a greeting.
    async fn silent() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("https://{}", listener.local_addr().expect("an address"));
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let (connections, most_open) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let registry = Self { origin, certificate: made.cert.pem(), connections: connections.clone(), most_open };
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                held.push(stream);
            }
        });
        registry
    }

    fn wire(&self, silence: Duration) -> Wire {
        self.wire_with(Patience { connecting: Duration::from_mins(1), silence, attempt: Duration::from_mins(1) })
    }

    fn wire_with(&self, patience: Patience) -> Wire {
        let only = Arc::from([Pem::of_text("ca", self.certificate.clone())]);
        Wire::new(Hosts::default(), Trusted { only, extra: Arc::default() }, "test", patience, 4)
    }

    fn get(&self) -> Get {
        let address = Address::parse(&format!("{}/a?b", self.origin), |text| Some(text.to_owned()));
        let (validators, authorization) = (Validators::default(), Some("Bearer x".to_owned()));
        Get { address: address.expect("an address"), accept: "*/*", authorization, validators, limit: 100 }
    }

    /// The results of this number of concurrent requests, over one client.
    async fn asked(&self, count: usize) -> Vec<Result<String, Trouble>> {
        let wire = self.wire(Duration::from_mins(1));
        join_all((0..count).map(|_| asked(&wire, self))).await
    }
}

async fn serve(stream: TlsStream<TcpStream>, manners: Manners, most_open: &AtomicUsize, asked: &AtomicUsize) {
    let mut builder = Builder::new();
    let mut connection = builder.max_concurrent_streams(manners.streams).handshake(stream).await.expect("a greeting");
    let open = Arc::<AtomicUsize>::default();
    let mut served = 0;
    while let Some(Ok((request, answer))) = connection.accept().await {
        check(&request);
        most_open.fetch_max(open.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let next = (manners.act)(asked.fetch_add(1, Ordering::Relaxed));
        if matches!(next, Act::GoAway) {
            connection.abrupt_shutdown(Reason::NO_ERROR);
            continue;
        }
        tokio::spawn(act(next, answer, Arc::clone(&open)));
        served += 1;
        if served == manners.requests {
            connection.graceful_shutdown();
        }
    }
}

fn check(request: &Request<RecvStream>) {
    assert_eq!(request.uri().path_and_query().map(ToString::to_string).as_deref(), Some("/a?b"));
    for (name, value) in
        [("accept", "*/*"), ("authorization", "Bearer x"), ("accept-encoding", "gzip"), ("user-agent", "test")]
    {
        assert_eq!(request.headers().get(name).map(http::HeaderValue::as_bytes), Some(value.as_bytes()), "{name}");
    }
}

async fn act(act: Act, mut answer: SendResponse<Bytes>, open: Arc<AtomicUsize>) {
    // Others may come meanwhile.
    tokio::task::yield_now().await;
    match act {
        Act::Answer => {
            let mut body = answer.send_response(Response::new(()), false).expect("a head");
            body.send_data(Bytes::from_static(b"over "), false).expect("a body");
            body.send_data(Bytes::from_static(b"streams"), true).expect("a body");
        }
        Act::Redirect => {
            let head = Response::builder().status(302).header("location", "/b").body(()).expect("a head");
            answer.send_response(head, true).expect("a head");
        }
        Act::Reset(reason) => answer.send_reset(reason),
        Act::Stall | Act::GoAway => std::future::pending().await,
    }
    open.fetch_sub(1, Ordering::Relaxed);
}

/// Answers one request over HTTP/1.1 after the other.
async fn serve_plainly(mut stream: TlsStream<TcpStream>) {
    let mut read = Vec::new();
    while stream.read_buf(&mut read).await.unwrap_or_default() > 0 {
        if read.ends_with(b"\r\n\r\n") {
            read.clear();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nplain").await.expect("an answer");
        }
    }
}

async fn asked(wire: &Wire, registry: &Registry) -> Result<String, Trouble> {
    let outcome = wire.exchange(&registry.get(), Protocol::Either, None).await.expect("nothing unusual")?;
    let Outcome::Answer(answer) = outcome else { panic!("it leads elsewhere") };
    assert!(matches!(answer.judged, Judged::Body(_)), "{answer:?}");
    Ok(String::from_utf8(answer.body).expect("text"))
}

#[track_caller]
fn all_are(answers: Vec<Result<String, Trouble>>, expected: &str) {
    for answer in answers {
        assert_eq!(answer.expect("an answer"), expected);
    }
}

#[tokio::test]
async fn many_requests_share_a_few_connections() {
    let registry = Registry::with(GOOD).await;
    all_are(registry.asked(500).await, "over streams");
    assert!(registry.connections.load(Ordering::Relaxed) <= MOST_CONNECTIONS);
}

#[tokio::test]
async fn a_registry_that_cannot_be_reached_is_not_tried_by_a_few_requests_after_the_other() {
    let registry = Registry::silent().await;
    let connecting = Duration::from_millis(300);
    let wire = registry.wire_with(Patience { connecting, silence: connecting, attempt: Duration::from_mins(1) });
    let requests = 20 * MOST_CONNECTIONS;
    for answer in join_all((0..requests).map(|_| asked(&wire, &registry))).await {
        let trouble = answer.expect_err("nobody answers");
        assert!(matches!(trouble, Trouble::Broken(Broken::NotConnectedInTime)), "{trouble:?}");
    }
    let connections = registry.connections.load(Ordering::Relaxed);
    assert!(connections < requests / 2, "{connections} connections for {requests} requests");
}

#[tokio::test]
async fn one_request_after_another_needs_one_connection() {
    let registry = Registry::with(GOOD).await;
    let wire = registry.wire(Duration::from_mins(1));
    for _ in 0..20 {
        assert_eq!(asked(&wire, &registry).await.expect("an answer"), "over streams");
    }
    assert_eq!(registry.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn who_does_not_agree_is_asked_over_http_1() {
    for protocols in [&[b"http/1.1" as &[u8]] as &[_], &[]] {
        let registry = Registry::with(Manners { protocols, ..GOOD }).await;
        all_are(registry.asked(20).await, "plain");
    }
}

#[tokio::test]
async fn large_answers_come_over_http_1() {
    let registry = Registry::with(GOOD).await;
    let wire = registry.wire(Duration::from_mins(1));
    let outcome = wire.exchange(&registry.get(), Protocol::Http1, None).await.expect("nothing unusual");
    assert!(matches!(outcome, Ok(Outcome::Answer(answer)) if answer.body == b"plain"));
}

#[tokio::test]
async fn a_limit_of_few_streams_is_kept() {
    let registry = Registry::with(Manners { streams: 2, ..GOOD }).await;
    all_are(registry.asked(200).await, "over streams");
    assert!(registry.most_open.load(Ordering::Relaxed) <= 2);
}

#[tokio::test]
async fn connections_that_are_retired_are_replaced() {
    let registry = Registry::with(Manners { requests: 10, ..GOOD }).await;
    let wire = registry.wire(Duration::from_mins(1));
    for _ in 0..10 {
        all_are(join_all((0..20).map(|_| asked(&wire, &registry))).await, "over streams");
    }
    assert!(registry.connections.load(Ordering::Relaxed) >= 20);
}

#[tokio::test]
async fn what_was_refused_unprocessed_is_asked_again() {
    for reason in [Reason::REFUSED_STREAM, Reason::HTTP_1_1_REQUIRED] {
        let act = match reason {
            Reason::REFUSED_STREAM => {
                |before| if before % 3 == 0 { Act::Reset(Reason::REFUSED_STREAM) } else { Act::Answer }
            }
            _ => |_| Act::Reset(Reason::HTTP_1_1_REQUIRED),
        };
        let registry = Registry::with(Manners { act, ..GOOD }).await;
        let expected = if reason == Reason::REFUSED_STREAM { "over streams" } else { "plain" };
        let wire = registry.wire(Duration::from_mins(1));
        for _ in 0..10 {
            assert_eq!(asked(&wire, &registry).await.expect("an answer"), expected, "{reason}");
        }
    }
}

#[tokio::test]
async fn who_is_refused_while_others_are_answered_only_waits_for_its_turn() {
    let act = |before| if before % 6 == 5 { Act::Answer } else { Act::Reset(Reason::REFUSED_STREAM) };
    let registry = Registry::with(Manners { act, ..GOOD }).await;
    all_are(registry.asked(200).await, "over streams");
}

#[tokio::test]
async fn what_was_under_way_when_a_connection_was_given_up_is_asked_again() {
    for act in [
        |before| if before % 2 == 1 { Act::GoAway } else { Act::Answer },
        |before| if before % 2 == 1 { Act::Reset(Reason::NO_ERROR) } else { Act::Answer },
    ] {
        let registry = Registry::with(Manners { act, ..GOOD }).await;
        let wire = registry.wire(Duration::from_mins(1));
        for _ in 0..10 {
            assert_eq!(asked(&wire, &registry).await.expect("an answer"), "over streams");
        }
        assert_eq!(registry.connections.load(Ordering::Relaxed), 10, "one that was given up isn't used again");
    }
}

#[tokio::test]
async fn who_gives_up_every_connection_is_not_asked_without_end() {
    let registry = Registry::with(Manners { act: |_| Act::GoAway, ..GOOD }).await;
    let trouble = registry.asked(1).await.remove(0).expect_err("given up");
    assert!(matches!(trouble, Trouble::Broken(Broken::BrokeOff(_))), "{trouble:?}");
    assert!(registry.connections.load(Ordering::Relaxed) <= MOST_UNPROCESSED);
}

#[tokio::test]
async fn who_refuses_everything_is_not_asked_without_end() {
    let registry = Registry::with(Manners { act: |_| Act::Reset(Reason::REFUSED_STREAM), ..GOOD }).await;
    let trouble = registry.asked(1).await.remove(0).expect_err("refused");
    assert!(matches!(trouble, Trouble::Broken(Broken::BrokeOff(_))), "{trouble:?}");
}

#[tokio::test]
async fn a_stream_that_broke_is_trouble_and_others_go_on() {
    let act = |before| if before == 1 { Act::Reset(Reason::INTERNAL_ERROR) } else { Act::Answer };
    let registry = Registry::with(Manners { act, ..GOOD }).await;
    let (broken, whole): (Vec<_>, Vec<_>) = registry.asked(20).await.into_iter().partition(Result::is_err);
    all_are(whole, "over streams");
    let [Err(Trouble::Broken(Broken::BrokeOff(reason)))] = &broken[..] else { panic!("{broken:?}") };
    assert!(reason.contains("internal error"), "{reason}");
}

#[tokio::test]
async fn silence_is_not_waited_for_without_end() {
    let registry = Registry::with(Manners { act: |_| Act::Stall, ..GOOD }).await;
    let wire = registry.wire(Duration::from_millis(20));
    for _ in 0..2 {
        let trouble = asked(&wire, &registry).await.expect_err("silence");
        assert!(matches!(trouble, Trouble::Broken(Broken::NotInTime)), "{trouble:?}");
    }
    assert_eq!(registry.connections.load(Ordering::Relaxed), 2, "a connection that was silent isn't used again");
}

#[tokio::test]
async fn no_more_is_read_than_may_be() {
    let registry = Registry::with(GOOD).await;
    let get = Get { limit: 11, ..registry.get() };
    let outcome =
        registry.wire(Duration::from_mins(1)).exchange(&get, Protocol::Either, None).await.expect("nothing unusual");
    assert!(matches!(&outcome, Err(Trouble::Unusable(reason)) if reason.contains("longer")), "{outcome:?}");
}

#[tokio::test]
async fn a_redirect_is_left_to_another_client() {
    let registry = Registry::with(Manners { act: |_| Act::Redirect, ..GOOD }).await;
    let wire = registry.wire(Duration::from_mins(1));
    let outcome = wire.exchange(&registry.get(), Protocol::Either, None).await.expect("nothing unusual");
    assert!(matches!(&outcome, Ok(Outcome::Elsewhere(location)) if location == "/b"), "{outcome:?}");
}
