//! The source of manifests, and the only part of a resolution that waits.
//!
//! It knows requests and answers, and nothing of the tree.

use std::borrow::Cow;
use std::rc::Rc;

use crate::catalog::{Catalog, Choice, registry_target};
use crate::error::ResolveError;
use crate::exchange::{Exchange, Pause, Reply, Ticket};
use crate::manifest::Manifest;
use crate::names::Name;
use crate::options::Options;
use crate::outcome::Warning;
use crate::paths;
use crate::pins;
use crate::proposal::Proposal;
use crate::refusal::Refusal;
use crate::request::{Answer, FetchFailure, FetchFailureKind, GitRevision, Request, TarballListing, Urgency};
use crate::spec::{GitSpec, Spec, SpecKind};
use crate::vocabulary::Vocabulary;

/// The options of a resolution, its mailbox, and the answers so far.
pub(super) struct Sources {
    pub(super) options: Options,
    pub(super) exchange: Rc<Exchange>,
    pub(super) catalog: Catalog,
    pub(super) vocabulary: Rc<Vocabulary>,
    /// The absolute folder of the project.
    pub(super) project: Rc<str>,
    /// Changes to package.json files of workspaces that are tried.
    pub(super) trial: Vec<Proposal>,
    /// Whether nothing will be resolved, so that packages aren't needed.
    pub(super) only_reading: bool,
}

impl Sources {
    /// Whether peer dependencies are installed.
    pub(super) fn with_peers(&self) -> bool {
        !self.options.legacy_peer_deps
    }

    /// Requests the dependencies of a package ahead.
    pub(super) fn foresee_dependencies(&mut self, manifest: &Manifest) {
        self.catalog.foresee_dependencies(&self.exchange, manifest);
    }

    /// Requests a dependency ahead.
    pub(super) fn foresee(&mut self, name: Name, spec: &Rc<Spec>) {
        self.catalog.foresee(&self.exchange, name, spec);
    }

    /// Adds a warning about a location.
    pub(super) fn warn(&self, code: impl Into<Cow<'static, str>>, message: String, location: &str) {
        self.exchange.warn(Warning { code: code.into(), message, location: location.to_owned() });
    }

    /// Waits for the answer to a request for anything but a packument.
    pub(super) async fn wait_for(&mut self, ticket: Ticket) {
        loop {
            self.catalog.absorb(&self.exchange);
            if self.exchange.answer(ticket).is_some() {
                return;
            }
            Pause::new().await;
        }
    }

    /// Requests the document of a manifest's version, unless it has arrived for an exact spec.
    pub(super) fn want_document(&self, manifest: &Manifest) -> Ticket {
        let exact = self.exchange.ticket(&pins::request(manifest));
        let is_same = |ticket: &Ticket| match self.exchange.answer(*ticket).as_deref() {
            // The version may have been published again.
            Some(Ok(Answer::VersionDocument(text))) => {
                manifest.integrity.as_deref().is_some_and(|integrity| text.contains(integrity))
            }
            _ => false,
        };
        exact.filter(is_same).unwrap_or_else(|| self.exchange.want(&pins::completion(manifest), Urgency::Demanded))
    }

    /// The answer to any request but that for a packument.
    pub(super) async fn answer(&mut self, request: &Request) -> Reply {
        let ticket = self.exchange.want(request, Urgency::Demanded);
        self.wait_for(ticket).await;
        self.exchange.answer(ticket).expect("it has arrived").clone()
    }

    /// The manifest for a spec. A relative path in it starts from `base`.
    pub(super) async fn manifest_for(&mut self, name: Name, spec: &Rc<Spec>, base: &str) -> Choice {
        match &spec.kind {
            SpecKind::Invalid(problem) => Err(Rc::new(Refusal::InvalidSpec(problem.clone()).into())),
            SpecKind::Remote(url) => self.tarball_manifest(name, url).await,
            SpecKind::File(path) => self.tarball_manifest(name, &format!("file:{}", path.resolve(base))).await,
            SpecKind::Directory(path) => self.copied_folder(name, &path.resolve(base)).await,
            SpecKind::Git(git) => self.git_manifest(name, spec, git).await,
            _ => {
                let (package, spec) = registry_target(&self.vocabulary.names, name, spec);
                self.chosen(package, &spec).await
            }
        }
    }

    pub(super) async fn chosen(&mut self, package: Name, spec: &Rc<Spec>) -> Choice {
        loop {
            self.catalog.absorb(&self.exchange);
            if let Some(choice) = self.catalog.choose(package, spec) {
                return choice;
            }
            let request = self.catalog.request(package, spec);
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
            let text = text.ok_or_else(|| invalid(url, "the tarball has no package.json"))?.1.clone();
            Ok((text, listing))
        });
        let (text, listing) = manifest.map_err(|failure| self.failed(name, failure))?;
        let mut manifest = self.parse_manifest(name, url, &text)?;
        manifest.list_bins_among(&listing.files, "");
        manifest.resolved = Some(url.into());
        manifest.integrity = Some(listing.integrity.into());
        Ok(Rc::new(manifest))
    }

    async fn git_manifest(&mut self, name: Name, spec: &Spec, git: &GitSpec) -> Choice {
        let wanted = match (&git.range, &git.committish) {
            (Some(range), _) => GitRevision::Range(range.clone()),
            (None, Some(committish)) => GitRevision::Committish(committish.clone()),
            (None, None) => GitRevision::Head,
        };
        let urls = match &git.hosted {
            Some(hosted) => hosted.fetch_urls(),
            None => git.fetch.iter().cloned().collect(),
        };
        let folder = git.folder.clone().unwrap_or_default();
        let commit = match self.answer(&Request::Git { urls, wanted, folder }).await {
            Ok(Answer::Git(commit)) => commit,
            Ok(_) => return Err(self.failed(name, invalid(&spec.raw, "the answer is not a commit"))),
            Err(failure) => return Err(self.failed(name, failure)),
        };
        let mut manifest = self.parse_manifest(name, &spec.raw, &commit.manifest)?;
        manifest.list_bins_among(&commit.files, "");
        let address = spec.raw.split('#').next().unwrap_or_default();
        manifest.resolved = Some(match &git.hosted {
            Some(hosted) => hosted.at(&commit.commit).resolved().into(),
            None => format!("{address}#{}", commit.commit).into(),
        });
        Ok(Rc::new(manifest))
    }

    /// The manifest of a folder that is copied and not linked (`--install-links`).
    async fn copied_folder(&mut self, name: Name, path: &str) -> Choice {
        let relative = paths::relative(&self.project, path);
        let Some(text) = self.folder_manifest(&relative).await else {
            let failure = FetchFailure {
                kind: FetchFailureKind::NotFound,
                message: format!("there is no package.json in {relative}"),
                url: format!("file:{relative}"),
            };
            return Err(self.failed(name, failure));
        };
        let mut manifest = self.parse_manifest(name, &relative, &text)?;
        self.list_bins(&mut manifest, &relative).await;
        manifest.resolved = Some(format!("file:{path}").into());
        Ok(Rc::new(manifest))
    }

    /// Lists the commands of a package in a folder of the project, if its package.json only names
    /// their folder.
    pub(super) async fn list_bins(&mut self, manifest: &mut Manifest, folder: &str) {
        let Some(commands) = manifest.bin_folder.as_deref().filter(|_| !self.only_reading) else { return };
        let folder = paths::join(folder, commands).trim_end_matches('/').to_owned();
        if let Ok(Answer::Files(files)) = self.answer(&Request::Files { folder }).await {
            manifest.list_bins(&files);
        }
    }

    /// The text of a folder's package.json, if there is one.
    pub(super) async fn folder_manifest(&mut self, path: &str) -> Option<String> {
        match self.answer(&Request::Folder { path: path.to_owned() }).await {
            Ok(Answer::Folder(text)) => text.map(|text| self.tried(path, text)),
            _ => None,
        }
    }

    /// The manifest of a folder of the project.
    pub(super) async fn read_folder(&mut self, path: &str) -> Option<Rc<Manifest>> {
        let text = self.folder_manifest(path).await?;
        let mut manifest = Manifest::from_value(&crate::json::parse(path, &text).ok()?, &self.vocabulary);
        self.list_bins(&mut manifest, path).await;
        Some(Rc::new(manifest))
    }

    /// The error for a package that could not be fetched.
    pub(super) fn failed(&self, name: Name, failure: FetchFailure) -> Rc<ResolveError> {
        let name = self.vocabulary.names.text(name).to_owned();
        Rc::new(ResolveError::Fetch { name, failure, chain: Vec::new() })
    }

    fn parse_manifest(&self, name: Name, source: &str, text: &str) -> Result<Manifest, Rc<ResolveError>> {
        match crate::json::parse(source, text) {
            Ok(value) => Ok(Manifest::from_value(&value, &self.vocabulary)),
            Err(error) => Err(self.failed(name, invalid(source, &error.to_string()))),
        }
    }

    /// A package.json with the changes that are tried.
    fn tried(&self, path: &str, text: String) -> String {
        let changes: Vec<_> = self.trial.iter().filter(|change| change.folder() == Some(path)).collect();
        if changes.is_empty() {
            return text;
        }
        // Its reader reports a text that isn't JSON.
        let Ok(mut manifest) = crate::json::parse(path, &text) else { return text };
        for change in changes {
            change.edit(&mut manifest);
        }
        manifest.to_string()
    }
}

pub(super) fn invalid(url: &str, message: &str) -> FetchFailure {
    FetchFailure { kind: FetchFailureKind::Invalid, message: message.to_owned(), url: url.to_owned() }
}
