//! A queue between tasks of one thread, which can be closed.
//!
//! It is small because it doesn't support threads: channels that do weigh several kilobytes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A handle of a queue. Clones share the queue.
pub struct Queue<T>(Rc<Inner<T>>);

struct Inner<T> {
    items: RefCell<VecDeque<T>>,
    is_closed: Cell<bool>,
    /// The tasks that wait for an item, and those that wait for the end. A task is in it at most
    /// once.
    takers: Waiting,
    closers: Waiting,
}

#[derive(Default)]
struct Waiting(RefCell<Vec<Waker>>);

impl Waiting {
    fn add(&self, context: &Context<'_>) {
        let mut wakers = self.0.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            wakers.push(context.waker().clone());
        }
    }

    fn wake_one(&self) {
        let waker = self.0.borrow_mut().pop();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wake_all(&self) {
        for waker in self.0.take() {
            waker.wake();
        }
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Queue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        let (items, is_closed) = Default::default();
        Self(Rc::new(Inner { items, is_closed, takers: Waiting::default(), closers: Waiting::default() }))
    }

    /// Appends an item and wakes a task that waits for one. If that task is dropped before it runs,
    /// the wake-up is lost.
    pub fn push(&self, item: T) {
        self.0.items.borrow_mut().push_back(item);
        self.0.takers.wake_one();
    }

    /// The first item, if there is one.
    pub fn try_next(&self) -> Option<T> {
        self.0.items.borrow_mut().pop_front()
    }

    /// Waits for the first item.
    pub async fn next(&self) -> T {
        poll_fn(|context| {
            let item = self.try_next();
            if item.is_none() {
                self.0.takers.add(context);
            }
            item.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Closes the queue. Its items stay.
    pub fn close(&self) {
        self.0.is_closed.set(true);
        self.0.closers.wake_all();
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed.get()
    }

    /// Waits until it is closed. A task may wait in one place at a time.
    pub fn closed(&self) -> Closed<'_, T> {
        Closed { queue: self, waker: None }
    }
}

/// See [`Queue::closed`].
pub struct Closed<'a, T> {
    queue: &'a Queue<T>,
    waker: Option<Waker>,
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.queue.is_closed() {
            return Poll::Ready(());
        }
        self.queue.0.closers.add(context);
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<T> Drop for Closed<'_, T> {
    fn drop(&mut self) {
        if let Some(waker) = &self.waker {
            self.queue.0.closers.0.borrow_mut().retain(|other| !other.will_wake(waker));
        }
    }
}
