//! The mailbox between a resolution and its caller: requests, answers, events and warnings.
//!
//! The resolution is one asynchronous function that owns everything else. To wait, it looks into
//! the mailbox and, if the answer is missing, returns to
//! [`Resolution::advance`](crate::Resolution::advance).

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::cell::{Ref, RefCell};
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

/// The place of a request. With it, the answer is found without a comparison of requests.
#[derive(Clone, Copy, Debug)]
pub struct Ticket(usize);

#[derive(Default)]
struct Mail {
    /// Every request so far. The queues have their indexes.
    requests: IndexMap<Request, State, FxBuildHasher>,
    demanded: VecDeque<usize>,
    speculative: VecDeque<usize>,
    /// Speculative requests for version documents. Only the lockfile needs them, so requests for
    /// the tree come first.
    for_lockfile: VecDeque<usize>,
    /// Requests for packuments and manifests whose answers nobody has looked at yet.
    for_tree: VecDeque<usize>,
    events: VecDeque<Event>,
    warnings: Vec<Warning>,
}

/// The state of a request.
#[derive(Default)]
struct State {
    handed_out: bool,
    answered: bool,
    /// The answer. That of a packument can be taken.
    reply: Option<Box<Reply>>,
}

impl Exchange {
    /// Adds a request. A repeated request can only become more urgent.
    pub fn want(&self, request: &Request, urgency: Urgency) -> Ticket {
        let mail = &mut *self.0.borrow_mut();
        let index = match (mail.requests.get_full(request), urgency) {
            (Some((index, _, State { handed_out: true, .. })), _) | (Some((index, ..)), Urgency::Speculative) => {
                return Ticket(index);
            }
            (Some((index, ..)), Urgency::Demanded) => index,
            (None, _) => mail.requests.insert_full(request.clone(), State::default()).0,
        };
        let queue = match (urgency, request) {
            (Urgency::Demanded, _) => &mut mail.demanded,
            (Urgency::Speculative, request) if request.is_for_lockfile() => &mut mail.for_lockfile,
            (Urgency::Speculative, _) => &mut mail.speculative,
        };
        queue.push_back(index);
        Ticket(index)
    }

    /// Takes the most urgent request that wasn't handed out yet.
    pub fn next_request(&self) -> Option<(Request, Urgency)> {
        let mail = &mut *self.0.borrow_mut();
        loop {
            let (index, urgency) = match mail.demanded.pop_front() {
                Some(index) => (index, Urgency::Demanded),
                None => {
                    let index = mail.speculative.pop_front().or_else(|| mail.for_lockfile.pop_front())?;
                    (index, Urgency::Speculative)
                }
            };
            // A request that became urgent is in both queues.
            let (request, state) = mail.requests.get_index_mut(index)?;
            if !std::mem::replace(&mut state.handed_out, true) {
                return Some((request.clone(), urgency));
            }
        }
    }

    /// Adds an answer. If there are several, the first one counts.
    pub fn supply(&self, request: &Request, reply: Reply) {
        let mail = &mut *self.0.borrow_mut();
        let index = match mail.requests.get_index_of(request) {
            Some(index) => index,
            None => mail.requests.insert_full(request.clone(), State::default()).0,
        };
        let state = &mut mail.requests[index];
        state.handed_out = true;
        if !std::mem::replace(&mut state.answered, true) {
            state.reply = Some(Box::new(reply));
            if matches!(request, Request::Packument { .. } | Request::Manifest { .. }) {
                mail.for_tree.push_back(index);
            }
        }
    }

    /// The next answer to a request for a packument or manifest, and the request.
    pub fn next_for_tree(&self) -> Option<(Request, Reply)> {
        let mail = &mut *self.0.borrow_mut();
        let index = mail.for_tree.pop_front()?;
        let (request, state) = mail.requests.get_index_mut(index)?;
        let reply = match request {
            Request::Packument { .. } => *state.reply.take()?,
            // The lockfile may need the same document.
            _ => state.reply.as_deref()?.clone(),
        };
        Some((request.clone(), reply))
    }

    /// The ticket of a request that was made before.
    pub fn ticket(&self, request: &Request) -> Option<Ticket> {
        self.0.borrow().requests.get_index_of(request).map(Ticket)
    }

    /// Whether the answer to a request for a manifest is that there is no such document.
    pub fn is_without_document(&self, request: &Request) -> bool {
        let reply = self.ticket(request).and_then(|ticket| self.answer(ticket));
        matches!(reply.as_deref(), Some(Ok(Answer::NoDocument)))
    }

    /// The answer to any request but that for a packument, if it has arrived.
    pub fn answer(&self, Ticket(index): Ticket) -> Option<Ref<'_, Reply>> {
        Ref::filter_map(self.0.borrow(), |mail| mail.requests[index].reply.as_deref()).ok()
    }

    /// The number of version documents that have arrived.
    pub fn document_count(&self) -> usize {
        let mail = self.0.borrow();
        let is_document = |state: &&State| matches!(state.reply.as_deref(), Some(Ok(Answer::VersionDocument(_))));
        mail.requests.values().filter(is_document).count()
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
