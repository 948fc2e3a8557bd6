//! Runs computations on a few threads, the largest waiting one first: unpacking tarballs and
//! placing packages.
//!
//! More threads than processors would only take turns. If a large piece of work came last, one
//! thread would do it while the others had nothing to do. A thread goes on until nothing waits, so
//! most pieces wake no thread. This module doesn't know what the work is.

use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The room for bodies that wait for a thread, in KiB. Further downloads wait until there is room.
const ROOM: u32 = 8 << 10;
/// The most room that one body takes, however large it is. It is half of the room, so that a large
/// body neither waits for an empty queue nor blocks the next one.
const MOST_OF_ONE: u32 = ROOM / 2;

/// The threads, and the work that waits for them.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    queue: Arc<Mutex<Queue>>,
    room: Arc<Semaphore>,
    most_threads: fn() -> usize,
}

/// The room of a waiting body. It is free again when work on the body begins.
#[derive(Debug, Default)]
pub(crate) struct Room(#[expect(dead_code, reason = "it is only held")] Option<OwnedSemaphorePermit>);

#[derive(Debug, Default)]
struct Queue {
    waiting: BinaryHeap<Waiting>,
    threads: usize,
    /// The number of pieces of work so far.
    arrived: u64,
}

struct Waiting {
    size: usize,
    arrival: u64,
    work: Box<dyn FnOnce() + Send>,
}

/// The number of processors, but at least two. The system is asked once, and only by a command that
/// has work for threads, because it answers with a dozen system calls.
pub(crate) fn one_for_each_processor() -> usize {
    static COUNT: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(2));
    *COUNT
}

impl Workers {
    /// Workers that have not started. `most_threads` is called when there is work.
    pub fn new(most_threads: fn() -> usize) -> Self {
        Self { queue: Arc::default(), room: Arc::new(Semaphore::new(ROOM as usize)), most_threads }
    }

    /// Waits until a body of this many bytes may wait for a thread.
    pub async fn room(&self, size: usize) -> Room {
        let size = u32::try_from(size >> 10).unwrap_or(MOST_OF_ONE).clamp(1, MOST_OF_ONE);
        // The semaphore is never closed.
        Room(Arc::clone(&self.room).acquire_many_owned(size).await.ok())
    }

    /// Does work of this size on another thread. `None` if the program ends before. Work whose
    /// result nobody waits for any more isn't done.
    pub async fn run<T: Send + 'static>(&self, size: usize, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        self.read(size, Room::default(), work).await
    }

    /// The same, for work on a body that has waited in this room.
    pub async fn read<T: Send + 'static>(
        &self,
        size: usize,
        room: Room,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (send, received) = oneshot::channel();
        let work = Box::new(move || {
            drop(room);
            if !send.is_closed() {
                // The receiver goes away if its task is cancelled.
                let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
            }
        });
        let needs_thread = {
            let mut queue = self.queue();
            queue.arrived += 1;
            let arrival = queue.arrived;
            queue.waiting.push(Waiting { size, arrival, work });
            let needs_thread = queue.threads < (self.most_threads)();
            queue.threads += usize::from(needs_thread);
            needs_thread
        };
        if needs_thread {
            let shift = Shift(Some(self.clone()));
            tokio::task::spawn_blocking(move || shift.work());
        }
        // A panic is a bug. It must not look like a failed fetch.
        Some(received.await.ok()?.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    fn run_all(&self) {
        loop {
            let next = {
                let mut queue = self.queue();
                let next = queue.waiting.pop();
                queue.threads -= usize::from(next.is_none());
                next
            };
            match next {
                Some(waiting) => (waiting.work)(),
                None => return,
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that was asked for.
struct Shift(Option<Workers>);

impl Shift {
    fn work(mut self) {
        if let Some(workers) = self.0.take() {
            workers.run_all();
        }
    }
}

impl Drop for Shift {
    fn drop(&mut self) {
        // The runtime has ended before the thread began. Tasks of other runtimes may wait for the
        // work.
        if let Some(workers) = self.0.take() {
            std::thread::spawn(move || workers.run_all());
        }
    }
}

impl Waiting {
    /// The largest piece is done first; of two equal ones, the one that arrived first.
    fn rank(&self) -> (usize, std::cmp::Reverse<u64>) {
        (self.size, std::cmp::Reverse(self.arrival))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Waiting {}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Waiting").field("size", &self.size).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_util::future::FutureExt as _;

    use super::Workers;

    #[tokio::test]
    async fn the_largest_waiting_piece_is_done_first() {
        let workers = Workers::new(|| 1);
        let (start, started) = mpsc::channel::<()>();
        let (done, order) = mpsc::channel();
        let first = workers.run(1, move || started.recv().is_ok());
        let others = [5, 9, 7].map(|size| {
            let done = done.clone();
            workers.run(size, move || done.send(size).is_ok())
        });
        let all = futures_util::future::join(first, futures_util::future::join_all(others));
        let release = async { start.send(()).is_ok() };
        // The pieces are queued in the order of this list, before the first one may end.
        let ((first, others), released) = futures_util::future::join(all, release).await;
        assert_eq!((first, others, released), (Some(true), vec![Some(true); 3], true));
        drop(done);
        assert_eq!(order.into_iter().collect::<Vec<_>>(), [9, 7, 5]);
    }

    #[test]
    fn work_is_done_even_if_the_runtime_has_ended_that_is_asked_for_a_thread() {
        let runtime = || tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let ended = runtime().handle().clone();
        let mut work = Box::pin(async { Workers::new(|| 1).run(1, || 7).await });
        let early = {
            let _inside = ended.enter();
            (&mut work).now_or_never()
        };
        assert_eq!(early.unwrap_or_else(|| runtime().block_on(work)), Some(7));
    }

    #[tokio::test]
    async fn downloads_wait_while_too_many_bodies_wait() {
        let workers = Workers::new(|| 1);
        let large = workers.room(usize::MAX).await;
        let other = workers.room(usize::MAX).now_or_never();
        assert!(other.is_some() && workers.room(1).now_or_never().is_none());
        drop(large);
        assert!(workers.room(1).now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_body_that_is_being_read_leaves_its_room_to_others() {
        let workers = Workers::new(|| 1);
        let rooms = [workers.room(usize::MAX).await, workers.room(usize::MAX).await];
        let (end, ended) = mpsc::channel::<()>();
        let (start, started) = tokio::sync::oneshot::channel();
        let [room, _other] = rooms;
        let reading = workers.read(1, room, move || start.send(()).is_ok() && ended.recv().is_ok());
        let others = async {
            started.await.expect("it begins");
            let room = workers.room(usize::MAX).now_or_never();
            end.send(()).expect("it waits for this");
            room.is_some()
        };
        assert_eq!(futures_util::future::join(reading, others).await, (Some(true), true));
    }

    #[tokio::test]
    #[should_panic(expected = "a bug")]
    async fn a_panic_is_passed_on() {
        Workers::new(|| 1).run(1, || -> () { panic!("a bug") }).await;
    }
}
