//! What happens when Rust panics: its message is given to JavaScript, before the trap that follows.
//!
//! The panic aborts, so nothing can be tidied up in here; `crash.ts` does it from outside.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./crash.js")]
extern "C" {
    /// Remembers why the trap is about to happen.
    #[wasm_bindgen(js_name = panicked)]
    fn panicked(message: &str);
}

/// Installs the hook.
pub fn report_to_javascript() {
    std::panic::set_hook(Box::new(|info| panicked(&info.to_string())));
}
