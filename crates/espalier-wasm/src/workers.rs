//! The tasks that fetch: as many as requests may be under way at once, each taking one at a time.
//!
//! The run hands a request over only when a worker is free for it. What is most urgent is therefore decided
//! at the last moment, and no queue of speculation is ever ahead of a demand.

use std::rc::Rc;

use async_channel::{Receiver, Sender, unbounded};
use espalier_core::{Answer, FetchFailure, Request, Urgency};
use futures_lite::future::or;
use wasm_bindgen_futures::spawn_local;

use crate::source::Source;

/// An answer, with the request it answers.
pub type Answered = (Request, Result<Answer, FetchFailure>);

/// The workers of one run. Dropping this stops them, in the middle of what they do.
pub struct Workers {
    requests: Sender<(Request, Urgency)>,
    answers: Receiver<Answered>,
    count: usize,
    free: usize,
}

impl Workers {
    /// Starts `count` workers.
    pub fn start(count: usize, source: &Rc<Source>) -> Self {
        let (requests, incoming) = unbounded();
        let (outgoing, answers) = unbounded();
        for _ in 0..count {
            let stopped = outgoing.clone();
            let work = work(incoming.clone(), outgoing.clone(), Rc::clone(source));
            spawn_local(or(work, async move { stopped.closed().await }));
        }
        Self { requests, answers, count, free: count }
    }

    /// Whether a request would be worked on at once.
    pub fn any_free(&self) -> bool {
        self.free > 0
    }

    /// Whether an answer is to come.
    pub fn any_busy(&self) -> bool {
        self.free < self.count
    }

    /// Hands a request over.
    ///
    /// # Panics
    /// When no worker is free.
    pub fn give(&mut self, request: Request, urgency: Urgency) {
        self.free -= 1;
        self.requests.try_send((request, urgency)).expect("workers outlive their handle");
    }

    /// Waits until nothing is under way any more, and drops the answers: nobody wants them.
    pub async fn forget(&mut self) {
        while self.any_busy() {
            self.answers().await;
        }
    }

    /// Waits for an answer, and takes all that have come with it.
    pub async fn answers(&mut self) -> Vec<Answered> {
        let first = self.answers.recv().await.expect("workers outlive their handle");
        let mut all = vec![first];
        all.extend(std::iter::from_fn(|| self.answers.try_recv().ok()));
        self.free += all.len();
        all
    }
}

async fn work(requests: Receiver<(Request, Urgency)>, answers: Sender<Answered>, source: Rc<Source>) {
    while let Ok((request, urgency)) = requests.recv().await {
        let answer = source.answer(&request, urgency).await;
        if answers.send((request, answer)).await.is_err() {
            break;
        }
    }
}
