//! The JavaScript boundary of the resolver: translates, fetches, and decides nothing about the tree.
//!
//! One call of [`resolve`] is one run. The run's task owns the [`espalier_core::Resolution`]; tasks beside it
//! ([`workers`]) fetch what it asks for with the `fetch` they are given. Everything is on one thread: no
//! shared memory, no locks, and nothing that a page would need special headers for.
//!
//! The TypeScript in `pkg/src` is the only caller. It has checked the input, turns rejected plain objects
//! into `EspalierError`s, and cleans up after a trap; see its `engine.ts`.

mod archive;
mod exchange;
mod files;
mod input;
mod integrity;
mod memory;
mod outcome;
mod panic;
mod registry;
mod run;
mod source;
mod statistics;
mod tarball;
mod timer;
mod workers;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

/// Called when the module is instantiated.
#[wasm_bindgen(start)]
pub fn start() {
    panic::report_to_javascript();
}

/// Resolves `input` and gives `{ lockfile, graph, warnings, statistics }`.
///
/// `observe` is called with an array of events whenever something happened. The run ends early, and its
/// requests are aborted, when `aborted` settles.
///
/// # Errors
/// Rejects with an error's details as a plain object.
#[wasm_bindgen]
pub async fn resolve(input: JsValue, fetch: Function, observe: Function, aborted: Promise) -> Result<JsValue, JsValue> {
    let input = serde_wasm_bindgen::from_value(input)?;
    let run = run::run(input, fetch, observe);
    futures_lite::future::or(run, async {
        // Either way of settling means the same, and the caller rejects with the signal's reason itself.
        let _ = aborted.await;
        Err(JsValue::UNDEFINED)
    })
    .await
}
