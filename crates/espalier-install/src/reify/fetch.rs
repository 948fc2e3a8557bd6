//! Gets a package into the store, from its registry, a file, a folder of the project, or git.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use espalier_core::address::without_credentials;
use espalier_core::{FetchFailure, FetchFailureKind};
use espalier_package::identity::Identity;

use super::flights::{Flight, Flights, ObtainError};
use crate::blocking;
use crate::git::{self, Repository};
use crate::integrity::Hashed;
use crate::packing::{self, prepare::Preparing};
use crate::plan::Source;
use crate::registry::Registry;
use crate::store::{AddError, PackageRecord, Store, StoredPackage};

/// The sources of packages, and the store.
#[derive(Clone, Debug)]
pub struct Origins {
    /// Registries and URLs.
    pub registry: Registry,
    /// The folder that `file:` paths are relative to.
    pub project: PathBuf,
    /// The store that the packages go to.
    pub store: Arc<Store>,
    /// What happens to a folder before it is packed.
    pub preparing: Arc<Preparing>,
    /// The downloads of this run.
    pub flights: Arc<Flights>,
}

impl Origins {
    /// The package of a source, from the store if it is there. Its bytes were verified when they
    /// were stored.
    pub async fn obtain(&self, source: &Source) -> Result<StoredPackage, ObtainError> {
        let stored = self.stored_or_fetched(source).await?;
        // This also applies to stored packages: a lock can give a package's integrity under another
        // name.
        self.check_identity(source, &stored.record).map_err(|message| {
            let (kind, url) = (FetchFailureKind::Invalid, without_credentials(&source.resolved));
            ObtainError::Fetch(FetchFailure { kind, message: format!("its tarball {message}"), url })
        })?;
        Ok(stored)
    }

    /// Checks that a package from a registry states the requested name and version. A tarball by
    /// URL may state any.
    pub(super) fn check_identity(&self, source: &Source, record: &PackageRecord) -> Result<(), String> {
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
            let folder = self.project.join(path);
            if folder.is_dir() {
                return self.pack(&folder, source, false).await;
            }
            return self.read_file(path, source).await;
        }
        if let Some(repository) = Repository::of(&source.resolved) {
            return self.clone_and_pack(&repository, source).await;
        }
        self.flights.of(source, |flight| self.fetch(source, flight)).await
    }

    async fn fetch(&self, source: &Source, flight: Arc<Flight>) -> Result<StoredPackage, ObtainError> {
        let (store, integrity) = (Arc::clone(&self.store), source.integrity.clone());
        let activity = Arc::clone(self.registry.activity());
        let add = move |tarball: &Hashed<'_>| activity.unpacking.time(|| store.add(tarball, integrity.as_ref()));
        let take = move |tarball: &Hashed<'_>| match add(tarball) {
            Ok(stored) => {
                flight.land(&stored);
                Ok(Ok(stored))
            }
            Err(AddError::Tarball(error)) => Err(error.to_string()),
            // Fetching it again would not help.
            Err(AddError::Store(error)) => Ok(Err(error)),
        };
        let taken = self.registry.package(&source.resolved, &source.name, source.integrity.clone(), take).await;
        taken.map_err(ObtainError::Fetch)?.map_err(ObtainError::Store)
    }

    async fn clone_and_pack(&self, repository: &Repository, source: &Source) -> Result<StoredPackage, ObtainError> {
        if self.registry.is_offline() {
            let message = "git cannot be asked with --offline".to_owned();
            let (kind, url) = (FetchFailureKind::NotCached, without_credentials(&source.resolved));
            return Err(ObtainError::Fetch(FetchFailure { kind, message, url }));
        }
        let scratch = tempfile::tempdir().map_err(|error| unusable(&source.resolved, &error))?;
        let folder = scratch.path().join("package");
        git::checkout(repository, &folder).await.map_err(ObtainError::Fetch)?;
        self.pack(&folder, source, true).await
    }

    async fn pack(&self, folder: &Path, source: &Source, is_clone: bool) -> Result<StoredPackage, ObtainError> {
        let prepared = self.preparing.run(folder, &source.resolved, is_clone).await;
        prepared.map_err(|reason| unusable(&source.resolved, &reason))?;
        let (store, folder, resolved) = (Arc::clone(&self.store), folder.to_owned(), source.resolved.clone());
        let pack = move || {
            let tarball = packing::pack(&folder).map_err(|error| unusable(&resolved, &error))?;
            store.add(&Hashed::new(&tarball), None).map_err(|error| match error {
                AddError::Tarball(error) => unusable(&resolved, &error),
                AddError::Store(error) => ObtainError::Store(error),
            })
        };
        blocking::run(pack).await
    }

    async fn read_file(&self, path: &str, source: &Source) -> Result<StoredPackage, ObtainError> {
        let path = self.project.join(path);
        let (store, integrity) = (Arc::clone(&self.store), source.integrity.clone());
        blocking::run(move || read(&path, &store, integrity.as_ref())).await
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
    let bytes = std::fs::read(path).map_err(|error| {
        let absent = error.kind() == std::io::ErrorKind::NotFound;
        failure(if absent { FetchFailureKind::NotFound } else { FetchFailureKind::Invalid }, &error)
    })?;
    let tarball = Hashed::new(&bytes);
    if let Some(integrity) = integrity {
        integrity.verify(&tarball).map_err(|error| failure(FetchFailureKind::Integrity, &error))?;
    }
    store.add(&tarball, integrity).map_err(|error| match error {
        AddError::Tarball(error) => failure(FetchFailureKind::Invalid, &error),
        AddError::Store(error) => ObtainError::Store(error),
    })
}

/// The failure of a folder or repository that no package can be made of.
fn unusable(resolved: &str, reason: &dyn std::fmt::Display) -> ObtainError {
    let url = without_credentials(resolved);
    let message = format!("cannot pack {url}: {reason}");
    ObtainError::Fetch(FetchFailure { kind: FetchFailureKind::Invalid, message, url })
}
