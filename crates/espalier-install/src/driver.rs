//! Runs a resolution to its end: hands its requests to the fetching thread, and hands the answers
//! back.
//!
//! The resolution stays on the calling task and takes one step at a time. One other thread
//! (`fetching`) sends the requests. The calling task inflates and parses the answers, where it
//! would wait otherwise. A request that the resolution waits for goes out before one that it only
//! expects to need. The order of answers makes no difference to the tree, as the core promises.

mod fetching;
pub(crate) mod reads;

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use espalier_core::{
    Answer, Event, FetchFailure, Outcome, Packument, Progress, Request, Resolution, ResolveError, Urgency,
};

use crate::activity::Activity;
use crate::blocking;
use crate::cache::Cache;
use crate::git;
use crate::project::ProjectFolder;
use crate::registry::{Misread, Permanence, ReadAnswer, Registry, Summarised, Unread, Unsettled};

use fetching::{Errand, Fetching, RequestResult, Thread};
use reads::Reads;

/// Where answers come from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Packages of registries.
    pub registry: Registry,
    /// Folders and tarballs on disk.
    pub project: ProjectFolder,
    /// The maximum number of concurrent requests for documents.
    concurrency: usize,
    /// The times and counts of the whole command.
    activity: Arc<Activity>,
    /// The packuments and manifests of this run. A failed resolution may be followed by trials of
    /// remedies.
    remembered: Arc<Mutex<HashMap<Request, Answer>>>,
    /// The answers so far.
    pub(crate) reads: Arc<Reads>,
    /// The runtime of the fetching thread. Connections belong to it, and it ends with the last of
    /// them.
    thread: Arc<OnceLock<Thread>>,
}

impl Sources {
    /// Sources without memory of earlier answers.
    pub fn new(registry: Registry, project: ProjectFolder, concurrency: usize, activity: Arc<Activity>) -> Self {
        let (remembered, reads, thread) = (Arc::default(), Arc::default(), Arc::default());
        Self { registry, project, concurrency, activity, remembered, reads, thread }
    }

    /// Starts the thread for requests and opens the cache there, while this thread reads a lockfile.
    pub(crate) fn begin_early(&self, cache: Arc<Cache>) {
        self.thread.get_or_init(Thread::start).prepare(move || cache.documents.open());
    }

    /// The result of a request: an answer, or an unread document. `misread` is a document that
    /// couldn't be read.
    pub(crate) async fn fetch(
        &self,
        request: &Request,
        misread: Option<Box<Misread>>,
    ) -> Result<Delivery, FetchFailure> {
        // What is rarely done is in boxes: the future is moved several times for each request.
        let unread = match (misread, request) {
            (Some(misread), _) => Box::pin(misread.again()).await,
            (None, Request::VersionDocument { name, version, integrity }) => {
                self.registry.unread_version(name, version, integrity.as_deref()).await
            }
            (None, other) => match (self.remembered(other), other) {
                (Some(answer), _) => return Ok(Delivery::Answer(answer, None, Permanence::Final)),
                (None, Request::Packument { name, form }) => self.registry.unread_packument(name, *form).await,
                (None, Request::Manifest { name, version }) => {
                    match Box::pin(self.registry.unread_manifest(name, version)).await {
                        Ok(Some(unread)) => Ok(unread),
                        Ok(None) => return Ok(Delivery::Answer(Answer::NoDocument, None, Permanence::Unknown)),
                        Err(failure) => Err(failure),
                    }
                }
                (None, other) => {
                    let answer = Box::pin(self.answer(other)).await?;
                    return Ok(Delivery::Answer(answer, None, Permanence::Unknown));
                }
            },
        };
        let (failure, request) = match (unread, request) {
            (Ok(unread), _) => return Ok(Delivery::Document(Box::new(unread))),
            (Err(failure), request) => (failure, request),
        };
        let answer = match request {
            Request::Manifest { name, version } if self.registry.note_failure(name, version, &failure) => {
                Answer::NoDocument
            }
            Request::VersionDocument { name, version, .. } => {
                let text = Box::pin(self.registry.version_instead(name, version, failure)).await?;
                Answer::VersionDocument(text)
            }
            _ => return Err(failure),
        };
        Ok(Delivery::Answer(answer, None, Permanence::Unknown))
    }

    fn remembered(&self, request: &Request) -> Option<Answer> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(request).cloned()
    }

    fn remember(&self, request: &Request, answer: &Answer) {
        if let Request::Packument { .. } | Request::Manifest { .. } = request {
            let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            remembered.insert(request.clone(), answer.clone());
        }
    }

    /// Answers a request that isn't for a document.
    async fn answer(&self, request: &Request) -> Result<Answer, FetchFailure> {
        match request {
            Request::Packument { .. } | Request::Manifest { .. } | Request::VersionDocument { .. } => {
                unreachable!("a document is read elsewhere")
            }
            Request::Tarball { url, integrity } if !url.starts_with("file:") => {
                self.registry.tarball(url, integrity.as_deref()).await.map(Answer::Tarball)
            }
            Request::Tarball { url, integrity } => {
                let (url, integrity) = (url.clone(), integrity.clone());
                self.on_disk(move |project| project.tarball(&url, integrity.as_deref()).map(Answer::Tarball)).await
            }
            Request::Folder { path } => {
                let path = path.clone();
                self.on_disk(move |project| project.manifest_in(&path).map(Answer::Folder)).await
            }
            Request::Files { folder } => {
                let folder = folder.clone();
                self.on_disk(move |project| Ok(Answer::Files(project.files_below(&folder)))).await
            }
            Request::File { path } => {
                let path = path.clone();
                self.on_disk(move |project| project.file(&path).map(Answer::File)).await
            }
            Request::Git { urls, wanted, folder } => git::commit(urls, wanted, folder).await.map(Answer::Git),
            Request::PackageFolders => {
                self.on_disk(|project| project.package_folders().map(Answer::PackageFolders)).await
            }
        }
    }

    async fn on_disk<T: Send + 'static>(&self, work: impl FnOnce(&ProjectFolder) -> T + Send + 'static) -> T {
        let project = self.project.clone();
        blocking::run(move || work(&project)).await
    }
}

/// The result of a request.
#[derive(Debug)]
pub(crate) enum Delivery {
    /// An answer.
    Answer(Answer, Option<Box<Unsettled>>, Permanence),
    /// An unread document.
    Document(Box<Unread>),
}

impl Delivery {
    /// Whether it has been read, or is cheap to read.
    pub fn is_prepared(&self) -> bool {
        match self {
            Self::Answer(..) => true,
            Self::Document(unread) => unread.is_prepared(),
        }
    }

    /// The length in bytes of the body of an unread document.
    fn unread_length(&self) -> usize {
        match self {
            Self::Answer(..) => 0,
            Self::Document(unread) => unread.length(),
        }
    }

    /// Reads what isn't read yet.
    pub fn read(self) -> Result<ReadAnswer, Box<Misread>> {
        match self {
            Self::Answer(answer, unsettled, permanence) => Ok((answer, unsettled, permanence)),
            Self::Document(unread) => unread.read(),
        }
    }
}

/// After bodies of this many bytes, the resolution takes a step before the next body is read, so
/// that requests for dependencies need not wait until every body is read.
const PORTION: usize = 32 << 10;

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// The resolution finished, with a tree or an error.
    Finished(Box<Result<Outcome, ResolveError>>),
    /// Someone interrupted it.
    Interrupted,
}

/// [`Resolution::finish`], or [`Resolution::finish_for_good`] where the process ends soon.
pub type Finish = fn(Resolution) -> Result<Outcome, ResolveError>;

/// Runs the resolution. `observe` receives every event, in order. When `interruption` completes,
/// the run ends. Also returns how long the resolution waited for answers.
///
/// # Panics
/// When the resolution waits without a request, which is a bug in it.
pub async fn run(
    mut resolution: Resolution,
    finish: Finish,
    sources: &Sources,
    mut observe: impl FnMut(Event),
    interruption: impl Future<Output = ()>,
) -> (Ended, Duration) {
    let (concurrency, activity) = (sources.concurrency, &*sources.activity);
    let mut interruption = pin!(interruption);
    let mut waiting = Duration::ZERO;
    // It begins with the first request. Dropping it cuts off whatever is still on its way when the
    // end is reached.
    let mut fetching: Option<Fetching> = None;
    let mut arrived = VecDeque::<RequestResult>::new();
    // Packuments that were just supplied. After the step, their text is dropped, and the cache gets
    // summaries of them.
    let mut looked_into: Vec<(Arc<Packument>, Box<Unsettled>)> = Vec::new();
    let mut summarised: Vec<Summarised> = Vec::new();
    let mut outstanding = 0;
    let mut outstanding_for_tree = 0;
    loop {
        let mut wanted = Vec::new();
        let mut length = 0;
        while length < PORTION
            && let Some((request, came)) = arrived.pop_front()
        {
            length += came.as_ref().map_or(0, Delivery::unread_length);
            if let Some(fetching) = &fetching {
                fetching.used_one();
            }
            outstanding_for_tree -= usize::from(!request.is_for_lockfile());
            let mut permanence = Permanence::Unknown;
            let answer = match came.map(Delivery::read) {
                Ok(Ok((answer, unsettled, found))) => {
                    permanence = found;
                    if let (Answer::Packument(packument), Some(unsettled)) = (&answer, unsettled) {
                        looked_into.push((Arc::clone(packument), unsettled));
                    }
                    Ok(answer)
                }
                Ok(Err(misread)) => {
                    outstanding_for_tree += usize::from(!request.is_for_lockfile());
                    wanted.push(Errand { request, urgency: Urgency::Demanded, misread: Some(misread) });
                    continue;
                }
                Err(failure) => Err(failure),
            };
            if let Ok(answer) = &answer {
                sources.remember(&request, answer);
            }
            activity.resolving.time(|| {
                sources.reads.add(&request, &answer, permanence);
                resolution.supply(&request, answer);
            });
        }
        let progress = activity.resolving.time(|| {
            let progress = resolution.advance();
            while let Some(event) = resolution.next_event() {
                observe(event);
            }
            // As many again as can be on their way wait where they are taken from next; the rest
            // may become more urgent yet. Documents of versions come last, and the more of them
            // wait, the more can be fetched during a long step.
            while outstanding_for_tree < 2 * concurrency
                && let Some((request, urgency)) = resolution.next_request()
            {
                outstanding_for_tree += usize::from(!request.is_for_lockfile());
                wanted.push(Errand { request, urgency, misread: None });
            }
            progress
        });
        if progress == Progress::Done {
            // Answers that were not needed stay unread, and requests under way are cancelled.
            summarised.extend(looked_into.drain(..).filter_map(|(packument, unsettled)| unsettled.settle(packument)));
            summarised.into_iter().for_each(Summarised::complete);
            let outcome = activity.resolving.time(|| finish(resolution));
            return (Ended::Finished(Box::new(outcome)), waiting);
        }
        outstanding += wanted.len();
        if !wanted.is_empty() {
            let begin = || sources.thread.get_or_init(Thread::start).begin(sources.clone(), concurrency);
            fetching.get_or_insert_with(begin).ask(wanted);
        }
        summarised.extend(looked_into.drain(..).filter_map(|(packument, unsettled)| unsettled.settle(packument)));
        if !arrived.is_empty() {
            continue;
        }
        let fetching = fetching.as_mut().filter(|_| outstanding > 0).expect("the resolution waits for a request");
        let start = Instant::now();
        let wait = async {
            tokio::select! {
                answered = fetching.answers() => Some(answered),
                () = &mut interruption => None,
            }
        };
        let answered = match activity.spans() {
            Some(spans) => spans.wait("wait", wait).await,
            None => wait.await,
        };
        waiting += start.elapsed();
        let Some(mut answered) = answered else { return (Ended::Interrupted, waiting) };
        // The tree waits for packuments and manifests. Those that are read quickly come first.
        let order = |request: &Request, length| (request.is_for_lockfile(), length);
        answered.sort_by_key(|(request, came)| order(request, came.as_ref().map_or(0, Delivery::unread_length)));
        arrived = answered.into();
        outstanding -= arrived.len();
        activity.answered.add(arrived.len() as u64);
    }
}
