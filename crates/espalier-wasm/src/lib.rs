//! The JavaScript boundary of the engine: translates, and decides nothing about the tree.
//!
//! One call of [`resolve`] is one run. The run's task owns the [`espalier_core::Resolution`]; tasks beside it
//! ([`workers`]) get what it asks for from the network that they are given. Everything is on one thread: no
//! shared memory, no locks, and nothing that a page would need special headers for. What is to be installed comes as data
//! ([`tree`]); tarballs are unpacked piece by piece ([`unpacker`]).
//!
//! The TypeScript in `pkg/src` is the only caller. It has checked the input, fetches, verifies, caches and writes, turns
//! rejected plain objects into `EspalierError`s, and cleans up after a trap; see its `engine.ts`.

mod files;
mod input;
mod json;
mod memory;
mod network;
mod npmrc;
mod outcome;
mod packed;
mod panic;
mod registry;
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

/// Resolves `input` (`RunInput` in `pkg/src/glue.d.ts`, as JSON) and gives a `RunOutcome`.
///
/// `observe` is called with an array of events whenever something happened. The run ends early when `aborted` settles.
///
/// # Errors
/// Rejects with an error's details as a plain object.
#[wasm_bindgen]
pub async fn resolve(input: String, network: Network, observe: Function, aborted: Promise) -> Result<JsValue, JsValue> {
    let input = json::from_javascript(&input)?;
    let run = run::run(input, network, observe);
    futures_lite::future::or(run, async {
        // Either way of settling means the same, and the caller rejects with the signal's reason itself.
        let _ = aborted.await;
        Err(JsValue::UNDEFINED)
    })
    .await
}

/// Explains a package of the tree that a lockfile describes: `Explanation[]` as JSON.
///
/// # Errors
/// Throws an error's details as a plain object.
#[wasm_bindgen]
pub fn explain(input: &str, package: &str) -> Result<String, JsValue> {
    run::explain(&json::from_javascript(input)?, package)
}
