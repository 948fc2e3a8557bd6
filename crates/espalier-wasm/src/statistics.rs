//! Counts of what went over the network. Shared by all tasks of one run, hence the cells.

use std::cell::Cell;

use serde::Serialize;

/// What one run has fetched so far.
#[derive(Default)]
pub struct Traffic {
    requests: Cell<u32>,
    retries: Cell<u32>,
    pending: Cell<u32>,
    bytes: Cell<u64>,
}

/// A reading of [`Traffic`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Requests made, retries included.
    pub requests: u32,
    /// Those among them that tried something again.
    pub retries: u32,
    /// Requests that wait for their answer.
    pub pending: u32,
    /// Bytes of all answers, after decompression.
    pub bytes: u64,
}

/// A request under way; it counts as pending until it is dropped.
pub struct Pending<'a>(&'a Traffic);

impl Traffic {
    /// Counts a request that is about to be made.
    pub fn request(&self, again: bool) -> Pending<'_> {
        self.requests.set(self.requests.get() + 1);
        self.retries.set(self.retries.get() + u32::from(again));
        self.pending.set(self.pending.get() + 1);
        Pending(self)
    }

    /// The counts as they are now.
    pub fn reading(&self) -> Reading {
        Reading {
            requests: self.requests.get(),
            retries: self.retries.get(),
            pending: self.pending.get(),
            bytes: self.bytes.get(),
        }
    }
}

impl Pending<'_> {
    /// Counts the answer's bytes.
    pub fn received(&self, bytes: usize) {
        self.0.bytes.set(self.0.bytes.get() + bytes as u64);
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.pending.set(self.0.pending.get() - 1);
    }
}
