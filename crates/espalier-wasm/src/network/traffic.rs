//! What went over the network so far, for events and statistics.

use std::cell::Cell;

use js_sys::Reflect;
use serde::Serialize;
use wasm_bindgen::JsCast as _;
use web_sys::Performance;

/// The counts of one run.
#[derive(Default)]
pub struct Traffic {
    /// Requests made, retries included.
    pub requests: Cell<u32>,
    /// Those among them that tried something again.
    pub retries: Cell<u32>,
    /// Requests that wait for their answer.
    pub pending: Cell<u32>,
    /// Bytes of the answers, as they are after decompression.
    pub bytes: Cell<f64>,
    /// The same as they were sent, where the registry says how long that is.
    pub wire_bytes: Cell<f64>,
    /// Answers that came from the cache.
    pub cached: Cell<u32>,
    /// When it began.
    pub began: f64,
}

/// `Traffic` in `pkg/src/glue.d.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    requests: u32,
    retries: u32,
    pending: u32,
    bytes: f64,
    wire_bytes: f64,
    cached: u32,
    elapsed: f64,
}

impl Traffic {
    /// Nothing, from now on.
    pub fn begin() -> Self {
        Self { began: now(), ..Self::default() }
    }

    /// An answer of so many bytes, with its `Content-Length`.
    pub fn add(&self, bytes: u32, announced: Option<String>) {
        let bytes = f64::from(bytes);
        let sent = announced.and_then(|length| length.parse::<u32>().ok()).map_or(bytes, f64::from);
        self.bytes.set(self.bytes.get() + bytes);
        self.wire_bytes.set(self.wire_bytes.get() + sent);
    }

    /// How far it is.
    pub fn counts(&self) -> Counts {
        Counts {
            requests: self.requests.get(),
            retries: self.retries.get(),
            pending: self.pending.get(),
            bytes: self.bytes.get(),
            wire_bytes: self.wire_bytes.get(),
            cached: self.cached.get(),
            elapsed: now() - self.began,
        }
    }
}

/// Milliseconds on a clock that only goes forwards.
pub fn now() -> f64 {
    let performance = Reflect::get(&js_sys::global(), &"performance".into()).unwrap_or_default();
    performance.unchecked_into::<Performance>().now()
}
