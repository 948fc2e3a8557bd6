//! Passes the message of a panic to JavaScript, before the trap that follows.
//!
//! A panic aborts, so this module can't clean up; `crash.ts` does that from outside.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./crash.js")]
extern "C" {
    /// Remembers the reason of the coming trap.
    #[wasm_bindgen(js_name = panicked)]
    fn panicked(message: &str);
}

/// Installs the hook.
pub fn report_to_javascript() {
    std::panic::set_hook(Box::new(|info| panicked(&info.to_string())));
}
