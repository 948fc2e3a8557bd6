//! The way out: what a run asks of JavaScript, which fetches, verifies, retries and caches (`pkg/src/net`).

use espalier_core::{FetchFailure, FetchFailureKind, Urgency};
use js_sys::{Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `Network` in `pkg/src/glue.d.ts`.
    pub type Network;
    /// A document of a registry.
    #[wasm_bindgen(method, catch)]
    fn document(
        this: &Network,
        url: &str,
        package: &str,
        accept: &str,
        urgent: bool,
        anew: bool,
    ) -> Result<Promise, JsValue>;
    /// A tarball, verified.
    #[wasm_bindgen(method, catch)]
    fn tarball(
        this: &Network,
        url: &str,
        package: &str,
        integrity: Option<&str>,
        urgent: bool,
    ) -> Result<Promise, JsValue>;
}

/// What was received.
pub struct Body {
    /// Where from, without credentials.
    pub url: String,
    /// The content, decompressed.
    pub bytes: Vec<u8>,
    /// Its type, or of a tarball its own integrity.
    pub kind: String,
}

/// Gets a document and reads it. One that can't be read is fetched anew, past all caches, the browser's own included.
pub async fn document<T>(
    network: &Network,
    url: &str,
    package: &str,
    accept: &str,
    urgency: Urgency,
    read: impl Fn(&Body) -> Result<T, String>,
) -> Result<T, FetchFailure> {
    for anew in [false, true] {
        let body =
            received(network.document(url, package, accept, urgency == Urgency::Demanded, anew), "contentType").await?;
        match read(&body) {
            Err(_) if !anew => {}
            result => return result.map_err(|problem| invalid(body.url, &problem)),
        }
    }
    unreachable!("what was fetched anew is all there is")
}

/// Gets a tarball.
pub async fn tarball(
    network: &Network,
    url: &str,
    package: &str,
    integrity: Option<&str>,
    urgency: Urgency,
) -> Result<Body, FetchFailure> {
    received(network.tarball(url, package, integrity, urgency == Urgency::Demanded), "integrity").await
}

async fn received(promise: Result<Promise, JsValue>, kind: &str) -> Result<Body, FetchFailure> {
    let received = match promise {
        Ok(promise) => promise.await,
        Err(error) => Err(error),
    };
    let received = received.map_err(|error| failure(&error))?;
    let bytes = Uint8Array::new(&Reflect::get(&received, &"bytes".into()).unwrap_or_default()).to_vec();
    Ok(Body { url: text(&received, "url"), bytes, kind: text(&received, kind) })
}

/// The failure of an answer that can't be read.
pub fn invalid(url: String, problem: &str) -> FetchFailure {
    let message = format!("the answer from {url} can't be used: {problem}");
    FetchFailure { kind: FetchFailureKind::Invalid, message, url }
}

/// A failure as `pkg/src/net/failure.ts` makes it.
fn failure(error: &JsValue) -> FetchFailure {
    let kind = match text(error, "code").as_str() {
        "E404" => FetchFailureKind::NotFound,
        "E403" => FetchFailureKind::Forbidden,
        "EHTTP" => FetchFailureKind::Status(status(error)),
        "EINVALIDRESPONSE" => FetchFailureKind::Invalid,
        "EINTEGRITY" => FetchFailureKind::Integrity,
        "EPREFLIGHT" => FetchFailureKind::Preflight,
        "ENOTCACHED" => FetchFailureKind::NotCached,
        "EUNSUPPORTED" => FetchFailureKind::Unsupported,
        _ => FetchFailureKind::Unreachable,
    };
    FetchFailure { kind, message: text(error, "message"), url: text(error, "url") }
}

fn text(object: &JsValue, field: &str) -> String {
    Reflect::get(object, &field.into()).ok().and_then(|value| value.as_string()).unwrap_or_default()
}

fn status(error: &JsValue) -> u16 {
    let status = Reflect::get(error, &"status".into()).ok().and_then(|value| value.as_f64());
    // A status has three digits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    status.map_or(0, |status| status as u16)
}
