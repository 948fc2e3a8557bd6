//! The boundary of the engine to JavaScript. It translates, and decides nothing about the tree.
//!
//! One call of [`resolve`] is one run. The run's task owns the [`espalier_core::Resolution`]. Tasks
//! beside it (`workers`) serve its requests, from the first byte of a request to the last byte of
//! the answer, over the platform's `fetch` (`network`). Everything is on one thread, without
//! shared memory or locks, so a page needs no special headers. The plan of an installation is data
//! (`tree`), and tarballs are unpacked piece by piece (`unpacker`). Values cross as plain
//! objects (`boundary`).
//!
//! The TypeScript in `pkg/src` is the only caller. It has checked the input, provides a cache and
//! possibly a `fetch`, writes files, turns rejected plain objects into `EspalierError`s, and cleans
//! up after a trap; see its `engine.ts`.

mod boundary;
mod files;
mod input;
mod lz;
mod memory;
mod network;
mod npmrc;
mod outcome;
mod packed;
mod pairs;
mod panic;
mod queue;
mod recent;
mod resting;
mod run;
mod source;
mod tree;
mod unpacker;
mod workers;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

use network::Network;

/// Called when the module is instantiated.
#[wasm_bindgen(start)]
pub fn start() {
    panic::report_to_javascript();
}

/// Resolves `input` (`RunInput` in `pkg/src/glue.d.ts`) and returns a `RunOutcome`.
///
/// Calls `observe` with an array of events when something has happened. The run ends early when
/// `aborted` settles.
///
/// # Errors
///
/// Rejects with an error's details as a plain object.
#[wasm_bindgen]
pub async fn resolve(
    input: JsValue,
    network: &Network,
    observe: Function,
    aborted: Promise,
) -> Result<JsValue, JsValue> {
    let input = boundary::from_javascript(input)?;
    let run = run::run(input, network.clone(), observe);
    futures_lite::future::or(run, async {
        // Both ways of settling mean the same. The caller rejects with the signal's reason.
        let _ = aborted.await;
        Err(JsValue::UNDEFINED)
    })
    .await
}

/// Explains a package of the tree in a lockfile. Returns `Explanation[]`.
///
/// # Errors
///
/// Throws an error's details as a plain object.
#[wasm_bindgen]
pub fn explain(input: JsValue, package: &str) -> Result<JsValue, JsValue> {
    run::explain(&boundary::from_javascript(input)?, package)
}
