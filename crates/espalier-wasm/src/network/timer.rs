//! Waiting. Pages, workers, Node and Deno all have `setTimeout` in their global scope.

use std::cell::RefCell;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// Cleared when it isn't waited for any more, so that Node doesn't stay alive for it.
struct Timer(JsValue);

impl Drop for Timer {
    fn drop(&mut self) {
        clear_timeout(&self.0);
    }
}

/// Waits.
pub async fn sleep(milliseconds: f64) {
    let timer = RefCell::new(None);
    let passed = Promise::new(&mut |resolve, _| {
        *timer.borrow_mut() = Some(Timer(set_timeout(&resolve, milliseconds)));
    });
    // Nothing rejects it.
    let _ = passed.await;
    drop(timer);
}
