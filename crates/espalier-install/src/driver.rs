//! Runs a resolution to its end: hands its requests to workers and their answers back.
//!
//! The resolution stays on the calling task and takes one step at a time; fetching, inflating and parsing happen on other
//! threads. A request that the resolution stands still for goes out before one that it only expects to need, and no more
//! than a fixed number are out at once. In which order answers come makes no difference to the tree; that is the core's
//! promise, and nothing here weakens it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use espalier_core::{Answer, Event, FetchFailure, Outcome, Packument, Progress, Request, Resolution, ResolveError};
use tokio::task::JoinSet;

use crate::activity::Activity;
use crate::git;
use crate::project::ProjectFolder;
use crate::registry::Registry;

/// Packuments by name, and whether they are full.
type Remembered = HashMap<(String, bool), Arc<Packument>>;

/// Where answers come from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Packages of registries.
    pub registry: Registry,
    /// Folders and tarballs on disk.
    pub project: ProjectFolder,
    /// Packuments that came in this run, by name and whether they are full: a resolution that fails may be followed by
    /// trials of what would mend it.
    packuments: Arc<Mutex<Remembered>>,
}

impl Sources {
    /// Sources that remember nothing yet.
    pub fn new(registry: Registry, project: ProjectFolder) -> Self {
        Self { registry, project, packuments: Arc::default() }
    }

    async fn packument(&self, name: &str, full: bool) -> Result<Arc<Packument>, FetchFailure> {
        let remembered = || self.packuments.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), full);
        if let Some(packument) = remembered().get(&key) {
            return Ok(Arc::clone(packument));
        }
        let packument = self.registry.packument(name, full).await?;
        remembered().insert(key, Arc::clone(&packument));
        Ok(packument)
    }

    /// Answers one request.
    async fn answer(self, request: &Request) -> Result<Answer, FetchFailure> {
        match request {
            Request::Packument { name, full } => self.packument(name, *full).await.map(Answer::Packument),
            Request::VersionDocument { name, version } => {
                self.registry.version_document(name, version).await.map(Answer::VersionDocument)
            }
            Request::Tarball { url, integrity } if !url.starts_with("file:") => {
                self.registry.tarball(url, integrity.as_deref()).await.map(Answer::Tarball)
            }
            Request::Tarball { url, integrity } => {
                let (url, integrity) = (url.clone(), integrity.clone());
                on_disk(move || self.project.tarball(&url, integrity.as_deref()).map(Answer::Tarball)).await
            }
            Request::Folder { path } => {
                let path = path.clone();
                on_disk(move || self.project.manifest_in(&path).map(Answer::Folder)).await
            }
            Request::File { path } => {
                let path = path.clone();
                on_disk(move || self.project.file(&path).map(Answer::File)).await
            }
            Request::Git { urls, wanted, folder } => git::commit(urls, wanted, folder).await.map(Answer::Git),
            Request::PackageFolders => {
                on_disk(move || self.project.package_folders().map(Answer::PackageFolders)).await
            }
        }
    }
}

async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// With a tree, or with the reason why there is none.
    Finished(Box<Result<Outcome, ResolveError>>),
    /// Because someone said so.
    Interrupted,
}

/// [`Resolution::finish`], or [`Resolution::finish_for_good`] where the process ends soon.
pub type Finish = fn(Resolution) -> Result<Outcome, ResolveError>;

/// Runs the resolution. `observe` sees every event, in order; `interruption` ends the run when it comes to pass. Also returns
/// for how long the resolution stood still, waiting for answers.
///
/// # Panics
/// When the resolution waits for an answer without having asked for any, which is a bug in it.
pub async fn run(
    mut resolution: Resolution,
    finish: Finish,
    sources: &Sources,
    concurrency: usize,
    activity: &Activity,
    mut observe: impl FnMut(Event),
    interruption: impl Future<Output = ()>,
) -> (Ended, Duration) {
    let mut interruption = pin!(interruption);
    let mut waiting = Duration::ZERO;
    // Dropping the set cuts off whatever is still on its way when the end is reached.
    let mut workers = JoinSet::new();
    let mut arrived: Vec<(Request, Result<Answer, FetchFailure>)> = Vec::new();
    let mut wanted = Vec::new();
    loop {
        let progress = activity.resolving.time(|| {
            for (request, answer) in arrived.drain(..) {
                resolution.supply(&request, answer);
            }
            let progress = resolution.advance();
            while let Some(event) = resolution.next_event() {
                observe(event);
            }
            let requests = std::iter::from_fn(|| resolution.next_request()).map(|(request, _)| request);
            wanted.extend(requests.take(concurrency - workers.len()));
            progress
        });
        if progress == Progress::Done {
            let outcome = activity.resolving.time(|| finish(resolution));
            return (Ended::Finished(Box::new(outcome)), waiting);
        }
        for request in wanted.drain(..) {
            let sources = sources.clone();
            workers.spawn(async move {
                let answer = sources.answer(&request).await;
                (request, answer)
            });
        }
        assert!(!workers.is_empty(), "the resolution waits for nothing");
        let start = Instant::now();
        let first = tokio::select! {
            answer = workers.join_next() => answer,
            () = &mut interruption => None,
        };
        waiting += start.elapsed();
        let Some(first) = first else { return (Ended::Interrupted, waiting) };
        // Everything that is there by now goes into one step.
        let others = std::iter::from_fn(|| workers.try_join_next());
        for answered in std::iter::once(first).chain(others) {
            // A worker that panics is a bug and not a failed fetch.
            arrived.push(answered.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())));
        }
        activity.answered.add(arrived.len() as u64);
    }
}
