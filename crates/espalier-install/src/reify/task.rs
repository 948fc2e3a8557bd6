//! The task for one source: fetching it and placing it at its locations. Many of these run
//! concurrently.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{Semaphore, oneshot, watch};

use super::ReifyError;
use super::fetch::Origins;
use super::flights::{Flight, ObtainError};
use super::journal::Journal;
use super::place::{Linker, PlaceError, Placing};
use crate::activity::Activity;
use crate::patch;
use crate::plan::{Placement, Source};
use crate::store::StoredPackage;

/// The input of a task.
#[derive(Debug)]
pub(super) struct Job {
    pub source: Source,
    pub placements: Vec<Placement>,
}

/// What all tasks share. It has a field for each resource that they use.
pub(super) struct Shared {
    pub project: PathBuf,
    pub origins: Origins,
    pub journal: Arc<Journal>,
    pub linker: Linker,
    pub executables: FxHashMap<String, Vec<String>>,
    pub executable_mode: u32,
    pub patches: FxHashMap<String, String>,
    /// The locations of placed packages that node-gyp would compile.
    pub compiled: Mutex<FxHashSet<String>>,
    /// Limits the clones, folders and files that are packed and unpacked at once.
    pub workshop: Semaphore,
    pub activity: Arc<Activity>,
}

/// The places of a source, and whether it was placed there.
pub(super) type Fetched = (Vec<Placement>, Result<(), ReifyError>);

/// Gets a source and places it. Nothing more is written after another task has failed.
pub(super) async fn run(shared: Arc<Shared>, mut job: Job, mut stopped: watch::Receiver<bool>) -> Fetched {
    let placements = job.placements.clone();
    let place = {
        let (shared, placements, stopped) = (Arc::clone(&shared), placements.clone(), stopped.clone());
        let place = move |stored: &_| if *stopped.borrow() { Ok(()) } else { shared.place(stored, &placements, false) };
        Arc::new(place)
    };
    for attempt in 0.. {
        let is_fetched = job.source.stored.is_none() && job.source.is_download();
        let landing = is_fetched.then(|| Landing::new(&shared, &job.source, Arc::clone(&place)));
        let obtained = tokio::select! {
            obtained = obtain(&shared, &job.source) => obtained,
            // A sender that is gone stops nothing.
            Ok(_) = stopped.wait_for(|stopped| *stopped) => return (placements, Ok(())),
        };
        let stored = match obtained {
            Ok(stored) => stored,
            Err(ObtainError::Fetch(failure)) => {
                let location = placements.first().map(|placement| placement.location.clone()).unwrap_or_default();
                let (name, version) = (job.source.name.clone(), job.source.version.clone());
                let failure = Box::new(failure);
                return (placements, Err(ReifyError::Fetch { name, version, location, failure }));
            }
            Err(ObtainError::Store(error)) => return (placements, Err(error.into())),
        };
        let placed = match landing.and_then(Landing::result) {
            Some(placed) => Some(placed),
            // What is in the store is placed before anything else is unpacked.
            None => {
                let (place, stored) = (Arc::clone(&place), stored.clone());
                shared.origins.registry.workers().run(usize::MAX, move || place(&stored)).await
            }
        };
        match placed {
            Some(Ok(())) => {
                shared.activity.installed.add(placements.len() as u64);
                return (placements, Ok(()));
            }
            None => return (placements, Ok(())),
            // The stored package is damaged: fetch it once more.
            Some(Err(PlaceError::Damaged(_))) if attempt < 2 => {
                if let Err(error) = shared.origins.store.discard(&stored.key) {
                    return (placements, Err(error.into()));
                }
                shared.origins.flights.forget(&job.source);
                job.source.stored = None;
            }
            Some(Err(error)) => return (placements, Err(ReifyError::Place(error))),
        }
    }
    (placements, Ok(()))
}

/// A package that is placed by the thread that unpacks it. If nobody waits for it any more, it is not
/// placed.
struct Landing {
    flight: Arc<Flight>,
    placed: oneshot::Receiver<Result<(), PlaceError>>,
}

impl Landing {
    fn new(
        shared: &Arc<Shared>,
        source: &Source,
        place: Arc<impl Fn(&StoredPackage) -> Result<(), PlaceError> + Send + Sync + 'static>,
    ) -> Self {
        let (send, placed) = oneshot::channel();
        let (origins, wanted) = (shared.origins.clone(), source.clone());
        let flight = origins.flights.flight(source);
        flight.place_with(Box::new(move |stored| {
            // A tarball of another package is not placed; `obtain` returns the error.
            if origins.check_identity(&wanted, &stored.record).is_ok() {
                // The receiver is kept until the placing has ended.
                let _ = send.send(place(stored));
            }
        }));
        Self { flight, placed }
    }

    /// Whether the package that has landed was placed.
    fn result(mut self) -> Option<Result<(), PlaceError>> {
        self.placed.try_recv().ok()
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.flight.place_nothing();
    }
}

async fn obtain(shared: &Shared, source: &Source) -> Result<StoredPackage, ObtainError> {
    // Downloads have limits of their own.
    let _place = if source.is_download() { None } else { shared.workshop.acquire().await.ok() };
    let stored = shared.origins.obtain(source).await?;
    if source.stored.is_none() {
        shared.activity.downloaded.add(1);
    }
    Ok(stored)
}

impl Shared {
    /// Places a package. `is_alone` is whether nothing else is being placed.
    pub fn place(&self, stored: &StoredPackage, placements: &[Placement], is_alone: bool) -> Result<(), PlaceError> {
        self.activity.placing.time(|| self.place_each(stored, placements, is_alone))
    }

    fn place_each(&self, stored: &StoredPackage, placements: &[Placement], is_alone: bool) -> Result<(), PlaceError> {
        for placement in placements {
            let executables = self.executables.get(&placement.location).map(Vec::as_slice).unwrap_or_default();
            let executables: FxHashSet<&str> = executables.iter().map(String::as_str).collect();
            let patch = self.patches.get(&placement.location);
            let placing = Placing {
                executables: &executables,
                executable_mode: self.executable_mode,
                private: patch.is_some(),
                is_alone,
            };
            let folder = self.project.join(&placement.location);
            self.journal
                .making(&placement.location)
                .map_err(|source| PlaceError::Unwritable { path: folder.clone(), source })?;
            self.linker.place(stored, &folder, &placing)?;
            if stored.record.file("binding.gyp").is_some() {
                self.compiled.lock().unwrap_or_else(PoisonError::into_inner).insert(placement.location.clone());
            }
            if let Some(patch) = patch {
                patch::apply_to(&folder, patch).map_err(PlaceError::Patch)?;
            }
        }
        Ok(())
    }
}
