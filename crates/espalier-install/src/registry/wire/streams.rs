//! Requests over HTTP/2: many at once over a few connections, if the registry agrees to it when a
//! connection is made.
//!
//! Thousands of small documents neither wait for each other over streams nor need a handshake each.
//! A request that the registry has not processed is sent again and is no attempt: the registry has
//! retired the connection, or the stream is above its limit. Large answers gain nothing from HTTP/2
//! and use HTTP/1.1.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use espalier_registry::{Broken, Get, Judged, Trouble};
use h2::client::{Builder, SendRequest};
use h2::{Reason, RecvStream};
use http::header::{ACCEPT_ENCODING, HeaderValue, USER_AGENT};
use http::{Request, Response};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::super::answer::{Answer, LONGEST_REFUSAL, headers, joined, judged};
use super::super::failure;
use super::{Key, LONGEST_HEAD, MOST_AT_ONCE, Outcome, Patience, Protocol, Stream, Wire, too_long};
use crate::body::Encoding;
use crate::spans::Spans;

/// The name of the protocol in ALPN.
pub(super) const PROTOCOL: &[u8] = b"h2";

/// One connection was a bottleneck for thousands of documents, two were one far from the registry,
/// and more than four gained nothing.
const MOST_CONNECTIONS: usize = 4;
/// Another connection is made if each carries this number of requests.
const CROWDED: usize = 16;
/// How much of one answer, and of all answers of a connection, the registry may send before we have
/// read any of it.
const WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// How often a request is sent again that the registry has not processed. Then the attempt has
/// failed. Refusals between which the registry has answered other requests don't count: the request
/// only waits for its turn.
const MOST_UNPROCESSED: usize = 8;

/// The registries and the connections to them.
#[derive(Default)]
pub(super) struct Origins(Mutex<HashMap<Key, Arc<Origin>>>);

/// A registry and the connections to it.
struct Origin {
    state: Mutex<State>,
    changed: Notify,
    patience: Patience,
    /// The number of pieces of answers that have come.
    answers: AtomicUsize,
}

#[derive(Default)]
struct State {
    connections: Vec<Arc<Connection>>,
    /// The number of connections that are being made.
    connecting: usize,
    /// Whether the registry did not agree to HTTP/2.
    is_plain: bool,
}

struct Connection {
    sender: SendRequest<Bytes>,
    /// The number of requests under way.
    active: AtomicUsize,
    /// When the last piece of an answer came.
    heard: Mutex<Option<Instant>>,
    /// Whether it takes no more requests. Requests under way may still be answered.
    is_over: AtomicBool,
    made: Instant,
}

/// The next step of a request.
enum Turn {
    Ask(Seat),
    Connect(Making),
    /// Over HTTP/1.1.
    Plain,
}

/// A request's place on a connection.
struct Seat {
    connection: Arc<Connection>,
    origin: Arc<Origin>,
}

/// A connection that is being made.
struct Making(Arc<Origin>);

/// Why a request got no answer.
enum Failed {
    /// The registry has not processed it.
    Unprocessed(String),
    Trouble(Trouble),
}

impl Wire {
    /// Sends a request over HTTP/2. `None` if the registry doesn't agree to it.
    pub(super) async fn exchange_over_streams(
        &self,
        key: &Key,
        get: &Get,
        end: Instant,
        spans: Option<&Spans>,
    ) -> Result<Option<Outcome>, Trouble> {
        let origin = self.origins.origin(key, self.patience);
        let (mut reason, mut in_vain, mut answers) = (String::new(), 0, origin.answers());
        while in_vain < MOST_UNPROCESSED {
            let turn = origin.turn_in_time(end).await.map_err(Trouble::Broken)?;
            let seat = match turn {
                Turn::Plain => return Ok(None),
                Turn::Ask(seat) => seat,
                Turn::Connect(making) => {
                    let stream = self.connect(&key.1, Protocol::Either).await.map_err(Trouble::Broken)?;
                    if !speaks_it(&stream) {
                        making.found_plain();
                        self.put_back(key.clone(), super::Connection::new(stream, self.patience));
                        return Ok(None);
                    }
                    making.seat(stream).await.map_err(Trouble::Broken)?
                }
            };
            match seat.ask(get, &self.user_agent, end, spans).await {
                Ok(outcome) => return Ok(Some(outcome)),
                Err(Failed::Unprocessed(said)) => {
                    reason = said;
                    let before = std::mem::replace(&mut answers, origin.answers());
                    in_vain = if answers == before { in_vain + 1 } else { 0 };
                }
                Err(Failed::Trouble(trouble)) => return Err(trouble),
            }
        }
        Err(Trouble::Broken(Broken::BrokeOff(reason)))
    }
}

impl Origins {
    /// The registry there.
    fn origin(&self, key: &Key, patience: Patience) -> Arc<Origin> {
        let mut origins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let (state, changed, answers) = Default::default();
            Arc::new(Origin { state, changed, patience, answers })
        };
        Arc::clone(origins.entry(key.clone()).or_insert_with(new))
    }
}

impl Origin {
    /// The next turn. The wait for a connection is no longer than a connection may take to make. So
    /// all requests to an unreachable registry fail at about the same time, instead of a few at a
    /// time.
    async fn turn_in_time(self: &Arc<Self>, end: Instant) -> Result<Turn, Broken> {
        loop {
            let made = Instant::now() + self.patience.connecting;
            if let Ok(turn) = timeout_at(made.min(end), self.turn()).await {
                return Ok(turn);
            }
            if Instant::now() >= end {
                return Err(Broken::NotInTime);
            }
            if self.state().connections.is_empty() {
                return Err(Broken::NotConnectedInTime);
            }
        }
    }

    async fn turn(self: &Arc<Self>) -> Turn {
        loop {
            let changed = self.changed.notified();
            if let Some(turn) = self.try_turn() {
                return turn;
            }
            changed.await;
        }
    }

    /// The next turn; `None` while every connection is full or still being made.
    fn try_turn(self: &Arc<Self>) -> Option<Turn> {
        let mut state = self.state();
        state.connections.retain(|connection| connection.may_be_used(self.patience.silence));
        let may_connect = state.connections.len() + state.connecting < MOST_CONNECTIONS;
        let open = state.connections.iter().filter(|connection| connection.has_room());
        let calmest = open.min_by_key(|connection| connection.active());
        let seat = |connection| Turn::Ask(Seat::on(connection, self));
        match calmest {
            Some(connection) if connection.active() < CROWDED || !may_connect => Some(seat(connection)),
            None if state.is_plain && state.connections.is_empty() => Some(Turn::Plain),
            _ if may_connect => {
                state.connecting += 1;
                Some(Turn::Connect(Making(Arc::clone(self))))
            }
            _ => None,
        }
    }

    fn answers(&self) -> usize {
        self.answers.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Making {
    /// The registry has chosen HTTP/1.1.
    fn found_plain(self) {
        self.0.state().is_plain = true;
    }

    /// Completes the HTTP/2 handshake and takes the first seat.
    async fn seat(self, stream: Stream) -> Result<Seat, Broken> {
        let mut builder = Builder::new();
        builder.initial_window_size(WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        builder.max_header_list_size(u32::try_from(LONGEST_HEAD).unwrap_or(u32::MAX)).enable_push(false);
        let (sender, driver) = builder.handshake(stream).await.map_err(|error| broke_off(&error))?;
        let (active, heard, is_over) = Default::default();
        let connection = Arc::new(Connection { sender, active, heard, is_over, made: Instant::now() });
        let (weak, origin) = (Arc::downgrade(&connection), Arc::downgrade(&self.0));
        // The task ends when the registry closes the connection, or when nobody uses it any more.
        tokio::spawn(async move {
            let _ = driver.await;
            if let Some(connection) = weak.upgrade() {
                connection.is_over.store(true, Ordering::Relaxed);
            }
            if let Some(origin) = origin.upgrade() {
                origin.changed.notify_waiters();
            }
        });
        let seat = Seat::on(&connection, &self.0);
        self.0.state().connections.push(connection);
        Ok(seat)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.0.state().connecting -= 1;
        self.0.changed.notify_waiters();
    }
}

impl Connection {
    fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    fn has_room(&self) -> bool {
        self.active() < self.sender.current_max_send_streams()
    }

    fn heard(&self) -> Option<Instant> {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether nothing has come for this long.
    fn is_silent(&self, silence: Duration) -> bool {
        self.heard().unwrap_or(self.made).elapsed() >= silence
    }

    /// Whether it may carry a request. A connection that was idle for as long as a registry may be
    /// silent may be dead.
    fn may_be_used(&self, silence: Duration) -> bool {
        !self.is_over.load(Ordering::Relaxed) && (self.active() > 0 || !self.is_silent(silence))
    }

    fn retire(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Seat {
    fn on(connection: &Arc<Connection>, origin: &Arc<Origin>) -> Self {
        connection.active.fetch_add(1, Ordering::Relaxed);
        Self { connection: Arc::clone(connection), origin: Arc::clone(origin) }
    }

    async fn ask(
        self,
        get: &Get,
        user_agent: &HeaderValue,
        end: Instant,
        spans: Option<&Spans>,
    ) -> Result<Outcome, Failed> {
        let request = request(get, user_agent).map_err(Failed::Trouble)?;
        let unsent = |error: h2::Error| {
            self.connection.retire();
            Failed::Unprocessed(failure::innermost(&error))
        };
        let mut sender = self.connection.sender.clone().ready().await.map_err(unsent)?;
        let (answer, _) = sender.send_request(request, true).map_err(unsent)?;
        let answer = self.in_time(end, true, answer).await?;
        let (status, header) = (answer.status().as_u16(), |name: &str| joined(answer.headers(), name));
        if let (301..=303 | 307 | 308, Some(location)) = (status, header("location")) {
            return Ok(Outcome::Elsewhere(location));
        }
        let judged = judged(get, status, &header);
        let encoding = Encoding::of(header("content-encoding").as_deref());
        let body = match judged {
            Judged::Body(_) => Spans::body(spans, self.body(answer, get.limit, end)).await?,
            // A refusal is a refusal, even if its body can't be read.
            Judged::Refused { .. } => self.body(answer, LONGEST_REFUSAL, end).await.unwrap_or_default(),
            Judged::Unchanged { .. } => Vec::new(),
        };
        let encoding = match encoding {
            Err(_) if !matches!(judged, Judged::Body(_)) => Encoding::Identity,
            encoding => encoding.map_err(Failed::Trouble)?,
        };
        Ok(Outcome::Answer(Answer { judged, encoding, body }))
    }

    async fn body(&self, answer: Response<RecvStream>, limit: u64, end: Instant) -> Result<Vec<u8>, Failed> {
        let announced = answer.headers().get(http::header::CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok()).unwrap_or_default();
        if announced > limit {
            return Err(Failed::Trouble(too_long(limit)));
        }
        let mut stream = answer.into_body();
        let mut body = Vec::with_capacity(usize::try_from(announced).map_or(0, |length| length.min(MOST_AT_ONCE)));
        loop {
            let next = poll_fn(|context| stream.poll_data(context).map(Option::transpose));
            let Some(piece) = self.in_time(end, false, next).await? else { return Ok(body) };
            body.extend_from_slice(&piece);
            if body.len() as u64 > limit {
                return Err(Failed::Trouble(too_long(limit)));
            }
            // The registry may send as much as was read. This fails only if the stream has ended.
            let _ = stream.flow_control().release_capacity(piece.len());
        }
    }

    /// Waits for the next piece of an answer, until the registry was silent for too long or the
    /// attempt ends.
    async fn in_time<T>(
        &self,
        end: Instant,
        is_unanswered: bool,
        work: impl Future<Output = Result<T, h2::Error>>,
    ) -> Result<T, Failed> {
        let silence = self.origin.patience.silence;
        match timeout_at(end.min(Instant::now() + silence), work).await {
            Ok(Ok(came)) => {
                self.connection.hear();
                self.origin.answers.fetch_add(1, Ordering::Relaxed);
                Ok(came)
            }
            Ok(Err(error)) => Err(self.failed(&error, is_unanswered)),
            Err(_) => {
                if self.connection.is_silent(silence) {
                    self.connection.retire();
                }
                Err(Failed::Trouble(Trouble::Broken(Broken::NotInTime)))
            }
        }
    }

    fn failed(&self, error: &h2::Error, is_unanswered: bool) -> Failed {
        let reason = error.reason();
        let is_refused = error.is_remote() && error.is_reset() && reason == Some(Reason::REFUSED_STREAM);
        // The registry retires the connection and names the requests that it still answers. This
        // isn't one of them.
        let is_left_over = error.is_remote() && error.is_go_away() && reason == Some(Reason::NO_ERROR);
        let wants_http1 = reason == Some(Reason::HTTP_1_1_REQUIRED);
        // It closed a working connection before it answered.
        let hung_up = error.is_io() || (error.is_remote() && error.is_reset() && reason == Some(Reason::NO_ERROR));
        let is_late = hung_up && is_unanswered && self.connection.heard().is_some();
        if wants_http1 {
            self.origin.state().is_plain = true;
        }
        if wants_http1 || hung_up || error.is_go_away() {
            self.connection.retire();
        }
        if is_refused || is_left_over || wants_http1 || is_late {
            Failed::Unprocessed(failure::innermost(error))
        } else {
            Failed::Trouble(Trouble::Broken(broke_off(error)))
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connection.active.fetch_sub(1, Ordering::Relaxed);
        self.origin.changed.notify_one();
    }
}

/// Whether the registry has agreed to HTTP/2.
fn speaks_it(stream: &Stream) -> bool {
    let hyper_rustls::MaybeHttpsStream::Https(stream) = stream.inner() else { return false };
    stream.inner().get_ref().1.alpn_protocol() == Some(PROTOCOL)
}

fn request(get: &Get, user_agent: &HeaderValue) -> Result<Request<()>, Trouble> {
    let address = get.address.as_str().split('#').next().unwrap_or_default();
    let unusable = |_| Trouble::Broken(Broken::Impossible("its address can't be sent".to_owned()));
    let mut request = Request::get(address).body(()).map_err(unusable)?;
    *request.headers_mut() = headers(get)?;
    request.headers_mut().insert(USER_AGENT, user_agent.clone());
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    Ok(request)
}

fn broke_off(error: &h2::Error) -> Broken {
    Broken::BrokeOff(failure::innermost(error))
}

#[cfg(test)]
mod tests;
