//! Registries: packuments, version documents and tarballs, from the cache or over the network.
//!
//! What is asked for comes back parsed and verified, or as a failure in words. Which registry and which credentials is
//! configuration; whether an answer is needed, and what it means, is the resolution's business.

mod advisories;
mod document;
mod failure;
mod hosts;
mod request;
mod tarball;
mod transport;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use espalier_core::{FetchFailure, FetchFailureKind, Packument};
use espalier_registry::{Address, Experience, Registries, Retries};

pub(crate) use document::{Misread, Unread, Unsettled};

use crate::activity::Activity;
use crate::cache::Cache;
use crate::cache::documents::DocumentKey;
use crate::config::ConfigError;
use crate::config::settings::{Freshness, Network, Settings};
use request::Requester;
use tokio::sync::{OnceCell, Semaphore};

/// A full packument, once it is there.
type Whole = OnceCell<Result<Arc<Packument>, FetchFailure>>;

/// The registries in force and what is cached of them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Registry {
    registries: Arc<Registries>,
    requester: Requester,
    cache: Option<Arc<Cache>>,
    freshness: Freshness,
    experience: Arc<Mutex<Experience>>,
    /// Full packuments on their way, by the names of their packages.
    wholes: Arc<Mutex<HashMap<String, Weak<Whole>>>>,
    /// What is asked for, where someone wants to know.
    asked: Option<Arc<AskedFor>>,
}

/// The documents that were asked for, in this order.
#[derive(Debug, Default)]
pub(crate) struct AskedFor(Mutex<Vec<Asked>>);

/// A document that was asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    pub key: DocumentKey,
    pub address: String,
    /// Whether a credential went with it.
    pub is_private: bool,
}

impl AskedFor {
    /// All until now.
    pub fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, asked: Asked) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }
}

impl Registry {
    /// Lets the cache keep what was fetched so far, without waiting for that. A run that ends does so by itself.
    pub fn keep(&self) {
        if let Some(cache) = &self.cache {
            cache.documents.settle();
        }
    }

    /// Prepares to talk to the registries of these settings; nothing is fetched yet.
    pub fn new(settings: &Settings, cache: Option<Arc<Cache>>, activity: Arc<Activity>) -> Result<Self, ConfigError> {
        let network: &Network = &settings.network;
        let clients = transport::Clients::new(network)?;
        let retries = Retries {
            most: network.retries,
            first: network.retry_minimum,
            longest: network.retry_maximum,
            factor: network.retry_factor,
        };
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let readers = Arc::new(Semaphore::new(processors.max(2)));
        Ok(Self {
            registries: Arc::new(settings.registries.clone()),
            requester: Requester { clients, retries, activity, readers },
            cache,
            freshness: settings.freshness,
            experience: Arc::default(),
            wholes: Arc::default(),
            asked: None,
        })
    }

    /// From now on, notes which documents are asked for.
    pub(crate) fn note_documents(&mut self) -> Arc<AskedFor> {
        Arc::clone(self.asked.get_or_insert_default())
    }

    /// Whether nothing may be fetched.
    pub fn is_offline(&self) -> bool {
        self.freshness == Freshness::CacheOnly
    }

    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.requester.activity
    }

    /// What is said about something that isn't cached when nothing may be fetched.
    fn not_cached(address: &Address) -> FetchFailure {
        FetchFailure {
            kind: FetchFailureKind::Unreachable,
            message: "it is not in the cache, and the network is off (--offline)".to_owned(),
            url: address.shown(),
        }
    }
}
