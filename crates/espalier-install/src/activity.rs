//! What is going on, in numbers that any thread may add to and any other may look at.
//!
//! Whoever draws a progress line reads them on its own timer, so that counting costs an addition and nothing else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The counts of one run.
#[derive(Debug, Default)]
pub struct Activity {
    /// Requests of the resolution that were begun.
    pub asked: Counter,
    /// Requests of the resolution that were answered, with a failure or without.
    pub answered: Counter,
    /// Packages in the tree.
    pub placed: Counter,
    /// Requests that went over the network.
    pub network_requests: Counter,
    /// Bytes of bodies that came over the network, as they were sent.
    pub network_bytes: Counter,
    /// Attempts that failed and were made again.
    pub retries: Counter,
    /// Documents that were read from the cache, including those the registry confirmed.
    pub cached_documents: Counter,
    /// Time spent decompressing, summed over threads.
    pub inflating: Stopwatch,
    /// Time spent parsing, summed over threads.
    pub parsing: Stopwatch,
}

/// A number that only ever changes by adding and subtracting.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to it.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Takes one off.
    pub fn subtract_one(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Its value now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A sum of durations.
#[derive(Debug, Default)]
pub struct Stopwatch(Counter);

impl Stopwatch {
    /// Runs something and adds the time that it took.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        result
    }

    /// The sum.
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.get())
    }
}
