//! How each kind of request is answered: from the project's files, or over the network.

use std::sync::Arc;

use espalier_core::{Answer, FetchFailure, FetchFailureKind, Packument, Request, TarballListing, Urgency};
use espalier_package::archive::{self, ArchiveError, Limits};
use espalier_package::identity::package_of;

use crate::files::Files;
use crate::network::{self, Body, Network, invalid};
use crate::registry::Registries;

/// Abbreviated documents where the registry has them. The value is safelisted: it makes no preflight.
const ABBREVIATED: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
/// The content type of an abbreviated packument.
const ABBREVIATED_TYPE: &str = "application/vnd.npm.install-v1+json";
/// Full documents.
const FULL: &str = "application/json";

/// Where one run's answers come from.
pub struct Source {
    files: Files,
    registries: Registries,
    network: Network,
}

impl Source {
    /// The files are the project's; everything else comes over the network.
    pub fn new(files: Files, registries: Registries, network: Network) -> Self {
        Self { files, registries, network }
    }

    /// Where packages come from.
    pub fn registries(&self) -> &Registries {
        &self.registries
    }

    /// Gets the answer to a request.
    pub async fn answer(&self, request: &Request, urgency: Urgency) -> Result<Answer, FetchFailure> {
        match request {
            Request::Packument { name, full } => {
                let address = self.registries.packument(name);
                let accept = if *full { FULL } else { ABBREVIATED };
                let read = |body: &Body| {
                    let packument = Packument::parse(&body.bytes, body.kind.starts_with(ABBREVIATED_TYPE));
                    packument.map_err(|error| error.to_string())
                };
                let packument = network::document(&self.network, &address, name, accept, urgency, read).await?;
                Ok(Answer::Packument(Arc::new(packument)))
            }
            Request::VersionDocument { name, version } => {
                let address = self.registries.version(name, version);
                let read = |body: &Body| {
                    // Whether it is JSON at all has to be known here, where it can still be fetched anew.
                    serde_json::from_slice::<serde::de::IgnoredAny>(&body.bytes).map_err(|error| error.to_string())?;
                    String::from_utf8(body.bytes.clone()).map_err(|error| error.to_string())
                };
                network::document(&self.network, &address, name, FULL, urgency, read).await.map(Answer::VersionDocument)
            }
            Request::Tarball { url, integrity } => {
                let package = package_of(url);
                let address = self.registries.tarball(url, &package).ok_or_else(|| unsupported(url))?;
                let body = network::tarball(&self.network, &address, &package, integrity.as_deref(), urgency).await?;
                let listed = archive::list(&body.bytes, Limits::default());
                let (files, manifests) = listed.map_err(|error| invalid(body.url, &problem(error)))?;
                Ok(Answer::Tarball(TarballListing { integrity: body.kind, files, manifests }))
            }
            Request::Git { urls, .. } => Err(unsupported(urls.first().map(String::as_str).unwrap_or_default())),
            local => Ok(self.files.answer(local)),
        }
    }
}

/// What is wrong with an archive, in words.
pub fn problem(error: ArchiveError<String>) -> String {
    match error {
        ArchiveError::Unreadable(reason) => format!("it is not a readable tarball: {reason}"),
        ArchiveError::TooLarge(what) | ArchiveError::Receiver(what) => format!("it holds more than {what}"),
        ArchiveError::Empty => "it holds no files".to_owned(),
    }
}

/// A spec that needs more than HTTP.
pub fn unsupported(url: &str) -> FetchFailure {
    let remedy = if url.starts_with("file:") {
        "Tarballs can't be among the files that are given as text; use a folder, or an https: address."
    } else {
        "Use a version from a registry, or the https: address of a tarball whose host allows other origins (CORS)."
    };
    let message = format!("{url} can't be fetched in JavaScript: only the registry and http(s) can. {remedy}");
    FetchFailure { kind: FetchFailureKind::Unsupported, message, url: url.to_owned() }
}
