//! Places the packages that are already in the store, which usually is most of them. Two threads
//! take them from one queue and don't wait for each other. A package that can't be placed becomes a
//! task of its own, which can fetch it again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::task::{Job, Shared};

/// The packages that no thread has taken yet.
#[derive(Debug)]
pub(super) struct Ready {
    queue: Mutex<VecDeque<Job>>,
    /// Whether there is only one.
    is_alone: bool,
}

impl Ready {
    /// Queues these packages, those with the most files first, so that the threads end at about the
    /// same time.
    pub fn new(mut jobs: Vec<Job>) -> Arc<Self> {
        let files = |job: &Job| job.source.stored.as_ref().map_or(0, |stored| stored.record.files.len());
        jobs.sort_by_key(|job| std::cmp::Reverse(files(job) * job.placements.len()));
        Arc::new(Self { is_alone: jobs.len() == 1, queue: Mutex::new(jobs.into()) })
    }

    /// The number of packages in the queue.
    pub fn len(&self) -> usize {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes a package off the queue.
    pub fn next(&self) -> Option<Job> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Places a package. Returns it if it couldn't be placed.
    pub fn place_one(&self, job: Job, shared: &Shared) -> Option<Job> {
        let is_placed = job.source.stored.as_ref().is_some_and(|stored| {
            let is_right = shared.origins.check_identity(&job.source, &stored.record).is_ok();
            is_right && shared.place(stored, &job.placements, self.is_alone).is_ok()
        });
        if !is_placed {
            return Some(job);
        }
        shared.activity.installed.add(job.placements.len() as u64);
        None
    }

    /// Places packages until the queue is empty. Returns those that couldn't be placed.
    pub fn place(&self, shared: &Shared, stopped: &watch::Receiver<bool>) -> Vec<Job> {
        let mut left = Vec::new();
        while !*stopped.borrow()
            && let Some(job) = self.next()
        {
            left.extend(self.place_one(job, shared));
        }
        left
    }
}
