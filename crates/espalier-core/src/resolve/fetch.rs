//! Waiting for what the resolution needs from outside.

use std::rc::Rc;

use super::Builder;
use crate::catalog::{Choice, registry_target};
use crate::error::ResolveError;
use crate::exchange::{Pause, Reply};
use crate::manifest::Manifest;
use crate::names::Name;
use crate::paths;
use crate::refusal::Refusal;
use crate::request::{Answer, FetchFailure, FetchFailureKind, GitRevision, Request, TarballListing, Urgency};
use crate::spec::{GitSpec, Spec, SpecKind};
use crate::tree::EdgeId;

impl Builder {
    /// The answer to a request, once it is there.
    pub(super) async fn answer(&mut self, request: &Request) -> Reply {
        loop {
            self.catalog.absorb(&mut self.tree.words, &self.exchange);
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
        if let Some(entry) = self.yarn_entry(name, spec) {
            return self.manifest_from_yarn(name, spec, &entry).await;
        }
        if let Some(known) = self.yarn.manifests.get(&(name, spec.raw.clone())) {
            return known.clone();
        }
        let base = self.copied_from(edge, spec).unwrap_or_else(|| self.tree.origin(edge));
        self.manifest_for(name, spec, &base).await
    }

    /// Where a folder that was copied and not linked came from: its own folders are looked for there (`isTransitiveFileDep` of
    /// `build-ideal-tree.js`).
    fn copied_from(&self, edge: EdgeId, spec: &Spec) -> Option<String> {
        let from = self.tree[edge].from.filter(|&from| !self.tree[from].is_link)?;
        let is_folder = self.options.install_links && matches!(spec.kind, SpecKind::Directory(_));
        let resolved = self.tree[from].resolved.as_deref().filter(|_| is_folder)?;
        resolved.strip_prefix("file:").map(str::to_owned)
    }

    /// The manifest for a spec; a relative path in it starts from `base`.
    pub(super) async fn manifest_for(&mut self, name: Name, spec: &Rc<Spec>, base: &str) -> Choice {
        match &spec.kind {
            SpecKind::Invalid(problem) => Err(Rc::new(Refusal::InvalidSpec(problem.clone()).into())),
            SpecKind::Remote(url) => self.tarball_manifest(name, url).await,
            SpecKind::File(path) => self.tarball_manifest(name, &format!("file:{}", path.resolve(base))).await,
            SpecKind::Directory(path) => self.copied_folder(name, &path.resolve(base)).await,
            SpecKind::Git(git) => self.git_manifest(name, spec, git).await,
            _ => {
                let (package, spec) = registry_target(&mut self.tree.words.names, name, spec);
                self.chosen(package, &spec).await
            }
        }
    }

    pub(super) async fn chosen(&mut self, package: Name, spec: &Rc<Spec>) -> Choice {
        loop {
            self.catalog.absorb(&mut self.tree.words, &self.exchange);
            if let Some(choice) = self.catalog.choose(&mut self.tree.words, package, spec) {
                return choice;
            }
            let request = self.catalog.packument_request(&self.tree.words.names, package);
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
        self.list_bins(&mut manifest, &relative).await;
        manifest.resolved = Some(format!("file:{path}").into());
        Ok(Rc::new(manifest))
    }

    fn parse_manifest(&mut self, name: Name, source: &str, text: &str) -> Result<Manifest, Rc<ResolveError>> {
        let value =
            crate::json::parse(source, text).map_err(|error| self.failed(name, invalid(source, &error.to_string())))?;
        Ok(Manifest::from_value(&value, &mut self.tree.words.names, &mut self.tree.words.specs))
    }

    pub(super) fn failed(&self, name: Name, failure: FetchFailure) -> Rc<ResolveError> {
        Rc::new(ResolveError::Fetch { name: self.tree.words.names.text(name).to_owned(), failure, chain: Vec::new() })
    }

    /// Lists the commands of a package in a folder of the project, where its package.json only says in which folder they are.
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

    /// A package.json with what is tried out in it.
    fn tried(&self, path: &str, text: String) -> String {
        let changes: Vec<_> = self.trial.iter().filter(|change| change.folder() == Some(path)).collect();
        if changes.is_empty() {
            return text;
        }
        // What isn't JSON is told of where it is read.
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
