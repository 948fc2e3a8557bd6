//! Registries: packuments, version documents and tarballs, from the cache or over the network.
//!
//! The caller gets parsed and verified values, or a failure with a message. The configuration
//! decides which registry and credentials are used. The resolution decides what it needs and what
//! it means.

mod advisories;
mod answer;
mod certificates;
mod document;
mod failure;
mod hosts;
mod request;
mod tarball;
mod transport;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use espalier_core::{FetchFailure, FetchFailureKind, Packument, RegistryAddresses};
use espalier_registry::{Address, Experience, Registries, Retries};

pub(crate) use document::{Misread, Permanence, ReadAnswer, Summarised, Unread, Unsettled};

use crate::activity::Activity;
use crate::cache::Cache;
use crate::cache::documents::DocumentKey;
use crate::config::ConfigError;
use crate::config::settings::{Freshness, Network, Settings};
use crate::workers::{self, Workers};
use request::Requester;
use tokio::sync::{OnceCell, Semaphore};

/// A full packument, once it has come.
type FullPackument = OnceCell<Result<Arc<Packument>, FetchFailure>>;

/// The configured registries and the cache. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Registry {
    registries: Arc<Registries>,
    requester: Requester,
    cache: Option<Arc<Cache>>,
    freshness: Freshness,
    concurrency: usize,
    experience: Arc<Mutex<Experience>>,
    /// The full packuments that are being fetched, by name.
    wholes: Arc<Mutex<HashMap<String, Weak<FullPackument>>>>,
    /// The list of requested documents, if somebody wants it.
    asked: Option<Arc<AskedFor>>,
}

/// The requested documents, in their order.
#[derive(Debug, Default)]
pub(crate) struct AskedFor(Mutex<Vec<Asked>>);

/// A requested document.
#[derive(Debug)]
pub(crate) struct Asked {
    pub key: DocumentKey,
    pub address: String,
    /// Whether the request had a credential.
    pub is_private: bool,
}

impl AskedFor {
    /// Takes the documents so far.
    pub fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, asked: Asked) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }
}

impl Registry {
    /// Starts writing the queue of the cache and doesn't wait for it. The end of a run does this as
    /// well.
    pub fn keep(&self) {
        if let Some(cache) = &self.cache {
            cache.documents.settle();
        }
    }

    /// Prepares the clients for these settings. This fetches nothing.
    pub fn new(settings: &Settings, cache: Option<Arc<Cache>>, activity: Arc<Activity>) -> Result<Self, ConfigError> {
        let network: &Network = &settings.network;
        let clients = transport::Clients::new(network)?;
        let retries = Retries {
            most: network.retries,
            first: network.retry_minimum,
            longest: network.retry_maximum,
            factor: network.retry_factor,
        };
        let workers = Workers::new(workers::one_for_each_processor);
        let downloads = Arc::new(Semaphore::new(network.tarballs));
        Ok(Self {
            registries: Arc::new(settings.registries.clone()),
            requester: Requester { clients, retries, activity, downloads, workers },
            cache,
            freshness: settings.freshness,
            concurrency: network.concurrency,
            experience: Arc::default(),
            wholes: Arc::default(),
            asked: None,
        })
    }

    /// The addresses of the registries, without credentials.
    pub fn addresses(&self) -> Arc<RegistryAddresses> {
        self.registries.addresses()
    }

    /// Begins to record the requested documents.
    pub(crate) fn note_documents(&mut self) -> Arc<AskedFor> {
        Arc::clone(self.asked.get_or_insert_default())
    }

    /// Whether somebody wants the list of requested documents.
    pub(crate) fn notes_documents(&self) -> bool {
        self.asked.is_some()
    }

    /// The maximum number of concurrent requests for documents. Callers keep to it.
    pub(crate) fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Whether the network must not be used.
    pub fn is_offline(&self) -> bool {
        self.freshness == Freshness::CacheOnly
    }

    /// The threads that unpack what it fetches.
    pub(crate) fn workers(&self) -> &Workers {
        &self.requester.workers
    }

    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.requester.activity
    }

    /// The failure for a document that isn't cached, if the network must not be used.
    fn not_cached(address: &Address) -> FetchFailure {
        FetchFailure {
            kind: FetchFailureKind::NotCached,
            message: "it is not in the cache, and the network is off (--offline)".to_owned(),
            url: address.shown(),
        }
    }
}
