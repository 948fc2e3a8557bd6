//! Timers. Pages, workers, Node and Deno all have `setTimeout` in their global scope.

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

/// A timer. It is cleared when it is dropped, so that Node can exit.
pub struct Timer {
    handle: JsValue,
    passed: JsFuture,
}

impl Timer {
    /// Starts a timer.
    pub fn set(milliseconds: f64) -> Self {
        let mut handle = JsValue::UNDEFINED;
        let passed = Promise::new(&mut |resolve, _| handle = set_timeout(&resolve, milliseconds));
        Self { handle, passed: passed.into() }
    }

    /// Waits until it has passed.
    pub async fn passed(&mut self) {
        // Nothing rejects this promise.
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

/// A time limit for something that is done many times, also concurrently. An unused timer keeps
/// running for the next one, because setting and clearing it is a large part of the cost of a small
/// request.
pub struct Patience {
    milliseconds: f64,
    waiting: Cell<u32>,
    running: RefCell<Vec<Timer>>,
}

/// Everything that waits for the limit, with the timer.
struct Wait<'a> {
    patience: &'a Patience,
    timer: Option<Timer>,
}

impl Patience {
    /// A limit of this duration.
    pub fn new(milliseconds: f64) -> Self {
        Self { milliseconds, waiting: Cell::new(0), running: RefCell::default() }
    }

    /// Waits until something that begins now has taken too long.
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
                // `setTimeout` ignores a longer time.
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
