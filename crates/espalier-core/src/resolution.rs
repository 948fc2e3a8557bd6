//! The interface of a resolution, in the style of a sans-I/O protocol library.

use std::any::Any;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::options::{Options, Project, Reading};
use crate::outcome::Outcome;
use crate::request::{Answer, Event, FetchFailure, Request, Urgency};
use crate::resolve;

/// A resolution of a package.json. Dropping it cancels it.
pub struct Resolution {
    exchange: Rc<Exchange>,
    run: Run,
}

enum Run {
    Going(Pin<Box<dyn Future<Output = Ended>>>),
    Ended(Box<Ended>),
}

/// The result, and the memory that it was computed with.
type Ended = (Result<Outcome, ResolveError>, Option<Box<dyn Any>>);

/// Whether a resolution can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It waits for an answer. Call [`Resolution::next_request`].
    Waiting,
    /// It has ended; call [`Resolution::finish`].
    Done,
}

impl Resolution {
    /// Creates a resolution. It starts with the first [`Resolution::advance`].
    pub fn new(project: Project, options: Options) -> Self {
        let exchange = Rc::new(Exchange::default());
        let run = Run::Going(Box::pin(resolve::resolve(project, options, exchange.clone())));
        Self { exchange, run }
    }

    /// Reads the tree of the project's lockfile as it is. Nothing is resolved, and only the
    /// project's own folders are requested. The graph of the outcome marks missing, invalid and
    /// extraneous packages.
    pub fn inspect(project: Project, options: Options, reading: Reading) -> Self {
        let exchange = Rc::new(Exchange::default());
        let inspection = resolve::inspect(project, options, reading, exchange.clone());
        let run = Run::Going(Box::pin(async { (inspection.await, None) }));
        Self { exchange, run }
    }

    /// Takes the most urgent request that wasn't handed out yet.
    pub fn next_request(&mut self) -> Option<(Request, Urgency)> {
        self.exchange.next_request()
    }

    /// Supplies the answer to a request. The order of answers makes no difference to the tree.
    pub fn supply(&mut self, request: &Request, answer: Result<Answer, FetchFailure>) {
        self.exchange.supply(request, answer);
    }

    /// Continues until an answer is missing or the end is reached.
    pub fn advance(&mut self) -> Progress {
        if let Run::Going(run) = &mut self.run {
            match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => return Progress::Waiting,
                Poll::Ready(ended) => self.run = Run::Ended(Box::new(ended)),
            }
        }
        Progress::Done
    }

    /// Takes the oldest event.
    pub fn next_event(&mut self) -> Option<Event> {
        self.exchange.next_event()
    }

    /// The result, after [`Resolution::advance`] has returned [`Progress::Done`].
    ///
    /// # Panics
    ///
    /// If it is called earlier.
    pub fn finish(self) -> Result<Outcome, ResolveError> {
        self.ended().0
    }

    /// The same for a program that ends soon. The memory of the resolution is not freed, which
    /// would take a tenth of the time of building a large tree.
    ///
    /// # Panics
    ///
    /// If it is called before [`Resolution::advance`] has returned [`Progress::Done`].
    pub fn finish_for_good(self) -> Result<Outcome, ResolveError> {
        let (outcome, remains) = self.ended();
        std::mem::forget(remains);
        outcome
    }

    fn ended(self) -> Ended {
        match self.run {
            Run::Ended(ended) => *ended,
            Run::Going(_) => panic!("a resolution is finished before it is done"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Progress, Resolution};
    use crate::{Answer, Detail, Options, Packument, Project};

    #[test]
    fn a_finished_resolution_lets_go_of_its_packuments() {
        let text = br#"{"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"a","version":"1.0.0"}}}"#;
        let packument = Arc::new(Packument::parse(text, Detail::Whole).expect("a packument"));
        let project = Project { manifest: r#"{"dependencies":{"a":"1"}}"#.into(), ..Project::default() };
        let mut resolution = Resolution::new(project, Options::default());
        while resolution.advance() == Progress::Waiting {
            while let Some((request, _)) = resolution.next_request() {
                resolution.supply(&request, Ok(Answer::Packument(packument.clone())));
            }
        }
        let outcome = resolution.finish().expect("an outcome");
        assert_eq!((outcome.graph.nodes.len(), Arc::strong_count(&packument)), (2, 1));
    }
}
