//! Plain requests over connections of our own: HTTP/1.1, one at a time on each, or HTTP/2
//! ([`streams`]).
//!
//! A resolution asks for thousands of documents, most of them small. A general client spends more
//! on each than the system does: it parses the address again, copies headers, and passes the answer
//! from task to task. This client has no proxies, redirects or client certificates. Requests that
//! need them go to the other client of [`super::transport`].

mod message;
mod streams;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use espalier_registry::{Broken, Get, Judged, Trouble};
use http::HeaderValue;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Id};
use tokio::time::{Instant, Sleep};
use tower_service::Service as _;

use super::answer::{Answer, LONGEST_REFUSAL, judged};
use super::certificates::Trusted;
use super::failure;
use super::hosts::Hosts;
use crate::body::{self, Encoding};
use crate::spans::Spans;
use message::{Framing, Head};
use streams::Origins;

/// How many bytes of an answer of unknown length are read at once.
const PIECE: usize = 16 << 10;
/// How much memory is reserved for a body in advance.
const MOST_AT_ONCE: usize = 8 << 20;
/// The maximum length of an answer's head.
const LONGEST_HEAD: usize = 64 << 10;

type Stream = TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>;

/// The runtime that connections belong to, and their origin.
type Key = (Id, String);

/// Idle connections.
type Idle = HashMap<Key, Vec<Connection>>;

/// The timeouts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub connecting: Duration,
    /// The wait for the first byte of an answer, and between any two bytes.
    pub silence: Duration,
    /// The duration of an attempt.
    pub attempt: Duration,
}

/// The connections, and how more are made.
pub(super) struct Wire {
    tcp: HttpConnector<Hosts>,
    /// Made for the first registry with TLS, because reading the system's certificates takes time.
    tls: OnceLock<Result<Secure, String>>,
    trusted: Trusted,
    patience: Patience,
    /// The user agent, which every request states.
    greeting: String,
    user_agent: HeaderValue,
    idle: Mutex<Idle>,
    most_idle: usize,
    origins: Origins,
}

/// How connections are secured.
#[derive(Clone)]
struct Secure {
    http1: HttpsConnector<HttpConnector<Hosts>>,
    /// Offers both protocols.
    either: HttpsConnector<HttpConnector<Hosts>>,
}

/// The protocols that a request may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// HTTP/2 if the registry agrees to it.
    Either,
    Http1,
}

/// The result of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    Answer(Answer),
    /// The answer is elsewhere.
    Elsewhere(String),
}

struct Connection {
    stream: Stream,
    /// Bytes that were read and aren't used yet.
    read: Vec<u8>,
    /// The request that is sent. It is kept for its memory.
    written: Vec<u8>,
    alarm: Alarm,
}

/// The timer for a silent registry. It is reset only if it is far off, because resetting costs more
/// than a look at it.
struct Alarm {
    sleep: Pin<Box<Sleep>>,
    /// The end of the attempt.
    end: Instant,
    patience: Patience,
}

/// Why an exchange over a connection failed.
enum Failed {
    /// It failed before any answer.
    Unanswered(Trouble),
    Answered(Trouble),
}

impl Wire {
    pub fn new(hosts: Hosts, trusted: Trusted, user_agent: &'static str, patience: Patience, most_idle: usize) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(hosts);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(patience.connecting));
        let greeting = format!("user-agent: {user_agent}\r\naccept-encoding: gzip\r\n");
        let user_agent = HeaderValue::from_static(user_agent);
        let (tls, idle, origins) = Default::default();
        Self { tcp, tls, trusted, patience, greeting, user_agent, idle, most_idle, origins }
    }

    /// Sends a request. `None` if it needs the other client.
    pub async fn exchange(
        &self,
        get: &Get,
        protocol: Protocol,
        spans: Option<&Spans>,
    ) -> Option<Result<Outcome, Trouble>> {
        let address = get.address.as_str();
        let origin = format!("{}://{}", get.address.scheme(), get.address.authority());
        if !address.strip_prefix(&*origin).is_some_and(|target| target.starts_with('/')) {
            // The user name and password in the address belong into a header, which the other
            // client sends.
            return None;
        }
        let key = (Handle::current().id(), origin);
        let origin = &key.1;
        let target = address[origin.len()..].split('#').next().unwrap_or_default();
        let headers = match get.headers() {
            Ok(headers) => headers,
            Err(trouble) => return Some(Err(trouble)),
        };
        let end = Instant::now() + self.patience.attempt;
        if protocol == Protocol::Either && get.address.scheme() == "https" {
            let outcome = self.exchange_over_streams(&key, get, end, spans).await;
            if let Some(outcome) = outcome.transpose() {
                return Some(outcome);
            }
        }
        loop {
            let (mut connection, is_fresh) = match self.take(&key) {
                Some(connection) => (connection, false),
                None => match self.connect(origin, Protocol::Http1).await {
                    Ok(stream) => (Connection::new(stream, self.patience), true),
                    Err(broken) => return Some(Err(Trouble::Broken(broken))),
                },
            };
            connection.alarm.end = end;
            connection.write_request(target, get.address.authority(), &self.greeting, &headers);
            match connection.exchange(get, spans).await {
                // The registry sent this before the request arrived, because it had waited too long
                // for one.
                Ok((Outcome::Answer(Answer { judged: Judged::Refused { status, .. }, .. }), false))
                    if !is_fresh && status == 408 => {}
                Ok((outcome, may_be_used_again)) => {
                    if may_be_used_again {
                        self.put_back(key, connection);
                    }
                    return Some(Ok(outcome));
                }
                // The registry closed the connection before the request arrived.
                Err(Failed::Unanswered(Trouble::Broken(Broken::BrokeOff(_)))) if !is_fresh => {}
                Err(Failed::Unanswered(trouble) | Failed::Answered(trouble)) => return Some(Err(trouble)),
            }
        }
    }

    fn take(&self, key: &Key) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = idle.get_mut(key)?;
        let now = Instant::now();
        // A connection that was idle for as long as a registry may be silent may be dead.
        std::iter::from_fn(|| idle.pop()).find(|connection| connection.alarm.sleep.deadline() > now)
    }

    fn put_back(&self, key: Key, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = idle.entry(key).or_default();
        if idle.len() < self.most_idle {
            idle.push(connection);
        }
    }

    async fn connect(&self, origin: &str, protocol: Protocol) -> Result<Stream, Broken> {
        let address = format!("{origin}/").parse();
        let address = address.map_err(|_| Broken::Impossible("its address can't be sent".to_owned()))?;
        let connecting = async {
            if origin.starts_with("http:") {
                let stream = self.tcp.clone().call(address).await;
                return stream.map(MaybeHttpsStream::Http).map_err(|error| failure::not_connected(&error));
            }
            let secure = self.tls.get_or_init(|| Ok(Secure::new(&self.tcp, self.trusted.tls()?))).clone();
            let Secure { http1, either } = secure.map_err(Broken::Insecure)?;
            let mut connector = if protocol == Protocol::Http1 { http1 } else { either };
            connector.call(address).await.map_err(|error| failure::not_connected(error.as_ref()))
        };
        match tokio::time::timeout(self.patience.connecting, connecting).await {
            Ok(stream) => stream.map(TokioIo::new),
            Err(_) => Err(Broken::NotConnectedInTime),
        }
    }
}

impl Secure {
    fn new(tcp: &HttpConnector<Hosts>, http1: ClientConfig) -> Self {
        let mut either = http1.clone();
        either.alpn_protocols = vec![streams::PROTOCOL.to_vec(), b"http/1.1".to_vec()];
        Self { http1: (tcp.clone(), http1).into(), either: (tcp.clone(), either).into() }
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Wire").field("patience", &self.patience).finish_non_exhaustive()
    }
}

impl Connection {
    fn new(stream: Stream, patience: Patience) -> Self {
        Self { stream, read: Vec::new(), written: Vec::new(), alarm: Alarm::new(patience) }
    }

    fn write_request(&mut self, target: &str, host: &str, greeting: &str, headers: &[(&'static str, &str)]) {
        self.written.clear();
        for part in ["GET ", target, " HTTP/1.1\r\nhost: ", host, "\r\n", greeting] {
            self.written.extend_from_slice(part.as_bytes());
        }
        for (name, value) in headers {
            for part in [name, ": ", value, "\r\n"] {
                self.written.extend_from_slice(part.as_bytes());
            }
        }
        self.written.extend_from_slice(b"\r\n");
    }

    /// Sends the prepared request and reads the answer. Also returns whether another request may
    /// follow.
    async fn exchange(&mut self, get: &Get, spans: Option<&Spans>) -> Result<(Outcome, bool), Failed> {
        let broke_off = |error: std::io::Error| Trouble::Broken(Broken::BrokeOff(failure::innermost(&error)));
        let sent = self.alarm.in_time(self.stream.write_all(&self.written)).await.map_err(Failed::Answered)?;
        sent.map_err(broke_off).map_err(Failed::Unanswered)?;
        let (judged, encoding, framing, may_be_used_again) = loop {
            let head = Head::read(&self.read).map_err(|reason| Failed::Answered(broken_off(reason)))?;
            if let Some(head) = head {
                if head.is_interim() {
                    let length = head.length;
                    self.read.drain(..length);
                    continue;
                }
                if let (301..=303 | 307 | 308, Some(location)) = (head.status, head.header("location")) {
                    // Whatever follows is useless, so nobody waits for it.
                    let framing = head.framing();
                    let is_over = framing == Ok(Framing::Length((self.read.len() - head.length) as u64));
                    let may_be_used_again = head.may_be_used_again() && is_over;
                    self.read.clear();
                    return Ok((Outcome::Elsewhere(location), may_be_used_again));
                }
                let judged = judged(get, head.status, &|name| head.header(name));
                let encoding = Encoding::of(head.header("content-encoding").as_deref());
                let framing = head.framing().map_err(|reason| Failed::Answered(broken_off(reason)))?;
                let (length, may_be_used_again) = (head.length, head.may_be_used_again());
                self.read.drain(..length);
                break (judged, encoding, framing, may_be_used_again);
            }
            if self.read.len() > LONGEST_HEAD {
                return Err(Failed::Answered(broken_off("the head of the answer doesn't end")));
            }
            let is_unanswered = self.read.is_empty();
            self.read_more().await.map_err(if is_unanswered { Failed::Unanswered } else { Failed::Answered })?;
        };
        let is_refused = matches!(judged, Judged::Refused { .. });
        let is_wanted = matches!(judged, Judged::Body(_));
        let limit = if is_refused { LONGEST_REFUSAL } else { get.limit };
        let body = match Spans::body(spans, self.read_body(framing, limit)).await {
            Ok(body) => body,
            // A refusal is a refusal, even if its body can't be read.
            Err(_) if is_refused => {
                let answer = Answer { judged, encoding: Encoding::Identity, body: Vec::new() };
                return Ok((Outcome::Answer(answer), false));
            }
            Err(trouble) => return Err(Failed::Answered(trouble)),
        };
        let may_be_used_again = may_be_used_again && framing != Framing::UntilClosed && self.read.is_empty();
        let encoding = match encoding {
            Err(_) if !is_wanted => Encoding::Identity,
            encoding => encoding.map_err(Failed::Answered)?,
        };
        Ok((Outcome::Answer(Answer { judged, encoding, body }), may_be_used_again))
    }

    async fn read_body(&mut self, framing: Framing, limit: u64) -> Result<Vec<u8>, Trouble> {
        let mut body = Vec::new();
        match framing {
            Framing::Length(length) if length > limit => return Err(too_long(limit)),
            Framing::Length(length) => self.read_exactly(&mut body, length).await?,
            Framing::UntilClosed => {
                body = std::mem::take(&mut self.read);
                let mut is_open = true;
                while is_open {
                    if body.len() as u64 > limit {
                        return Err(too_long(limit));
                    }
                    is_open = self.read_into(&mut body, PIECE as u64).await? > 0;
                }
            }
            Framing::Chunked => loop {
                let length = self.read_chunk_size().await?;
                if length > limit.saturating_sub(body.len() as u64) {
                    return Err(too_long(limit));
                }
                if length == 0 {
                    self.read_trailers().await?;
                    break;
                }
                self.read_exactly(&mut body, length).await?;
                let mut end = Vec::new();
                self.read_exactly(&mut end, 2).await?;
                if end != b"\r\n" {
                    return Err(broken_off("a piece of the answer is longer than announced"));
                }
            },
        }
        Ok(body)
    }

    /// Reads this number of bytes.
    async fn read_exactly(&mut self, body: &mut Vec<u8>, length: u64) -> Result<(), Trouble> {
        let wanted = usize::try_from(length).map_err(|_| too_long(length))?;
        let there = wanted.min(self.read.len());
        // Memory grows with the received bytes, because the announced length may be wrong.
        body.reserve(wanted.min(MOST_AT_ONCE));
        body.extend(self.read.drain(..there));
        let end = body.len() - there + wanted;
        while body.len() < end {
            if self.read_into(body, (end - body.len()) as u64).await? == 0 {
                return Err(broken_off("end of file before message length reached"));
            }
        }
        Ok(())
    }

    async fn read_chunk_size(&mut self) -> Result<u64, Trouble> {
        loop {
            if let Some((length, size)) = message::chunk_size(&self.read).map_err(broken_off)? {
                self.read.drain(..length);
                return Ok(size);
            }
            if self.read.len() > LONGEST_HEAD {
                return Err(broken_off("a piece of the answer has no length"));
            }
            self.read_more().await?;
        }
    }

    /// Skips what may follow the last chunk, up to an empty line.
    async fn read_trailers(&mut self) -> Result<(), Trouble> {
        loop {
            while let Some(end) = memchr::memmem::find(&self.read, b"\r\n") {
                self.read.drain(..end + 2);
                if end == 0 {
                    return Ok(());
                }
            }
            if self.read.len() > LONGEST_HEAD {
                return Err(broken_off("the answer doesn't end"));
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<(), Trouble> {
        let mut read = std::mem::take(&mut self.read);
        let count = self.read_into(&mut read, PIECE as u64).await;
        self.read = read;
        if count? == 0 { Err(broken_off("connection closed before message completed")) } else { Ok(()) }
    }

    /// Reads the next piece, of at most this number of bytes.
    async fn read_into(&mut self, buffer: &mut Vec<u8>, most: u64) -> Result<usize, Trouble> {
        buffer.reserve(usize::try_from(most).map_or(PIECE, |most| most.min(PIECE)));
        let mut reading = (&mut self.stream).take(most);
        let read = self.alarm.in_time(reading.read_buf(buffer)).await?;
        read.map_err(|error| Trouble::Broken(Broken::BrokeOff(failure::innermost(&error))))
    }
}

impl Alarm {
    fn new(patience: Patience) -> Self {
        let now = Instant::now();
        let sleep = Box::pin(tokio::time::sleep_until(now + patience.silence));
        Self { sleep, end: now + patience.attempt, patience }
    }

    /// Waits for `work` until the timer or the attempt ends.
    async fn in_time<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Trouble> {
        let now = Instant::now();
        if now >= self.end {
            return Err(Trouble::Broken(Broken::NotInTime));
        }
        let silent = now + self.patience.silence;
        let set = self.sleep.deadline();
        if set < silent.min(self.end) || set > self.end {
            let slack = self.patience.silence / 32;
            self.sleep.as_mut().reset((silent + slack).min(self.end));
        }
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.sleep.as_mut() => Err(Trouble::Broken(Broken::NotInTime)),
        }
    }
}

fn too_long(limit: u64) -> Trouble {
    Trouble::Unusable(body::too_long(limit))
}

fn broken_off(reason: &str) -> Trouble {
    Trouble::Broken(Broken::BrokeOff(reason.to_owned()))
}

#[cfg(test)]
mod tests;
