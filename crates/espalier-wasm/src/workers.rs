//! The tasks that fetch. There are as many as there may be concurrent requests, and each serves one
//! request at a time.
//!
//! The run hands a request over only if a worker is free. So it decides at the last moment which
//! one is the most urgent, and speculative requests never delay a demanded one.

use std::rc::Rc;

use espalier_core::{Answer, FetchFailure, Request, Urgency};
use futures_lite::future::or;
use wasm_bindgen_futures::spawn_local;

use crate::queue::Queue;
use crate::source::Source;

/// A request and its answer.
pub type AnsweredRequest = (Request, Result<Answer, FetchFailure>);

/// The workers of a run. Dropping this stops them at once.
pub struct Workers {
    requests: Queue<(Request, Urgency)>,
    answers: Queue<AnsweredRequest>,
    count: usize,
    free: usize,
}

impl Workers {
    /// Starts `count` workers.
    pub fn start(count: usize, source: &Rc<Source>) -> Self {
        let (requests, answers) = (Queue::new(), Queue::new());
        for _ in 0..count {
            let stopped = requests.clone();
            let work = work(requests.clone(), answers.clone(), Rc::clone(source));
            spawn_local(or(async move { stopped.closed().await }, work));
        }
        Self { requests, answers, count, free: count }
    }

    /// Whether a worker is free.
    pub fn any_free(&self) -> bool {
        self.free > 0
    }

    /// The number of expected answers.
    pub fn busy(&self) -> usize {
        self.count - self.free
    }

    /// Hands a request over to a worker. One has to be free.
    pub fn give(&mut self, request: Request, urgency: Urgency) {
        self.free -= 1;
        self.requests.push((request, urgency));
    }

    /// Waits until all requests have ended, and drops the answers.
    pub async fn forget(&mut self) {
        while self.busy() > 0 {
            self.answers().await;
        }
    }

    /// Waits for an answer and takes all that have come by then.
    pub async fn answers(&mut self) -> Vec<AnsweredRequest> {
        let first = self.answers.next().await;
        let mut all = vec![first];
        all.extend(std::iter::from_fn(|| self.answers.try_next()));
        self.free += all.len();
        all
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.requests.close();
    }
}

async fn work(requests: Queue<(Request, Urgency)>, answers: Queue<AnsweredRequest>, source: Rc<Source>) {
    loop {
        let (request, urgency) = requests.next().await;
        let answer = source.answer(&request, urgency).await;
        answers.push((request, answer));
    }
}
