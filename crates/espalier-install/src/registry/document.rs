//! Packuments and version documents, cached.
//!
//! Abbreviated packuments are asked for, because they are several times smaller; a registry that doesn't know them sends
//! full ones, which the content type tells. A registry that can't give the document of one version is asked for the full
//! packument instead, and the version is taken from there: the answer is the same.

use std::sync::Arc;

use espalier_core::{FetchFailure, FetchFailureKind, Packument};
use serde::de::IgnoredAny;
use url::Url;

use super::Registry;
use super::request::{Get, Received, Reply, Validators};
use crate::activity::Activity;
use crate::cache::documents::{DocumentKey, Entry, Form};
use crate::config::settings::Freshness;

const ABBREVIATED: &str = "application/vnd.npm.install-v1+json";
const ACCEPT_ABBREVIATED: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
const ACCEPT_FULL: &str = "application/json";

/// The longest document as it is sent, and as it is meant. The largest of npm's own are a fifth of that.
const LONGEST_SENT: u64 = 256 << 20;
const LONGEST_MEANT: u64 = 1 << 30;

type Decode<T> = fn(&[u8], &str) -> Result<T, String>;

impl Registry {
    /// The packument of a package, in full where that is needed.
    pub async fn packument(&self, name: &str, full: bool) -> Result<Arc<Packument>, FetchFailure> {
        let form = if full { Form::Full } else { Form::Abbreviated };
        self.document(name, form, |text, content_type| {
            let abbreviated = content_type.trim_start().starts_with(ABBREVIATED);
            Packument::parse(text, abbreviated).map(Arc::new).map_err(|error| format!("is {error}"))
        })
        .await
    }

    /// The document of one version, as JSON text.
    pub async fn version_document(&self, name: &str, version: &str) -> Result<String, FetchFailure> {
        let document = self.document(name, Form::Version(version.to_owned()), |text, _| {
            let text = str::from_utf8(text).map_err(|error| format!("is not text: {error}"))?;
            match serde_json::from_str::<IgnoredAny>(text) {
                Ok(_) if text.trim_start().starts_with('{') => Ok(text.to_owned()),
                Ok(_) => Err("is not the document of a version".to_owned()),
                Err(error) => Err(format!("is not the document of a version: {error}")),
            }
        });
        match document.await {
            Err(failure) if matches!(failure.kind, FetchFailureKind::NotFound | FetchFailureKind::Status(_)) => {
                self.version_in_packument(name, version).await?.ok_or(failure)
            }
            result => result,
        }
    }

    async fn version_in_packument(&self, name: &str, version: &str) -> Result<Option<String>, FetchFailure> {
        let parse: Decode<Packument> = |text, _| Packument::parse(text, false).map_err(|error| format!("is {error}"));
        let packument = self.document(name, Form::Full, parse).await?;
        Ok(packument.find(version).map(|index| packument.manifest(index).to_owned()))
    }

    async fn document<T: Send + 'static>(&self, name: &str, form: Form, parse: Decode<T>) -> Result<T, FetchFailure> {
        let registry = self.registries.of_package(name);
        let get = self.get(registry, name, &form)?;
        let key = DocumentKey { registry: registry.clone(), name: name.to_owned(), form };
        let document = Document { registry: self.clone(), get, key, parse };
        let stored = match self.read_stored(&document).await {
            Some(Stored::Usable(document)) => return Ok(document),
            Some(Stored::Stale(entry)) => Some(entry),
            None => None,
        };
        if self.freshness == Freshness::CacheOnly {
            return Err(Registry::not_cached(&document.get.url));
        }
        document.fetch(stored).await
    }

    fn get(&self, registry: &Url, name: &str, form: &Form) -> Result<Get, FetchFailure> {
        let (version, accept) = match form {
            Form::Abbreviated => (None, ACCEPT_ABBREVIATED),
            Form::Full => (None, ACCEPT_FULL),
            Form::Version(version) => (Some(version), ACCEPT_FULL),
        };
        let mut url = registry.clone();
        let steps = std::iter::once(name).chain(version.map(String::as_str)).map(path_step).collect::<Option<Vec<_>>>();
        let steps = steps.ok_or_else(|| FetchFailure {
            kind: FetchFailureKind::Invalid,
            message: format!("`{}` cannot be the name of a package", super::failure::printable(name)),
            url: super::failure::shown(registry),
        })?;
        url.set_path(&format!("{}{}", registry.path(), steps.join("/")));
        let authorization = self.registries.authorization(&url, name);
        Ok(Get { url, accept, authorization, validators: Validators::default(), limit: LONGEST_SENT })
    }

    /// What the cache has.
    async fn read_stored<T: Send + 'static>(&self, document: &Document<T>) -> Option<Stored<T>> {
        let cache = self.cache.clone()?;
        let any_age = matches!(self.freshness, Freshness::AnyAge | Freshness::CacheOnly);
        let never = self.freshness == Freshness::Revalidate;
        let (key, parse, activity) = (document.key.clone(), document.parse, self.requester.activity.clone());
        let read = tokio::task::spawn_blocking(move || {
            let entry = cache.documents.read(&key)?;
            if never || !(any_age || entry.is_fresh()) {
                return Some(Stored::Stale(Arc::new(entry)));
            }
            // A body that passes its checksum and yet can't be parsed was kept by mistake: it is fetched again.
            let document = decode(&activity, &entry, parse).ok()?;
            activity.cached_documents.add(1);
            Some(Stored::Usable(document))
        });
        read.await.ok().flatten()
    }
}

/// One step of a path. Names come from manifests that anyone may have written: none may lead away from its registry.
fn path_step(text: &str) -> Option<String> {
    let harmless = !matches!(text, "" | "." | "..") && !text.contains(['?', '#', '%', '\\']);
    harmless.then(|| text.replace('/', "%2f"))
}

enum Stored<T> {
    Usable(T),
    Stale(Arc<Entry>),
}

/// One document on its way.
struct Document<T> {
    registry: Registry,
    get: Get,
    key: DocumentKey,
    parse: Decode<T>,
}

impl<T: Send + 'static> Document<T> {
    /// Asks the registry, which may say that the stored entry is still right.
    async fn fetch(mut self, stored: Option<Arc<Entry>>) -> Result<T, FetchFailure> {
        self.get.validators = stored.as_ref().map(|entry| entry.about.validators.clone()).unwrap_or_default();
        let Self { registry, get, key, parse } = self;
        let (activity, for_entry) = (registry.requester.activity.clone(), key.clone());
        let decoded = registry.requester.get(&get, move |reply| match reply {
            Reply::Unchanged { fresh_for } => {
                let entry = stored.as_ref().ok_or("is empty")?.as_ref().clone().confirmed(fresh_for);
                activity.cached_documents.add(1);
                Ok((decode(&activity, &entry, parse)?, Some(entry)))
            }
            Reply::Body(received) => {
                let keep = received.fresh_for;
                let entry = received.into_entry(&for_entry);
                Ok((decode(&activity, &entry, parse)?, keep.map(|_| entry)))
            }
        });
        let (document, entry) = decoded.await?;
        if let (Some(cache), Some(entry)) = (&registry.cache, entry) {
            cache.documents.write(&key, entry);
        }
        Ok(document)
    }
}

impl Received {
    fn into_entry(self, key: &DocumentKey) -> Entry {
        let fresh_for = self.fresh_for.unwrap_or_default();
        Entry::new(key, self.content_type, self.encoding, self.validators, fresh_for, self.bytes)
    }
}

fn decode<T>(activity: &Activity, entry: &Entry, parse: Decode<T>) -> Result<T, String> {
    let text = activity.inflating.time(|| entry.about.encoding.decode(&entry.body, LONGEST_MEANT))?;
    activity.parsing.time(|| parse(&text, &entry.about.content_type))
}
