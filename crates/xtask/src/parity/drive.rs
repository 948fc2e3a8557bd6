//! Drives a resolution with answers from a recording and a project's folder. This is the smallest
//! host that the core can have: no network, no concurrency, answers in the order of the requests.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use espalier_core::request::{Answer as Reply, FetchFailure, FetchFailureKind, Request};
use espalier_core::{ChangedManifest, Detail, LockfileText, Options, Packument, PackumentForm, Progress, Resolution};
use espalier_replay::{Registry, document};

use super::compare::Answer;
use super::project::{Input, ORIGIN};
use crate::oracle::without_origin;

mod tarball;

/// Packuments by name and by whether they are full. `None` if a packument isn't recorded.
type Parsed = HashMap<(String, bool), Option<Arc<Packument>>>;

/// A recorded registry, with the packuments parsed so far.
pub struct Recording {
    registry: Registry,
    abbreviated: bool,
    parsed: Mutex<Parsed>,
}

impl Recording {
    /// With `abbreviated`, resolutions get abbreviated packuments.
    pub fn new(registry: Registry, abbreviated: bool) -> Self {
        Self { registry, abbreviated, parsed: Mutex::default() }
    }

    /// Resolves a project. A bug of the core is an answer too, so that the next project can be
    /// tried.
    pub fn resolve(&self, input: &Input, options: Options) -> Answer {
        self.command(input, options).0
    }

    /// Resolves a project with changes. Also returns the changed package.json files.
    pub fn command(&self, input: &Input, options: Options) -> (Answer, Vec<ChangedManifest>) {
        catch_unwind(AssertUnwindSafe(|| self.drive(input, options))).unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
            (Answer::Broken(format!("panicked: {message}")), Vec::new())
        })
    }

    fn drive(&self, input: &Input, options: Options) -> (Answer, Vec<ChangedManifest>) {
        let mut resolution = Resolution::new(input.project.clone(), options);
        while resolution.advance() == Progress::Waiting {
            let mut requests = 0;
            while let Some((request, _)) = resolution.next_request() {
                resolution.supply(&request, self.answer(&request, &input.folder));
                requests += 1;
            }
            if requests == 0 {
                return (Answer::Broken("waits, but asks for nothing".into()), Vec::new());
            }
        }
        match resolution.finish() {
            Ok(outcome) => {
                let before = input.project.lockfile.as_ref().map(LockfileText::as_str).unwrap_or_default();
                let lockfile = if outcome.is_saved { outcome.lockfile.text() } else { before };
                (Answer::Lockfile(without_origin(lockfile, ORIGIN)), outcome.changed_manifests)
            }
            Err(error) => (Answer::Failure { code: error.code().into_owned(), message: error.to_string() }, Vec::new()),
        }
    }

    fn answer(&self, request: &Request, folder: &Path) -> Result<Reply, FetchFailure> {
        match request {
            Request::Packument { name, form } => {
                self.packument(name, *form == PackumentForm::Full).map(Reply::Packument)
            }
            Request::VersionDocument { name, version, .. } => self.version(name, version).map(Reply::VersionDocument),
            Request::Manifest { name, version } => match self.version(name, version) {
                Err(failure) if failure.kind == FetchFailureKind::NotFound => Ok(Reply::NoDocument),
                document => document.map(Reply::VersionDocument),
            },
            Request::Folder { path } => manifest(folder, path).map(Reply::Folder),
            Request::File { path } => Ok(Reply::File(fs::read(folder.join(path)).ok())),
            Request::Files { folder: below } => Ok(Reply::Files(files_below(&folder.join(below)))),
            Request::Git { .. } => Err(not_found("a git repository")),
            Request::PackageFolders => package_folders(folder).map(Reply::PackageFolders),
            Request::Tarball { url, integrity } => {
                let bytes = self.tarball(url, folder)?;
                tarball::list(&bytes, integrity.as_deref(), url).map(Reply::Tarball)
            }
        }
    }

    /// The names of all packages, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.registry.names()
    }

    /// Whether a tarball is recorded.
    pub fn has_tarball(&self, name: &str, file: &str) -> bool {
        self.registry.tarball(name, file).is_some()
    }

    /// A package's packument, parsed once.
    pub fn packument(&self, name: &str, full: bool) -> Result<Arc<Packument>, FetchFailure> {
        let full = full || !self.abbreviated;
        let key = (name.to_owned(), full);
        let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if !parsed.contains_key(&key) {
            let packument = self.parse(name, full)?;
            parsed.insert(key.clone(), packument);
        }
        parsed[&key].clone().ok_or_else(|| not_found(name))
    }

    fn parse(&self, name: &str, full: bool) -> Result<Option<Arc<Packument>>, FetchFailure> {
        let Some(body) = self.registry.packument(name) else { return Ok(None) };
        let body = body.map_err(|error| failure(FetchFailureKind::Unreachable, name, &error))?;
        let body = if full { document::full(&body, ORIGIN, 1.0) } else { document::abbreviated(&body, ORIGIN) };
        let body = body.map_err(|error| failure(FetchFailureKind::Invalid, name, &error))?;
        let packument = Packument::parse(&body, if full { Detail::Whole } else { Detail::Abbreviated });
        Ok(Some(Arc::new(packument.map_err(|error| failure(FetchFailureKind::Invalid, name, &error))?)))
    }

    fn version(&self, name: &str, version: &str) -> Result<String, FetchFailure> {
        let body = self.registry.packument(name).ok_or_else(|| not_found(name))?;
        let body = body.map_err(|error| failure(FetchFailureKind::Unreachable, name, &error))?;
        let document = document::version(&body, version, ORIGIN, 1.0);
        let document = document.map_err(|error| failure(FetchFailureKind::Invalid, name, &error))?;
        let document = document.ok_or_else(|| not_found(&format!("{name}/{version}")))?;
        String::from_utf8(document).map_err(|error| failure(FetchFailureKind::Invalid, name, &error))
    }

    fn tarball(&self, url: &str, folder: &Path) -> Result<Vec<u8>, FetchFailure> {
        let unreadable = |error| failure(FetchFailureKind::Unreachable, url, &error);
        if let Some(path) = url.strip_prefix("file:") {
            return fs::read(folder.join(path)).map_err(unreadable);
        }
        let path = url.strip_prefix(ORIGIN).unwrap_or(url).trim_start_matches('/');
        let recorded =
            path.split_once("/-/").and_then(|(name, file)| self.registry.tarball(&name.replace("%2f", "/"), file));
        recorded.ok_or_else(|| not_found(url))?.map(|bytes| bytes.to_vec()).map_err(unreadable)
    }
}

fn manifest(project: &Path, path: &str) -> Result<Option<String>, FetchFailure> {
    match fs::read_to_string(project.join(path).join("package.json")) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failure(FetchFailureKind::Unreachable, path, &error)),
    }
}

fn package_folders(project: &Path) -> Result<Vec<String>, FetchFailure> {
    let mut found = Vec::new();
    let mut pending = vec![String::new()];
    while let Some(path) = pending.pop() {
        let entries =
            fs::read_dir(project.join(&path)).map_err(|error| failure(FetchFailureKind::Unreachable, &path, &error))?;
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links are not followed, because they can form circles.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && name != "node_modules" {
                pending.push(if path.is_empty() { name } else { format!("{path}/{name}") });
            } else if name == "package.json" && !path.is_empty() {
                found.push(path.clone());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![String::new()];
    while let Some(within) = pending.pop() {
        for entry in fs::read_dir(folder.join(&within)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if within.is_empty() { name } else { format!("{within}/{name}") };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

fn not_found(what: &str) -> FetchFailure {
    FetchFailure { kind: FetchFailureKind::NotFound, message: format!("{what} is not recorded"), url: what.to_owned() }
}

fn failure(kind: FetchFailureKind, what: &str, error: &dyn std::error::Error) -> FetchFailure {
    FetchFailure { kind, message: format!("cannot read {what}: {error}"), url: what.to_owned() }
}
