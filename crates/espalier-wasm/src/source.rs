//! Answers each kind of request from the project's files or over the network.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use espalier_core::{
    Answer, FetchFailure, FetchFailureKind, Packument, PackumentForm, Request, TarballListing, Urgency,
};
use espalier_package::archive::{self, ArchiveError, Limits};
use espalier_package::identity::package_of;
use espalier_registry::document::{self, Form};
use rustc_hash::FxHashMap;

use crate::files::Files;
use crate::network::Network;
use crate::queue::Queue;
use crate::resting;

/// The source of a run's answers.
pub struct Source {
    files: Files,
    network: Network,
    /// The full packuments that are being fetched, by name.
    wholes: RefCell<FxHashMap<String, Rc<AwaitedPackument>>>,
}

/// A full packument, once it has come.
#[derive(Default)]
struct AwaitedPackument {
    answer: RefCell<Option<Result<Found, FetchFailure>>>,
    is_there: Queue<()>,
}

type Found = (Arc<Packument>, Life);

/// The length of a document, and until when it can be used without asking.
type Life = (usize, f64);

impl Source {
    /// `files` are the project's. Everything else comes over the network.
    pub fn new(files: Files, network: Network) -> Self {
        Self { files, network, wholes: RefCell::default() }
    }

    /// The answer to a request if it needs no waiting: a document that an earlier run has parsed.
    pub fn at_hand(&self, request: &Request) -> Option<Answer> {
        self.network.recent(request)
    }

    /// Gets the answer to a request.
    pub async fn answer(&self, request: &Request, urgency: Urgency) -> Result<Answer, FetchFailure> {
        match request {
            Request::Packument { name, form } => {
                let (packument, life) = self.packument(name, *form, urgency).await?;
                Ok(self.kept(request, Answer::Packument(packument), life))
            }
            Request::Manifest { name, version } => {
                match self.version_document(name, version, None, false, urgency).await {
                    Ok((text, fresh_until)) => {
                        let life = (text.len(), fresh_until);
                        Ok(self.kept(request, Answer::VersionDocument(text), life))
                    }
                    Err(failure) if replacement(version, &failure).is_some() => {
                        if failure.kind != FetchFailureKind::NotCached {
                            self.network.experience().borrow_mut().note_refusal(name, version);
                        }
                        Ok(Answer::NoDocument)
                    }
                    Err(failure) => Err(failure),
                }
            }
            Request::VersionDocument { name, version, integrity } => {
                let integrity = integrity.as_deref();
                let (text, fresh_until) = self.version_document(name, version, integrity, true, urgency).await?;
                // A version with the integrity of its packument never changes.
                let is_final = integrity.is_some_and(|integrity| text.contains(integrity));
                let life = (text.len(), if is_final { f64::INFINITY } else { fresh_until });
                Ok(self.kept(request, Answer::VersionDocument(text), life))
            }
            Request::Tarball { url, integrity } => {
                if !(url.starts_with('/') || url.starts_with("https://") || url.starts_with("http://")) {
                    return Err(unsupported(url));
                }
                let tarball = self.network.tarball(url, &package_of(url), integrity.as_deref(), urgency).await?;
                let listed = archive::list(&tarball.bytes, Limits::default());
                let (files, manifests) = listed.map_err(|error| FetchFailure {
                    kind: FetchFailureKind::Invalid,
                    message: format!("the tarball can't be used: {}", problem(error)),
                    url: tarball.url,
                })?;
                Ok(Answer::Tarball(TarballListing { integrity: tarball.integrity, files, manifests }))
            }
            Request::Git { urls, .. } => Err(unsupported(urls.first().map(String::as_str).unwrap_or_default())),
            local => Ok(self.files.answer(local)),
        }
    }

    /// Keeps an answer for the next run, if there is room.
    fn kept(&self, request: &Request, answer: Answer, (bytes, fresh_until): Life) -> Answer {
        self.network.remember(request, &answer, bytes, fresh_until);
        answer
    }

    async fn packument(&self, name: &str, form: PackumentForm, urgency: Urgency) -> Result<Found, FetchFailure> {
        let forms = Form::answering(form);
        let (mut packument, mut bytes) = (None, 0);
        let mut read = |text: &[u8], content_type: &str| {
            // If there are two forms, both are read in the same way.
            packument = Some(forms[0].packument(text, content_type)?);
            bytes = text.len();
            Ok(())
        };
        let fresh_until = self.network.document(name, forms, None, urgency, &mut read).await?;
        let packument = Arc::new(packument.expect("it was read"));
        let registry = self.network.registries().of_package(name);
        self.network.experience().borrow_mut().learn_packument(registry, name, &packument);
        resting::awake(Arc::downgrade(&packument), bytes);
        Ok((packument, (bytes, fresh_until)))
    }

    /// The full packument. If several requests need the same one, the first fetches it.
    async fn whole_packument(&self, name: &str, urgency: Urgency) -> Result<Found, FetchFailure> {
        let under_way = self.wholes.borrow().get(name).cloned();
        if let Some(whole) = under_way {
            whole.is_there.closed().await;
            return whole.answer.borrow().clone().expect("it is there");
        }
        let whole = Rc::<AwaitedPackument>::default();
        self.wholes.borrow_mut().insert(name.to_owned(), Rc::clone(&whole));
        let answer = self.packument(name, PackumentForm::Full, urgency).await;
        self.wholes.borrow_mut().remove(name);
        *whole.answer.borrow_mut() = Some(answer.clone());
        whole.is_there.close();
        answer
    }

    /// The document of a version. If it only completes an abbreviated manifest, the version's part of
    /// the full packument takes its place if the registry has no such document.
    async fn version_document(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
        completes: bool,
        urgency: Urgency,
    ) -> Result<(String, f64), FetchFailure> {
        let registries = self.network.registries();
        let registry = registries.of_package(name);
        let experience = self.network.experience();
        let form = experience.borrow().form(registry, Form::Version(version.to_owned()));
        let mut refusal = registries.no_such_version(name, version);
        if form.is_of_version() {
            // The document is checked for JSON here, where it can still be fetched again.
            let mut document = String::new();
            let mut read = |text: &[u8], _: &str| {
                document::check_version(text)?.clone_into(&mut document);
                Ok(())
            };
            match self.network.document(name, &[form], integrity, urgency, &mut read).await {
                Ok(fresh_until) => {
                    experience.borrow_mut().learn_document(registry);
                    return Ok((document, fresh_until));
                }
                Err(failure) => refusal = failure,
            }
        }
        if !completes || replacement(version, &refusal).is_none() {
            return Err(refusal);
        }
        let (packument, (_, fresh_until)) = match self.whole_packument(name, urgency).await {
            Ok(found) => found,
            Err(failure) if failure.kind == FetchFailureKind::NotCached => return Err(refusal),
            Err(failure) => return Err(failure),
        };
        let Some(index) = packument.find(version) else { return Err(refusal) };
        if refusal.kind != FetchFailureKind::NotCached {
            experience.borrow_mut().learn_refusal(registry);
        }
        Ok((packument.manifest(index).to_owned(), fresh_until))
    }
}

/// The document to ask for instead of that of a version, after this failure.
fn replacement(version: &str, failure: &FetchFailure) -> Option<Form> {
    Form::Version(version.to_owned()).instead(failure.kind, true)
}

/// The problem of an archive, as text.
pub fn problem(error: ArchiveError<String>) -> String {
    match error {
        ArchiveError::Unreadable(reason) => format!("it is not a readable tarball: {reason}"),
        ArchiveError::TooLarge(what) | ArchiveError::Receiver(what) => format!("it contains more than {what}"),
        ArchiveError::Empty => "it contains no files".to_owned(),
    }
}

/// The failure for a spec that needs more than HTTP.
pub fn unsupported(url: &str) -> FetchFailure {
    let remedy = if url.starts_with("file:") {
        "Tarballs can't be given as text; use a folder, or an https: address."
    } else {
        "Use a version from a registry, or the https: address of a tarball whose host allows other origins (CORS)."
    };
    let message = format!("{url} can't be fetched here: JavaScript reaches only http(s). {remedy}");
    FetchFailure { kind: FetchFailureKind::Unsupported, message, url: url.to_owned() }
}
