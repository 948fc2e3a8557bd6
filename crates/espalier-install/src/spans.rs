//! Records the work of a run by time and thread, and writes it for viewers of traces, such as
//! Perfetto.
//!
//! The format is Chrome's trace events, as JSON. Work is a complete event of its thread. Requests
//! overlap, and so do the bodies of their answers, so each is an asynchronous event of its own.

use std::cell::Cell;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The spans of a run.
#[derive(Debug)]
pub struct Spans {
    begun: Instant,
    recorded: Mutex<Vec<Span>>,
    /// The names of the threads, by their numbers.
    threads: Mutex<Vec<String>>,
}

#[derive(Debug)]
struct Span {
    what: What,
    thread: usize,
    start: Duration,
    end: Duration,
}

#[derive(Debug)]
enum What {
    Work(&'static str),
    Request(String),
    Body,
}

impl Default for Spans {
    fn default() -> Self {
        Self { begun: Instant::now(), recorded: Mutex::default(), threads: Mutex::default() }
    }
}

impl Spans {
    /// Runs something and records when it did.
    pub fn work<T>(&self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = self.begun.elapsed();
        let result = work();
        self.add(What::Work(name), start);
        result
    }

    /// Waits for something and records when it did.
    pub async fn wait<T>(&self, name: &'static str, wait: impl Future<Output = T>) -> T {
        let start = self.begun.elapsed();
        let result = wait.await;
        self.add(What::Work(name), start);
        result
    }

    /// Makes a request and records it.
    pub async fn request<T>(&self, address: String, exchange: impl Future<Output = T>) -> T {
        let start = self.begun.elapsed();
        let result = exchange.await;
        self.add(What::Request(address), start);
        result
    }

    /// Receives the body of an answer and records it, if there is a record.
    pub async fn body<T>(spans: Option<&Self>, receive: impl Future<Output = T>) -> T {
        let Some(spans) = spans else { return receive.await };
        let start = spans.begun.elapsed();
        let result = receive.await;
        spans.add(What::Body, start);
        result
    }

    /// Writes the trace events.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let name = |name: &str, thread: usize, value: &str| json!({ "ph": "M", "pid": 1, "tid": thread, "name": name, "args": { "name": value } });
        let mut events = vec![name("process_name", 0, "espalier")];
        let threads = locked(&self.threads);
        events.extend(threads.iter().enumerate().map(|(thread, value)| name("thread_name", thread, value)));
        for (id, span) in locked(&self.recorded).iter().enumerate() {
            span.describe(id, &mut events);
        }
        to.write_all(b"{\"traceEvents\":[\n")?;
        for (index, event) in events.iter().enumerate() {
            to.write_all(if index == 0 { b"" } else { b",\n" })?;
            serde_json::to_writer(&mut to, event)?;
        }
        to.write_all(b"\n]}\n")?;
        to.flush()
    }

    fn add(&self, what: What, start: Duration) {
        let span = Span { what, thread: self.thread(), start, end: self.begun.elapsed() };
        locked(&self.recorded).push(span);
    }

    /// The number of this thread.
    fn thread(&self) -> usize {
        thread_local!(static NUMBER: Cell<Option<usize>> = const { Cell::new(None) });
        NUMBER.with(|number| {
            let known = number.get().unwrap_or_else(|| {
                let mut threads = locked(&self.threads);
                threads.push(std::thread::current().name().unwrap_or("helper").to_owned());
                threads.len() - 1
            });
            number.set(Some(known));
            known
        })
    }
}

impl Span {
    fn describe(&self, id: usize, events: &mut Vec<Value>) {
        let (start, end) = (microseconds(self.start), microseconds(self.end));
        match &self.what {
            What::Work(name) => events.push(json!({
                "ph": "X", "pid": 1, "tid": self.thread, "name": name, "ts": start, "dur": end - start,
            })),
            What::Request(address) => self.describe_overlapping(id, "request", address, events),
            What::Body => self.describe_overlapping(id, "body", "body", events),
        }
    }

    fn describe_overlapping(&self, id: usize, kind: &str, name: &str, events: &mut Vec<Value>) {
        for (phase, time) in [("b", self.start), ("e", self.end)] {
            events.push(json!({
                "ph": phase, "pid": 1, "tid": self.thread, "cat": kind, "id": id, "name": name, "ts": microseconds(time),
            }));
        }
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
