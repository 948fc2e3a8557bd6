//! Gets a package into the store: from there, from its registry, or from a file of the project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use espalier_core::{FetchFailure, FetchFailureKind};

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
        let identity = Identity::of(source, &self.registry);
        identity.check(&stored.record).map_err(|message| {
            let (kind, url) = (FetchFailureKind::Invalid, source.resolved.clone());
            ObtainError::Fetch(FetchFailure { kind, message: format!("its tarball {message}"), url })
        })?;
        Ok(stored)
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

/// What a registry's tarball has to say it is. A tarball by URL may be what it likes.
#[derive(Clone, Debug)]
struct Identity(Option<(String, String)>);

impl Identity {
    fn of(source: &Source, registry: &Registry) -> Self {
        let of_registry = registry.is_of_registry(&source.resolved, &source.name);
        Self(source.version.clone().filter(|_| of_registry).map(|version| (source.name.clone(), version)))
    }

    fn check(&self, record: &PackageRecord) -> Result<(), String> {
        let Some((name, version)) = &self.0 else { return Ok(()) };
        let same_name = record.name.as_ref().is_none_or(|own| own == name);
        let same_version = record.version.as_deref().is_none_or(|own| plain(own) == plain(version));
        if same_name && same_version {
            return Ok(());
        }
        let own = [record.name.as_deref(), record.version.as_deref()].map(|text| text.unwrap_or("?")).join("@");
        Err(format!("is of {own}, but {name}@{version} was asked for"))
    }
}

/// A version as it may be written in a package.json: with a `v` before it, and with build metadata.
fn plain(version: &str) -> &str {
    let version = version.trim().trim_start_matches(['v', '=', ' ']);
    version.split('+').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Identity, PackageRecord};

    fn check(name: Option<&str>, version: Option<&str>) -> Result<(), String> {
        let record = PackageRecord {
            name: name.map(str::to_owned),
            version: version.map(str::to_owned),
            folders: Vec::new(),
            files: Vec::new(),
        };
        Identity(Some(("a".into(), "1.0.0".into()))).check(&record)
    }

    #[test]
    fn a_package_has_to_be_the_one_that_was_asked_for() {
        assert_eq!(check(Some("a"), Some("1.0.0")), Ok(()));
        assert_eq!(check(Some("a"), Some(" v1.0.0+build")), Ok(()));
        assert_eq!(check(None, None), Ok(()));
        assert_eq!(check(Some("b"), Some("1.0.0")), Err("is of b@1.0.0, but a@1.0.0 was asked for".into()));
        assert!(check(Some("a"), Some("1.0.1")).is_err());
    }
}
