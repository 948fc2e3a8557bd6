//! Work that blocks, on a thread of its own.

use std::future::pending;
use std::panic::resume_unwind;

use tokio::task::{JoinHandle, spawn_blocking};

/// Does blocking work on another thread. A panic goes on here.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    result(spawn_blocking(work)).await
}

/// Does work on a thread of the runtime, where it begins sooner. Linux may let a new thread wait for
/// milliseconds behind the thread that started it, though the other of two processors is idle. The
/// runtime's threads have run before, and go on where they ran. If the runtime has a single thread,
/// its other tasks wait for this work.
pub(crate) fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(async move { work() })
}

/// The result of such work that was started earlier. If the runtime ends before the work begins,
/// nobody waits for the result any more, so there is none.
pub(crate) async fn result<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::Poll;

    use tokio::task::spawn_blocking;

    #[test]
    fn cancelled_work_has_no_result_and_does_not_panic() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().expect("a runtime");
        runtime.block_on(async {
            let (free, busy) = mpsc::channel::<()>();
            let first = spawn_blocking(move || busy.recv().is_err());
            let queued = spawn_blocking(|| ());
            queued.abort();
            drop(free);
            first.await.expect("the first work");
            spawn_blocking(|| ()).await.expect("the last work");
            let mut result = pin!(super::result(queued));
            assert!(poll_fn(|context| Poll::Ready(result.as_mut().poll(context).is_pending())).await);
        });
    }
}
