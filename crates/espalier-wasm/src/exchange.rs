//! One GET through the `fetch` of JavaScript: retried, bounded in time, and its failures told apart.
//!
//! Only simple requests: `accept` with a safelisted value is the one header, because any other makes the
//! browser ask for permission first (a preflight), and registries don't answer that.

use std::rc::Rc;

use espalier_core::{FetchFailure, FetchFailureKind, Urgency};
use futures_lite::future::or;
use js_sys::{Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, RequestInit, Response};

use crate::statistics::Traffic;
use crate::timer::sleep;

/// The content type of an abbreviated packument.
const ABBREVIATED: &str = "application/vnd.npm.install-v1+json";
/// The wait before the first retry; each further one is three times as long.
const FIRST_WAIT: u32 = 300;
/// No registry is waited for longer than this, whatever its `Retry-After` says.
const LONGEST_WAIT: u32 = 30_000;

/// No document and no package is as large; more would only exhaust the memory.
const MAX_BODY: u32 = 512 << 20;

/// What was received.
pub struct Body {
    /// Where from.
    pub url: String,
    /// The content, decompressed.
    pub bytes: Vec<u8>,
    content_type: String,
}

impl Body {
    /// Whether it is a packument with only the fields that installing needs.
    pub fn is_abbreviated(&self) -> bool {
        self.content_type.starts_with(ABBREVIATED)
    }
}

/// The way to the network of one run.
pub struct Exchange {
    /// As the global `fetch`.
    pub fetch: Function,
    /// How often a request is tried again.
    pub retries: u32,
    /// Milliseconds that one try may take.
    pub timeout: u32,
    /// Counts all of it.
    pub traffic: Rc<Traffic>,
}

/// A try that didn't succeed.
struct Failed {
    failure: FetchFailure,
    /// Whether it may go better the next time, and after how many milliseconds at the earliest.
    again_after: Option<u32>,
}

impl Exchange {
    /// Fetches `url`.
    pub async fn get(&self, url: &str, accept: &str, urgency: Urgency) -> Result<Body, FetchFailure> {
        let mut tried = 0;
        loop {
            match self.attempt(url, accept, urgency, tried > 0).await {
                Ok(body) => return Ok(body),
                Err(Failed { again_after: Some(wait), .. }) if tried < self.retries => {
                    sleep(wait.max(FIRST_WAIT * 3_u32.pow(tried.min(5))).min(LONGEST_WAIT)).await;
                    tried += 1;
                }
                Err(failed) => return Err(failed.failure),
            }
        }
    }

    async fn attempt(&self, url: &str, accept: &str, urgency: Urgency, again: bool) -> Result<Body, Failed> {
        let mut abort = AbortOnDrop::new(url)?;
        let pending = self.traffic.request(again);
        let receive = async {
            let response =
                self.request(url, accept, urgency, &abort).await.map_err(|error| unreachable(url, &error))?;
            refuse_status(url, &response)?;
            let content_type = header(&response, "content-type").unwrap_or_default();
            let buffer = receive_body(&response).await.map_err(|error| unreachable(url, &error))?;
            if buffer.length() > MAX_BODY {
                return Err(too_large(url));
            }
            let bytes = buffer.to_vec();
            pending.received(bytes.len());
            Ok(Body { url: without_credentials(url), bytes, content_type })
        };
        let give_up = async {
            sleep(self.timeout).await;
            let message = format!("{} gave no answer within {} ms", without_credentials(url), self.timeout);
            Err(Failed::transient(url, FetchFailureKind::Unreachable, message))
        };
        let received = or(receive, give_up).await;
        if received.is_ok() {
            abort.disarm();
        }
        received
    }

    async fn request(
        &self,
        url: &str,
        accept: &str,
        urgency: Urgency,
        abort: &AbortOnDrop,
    ) -> Result<Response, JsValue> {
        let headers = Object::new();
        Reflect::set(&headers, &"accept".into(), &accept.into())?;
        let init = RequestInit::new();
        init.set_headers(&headers);
        init.set_signal(Some(&abort.controller.signal()));
        // A hint that browsers with six connections to a host sort their queue by; others ignore it.
        let priority = if urgency == Urgency::Demanded { "high" } else { "low" };
        Reflect::set(&init, &"priority".into(), &priority.into())?;
        let promise = self.fetch.call2(&JsValue::UNDEFINED, &url.into(), &init)?;
        // Whatever was injected in place of `fetch` may answer with a `Response` of its own.
        Ok(Promise::resolve(&promise).await?.unchecked_into())
    }
}

/// Aborts the request when it is dropped: given up, or no longer wanted.
struct AbortOnDrop {
    controller: AbortController,
    armed: bool,
}

impl AbortOnDrop {
    fn new(url: &str) -> Result<Self, Failed> {
        let controller = AbortController::new().map_err(|error| unreachable(url, &error))?;
        Ok(Self { controller, armed: true })
    }

    /// To be called when there is nothing left to abort: an abort makes an exception, which costs time.
    fn disarm(&mut self) {
        self.armed = false;
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if self.armed {
            self.controller.abort();
        }
    }
}

impl Failed {
    fn transient(url: &str, kind: FetchFailureKind, message: String) -> Self {
        Self { failure: FetchFailure { kind, message, url: without_credentials(url) }, again_after: Some(0) }
    }
}

async fn receive_body(response: &Response) -> Result<Uint8Array, JsValue> {
    Ok(Uint8Array::new(&response.array_buffer()?.await?))
}

fn too_large(url: &str) -> Failed {
    let url = without_credentials(url);
    let message = format!("{url} has more than {MAX_BODY} bytes");
    Failed { failure: FetchFailure { kind: FetchFailureKind::Invalid, message, url }, again_after: None }
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name).ok().flatten()
}

fn refuse_status(url: &str, response: &Response) -> Result<(), Failed> {
    let status = response.status();
    let (kind, words) = match status {
        200..=299 => return Ok(()),
        // Some registries answer 405 for what they don't have.
        404 | 405 => (FetchFailureKind::NotFound, "was not found"),
        401 | 403 => (FetchFailureKind::Forbidden, "is not allowed to be read"),
        _ => (FetchFailureKind::Status(status), "could not be had"),
    };
    let message = format!("{} {words} (status {status})", without_credentials(url));
    let mut failed = Failed::transient(url, kind, message);
    failed.again_after = matches!(status, 408 | 420 | 429 | 500..=599).then(|| retry_after(response));
    Err(failed)
}

/// What the registry asks for, in milliseconds, where it gives seconds and the browser lets us read it.
fn retry_after(response: &Response) -> u32 {
    let seconds = header(response, "retry-after").and_then(|value| value.trim().parse::<u32>().ok());
    seconds.unwrap_or(0).saturating_mul(1000)
}

/// `fetch` rejected. Browsers don't tell why, on purpose; Node says it in `cause`.
fn unreachable(url: &str, error: &JsValue) -> Failed {
    let shown = without_credentials(url);
    let text_of = |value: &JsValue| {
        let message = Reflect::get(value, &"message".into()).ok().and_then(|message| message.as_string());
        message.or_else(|| value.as_string()).unwrap_or_else(|| "no reason given".to_owned())
    };
    let cause = Reflect::get(error, &"cause".into()).unwrap_or_default();
    let message = if cause.is_object() {
        format!("{shown} cannot be reached: {}", text_of(&cause))
    } else {
        format!(
            "{shown} was not found, or is unreachable from a browser ({}): its host may be down, may not allow \
             other origins (no CORS header), or may send its 404 without that header",
            text_of(error)
        )
    };
    Failed::transient(url, FetchFailureKind::Unreachable, message)
}

/// For messages: a name and password in an address are nobody's business.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host_ends = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..host_ends].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn credentials_are_not_shown() {
        assert_eq!(without_credentials("http://me:secret@registry.test/a"), "http://registry.test/a");
        assert_eq!(without_credentials("http://registry.test/@acme%2fa"), "http://registry.test/@acme%2fa");
    }
}
