//! How much memory the instance has, and how it grows.

use std::hint::black_box;

use js_sys::{ArrayBuffer, WebAssembly};
use wasm_bindgen::prelude::*;

/// How many bytes of memory this instance has taken. It never gives any back before it is replaced.
#[wasm_bindgen(js_name = memorySize)]
pub fn memory_size() -> u32 {
    let memory = wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>();
    memory.buffer().unchecked_into::<ArrayBuffer>().byte_length()
}

/// The largest step in which memory grows: what is never used of it is had all the same.
const LARGEST_STEP: usize = 32 << 20;

/// Lets memory grow in steps that are a part of its size.
///
/// The allocator grows it by what is missing at the moment, a few pages at a time, and V8 collects garbage
/// after each time: two hundred full collections in a resolution of 5,000 packages, a third of its time.
pub struct Growth {
    last: u32,
}

impl Growth {
    /// From now on.
    pub fn watch() -> Self {
        Self { last: memory_size() }
    }

    /// If memory has grown since the last call, makes it half as large again, at most by one large step. To be called now and then.
    pub fn keep_ahead(&mut self) {
        let size = memory_size();
        if size > self.last {
            // Freed at once, but the memory stays the allocator's. Nothing is written, so nothing is used yet.
            black_box(Vec::<u8>::with_capacity((size as usize / 2).min(LARGEST_STEP)));
            self.last = memory_size();
        }
    }
}
