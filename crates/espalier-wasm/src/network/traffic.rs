//! Counts of the network, for events and statistics.

use std::cell::Cell;

use serde::Serialize;
use wasm_bindgen::prelude::*;
use web_sys::Performance;

#[wasm_bindgen]
extern "C" {
    /// Pages, workers, Node and Deno all have it in their global scope. It is looked up once.
    #[wasm_bindgen(thread_local_v2, js_name = performance)]
    static PERFORMANCE: Performance;
}

/// The counts of a run.
#[derive(Default)]
pub struct Traffic {
    /// The number of requests, including retries.
    pub requests: Cell<u32>,
    /// The number of retries.
    pub retries: Cell<u32>,
    /// The number of requests that wait for an answer.
    pub pending: Cell<u32>,
    /// The bytes of the answers after decompression.
    pub bytes: Cell<f64>,
    /// The bytes of the answers as they were sent, if the registry states the length.
    pub wire_bytes: Cell<f64>,
    /// The number of answers from the cache.
    pub cached: Cell<u32>,
    /// The start time.
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
    /// Starts to count.
    pub fn begin() -> Self {
        Self { began: now(), ..Self::default() }
    }

    /// Adds an answer of this length, with its `Content-Length`.
    pub fn add(&self, bytes: u32, announced: Option<String>) {
        let bytes = f64::from(bytes);
        let sent = announced.and_then(|length| length.parse::<u32>().ok()).map_or(bytes, f64::from);
        self.bytes.set(self.bytes.get() + bytes);
        self.wire_bytes.set(self.wire_bytes.get() + sent);
    }

    /// The current counts.
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

/// Milliseconds on a monotonic clock.
pub fn now() -> f64 {
    PERFORMANCE.with(Performance::now)
}
