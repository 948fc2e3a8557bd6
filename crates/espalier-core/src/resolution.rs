//! The interface of a resolution: a few verbs, in the manner of a sans-I/O protocol library.

use serde::Serialize;

use crate::error::ResolveError;
use crate::graph::Graph;
use crate::options::{Options, Project};
use crate::request::{Answer, Event, FetchFailure, Request, Urgency};

/// One run, from a package.json to its tree. Dropping it cancels it.
pub struct Resolution {}

/// Whether a resolution can go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It waits for an answer; ask [`Resolution::next_request`].
    Waiting,
    /// It has ended; call [`Resolution::finish`].
    Done,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The text of package-lock.json, byte for byte as npm writes it.
    pub lockfile: String,
    /// The same tree with its edges.
    pub graph: Graph,
    /// What a person should know, although the tree stands.
    pub warnings: Vec<Warning>,
    /// Counts.
    pub statistics: Statistics,
}

/// Something that npm would warn about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// npm's code: `ERESOLVE`, `EBADENGINE`, `deprecated`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The location in the tree that it is about.
    pub location: String,
}

/// Counts of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Entries of the lockfile without the root.
    pub packages: usize,
    /// Packuments that were supplied.
    pub packuments: usize,
    /// Version documents that were supplied.
    pub version_documents: usize,
}

impl Resolution {
    /// Starts a resolution; nothing happens until [`Resolution::advance`] is called.
    pub fn new(_project: Project, _options: Options) -> Self {
        Self {}
    }

    /// The most urgent request that wasn't handed out yet.
    pub fn next_request(&mut self) -> Option<(Request, Urgency)> {
        None
    }

    /// Gives the answer to a request. Answers may come in any order; the tree doesn't depend on it.
    pub fn supply(&mut self, _request: &Request, _answer: Result<Answer, FetchFailure>) {}

    /// Goes on until an answer is missing or the end is reached.
    pub fn advance(&mut self) -> Progress {
        Progress::Done
    }

    /// What happened since the last call, oldest first.
    pub fn next_event(&mut self) -> Option<Event> {
        None
    }

    /// The result, once [`Resolution::advance`] said [`Progress::Done`].
    ///
    /// # Panics
    /// When called earlier.
    pub fn finish(self) -> Result<Outcome, ResolveError> {
        unimplemented!("the core is being built")
    }
}
