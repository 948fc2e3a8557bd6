//! Time, as JavaScript tells it: what has passed, and waiting. The core knows neither.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since some moment before the run.
    #[wasm_bindgen(js_namespace = performance)]
    pub fn now() -> f64;

    /// A number in browsers, an object in Node.
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: u32) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// Clears the timer when it is dropped, so that none keeps a Node process alive.
struct Timer(JsValue);

impl Drop for Timer {
    fn drop(&mut self) {
        clear_timeout(&self.0);
    }
}

/// Waits.
pub async fn sleep(milliseconds: u32) {
    let mut timer = None;
    let passed = Promise::new(&mut |resolve, _reject| timer = Some(Timer(set_timeout(&resolve, milliseconds))));
    // Nothing rejects this promise.
    let _ = passed.await;
    drop(timer);
}
