//! The fetching thread. It owns the sockets and hands answers over in batches.
//!
//! There is one thread, because most answers are small: passing each between the threads of a
//! runtime cost more than fetching it. The resolving thread reads the documents; the fetching
//! thread reads them only if that one is far behind. A batch is handed over when the thread has
//! nothing else to do, or when it is full, so the resolving thread is woken once for many answers.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use espalier_core::{FetchFailure, Request, Urgency};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, oneshot};
use tokio::task::{JoinError, JoinSet};

use super::{Delivery, Sources};
use crate::registry::Misread;

/// A request and its result.
pub(crate) type RequestResult = (Request, Result<Delivery, FetchFailure>);

/// A request to be made.
#[derive(Debug)]
pub(crate) struct Errand {
    pub request: Request,
    pub urgency: Urgency,
    /// The earlier answer, if it couldn't be read.
    pub misread: Option<Box<Misread>>,
}

/// A batch of this size is handed over at once, because the resolving thread could be idle.
const MANY: usize = 64;

/// If this number of answers is waiting to be used, this thread reads documents itself.
const BEHIND: usize = 32;

/// The number of workers at the start. More of them help only if the registry is far away.
const AT_FIRST: usize = 64;
/// A registry is far away if every answer takes longer than this.
const FAR: Duration = Duration::from_millis(10);
/// The first `TIMED_FIRST` answers are timed, then one in `ONE_OF`, because on some machines
/// reading the clock is a system call.
const TIMED_FIRST: usize = 8;
const ONE_OF: usize = 32;

/// A runtime on a thread of its own. Dropping this ends the thread and its connections.
#[derive(Debug)]
pub(crate) struct Thread {
    runtime: Handle,
    outboxes: Outboxes,
    /// Dropping this ends the thread.
    _end: oneshot::Sender<()>,
}

/// The batches that wait until the thread has nothing else to do.
type Outboxes = Arc<Mutex<Vec<Arc<Outbox>>>>;

#[derive(Debug, Default)]
struct Outbox {
    made: Mutex<Vec<RequestResult>>,
    sent: Mutex<Vec<RequestResult>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    arrival: Notify,
    /// The number of answers that nobody has used yet.
    unused: AtomicUsize,
    /// Whether the resolving thread has nothing to do.
    is_awaited: AtomicBool,
}

/// Requests that no worker has taken.
#[derive(Debug, Default)]
struct Waiting {
    demanded: VecDeque<Errand>,
    speculative: VecDeque<Errand>,
    /// Documents of versions. The resolution learns nothing new from them, so they fill idle
    /// connections.
    last: VecDeque<Errand>,
    /// The number of requests that were taken.
    taken: usize,
    /// The shortest time that an answer of a registry took.
    fastest: Option<Duration>,
}

/// The permitted number of workers.
struct Allowance {
    now: usize,
    most: usize,
}

/// The requests of a resolution. Dropping this cancels those under way.
#[derive(Debug)]
pub(crate) struct Fetching {
    errands: UnboundedSender<Vec<Errand>>,
    outbox: Arc<Outbox>,
    outboxes: Outboxes,
}

impl Thread {
    /// Starts the thread.
    ///
    /// # Panics
    ///
    /// If the system can't start a thread.
    pub fn start() -> Self {
        let outboxes = Outboxes::default();
        let idle = Arc::clone(&outboxes);
        let send = move || locked(&idle).iter().for_each(|outbox| outbox.send());
        let runtime = Builder::new_current_thread().enable_all().on_thread_park(send).build().expect("a runtime");
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let work = move || {
            let _ = runtime.block_on(ended);
            runtime.shutdown_background();
        };
        std::thread::Builder::new().name("fetching".to_owned()).spawn(work).expect("a thread");
        Self { runtime: handle, outboxes, _end: end }
    }

    /// Does something before the first request.
    pub fn prepare(&self, work: impl FnOnce() + Send + 'static) {
        self.runtime.spawn(async { work() });
    }

    /// Begins to fetch for a resolution, with at most `most` requests at once.
    pub fn begin(&self, sources: Sources, most: usize) -> Fetching {
        let outbox = Arc::<Outbox>::default();
        locked(&self.outboxes).push(Arc::clone(&outbox));
        let (errands, wanted) = mpsc::unbounded_channel();
        self.runtime.spawn(dispatch(wanted, sources, most, Arc::clone(&outbox)));
        Fetching { errands, outbox, outboxes: Arc::clone(&self.outboxes) }
    }
}

impl Fetching {
    /// Queues these requests.
    pub fn ask(&self, errands: Vec<Errand>) {
        // This fails only if the thread has panicked, and the panic surfaces elsewhere.
        let _ = self.errands.send(errands);
    }

    /// Waits for answers and returns all that have arrived.
    ///
    /// # Panics
    ///
    /// If a worker panicked, which is a bug and not a failed fetch.
    pub async fn answers(&mut self) -> Vec<RequestResult> {
        loop {
            if let Some(panic) = locked(&self.outbox.panic).take() {
                std::panic::resume_unwind(panic);
            }
            let sent = std::mem::take(&mut *locked(&self.outbox.sent));
            if !sent.is_empty() {
                return sent;
            }
            self.outbox.is_awaited.store(true, Ordering::Release);
            self.outbox.arrival.notified().await;
        }
    }

    /// Records that one answer was used.
    pub fn used_one(&self) {
        self.outbox.used_one();
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        locked(&self.outboxes).retain(|outbox| !Arc::ptr_eq(outbox, &self.outbox));
    }
}

impl Outbox {
    /// Whether this thread should read documents itself, because more than `BEHIND` answers are
    /// unused. A resolving thread that waits for answers gets them instead.
    fn is_behind(&self) -> bool {
        if self.unused.load(Ordering::Relaxed) <= BEHIND {
            return false;
        }
        if self.is_awaited.load(Ordering::Acquire) {
            self.send();
            return false;
        }
        true
    }

    fn used_one(&self) {
        self.unused.fetch_sub(1, Ordering::Relaxed);
    }

    fn add(&self, answered: RequestResult) {
        self.unused.fetch_add(1, Ordering::Relaxed);
        let mut made = locked(&self.made);
        made.push(answered);
        let is_enough = made.len() >= MANY;
        drop(made);
        if is_enough {
            self.send();
        }
    }

    fn send(&self) {
        let mut made = locked(&self.made);
        if !made.is_empty() {
            self.is_awaited.store(false, Ordering::Release);
            locked(&self.sent).append(&mut made);
            self.arrival.notify_one();
        }
    }
}

impl Waiting {
    fn add(&mut self, errand: Errand) {
        let queue = match (&errand.request, errand.urgency) {
            (_, Urgency::Demanded) => &mut self.demanded,
            (request, Urgency::Speculative) if request.is_for_lockfile() => &mut self.last,
            (_, Urgency::Speculative) => &mut self.speculative,
        };
        queue.push_back(errand);
    }

    fn take(&mut self) -> Option<Errand> {
        let taken =
            self.demanded.pop_front().or_else(|| self.speculative.pop_front()).or_else(|| self.last.pop_front());
        self.taken += usize::from(taken.is_some());
        taken
    }

    /// Whether the answer to the request that was taken last is timed.
    fn is_timed(&self) -> bool {
        self.taken <= TIMED_FIRST || self.taken.is_multiple_of(ONE_OF)
    }

    fn took(&mut self, time: Duration) {
        self.fastest = Some(self.fastest.map_or(time, |fastest| fastest.min(time)));
    }

    fn len(&self) -> usize {
        self.demanded.len() + self.speculative.len() + self.last.len()
    }
}

impl Allowance {
    fn new(most: usize) -> Self {
        Self { now: most.min(AT_FIRST), most }
    }

    /// Doubles the number of workers if the registry is far away and a quarter as many requests are
    /// waiting. A request that waits for a worker takes twice as long, and the tree may depend on it.
    fn review(&mut self, waiting: &Waiting) {
        let is_far = waiting.fastest.is_some_and(|fastest| fastest > FAR);
        if is_far && waiting.len() >= self.now / 4 {
            self.now = self.most.min(2 * self.now);
        }
    }
}

/// Keeps as many workers as there is work for, until the resolution ends.
async fn dispatch(mut wanted: UnboundedReceiver<Vec<Errand>>, sources: Sources, most: usize, outbox: Arc<Outbox>) {
    let waiting = Arc::<Mutex<Waiting>>::default();
    let mut workers = JoinSet::new();
    let mut allowance = Allowance::new(most);
    loop {
        tokio::select! {
            // Ended workers are counted first. Otherwise one of them could be counted as active
            // below, and nobody would take the new requests.
            biased;
            Some(ended) = workers.join_next() => {
                if let Err(panic) = ended.map_err(JoinError::into_panic) {
                    *locked(&outbox.panic) = Some(panic);
                    outbox.arrival.notify_one();
                    return;
                }
            }
            errands = wanted.recv() => {
                let Some(errands) = errands else { return };
                let mut queues = locked(&waiting);
                for errand in errands {
                    queues.add(errand);
                }
                allowance.review(&queues);
                for _ in 0..queues.len().min(allowance.now.saturating_sub(workers.len())) {
                    workers.spawn(work(Arc::clone(&waiting), sources.clone(), Arc::clone(&outbox)));
                }
            }
        }
    }
}

/// Answers requests until none is waiting.
async fn work(waiting: Arc<Mutex<Waiting>>, sources: Sources, outbox: Arc<Outbox>) {
    loop {
        let (errand, is_timed) = {
            let mut waiting = locked(&waiting);
            (waiting.take(), waiting.is_timed())
        };
        let Some(Errand { request, misread, .. }) = errand else { return };
        let start = is_timed.then(Instant::now);
        let mut came = sources.fetch(&request, misread).await;
        if let (Some(start), Ok(Delivery::Document(unread))) = (start, &came)
            && unread.is_sent()
        {
            locked(&waiting).took(start.elapsed());
        }
        if outbox.is_behind() || came.as_ref().is_ok_and(Delivery::is_prepared) {
            came = match came.map(Delivery::read) {
                Ok(Ok((answer, unsettled, permanence))) => Ok(Delivery::Answer(answer, unsettled, permanence)),
                Ok(Err(misread)) => sources.fetch(&request, Some(misread)).await,
                Err(failure) => Err(failure),
            };
        }
        outbox.add((request, came));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use espalier_core::{Answer, PackumentForm, Request, Urgency};

    use super::{Allowance, BEHIND, Errand, Outbox, Waiting};
    use crate::driver::Delivery;
    use crate::registry::Permanence;

    fn packument(name: &str) -> Request {
        Request::Packument { name: name.into(), form: PackumentForm::Any }
    }

    fn version(name: &str) -> Request {
        let (version, integrity) = ("1.0.0".into(), Some("sha512-1".into()));
        Request::VersionDocument { name: name.into(), version, integrity }
    }

    fn manifest(name: &str) -> Request {
        Request::Manifest { name: name.into(), version: "1.0.0".into() }
    }

    #[test]
    fn what_is_waited_for_goes_first_and_documents_of_versions_last() {
        let mut waiting = Waiting::default();
        let errand = |request, urgency| Errand { request, urgency, misread: None };
        waiting.add(errand(version("a"), Urgency::Speculative));
        waiting.add(errand(packument("a"), Urgency::Speculative));
        waiting.add(errand(manifest("c"), Urgency::Speculative));
        waiting.add(errand(packument("b"), Urgency::Demanded));
        waiting.add(errand(version("b"), Urgency::Demanded));
        let taken: Vec<Request> = std::iter::from_fn(|| Some(waiting.take()?.request)).collect();
        assert_eq!(taken, [packument("b"), version("b"), packument("a"), manifest("c"), version("a")]);
    }

    /// The permitted number of workers when so many requests wait and an answer has taken so long.
    fn allowed(most: usize, took: &[u64], count: usize) -> usize {
        let mut allowance = Allowance::new(most);
        let mut waiting = Waiting::default();
        for _ in 0..count {
            waiting.add(Errand { request: packument("a"), urgency: Urgency::Speculative, misread: None });
        }
        for &took in took {
            waiting.took(Duration::from_millis(took));
        }
        allowance.review(&waiting);
        allowance.now
    }

    #[test]
    fn this_thread_reads_only_while_much_is_unused() {
        let outbox = Outbox::default();
        for _ in 0..=BEHIND {
            assert!(!outbox.is_behind());
            outbox.add((packument("a"), Ok(Delivery::Answer(Answer::Files(Vec::new()), None, Permanence::Unknown))));
        }
        assert!(outbox.is_behind());
        outbox.used_one();
        assert!(!outbox.is_behind());
    }

    #[test]
    fn there_are_more_workers_only_where_the_registry_is_far_and_requests_wait() {
        assert_eq!(allowed(256, &[100, 200], 100), 128);
        assert_eq!(allowed(256, &[100, 5], 100), 64);
        assert_eq!(allowed(256, &[], 100), 64);
        assert_eq!(allowed(256, &[100], 10), 64);
    }

    #[test]
    fn there_are_never_more_workers_than_maxsockets() {
        assert_eq!(allowed(10, &[100], 500), 10);
        assert_eq!(allowed(100, &[100], 500), 100);
    }
}
