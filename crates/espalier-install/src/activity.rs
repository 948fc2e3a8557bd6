//! The counts of a run. Any thread may add to them, and any other may read them.
//!
//! A progress line reads them on its own timer, so counting costs one addition.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::spans::Spans;

/// The counts of one run. It has a field for each counted event.
#[derive(Debug, Default)]
pub struct Activity {
    /// Answered requests of the resolution, failures included.
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
    /// Packages to put on disk.
    pub to_install: Counter,
    /// Packages that were fetched into the store.
    pub downloaded: Counter,
    /// Packages that are in their place.
    pub installed: Counter,
    /// Decompressing, summed over threads.
    pub inflating: Stopwatch,
    /// Parsing, summed over threads.
    pub parsing: Stopwatch,
    /// The resolution itself.
    pub resolving: Stopwatch,
    /// Verifying tarballs, summed over threads.
    pub hashing: Stopwatch,
    /// Unpacking tarballs into the store, summed over threads. Inflating and writing are parts of
    /// it.
    pub unpacking: Stopwatch,
    /// Writing the files of tarballs and the lockfiles, summed over threads.
    pub writing: Stopwatch,
    /// Linking and copying into `node_modules`, summed over threads.
    pub placing: Stopwatch,
    spans: OnceLock<Arc<Spans>>,
}

impl Activity {
    /// Sets the stopwatches going.
    pub fn measure(&self) {
        for (_, stopwatch) in self.stopwatches() {
            stopwatch.is_wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Begins to record when each piece of work is done, and on which thread.
    pub fn trace(&self) {
        let spans = self.spans.get_or_init(Arc::default);
        for (name, stopwatch) in self.stopwatches() {
            // An earlier call may have set it to the same value.
            let _ = stopwatch.spans.set((name, Arc::clone(spans)));
        }
    }

    /// All of them, with the names of their spans.
    fn stopwatches(&self) -> [(&'static str, &Stopwatch); 7] {
        [
            ("inflate", &self.inflating),
            ("parse", &self.parsing),
            ("decide", &self.resolving),
            ("hash", &self.hashing),
            ("unpack", &self.unpacking),
            ("write", &self.writing),
            ("link", &self.placing),
        ]
    }

    /// The recorded spans, if [`Activity::trace`] was called.
    pub fn spans(&self) -> Option<&Spans> {
        self.spans.get().map(Arc::as_ref)
    }
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

/// A sum of durations, in processor time if the system measures it. On a busy machine, elapsed time
/// depends more on other processes than on the work.
///
/// It doesn't run until someone wants to know, because asking the system twice for each document
/// takes time.
#[derive(Debug, Default)]
pub struct Stopwatch {
    is_wanted: AtomicBool,
    sum: Counter,
    /// The name of the work, and where its spans are recorded.
    spans: OnceLock<(&'static str, Arc<Spans>)>,
}

impl Stopwatch {
    /// Runs something and adds the processor time that it took.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.spans.get() {
            Some((name, spans)) => spans.work(name, || self.measured(work)),
            None => self.measured(work),
        }
    }

    fn measured<T>(&self, work: impl FnOnce() -> T) -> T {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return work();
        }
        let start = processor_time();
        let result = work();
        let elapsed = processor_time().saturating_sub(start);
        self.sum.add(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
        result
    }

    /// The sum.
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.sum.get())
    }
}

/// The processor time of the calling thread so far.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().unwrap_or_default()
}

/// The time since the first call. Nothing better is available here without unsafe code.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
