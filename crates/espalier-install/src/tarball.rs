//! The parts of a tarball that decide a tree: the paths, the manifests, and the integrity.

use espalier_core::TarballListing;
use espalier_package::archive::{self, ArchiveError, Limits};

use crate::integrity::Hashed;

/// Why an archive can't be listed.
#[derive(Debug, thiserror::Error)]
pub enum TarballError {
    /// It is damaged or not an archive.
    #[error("is not a readable tarball: {0}")]
    Unreadable(String),
    /// It is larger than a package may be.
    #[error("contains more than {0}")]
    TooLarge(String),
}

/// Lists a tarball, compressed or not.
pub fn list(tarball: &Hashed<'_>) -> Result<TarballListing, TarballError> {
    let integrity = tarball.integrity().to_string();
    let (files, manifests) = archive::list(tarball.bytes(), Limits::default()).map_err(|error| match error {
        ArchiveError::Unreadable(reason) => TarballError::Unreadable(reason),
        ArchiveError::Empty => TarballError::Unreadable("it is empty".to_owned()),
        ArchiveError::TooLarge(what) | ArchiveError::Receiver(what) => TarballError::TooLarge(what),
    })?;
    Ok(TarballListing { integrity, files, manifests })
}
