//! Waiting. Pages, workers, Node and Deno all have `setTimeout` in their global scope.

use std::cell::{Cell, RefCell};

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::traffic::now;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// A timer. It is cleared when nobody has it any more, so that Node doesn't stay alive for it.
struct Timer {
    handle: JsValue,
    passed: JsFuture,
}

impl Timer {
    fn set(milliseconds: f64) -> Self {
        let mut handle = JsValue::UNDEFINED;
        let passed = Promise::new(&mut |resolve, _| handle = set_timeout(&resolve, milliseconds));
        Self { handle, passed: passed.into() }
    }

    async fn passed(&mut self) {
        // Nothing rejects it.
        let _ = (&mut self.passed).await;
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        clear_timeout(&self.handle);
    }
}

/// Waits.
pub async fn sleep(milliseconds: f64) {
    Timer::set(milliseconds).passed().await;
}

/// How long something may take that is done many times, several at once. A timer that wasn't needed is left running for the next
/// one, because setting and clearing it is a good part of what a small request costs.
pub struct Patience {
    milliseconds: f64,
    waiting: Cell<u32>,
    running: RefCell<Vec<Timer>>,
}

/// What waits for the end of patience, with its timer.
struct Wait<'a> {
    patience: &'a Patience,
    timer: Option<Timer>,
}

impl Patience {
    /// So long, from each beginning.
    pub fn new(milliseconds: f64) -> Self {
        Self { milliseconds, waiting: Cell::new(0), running: RefCell::default() }
    }

    /// Waits until something has taken too long that begins now.
    pub async fn ends(&self) {
        let end = now() + self.milliseconds;
        self.waiting.set(self.waiting.get() + 1);
        let mut wait = Wait { patience: self, timer: self.running.borrow_mut().pop() };
        loop {
            let left = end - now();
            match &mut wait.timer {
                Some(timer) => {
                    timer.passed().await;
                    wait.timer = None;
                }
                // A longer time than a timer can take would be none.
                None if left > 0.0 => wait.timer = Some(Timer::set(left.min(f64::from(i32::MAX)))),
                None => return,
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let Patience { waiting, running, .. } = self.patience;
        waiting.set(waiting.get() - 1);
        if waiting.get() == 0 {
            running.borrow_mut().clear();
        } else {
            running.borrow_mut().extend(self.timer.take());
        }
    }
}
