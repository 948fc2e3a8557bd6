//! The downloads of a run. Each tarball is fetched once, however often it is asked for.
//!
//! The thread that has unpacked a package also places it, if its places are known by then. Another
//! thread would have to be woken for that.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use espalier_core::FetchFailure;
use rustc_hash::FxHashMap;
use tokio::sync::OnceCell;

use crate::plan::Source;
use crate::store::{StoreError, StoredPackage};

/// Why a package isn't in the store.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    /// It can't be fetched, or isn't what was requested.
    #[error("{0}")]
    Fetch(FetchFailure),
    /// The store can't take it.
    #[error(transparent)]
    Store(StoreError),
}

/// Address and integrity.
type Key = (String, Option<String>);
type Landed = Result<StoredPackage, FetchFailure>;
/// Places a package.
type Place = Box<dyn FnOnce(&StoredPackage) + Send>;

/// The downloads by source.
#[derive(Debug, Default)]
pub struct Flights(Mutex<FxHashMap<Key, Arc<Flight>>>);

/// One download.
#[derive(Default)]
pub(super) struct Flight {
    landed: OnceCell<Landed>,
    /// Places the package when it has landed. This lock is held meanwhile, so nothing is being
    /// placed while somebody else holds it.
    place: Mutex<Option<Place>>,
}

impl Flights {
    /// The result of fetching a source, which may have been fetched before. If one caller goes
    /// away, the next one continues.
    pub(super) async fn of<F>(
        &self,
        source: &Source,
        fetch: impl FnOnce(Arc<Flight>) -> F,
    ) -> Result<StoredPackage, ObtainError>
    where
        F: Future<Output = Result<StoredPackage, ObtainError>>,
    {
        let flight = self.flight(source);
        let landed = flight.landed.get_or_try_init(|| async {
            match fetch(Arc::clone(&flight)).await {
                Ok(stored) => Ok(Ok(stored)),
                Err(ObtainError::Fetch(failure)) => Ok(Err(failure)),
                // A store that was full may have room again.
                Err(ObtainError::Store(error)) => Err(error),
            }
        });
        landed.await.map_err(ObtainError::Store)?.clone().map_err(ObtainError::Fetch)
    }

    /// The download of a source, which may not have begun.
    pub(super) fn flight(&self, source: &Source) -> Arc<Flight> {
        Arc::clone(self.all().entry(key(source)).or_default())
    }

    /// Lets a source be fetched again, because its result was unusable.
    pub(super) fn forget(&self, source: &Source) {
        self.all().remove(&key(source));
    }

    fn all(&self) -> MutexGuard<'_, FxHashMap<Key, Arc<Flight>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Has the package placed as soon as it lands. This does nothing if it has landed already.
    pub fn place_with(&self, place: Place) {
        *self.place() = Some(place);
    }

    /// Undoes this. Afterwards, the download places nothing.
    pub fn place_nothing(&self) {
        *self.place() = None;
    }

    /// Places the package that has just landed, if anybody has asked for that.
    pub fn land(&self, stored: &StoredPackage) {
        let mut place = self.place();
        if let Some(place) = place.take() {
            place(stored);
        }
    }

    fn place(&self) -> MutexGuard<'_, Option<Place>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Flight {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Flight").field("landed", &self.landed).finish_non_exhaustive()
    }
}

fn key(source: &Source) -> Key {
    (source.resolved.clone(), source.integrity.as_ref().map(ToString::to_string))
}
