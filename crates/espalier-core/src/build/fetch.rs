//! Waiting for what the resolution needs from outside.

use std::rc::Rc;

use super::Builder;
use crate::catalog::{Choice, registry_target};
use crate::error::ResolveError;
use crate::exchange::{Pause, Reply};
use crate::manifest::Manifest;
use crate::names::Name;
use crate::request::{Answer, FetchFailure, FetchFailureKind, Request, TarballListing, Urgency};
use crate::spec::{Spec, SpecKind};
use crate::tree::EdgeId;

impl Builder {
    /// The answer to a request, once it is there.
    pub(super) async fn answer(&mut self, request: &Request) -> Reply {
        loop {
            self.catalog.absorb(&mut self.tree, &self.exchange);
            if let Some(reply) = self.catalog.answer(request) {
                return reply.clone();
            }
            self.exchange.want(request, Urgency::Demanded);
            Pause::new().await;
        }
    }

    /// The manifest for an edge's spec.
    pub(super) async fn fetch_manifest(&mut self, edge: EdgeId, spec: &Rc<Spec>) -> Choice {
        let name = self.tree[edge].name;
        let refused = |code, message: String| Err(Rc::new(ResolveError::Refused { code, message, chain: Vec::new() }));
        match &spec.kind {
            SpecKind::Invalid { code, message } => refused(code, message.clone()),
            SpecKind::Remote(url) => self.tarball_manifest(name, url).await,
            SpecKind::File(path) => {
                let path = path.resolve(&self.tree.origin(edge));
                self.tarball_manifest(name, &format!("file:{path}")).await
            }
            SpecKind::Directory(path) => {
                let path = path.resolve(&self.tree.origin(edge));
                self.copied_folder(name, &path).await
            }
            SpecKind::Git(_) => {
                refused("EUNSUPPORTED", format!("{} is a git repository, which can't be fetched yet", spec.raw))
            }
            _ => {
                let (package, spec) = registry_target(&mut self.tree.names, name, spec);
                self.chosen(package, &spec).await
            }
        }
    }

    async fn chosen(&mut self, package: Name, spec: &Rc<Spec>) -> Choice {
        loop {
            self.catalog.absorb(&mut self.tree, &self.exchange);
            if let Some(choice) = self.catalog.choose(&mut self.tree, package, spec) {
                return choice;
            }
            let request = self.catalog.packument_request(&self.tree.names, package);
            self.exchange.want(&request, Urgency::Demanded);
            Pause::new().await;
        }
    }

    /// The manifests in a tarball.
    pub(super) async fn tarball(&mut self, url: &str, integrity: Option<&str>) -> Result<TarballListing, FetchFailure> {
        let request = Request::Tarball { url: url.to_owned(), integrity: integrity.map(str::to_owned) };
        match self.answer(&request).await? {
            Answer::Tarball(listing) => Ok(listing),
            _ => Err(invalid(url, "the answer is not a tarball")),
        }
    }

    async fn tarball_manifest(&mut self, name: Name, url: &str) -> Choice {
        let listing = self.tarball(url, None).await;
        let manifest = listing.and_then(|listing| {
            let text = listing.manifests.iter().find(|(path, _)| path == "package.json");
            let text = text.ok_or_else(|| invalid(url, "the tarball has no package.json"))?;
            Ok((text.1.clone(), listing.integrity))
        });
        let (text, integrity) = manifest.map_err(|failure| self.failed(name, failure))?;
        let mut manifest = self.parse_manifest(name, url, &text)?;
        manifest.resolved = Some(url.into());
        manifest.integrity = Some(integrity.into());
        Ok(Rc::new(manifest))
    }

    /// A folder that is copied and not linked (`--install-links`).
    async fn copied_folder(&mut self, name: Name, path: &str) -> Choice {
        let relative = self.tree.relative(path);
        let Some(text) = self.folder_manifest(&relative).await else {
            let failure = FetchFailure {
                kind: FetchFailureKind::NotFound,
                message: format!("there is no package.json in {relative}"),
                url: format!("file:{relative}"),
            };
            return Err(self.failed(name, failure));
        };
        let mut manifest = self.parse_manifest(name, &relative, &text)?;
        manifest.resolved = Some(format!("file:{path}").into());
        Ok(Rc::new(manifest))
    }

    fn parse_manifest(&mut self, name: Name, source: &str, text: &str) -> Result<Manifest, Rc<ResolveError>> {
        let value =
            crate::json::parse(source, text).map_err(|error| self.failed(name, invalid(source, &error.to_string())))?;
        Ok(Manifest::from_value(&value, &mut self.tree.names, &mut self.tree.specs))
    }

    fn failed(&self, name: Name, failure: FetchFailure) -> Rc<ResolveError> {
        Rc::new(ResolveError::Fetch { name: self.tree.names.text(name).to_owned(), failure, chain: Vec::new() })
    }

    /// The text of a folder's package.json, if there is one.
    pub(super) async fn folder_manifest(&mut self, path: &str) -> Option<String> {
        match self.answer(&Request::Folder { path: path.to_owned() }).await {
            Ok(Answer::Folder(text)) => text,
            _ => None,
        }
    }
}

fn invalid(url: &str, message: &str) -> FetchFailure {
    FetchFailure { kind: FetchFailureKind::Invalid, message: message.to_owned(), url: url.to_owned() }
}
