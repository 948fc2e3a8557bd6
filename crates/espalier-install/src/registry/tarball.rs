//! Tarballs and their manifests. Only verified bytes are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use espalier_core::{FetchFailure, FetchFailureKind, TarballListing};
use espalier_package::identity::package_of;
use espalier_registry::Get;
use espalier_registry::tarball::LONGEST_SENT;

use super::Registry;
use super::request::Reply;
use crate::integrity::{Hashed, Integrity};
use crate::tarball;

impl Registry {
    /// Lists a tarball. The address can be a path on the registry of its package.
    pub async fn tarball(&self, address: &str, integrity: Option<&str>) -> Result<TarballListing, FetchFailure> {
        let package = package_of(address);
        let get = self.registries.tarball(address, &package)?;
        let expected = integrity.map(str::parse::<Integrity>).transpose();
        let expected = expected.map_err(|error| FetchFailure {
            kind: FetchFailureKind::Invalid,
            message: format!("its tarball cannot be trusted: {error}"),
            url: get.address.shown(),
        })?;
        if let Some(listing) = self.cached_listing(expected.clone()).await {
            return Ok(listing);
        }
        if self.is_offline() {
            return Err(Registry::not_cached(&get.address));
        }
        let cache = self.cache.clone();
        self.fetch_tarball(get, &package, expected.clone(), move |tarball| {
            let listing = tarball::list(tarball).map_err(|error| error.to_string())?;
            if let Some((cache, integrity)) = cache.as_ref().zip(expected.as_ref()) {
                cache.tarballs.write(integrity, tarball.bytes());
            }
            Ok(listing)
        })
        .await
    }

    /// Fetches a tarball for an installation and gives it to `take`. If `take` fails, the tarball
    /// is fetched again. `package` is the name of the expected package.
    pub async fn package<T: Send + 'static>(
        &self,
        address: &str,
        package: &str,
        integrity: Option<Integrity>,
        take: impl Fn(&Hashed<'_>) -> Result<T, String> + Clone + Send + 'static,
    ) -> Result<T, FetchFailure> {
        let get = self.registries.tarball(address, package)?;
        if self.is_offline() {
            return Err(Registry::not_cached(&get.address));
        }
        self.fetch_tarball(get, package, integrity, take).await
    }

    /// Whether an address is at the registry of a package. Only then may the tarball be fetched
    /// without permission (npm's `#isRegistryResolvedTarball`).
    pub fn is_of_registry(&self, address: &str, package: &str) -> bool {
        // Nearly all addresses are of this kind. Parsing an address takes as long as resolving its
        // package from a lock.
        is_plainly_below(address, self.registries.of_package(package).as_str())
            || self.registries.is_of_registry(address, package)
    }

    async fn fetch_tarball<T: Send + 'static>(
        &self,
        get: Get,
        package: &str,
        expected: Option<Integrity>,
        take: impl Fn(&Hashed<'_>) -> Result<T, String> + Clone + Send + 'static,
    ) -> Result<T, FetchFailure> {
        let is_promised = expected.is_some();
        let version = version_of(get.address.path(), package).map(str::to_owned);
        let mismatch = Arc::<AtomicBool>::default();
        let (found, activity) = (Arc::clone(&mismatch), Arc::clone(self.activity()));
        let decode = move |reply| {
            found.store(false, Ordering::Relaxed);
            let Reply::Body(received) = reply else { return Err("is empty".to_owned()) };
            // The tarball is the compressed file itself. A content encoding on top of it belongs to
            // the transport.
            let bytes = received.encoding.undone(received.bytes, LONGEST_SENT)?;
            let tarball = Hashed::new(&bytes);
            if let Some(expected) = &expected {
                activity.hashing.time(|| expected.verify(&tarball)).map_err(|error| {
                    found.store(true, Ordering::Relaxed);
                    format!("is not the expected tarball: {error}")
                })?;
            }
            take(&tarball)
        };
        let mut taken = self.requester.get(&get, decode).await;
        let is_other = taken.as_ref().is_err_and(|failure| failure.kind == FetchFailureKind::Invalid);
        if let Some(cache) = self.cache.as_ref().filter(|_| is_promised && is_other) {
            // The cached document with the integrity may be wrong, so it must not be used again.
            cache.documents.forget(self.registries.of_package(package), package, version.as_deref());
        }
        if let Err(failure) = &mut taken
            && is_other
            && mismatch.load(Ordering::Relaxed)
        {
            // The last answer was complete, but had other content (npm: EINTEGRITY).
            failure.kind = FetchFailureKind::Integrity;
        }
        taken
    }

    async fn cached_listing(&self, expected: Option<Integrity>) -> Option<TarballListing> {
        let (cache, expected) = (self.cache.clone()?, expected?);
        let read =
            tokio::task::spawn_blocking(move || tarball::list(&Hashed::new(&cache.tarballs.read(&expected)?)).ok());
        let listing = read.await.ok()??;
        self.activity().cached_documents.add(1);
        Some(listing)
    }
}

/// The version in a tarball's usual path: `/@scope/name/-/name-1.0.0.tgz`.
fn version_of<'a>(path: &'a str, package: &str) -> Option<&'a str> {
    let base = package.rsplit('/').next()?;
    path.rsplit('/').next()?.strip_prefix(base)?.strip_prefix('-')?.strip_suffix(".tgz")
}

/// Whether an address is a folder's and a path of plain characters, which a URL parser leaves as
/// they are.
fn is_plainly_below(address: &str, folder: &str) -> bool {
    let is_plain = |step: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~@+".contains(&byte);
        !matches!(step, "" | "." | "..") && step.bytes().all(is_plain)
    };
    folder.ends_with('/') && address.strip_prefix(folder).is_some_and(|rest| rest.split('/').all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::is_plainly_below;

    #[test]
    fn only_addresses_that_no_parser_changes_are_plain() {
        let folder = "http://registry.test/npm/";
        for path in ["a/-/a-1.0.0.tgz", "@s/a/-/a-1.0.0+build.tgz"] {
            assert!(is_plainly_below(&format!("{folder}{path}"), folder), "{path}");
        }
        for path in ["../a.tgz", "a/./b", "a//b", "a/%2e%2e/b", "a?b", "a#b", "a\\..\\b", "a\t", ""] {
            assert!(!is_plainly_below(&format!("{folder}{path}"), folder), "{path}");
        }
        assert!(!is_plainly_below("http://registry.test/npm-other/a.tgz", "http://registry.test/npm"));
        assert!(!is_plainly_below("http://other.test/a.tgz", folder));
    }
}
