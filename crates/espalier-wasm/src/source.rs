//! How each kind of request is answered: from the project's files, or over the network.

use std::sync::Arc;

use espalier_core::{Answer, FetchFailure, FetchFailureKind, Packument, Request, Urgency};

use crate::exchange::{Body, Exchange};
use crate::files::Files;
use crate::registry::Registries;
use crate::tarball;

/// Abbreviated documents where the registry has them. The value is safelisted: it makes no preflight.
const ABBREVIATED: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
/// Full documents.
const FULL: &str = "application/json";

/// Where one run's answers come from.
pub struct Source {
    files: Files,
    registries: Registries,
    exchange: Exchange,
}

impl Source {
    /// The files are the project's; everything else comes through the exchange.
    pub fn new(files: Files, registries: Registries, exchange: Exchange) -> Self {
        Self { files, registries, exchange }
    }

    /// Gets the answer to a request.
    pub async fn answer(&self, request: &Request, urgency: Urgency) -> Result<Answer, FetchFailure> {
        match request {
            Request::Packument { name, full } => {
                let address = self.registries.packument(name);
                let accept = if *full { FULL } else { ABBREVIATED };
                let body = self.exchange.get(&address, accept, urgency).await?;
                let packument = Packument::parse(&body.bytes, body.is_abbreviated());
                let packument = packument.map_err(|error| unreadable(&body, &error.to_string()))?;
                Ok(Answer::Packument(Arc::new(packument)))
            }
            Request::VersionDocument { name, version } => {
                let address = self.registries.version(name, version);
                let body = self.exchange.get(&address, FULL, urgency).await?;
                match String::from_utf8(body.bytes) {
                    Ok(text) => Ok(Answer::VersionDocument(text)),
                    Err(error) => Err(invalid(address, &error.to_string())),
                }
            }
            Request::Folder { path } => Ok(Answer::Folder(self.files.manifest(path))),
            Request::File { path } => Ok(Answer::File(self.files.text(path).map(String::into_bytes))),
            Request::Git { urls, .. } => Err(unsupported(urls.first().map(String::as_str).unwrap_or_default())),
            Request::PackageFolders => Ok(Answer::PackageFolders(self.files.package_folders())),
            Request::Tarball { url, integrity } => {
                let address = self.registries.tarball(url).ok_or_else(|| unsupported(url))?;
                let body = self.exchange.get(&address, "*/*", urgency).await?;
                let listing = tarball::list(&body.bytes, integrity.as_deref()).await;
                listing.map(Answer::Tarball).map_err(|error| unreadable(&body, &error.to_string()))
            }
        }
    }
}

fn unreadable(body: &Body, problem: &str) -> FetchFailure {
    invalid(body.url.clone(), problem)
}

fn invalid(url: String, problem: &str) -> FetchFailure {
    let message = format!("the answer from {url} can't be used: {problem}");
    FetchFailure { kind: FetchFailureKind::Invalid, message, url }
}

/// A spec that needs more than HTTP.
fn unsupported(url: &str) -> FetchFailure {
    let remedy = if url.starts_with("file:") {
        "Tarballs can't be among the files that are given as text; use a folder, or an https: address."
    } else {
        "Use a version from a registry, or the https: address of a tarball whose host allows other origins (CORS)."
    };
    let message = format!("{url} can't be fetched in JavaScript: only the registry and http(s) can. {remedy}");
    FetchFailure { kind: FetchFailureKind::Unsupported, message, url: url.to_owned() }
}
