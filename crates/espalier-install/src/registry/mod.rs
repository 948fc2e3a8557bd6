//! Registries: packuments, version documents and tarballs, from the cache or over the network.
//!
//! What is asked for comes back parsed and verified, or as a failure in words. Which registry and which credentials is
//! configuration; whether an answer is needed, and what it means, is the resolution's business.

mod body;
mod document;
mod failure;
mod request;
mod retry;
mod tarball;
mod transport;

use std::sync::Arc;

use espalier_core::{FetchFailure, FetchFailureKind};
use url::Url;

pub(crate) use body::Encoding;
pub(crate) use request::Validators;

use crate::activity::Activity;
use crate::cache::Cache;
use crate::config::ConfigError;
use crate::config::registries::Registries;
use crate::config::settings::{Freshness, Network, Settings};
use request::Requester;
use retry::Retries;

/// The registries in force and what is cached of them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Registry {
    registries: Arc<Registries>,
    requester: Requester,
    cache: Option<Arc<Cache>>,
    freshness: Freshness,
}

impl Registry {
    /// Prepares to talk to the registries of these settings; nothing is fetched yet.
    pub fn new(settings: &Settings, cache: Option<Arc<Cache>>, activity: Arc<Activity>) -> Result<Self, ConfigError> {
        let network: &Network = &settings.network;
        let clients = transport::Clients::new(network)?;
        Ok(Self {
            registries: Arc::new(settings.registries.clone()),
            requester: Requester { clients, retries: Retries::new(network), activity },
            cache,
            freshness: settings.freshness,
        })
    }

    /// Whether nothing may be fetched.
    pub fn is_offline(&self) -> bool {
        self.freshness == Freshness::CacheOnly
    }

    fn activity(&self) -> &Activity {
        &self.requester.activity
    }

    /// What is said about something that isn't cached when nothing may be fetched.
    fn not_cached(url: &Url) -> FetchFailure {
        FetchFailure {
            kind: FetchFailureKind::Unreachable,
            message: "it is not in the cache, and the network is off (--offline)".to_owned(),
            url: failure::shown(url),
        }
    }
}
