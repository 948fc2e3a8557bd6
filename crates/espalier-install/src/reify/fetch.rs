//! Gets a package into the store: from there, from its registry, or from a file of the project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use espalier_core::{FetchFailure, FetchFailureKind};
use espalier_package::identity::Identity;

use crate::plan::Source;
use crate::registry::Registry;
use crate::store::{AddError, PackageRecord, Store, StoreError, StoredPackage};

/// Where packages come from.
#[derive(Clone, Debug)]
pub struct Origins {
    /// Registries and URLs.
    pub registry: Registry,
    /// The folder that `file:` is relative to.
    pub project: PathBuf,
    /// Where they go.
    pub store: Arc<Store>,
}

/// Why a package isn't in the store.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    /// It can't be fetched, or isn't what it should be.
    #[error("{0}")]
    Fetch(FetchFailure),
    /// The store can't take it.
    #[error(transparent)]
    Store(StoreError),
}

impl Origins {
    /// The package of a source, which was verified when it came into the store.
    pub async fn obtain(&self, source: &Source) -> Result<StoredPackage, ObtainError> {
        let stored = self.stored_or_fetched(source).await?;
        // Also of what is in the store, where a lock's integrity finds it under whatever name the lock gives it.
        self.check_identity(source, &stored.record).map_err(|message| {
            let (kind, url) = (FetchFailureKind::Invalid, source.resolved.clone());
            ObtainError::Fetch(FetchFailure { kind, message: format!("its tarball {message}"), url })
        })?;
        Ok(stored)
    }

    /// What a registry serves has to say that it is what was asked for. A tarball by URL may be what it likes.
    fn check_identity(&self, source: &Source, record: &PackageRecord) -> Result<(), String> {
        let of_registry = self.registry.is_of_registry(&source.resolved, &source.name);
        let Some(version) = source.version.as_ref().filter(|_| of_registry) else { return Ok(()) };
        let own = Identity { name: record.name.clone(), version: record.version.clone() };
        own.check(&source.name, version)
    }

    async fn stored_or_fetched(&self, source: &Source) -> Result<StoredPackage, ObtainError> {
        if let Some(stored) = source.stored.clone() {
            return Ok(stored);
        }
        if let Some(path) = source.resolved.strip_prefix("file:") {
            return self.read_file(path, source).await;
        }
        let (store, integrity) = (Arc::clone(&self.store), source.integrity.clone());
        let take = move |tarball: &[u8]| match store.add(tarball, integrity.as_ref()) {
            Ok(stored) => Ok(Ok(stored)),
            Err(AddError::Tarball(error)) => Err(error.to_string()),
            // Fetching it again would not help.
            Err(AddError::Store(error)) => Ok(Err(error)),
        };
        let taken = self.registry.package(&source.resolved, &source.name, source.integrity.clone(), take).await;
        taken.map_err(ObtainError::Fetch)?.map_err(ObtainError::Store)
    }

    async fn read_file(&self, path: &str, source: &Source) -> Result<StoredPackage, ObtainError> {
        let path = self.project.join(path);
        let (store, integrity) = (Arc::clone(&self.store), source.integrity.clone());
        let task = tokio::task::spawn_blocking(move || read(&path, &store, integrity.as_ref()));
        task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

fn read(
    path: &Path,
    store: &Store,
    integrity: Option<&crate::integrity::Integrity>,
) -> Result<StoredPackage, ObtainError> {
    let failure = |kind, reason: &dyn std::fmt::Display| {
        let path = path.display();
        ObtainError::Fetch(FetchFailure {
            kind,
            message: format!("cannot use {path}: {reason}"),
            url: format!("file:{path}"),
        })
    };
    if path.is_dir() {
        let reason = "packing a folder (--install-links) is not supported";
        return Err(failure(FetchFailureKind::Unsupported, &reason));
    }
    let bytes = std::fs::read(path).map_err(|error| {
        let absent = error.kind() == std::io::ErrorKind::NotFound;
        failure(if absent { FetchFailureKind::NotFound } else { FetchFailureKind::Invalid }, &error)
    })?;
    if let Some(integrity) = integrity {
        integrity.verify(&bytes).map_err(|error| failure(FetchFailureKind::Invalid, &error))?;
    }
    store.add(&bytes, integrity).map_err(|error| match error {
        AddError::Tarball(error) => failure(FetchFailureKind::Invalid, &error),
        AddError::Store(error) => ObtainError::Store(error),
    })
}
