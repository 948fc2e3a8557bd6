//! A GET over `fetch`, with a time limit, cancellation, retries, and distinct failures.
//!
//! Requests are simple ones: their only header is `accept` with a safelisted value, because any
//! other header makes a browser send a preflight, which registries rarely answer. A token is an
//! unavoidable exception. The platform's `fetch` is found in the global scope, so pages, workers,
//! Node and Deno are alike. The embedder's `fetch` is called in the same way.

use std::rc::Rc;
use std::time::Duration;

use espalier_core::FetchFailure;
use espalier_registry::integrity::Integrity;
use espalier_registry::{BodyMetadata, Broken, Get, Judged, ResponseHead, Retries, Trouble, printable};
use futures_lite::future::or;
use js_sys::{Date, Function, JsString, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, RequestCache, RequestInit, Response};

use super::digest;
use super::timer::{Patience, sleep};
use super::traffic::Traffic;
use crate::queue::Queue;

/// The freshness of a document whose registry states none. Public registries state five minutes. A
/// browser can't revalidate a document, because that needs another header.
const UNSAID_FRESHNESS: u64 = 300;
/// The maximum length of a body that fits into memory beside everything else.
const LONGEST: u64 = 512 << 20;
/// How much of a refusal's body is read.
const LONGEST_WORDS: u32 = 16 * 1024;

/// The requests of a run.
pub struct Fetch {
    /// The embedder's function, or the platform's.
    pub function: Function,
    /// The rules for retries.
    pub retries: Retries,
    /// The time limit of an attempt.
    pub patience: Patience,
    /// Closed at the end of the run.
    pub ended: Queue<()>,
    /// The counts of the network.
    pub traffic: Rc<Traffic>,
}

/// A received body.
pub struct Body {
    /// The decompressed bytes, in JavaScript's memory.
    pub bytes: Uint8Array,
    /// The facts in the head of the answer.
    pub about: BodyMetadata,
}

/// How a request is made.
#[derive(Clone, Copy)]
pub struct Manner {
    /// A hint. Browsers with six connections to a host sort their queue by it; others ignore it.
    pub urgent: bool,
    /// Bypasses the browser's own cache, which may hold a damaged document.
    pub anew: bool,
    /// Counts a network failure as a refusal, because the caller has something else to ask for.
    pub once: bool,
}

/// Reads a body with a content type. The error completes a sentence about the body.
pub type Reader<'a> = &'a mut dyn FnMut(&[u8], &str) -> Result<(), String>;

/// The purpose of an answer. This is one type, because an instance of [`Fetch::get`] for each
/// purpose would weigh 10 KB.
pub enum Use<'a> {
    /// A document to read.
    Document(Reader<'a>),
    /// A tarball, with its integrity if that is known.
    Tarball(Option<&'a Integrity>),
}

impl Use<'_> {
    async fn take(&mut self, body: &Body) -> Result<Option<Integrity>, Trouble> {
        match self {
            Self::Document(read) => {
                read(&body.bytes.to_vec(), &body.about.content_type).map_err(Trouble::Unusable)?;
                Ok(None)
            }
            Self::Tarball(expected) => digest::verified(&body.bytes, *expected).await.map(Some).map_err(Trouble::Other),
        }
    }
}

/// A request under way. Dropping it cancels the request.
struct Flight<'a> {
    controller: AbortController,
    traffic: &'a Traffic,
    done: bool,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.traffic.pending.set(self.traffic.pending.get() - 1);
        if !self.done {
            self.controller.abort();
        }
    }
}

impl Fetch {
    /// Makes a request. Reading the answer is part of an attempt, so a damaged body is fetched
    /// again. For a tarball, its own integrity is returned as well.
    pub async fn get(
        &self,
        get: &Get,
        mut manner: Manner,
        mut use_as: Use<'_>,
    ) -> Result<(Body, Option<Integrity>), FetchFailure> {
        let spread = get.address.as_str().bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
        for attempt in 0.. {
            let trouble = match self.attempt(get, manner).await {
                Ok(body) => match use_as.take(&body).await {
                    Ok(integrity) => return Ok((body, integrity)),
                    Err(trouble) => trouble,
                },
                Err(trouble) => trouble,
            };
            manner.anew |= matches!(trouble, Trouble::Unusable(_) | Trouble::Other(_));
            let wait = self.retries.wait(attempt, trouble.asked_wait(), spread.wrapping_add(u64::from(attempt)));
            // A browser doesn't tell a refusal without a CORS header from a dead network.
            let is_refusal = manner.once && matches!(trouble, Trouble::Broken(_));
            let Some(wait) = wait.filter(|_| trouble.is_transient() && !is_refusal && !self.ended.is_closed()) else {
                return Err(with_address(trouble.into_failure(&get.address, attempt + 1)));
            };
            or(sleep(wait.as_secs_f64() * 1000.0), self.ended.closed()).await;
            self.traffic.retries.set(self.traffic.retries.get() + 1);
        }
        unreachable!("the last attempt returns")
    }

    async fn attempt(&self, get: &Get, manner: Manner) -> Result<Body, Trouble> {
        if self.ended.is_closed() {
            return Err(stopped());
        }
        let controller = AbortController::new().map_err(|error| Trouble::Broken(impossible(&error)))?;
        self.traffic.requests.set(self.traffic.requests.get() + 1);
        self.traffic.pending.set(self.traffic.pending.get() + 1);
        let mut flight = Flight { controller, traffic: &self.traffic, done: false };
        let late = async {
            self.patience.ends().await;
            Err(Trouble::Broken(Broken::NotInTime))
        };
        let ended = async {
            self.ended.closed().await;
            Err(stopped())
        };
        let answer = or(self.exchange(get, manner, &flight.controller), or(late, ended)).await;
        flight.done = answer.is_ok();
        answer
    }

    async fn exchange(&self, get: &Get, manner: Manner, controller: &AbortController) -> Result<Body, Trouble> {
        let with_credential = get.authorization.is_some();
        let init = init(get, manner, controller)?;
        let answer = self.function.call2(&JsValue::UNDEFINED, &get.address.as_str().into(), &init);
        let answer = match answer {
            Ok(promise) => Promise::resolve(&promise).await,
            Err(error) => Err(error),
        };
        let response = answer.map_err(|error| Trouble::Broken(unreached(&error, with_credential)))?;
        let response = checked(response)?;
        let headers = response.headers();
        let judged = get.judge(&ResponseHead {
            status: response.status(),
            header: &|name| match name {
                // The browser revalidates by itself, and each header that is read is copied twice.
                "etag" | "last-modified" => None,
                name => headers.get(name).ok().flatten(),
            },
            now: since_epoch(Date::now()),
            date: |text| Some(Date::parse(text)).filter(|date| !date.is_nan()).map(since_epoch),
            unsaid_freshness: UNSAID_FRESHNESS,
        });
        match judged {
            Judged::Body(about) => {
                let bytes = content(&response).await.map_err(|error| Trouble::Broken(broke_off(&error)))?;
                let length = bytes.byte_length();
                if u64::from(length) > get.limit.min(LONGEST) {
                    return Err(Trouble::Unusable(format!("is longer than {} MB", get.limit.min(LONGEST) / 1_000_000)));
                }
                self.traffic.add(length, headers.get("content-length").ok().flatten());
                Ok(Body { bytes, about })
            }
            Judged::Refused { status, wait } => {
                let says = headers.get("content-type").ok().flatten().is_some_and(|kind| kind.contains("json"));
                let words = if says { content(&response).await.ok() } else { None };
                let words = words.filter(|words| words.byte_length() <= LONGEST_WORDS).map(|words| words.to_vec());
                Err(Trouble::refused(status, wait, &words.unwrap_or_default()))
            }
            Judged::Unchanged { .. } => Err(Trouble::Unusable("is empty".to_owned())),
        }
    }
}

/// Adds the address to the message, because many programs show nothing else of an error.
fn with_address(mut failure: FetchFailure) -> FetchFailure {
    if !failure.message.contains(&failure.url) {
        failure.message = format!("{} could not be fetched: {}", failure.url, failure.message);
    }
    failure
}

// rustfmt would drop the values.
#[rustfmt::skip]
#[wasm_bindgen]
extern "C" {
    // Decoding a string takes longer than the rest of a call, and these are used for every request.
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ACCEPT: JsString = "accept";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static PRIORITY: JsString = "priority";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static HIGH: JsString = "high";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static LOW: JsString = "low";
}

/// `FetchInit` in `pkg/index.d.ts`.
fn init(get: &Get, manner: Manner, controller: &AbortController) -> Result<RequestInit, Trouble> {
    let headers = Object::new();
    // Setting a field of a new object can't fail.
    let set = |object: &Object, name: &JsValue, value: &JsValue| drop(Reflect::set(object, name, value));
    for (name, value) in get.headers()? {
        let value = value.into();
        match name {
            "accept" => ACCEPT.with(|name| set(&headers, name, &value)),
            name => set(&headers, &name.into(), &value),
        }
    }
    let init = RequestInit::new();
    init.set_headers(&headers);
    init.set_signal(Some(&controller.signal()));
    if manner.anew {
        init.set_cache(RequestCache::Reload);
    }
    let priority = if manner.urgent { &HIGH } else { &LOW };
    PRIORITY.with(|name| priority.with(|priority| set(&init, name, priority)));
    Ok(init)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is out of range is at its end")]
fn since_epoch(milliseconds: f64) -> Duration {
    Duration::from_millis(milliseconds as u64)
}

/// Checks an answer, because an embedder's `fetch` may return anything.
fn checked(answer: JsValue) -> Result<Response, Trouble> {
    let answer = match answer.dyn_into::<Response>() {
        Ok(response) => return Ok(response),
        Err(answer) => answer,
    };
    let field = |object: &JsValue, name: &str| Reflect::get(object, &name.into()).unwrap_or_default();
    let is_response = answer.is_object()
        && field(&answer, "status").as_f64().is_some()
        && field(&answer, "arrayBuffer").is_function()
        && field(&field(&answer, "headers"), "get").is_function();
    if is_response {
        return Ok(answer.unchecked_into());
    }
    let words = "the given `fetch` returned no Response";
    Err(Trouble::Broken(Broken::Impossible(words.to_owned())))
}

async fn content(response: &Response) -> Result<Uint8Array, JsValue> {
    Ok(Uint8Array::new(&response.array_buffer()?.await?))
}

/// The cause of a rejection. Browsers deliberately hide it; Node states it in `cause`.
fn unreached(error: &JsValue, with_credential: bool) -> Broken {
    match cause(error) {
        Some(cause) => Broken::NotConnected(cause),
        None => Broken::Unexplained { reason: message(error), with_credential },
    }
}

fn broke_off(error: &JsValue) -> Broken {
    Broken::BrokeOff(cause(error).unwrap_or_else(|| message(error)))
}

fn impossible(error: &JsValue) -> Broken {
    Broken::Impossible(message(error))
}

fn stopped() -> Trouble {
    Trouble::Broken(Broken::Impossible("it is no longer needed".to_owned()))
}

fn cause(error: &JsValue) -> Option<String> {
    let cause = Reflect::get(error, &"cause".into()).ok()?;
    cause.is_instance_of::<js_sys::Error>().then(|| message(&cause))
}

fn message(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|message| message.as_string());
    let message = message.or_else(|| error.as_string()).map(|message| printable(&message));
    message.filter(|message| !message.is_empty()).unwrap_or_else(|| "no reason given".to_owned())
}
