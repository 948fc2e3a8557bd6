//! The size of the instance's memory, and its growth.

use std::hint::black_box;

use js_sys::{ArrayBuffer, WebAssembly};
use wasm_bindgen::prelude::*;

/// The number of bytes of memory of this instance. Memory never shrinks until the instance is
/// replaced.
#[wasm_bindgen(js_name = memorySize)]
pub fn memory_size() -> u32 {
    let memory = wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>();
    memory.buffer().unchecked_into::<ArrayBuffer>().byte_length()
}

/// The largest step by which memory grows. Unused parts of it are taken nonetheless.
const LARGEST_STEP: usize = 32 << 20;

/// Makes memory grow in steps proportional to its size.
///
/// The allocator grows it a few pages at a time, and V8 collects garbage each time: two hundred
/// full collections in a resolution of 5,000 packages, which took a third of its time.
pub struct Growth {
    last: u32,
}

impl Growth {
    /// Starts to watch the growth.
    pub fn watch() -> Self {
        Self { last: memory_size() }
    }

    /// If memory has grown since the last call, makes it half as large again, by at most one large
    /// step. To be called now and then.
    pub fn keep_ahead(&mut self) {
        let size = memory_size();
        if size > self.last {
            // This is freed at once, but the allocator keeps the memory. Nothing is written to it,
            // so the system provides none yet.
            black_box(Vec::<u8>::with_capacity((size as usize / 2).min(LARGEST_STEP)));
            self.last = memory_size();
        }
    }
}
