//! The downloads of a run. Each tarball is fetched once, however often it is asked for.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

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

/// The downloads by source.
#[derive(Debug, Default)]
pub struct Flights(Mutex<FxHashMap<Key, Arc<OnceCell<Landed>>>>);

impl Flights {
    /// The result of fetching a source, which may have been fetched before. If one caller goes
    /// away, the next one continues.
    pub(super) async fn of<F>(&self, source: &Source, fetch: impl FnOnce() -> F) -> Result<StoredPackage, ObtainError>
    where
        F: Future<Output = Result<StoredPackage, ObtainError>>,
    {
        let flight = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(flights.entry(key(source)).or_default())
        };
        let landed = flight.get_or_try_init(|| async {
            match fetch().await {
                Ok(stored) => Ok(Ok(stored)),
                Err(ObtainError::Fetch(failure)) => Ok(Err(failure)),
                // A store that was full may have room again.
                Err(ObtainError::Store(error)) => Err(error),
            }
        });
        landed.await.map_err(ObtainError::Store)?.clone().map_err(ObtainError::Fetch)
    }

    /// Lets a source be fetched again, because its result was unusable.
    pub(super) fn forget(&self, source: &Source) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(source));
    }
}

fn key(source: &Source) -> Key {
    (source.resolved.clone(), source.integrity.as_ref().map(ToString::to_string))
}
