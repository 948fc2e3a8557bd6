//! The mailbox between a resolution and its caller: requests, answers, events and warnings.
//!
//! The resolution is one asynchronous function that owns everything else. To wait, it looks into the mailbox and, if the answer
//! is missing, returns to [`Resolution::advance`](crate::Resolution::advance).

use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::outcome::Warning;
use crate::request::{Answer, Event, FetchFailure, Request, Urgency};

/// The answer to a request, or its failure.
pub type Reply = Result<Answer, FetchFailure>;

/// The mailbox.
#[derive(Default)]
pub struct Exchange(RefCell<Mail>);

#[derive(Default)]
struct Mail {
    demanded: VecDeque<Request>,
    speculative: VecDeque<Request>,
    /// Speculative requests for version documents. Only the lockfile needs them, so requests for the tree come first.
    for_lockfile: VecDeque<Request>,
    /// Every request so far, and whether it was handed out.
    wanted: FxHashMap<Request, bool>,
    answered: FxHashSet<Request>,
    arrived: VecDeque<(Request, Reply)>,
    events: VecDeque<Event>,
    warnings: Vec<Warning>,
}

impl Exchange {
    /// Adds a request. A repeated request can only become more urgent.
    pub fn want(&self, request: &Request, urgency: Urgency) {
        let mut mail = self.0.borrow_mut();
        let handed_out = mail.wanted.get(request).copied();
        match (handed_out, urgency) {
            (Some(true), _) | (Some(false), Urgency::Speculative) => {}
            (Some(false), Urgency::Demanded) => mail.demanded.push_back(request.clone()),
            (None, urgency) => {
                mail.wanted.insert(request.clone(), false);
                let queue = match (urgency, request) {
                    (Urgency::Demanded, _) => &mut mail.demanded,
                    (Urgency::Speculative, Request::VersionDocument { .. }) => &mut mail.for_lockfile,
                    (Urgency::Speculative, _) => &mut mail.speculative,
                };
                queue.push_back(request.clone());
            }
        }
    }

    /// Takes the most urgent request that wasn't handed out yet.
    pub fn next_request(&self) -> Option<(Request, Urgency)> {
        let mut mail = self.0.borrow_mut();
        loop {
            let (request, urgency) = match mail.demanded.pop_front() {
                Some(request) => (request, Urgency::Demanded),
                None => {
                    let request = mail.speculative.pop_front().or_else(|| mail.for_lockfile.pop_front())?;
                    (request, Urgency::Speculative)
                }
            };
            // A request that became urgent is in both queues.
            if mail.wanted.insert(request.clone(), true) == Some(false) {
                return Some((request, urgency));
            }
        }
    }

    /// Adds an answer. If there are several, the first one counts.
    pub fn supply(&self, request: &Request, reply: Reply) {
        let mut mail = self.0.borrow_mut();
        mail.wanted.insert(request.clone(), true);
        if mail.answered.insert(request.clone()) {
            mail.arrived.push_back((request.clone(), reply));
        }
    }

    /// Takes the next answer.
    pub fn next_arrival(&self) -> Option<(Request, Reply)> {
        self.0.borrow_mut().arrived.pop_front()
    }

    /// Adds an event.
    pub fn report(&self, event: Event) {
        self.0.borrow_mut().events.push_back(event);
    }

    /// Adds a warning.
    pub fn warn(&self, warning: Warning) {
        self.0.borrow_mut().warnings.push(warning);
    }

    /// Takes all warnings.
    pub fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut self.0.borrow_mut().warnings)
    }

    /// Takes the oldest event.
    pub fn next_event(&self) -> Option<Event> {
        self.0.borrow_mut().events.pop_front()
    }
}

/// A future that returns to the caller once.
pub struct Pause(bool);

impl Pause {
    /// The future to await if an answer is missing.
    pub fn new() -> Self {
        Self(false)
    }
}

impl Future for Pause {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}
