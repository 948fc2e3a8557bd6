//! Packuments and version documents, cached. In which form they are asked for, and what came, is [`espalier_registry`]'s.
//!
//! To fetch a document and to read it are two things. One thread fetches, and whoever waits for a document has the time to
//! inflate and parse it. A document that can't be read is fetched again, which counts as another attempt.

use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use espalier_core::packument::Source;
use espalier_core::{Answer, FetchFailure, Packument};
use espalier_registry::document::{self, Form};
use espalier_registry::{Experience, Get, Trouble};

use super::request::{Received, Reply};
use super::{Asked, Registry};
use crate::activity::Activity;
use crate::body::{Encoding, Inflater};
use crate::cache::documents::{DocumentKey, Entry};
use crate::config::settings::Freshness;

/// A document that is here and that nobody has read.
#[derive(Debug)]
pub(crate) struct Unread {
    document: Document,
    came: Came,
    /// How many attempts failed before.
    attempts: u32,
}

/// A document that can't be read.
#[derive(Debug)]
pub(crate) struct Misread {
    unread: Unread,
    /// The rest of a sentence about it.
    reason: String,
}

/// A document, by what it is asked for with and kept under.
#[derive(Debug)]
struct Document {
    registry: Registry,
    get: Get,
    key: DocumentKey,
}

/// Where a document is from.
#[derive(Debug)]
enum Came {
    /// The cache had it, and it was right by itself.
    Stored(Entry),
    /// The cache had it, and the registry said that it is still right for so many seconds.
    Confirmed(Entry, u64),
    /// The registry sent it; whether it may be kept.
    New(Entry, bool),
}

impl Registry {
    /// The packument of a package, in full where that is needed.
    pub async fn packument(&self, name: &str, full: bool) -> Result<Arc<Packument>, FetchFailure> {
        self.unread_packument(name, full).await?.read_in_the_end(Unread::read_packument).await
    }

    /// The packument as its registry sent it, and its content type, for those who read it elsewhere.
    pub async fn packument_text(&self, name: &str, full: bool) -> Result<(Vec<u8>, String), FetchFailure> {
        // Whoever asks may ask again, and what was written since then is not asked of the registry.
        if let Some(cache) = &self.cache {
            cache.documents.look_again();
        }
        self.unread_packument(name, full).await?.read_in_the_end(Unread::read_packument_text).await
    }

    /// The document of one version, as JSON text. `integrity` is what the packument says of its tarball.
    pub async fn version_document(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
    ) -> Result<String, FetchFailure> {
        let read = match self.unread_version(name, version, integrity).await {
            Ok(unread) => unread.read_in_the_end(Unread::read_version).await,
            Err(failure) => Err(failure),
        };
        match read {
            Ok(text) => Ok(text),
            Err(failure) => self.version_instead(name, version, failure).await,
        }
    }

    /// The same, to be read.
    pub(crate) async fn unread_packument(&self, name: &str, full: bool) -> Result<Unread, FetchFailure> {
        let form = if full { Form::Full } else { Form::Abbreviated };
        self.unread(name, form, None).await
    }

    /// The document of one version, to be read. `integrity` is what the packument says of its tarball.
    pub(crate) async fn unread_version(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
    ) -> Result<Unread, FetchFailure> {
        let registry = self.registries.of_package(name);
        let form = self.experience().form(registry, Form::Version(version.to_owned()));
        if !form.is_final() {
            return Err(self.registries.no_such_version(name, version));
        }
        self.unread(name, form, integrity).await
    }

    /// The text of one version in the full packument, after its own document couldn't be had.
    pub(crate) async fn version_instead(
        &self,
        name: &str,
        version: &str,
        failure: FetchFailure,
    ) -> Result<String, FetchFailure> {
        let is_offline = self.is_offline();
        if Form::Version(version.to_owned()).instead(failure.kind, is_offline).is_none() {
            return Err(failure);
        }
        let packument = match self.whole_packument(name).await {
            Err(_) if is_offline => return Err(failure),
            packument => packument?,
        };
        let text = packument.find(version).map(|index| packument.manifest(index).to_owned()).ok_or(failure)?;
        if !is_offline {
            self.experience().learn(self.registries.of_package(name), false);
        }
        Ok(text)
    }

    /// The full packument. Of those who want the same one at once, the first fetches it.
    async fn whole_packument(&self, name: &str) -> Result<Arc<Packument>, FetchFailure> {
        let whole = {
            let mut wholes = self.wholes.lock().unwrap_or_else(PoisonError::into_inner);
            wholes.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
                let whole = Arc::default();
                wholes.insert(name.to_owned(), Arc::downgrade(&whole));
                whole
            })
        };
        whole.get_or_init(|| self.packument(name, true)).await.clone()
    }

    fn experience(&self) -> MutexGuard<'_, Experience> {
        self.experience.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn unread(&self, name: &str, form: Form, integrity: Option<&str>) -> Result<Unread, FetchFailure> {
        let get = self.registries.document(name, &form)?;
        let registry = self.registries.of_package(name).clone();
        let key = DocumentKey { registry, name: name.to_owned(), form, integrity: integrity.map(str::to_owned) };
        if let Some(asked) = &self.asked {
            let address = get.address.as_str().to_owned();
            let is_identified = url::Url::parse(&address).is_ok_and(|url| self.requester.clients.identify(&url));
            let is_private = get.authorization.is_some() || get.address.names_user() || is_identified;
            asked.add(Asked { key: key.clone(), address, is_private });
        }
        let stored = self.cache.as_ref().and_then(|cache| cache.documents.read(&key));
        let document = Document { registry: self.clone(), get, key };
        match stored {
            Some(entry) if self.is_usable(&document.key, &entry) => {
                Ok(Unread { document, came: Came::Stored(entry), attempts: 0 })
            }
            stored => document.fetch(stored, 0).await,
        }
    }

    /// Whether what the cache has needs no question.
    fn is_usable(&self, key: &DocumentKey, entry: &Entry) -> bool {
        match self.freshness {
            Freshness::Revalidate => false,
            Freshness::AnyAge | Freshness::CacheOnly => true,
            Freshness::Normal => key.is_final() || entry.is_fresh(),
        }
    }
}

impl Document {
    /// Asks the registry, which may say that the stored entry is still right.
    async fn fetch(mut self, stored: Option<Entry>, mut attempts: u32) -> Result<Unread, FetchFailure> {
        if self.registry.is_offline() {
            return Err(Registry::not_cached(&self.get.address));
        }
        self.get.validators = stored.as_ref().map(|entry| entry.about.validators.clone()).unwrap_or_default();
        let reply = self.registry.requester.fetch(&self.get, &mut attempts).await?;
        let came = match (reply, stored) {
            (Reply::Body(received), _) => {
                let may_be_kept = received.about.fresh_for.is_some();
                Came::New(received.into_entry(), may_be_kept)
            }
            (Reply::Unchanged { fresh_for }, Some(entry)) => Came::Confirmed(entry, fresh_for),
            (Reply::Unchanged { .. }, None) => unreachable!("nothing was asked about"),
        };
        Ok(Unread { document: self, came, attempts })
    }
}

impl Unread {
    /// What gives the text of a packument again, where that takes less memory than to keep the text.
    fn source(&self) -> Option<Source> {
        let Entry { about, body } = self.entry();
        let is_smaller = about.encoding == Encoding::Gzip && !self.document.key.form.is_final();
        let body = Arc::clone(body);
        is_smaller.then(|| {
            Source::new(move || {
                Inflater::with(|inflater| {
                    let text = Encoding::Gzip.decode(&body, document::LONGEST_MEANT, inflater).ok()?;
                    str::from_utf8(text).ok().map(Box::from)
                })
            })
        })
    }

    fn entry(&self) -> &Entry {
        let (Came::Stored(entry) | Came::Confirmed(entry, _) | Came::New(entry, _)) = &self.came;
        entry
    }

    /// Reads it, as the answer to a request.
    pub fn read(self) -> Result<(Answer, Option<Source>), Box<Misread>> {
        if self.document.key.form.is_final() {
            return self.read_version().map(|text| (Answer::VersionDocument(text), None));
        }
        let source = self.source();
        self.read_packument().map(|packument| (Answer::Packument(packument), source))
    }

    /// Reads it, and fetches it again until it can be read or there are no more attempts.
    async fn read_in_the_end<T>(mut self, read: fn(Self) -> Result<T, Box<Misread>>) -> Result<T, FetchFailure> {
        loop {
            self = match read(self) {
                Ok(document) => return Ok(document),
                Err(misread) => misread.again().await?,
            };
        }
    }

    fn read_version(self) -> Result<String, Box<Misread>> {
        // One that was kept was checked before, and its checksum is right.
        let is_checked = !matches!(self.came, Came::New(..));
        let (registry, of) = (self.document.registry.clone(), self.document.key.registry.clone());
        let read = self.read_as(|text, _| match str::from_utf8(text) {
            Ok(text) if is_checked => Ok(text.to_owned()),
            _ => document::check_version(text).map(str::to_owned),
        });
        if read.is_ok() {
            registry.experience().learn(&of, true);
        }
        read
    }

    fn read_packument(self) -> Result<Arc<Packument>, Box<Misread>> {
        let form = self.document.key.form.clone();
        self.read_as(|text, content_type| form.packument(text, content_type)).map(Arc::new)
    }

    fn read_packument_text(self) -> Result<(Vec<u8>, String), Box<Misread>> {
        let form = self.document.key.form.clone();
        self.read_as(|text, content_type| {
            // What is no packument is an answer that has to be fetched again.
            form.packument(text, content_type)?;
            Ok((text.to_vec(), content_type.to_owned()))
        })
    }

    /// Reads it, and lets the cache keep what is new and sound.
    fn read_as<T>(self, parse: impl FnOnce(&[u8], &str) -> Result<T, String>) -> Result<T, Box<Misread>> {
        let Document { registry, key, .. } = &self.document;
        let mut is_of_it = true;
        let read = decode(registry.activity(), self.entry(), |text, content_type| {
            // One that is of another publication is not kept under this one's integrity.
            is_of_it = key.integrity.as_deref().is_none_or(|integrity| holds(text, integrity));
            parse(text, content_type)
        });
        let read = match read {
            Ok(read) => read,
            Err(reason) => return Err(Box::new(Misread { unread: self, reason })),
        };
        let documents = registry.cache.as_ref().map(|cache| &cache.documents);
        if !matches!(self.came, Came::New(..)) {
            registry.activity().cached_documents.add(1);
        }
        match (self.came, documents) {
            (Came::New(entry, true), Some(documents)) if is_of_it => documents.write(key, entry),
            (Came::Confirmed(_, fresh_for), Some(documents)) => documents.confirm(key, fresh_for),
            _ => {}
        }
        Ok(read)
    }
}

impl Misread {
    /// Fetches it again. A stored one was kept by mistake, and a confirmed one, too: neither is asked about any more.
    pub async fn again(self) -> Result<Unread, FetchFailure> {
        let Unread { document, came, mut attempts } = self.unread;
        if !matches!(came, Came::Stored(_)) {
            let trouble = Trouble::Unusable(self.reason);
            document.registry.requester.wait(&document.get, &mut attempts, trouble).await?;
        }
        document.fetch(None, attempts).await
    }
}

impl Received {
    fn into_entry(self) -> Entry {
        let fresh_for = self.about.fresh_for.unwrap_or_default();
        Entry::new(self.about.content_type, self.encoding, self.about.validators, fresh_for, self.bytes)
    }
}

/// Whether an integrity stands in the text of a document.
fn holds(text: &[u8], integrity: &str) -> bool {
    memchr::memmem::find(text, integrity.as_bytes()).is_some()
}

fn decode<T>(
    activity: &Activity,
    entry: &Entry,
    parse: impl FnOnce(&[u8], &str) -> Result<T, String>,
) -> Result<T, String> {
    Inflater::with(|inflater| {
        let inflating = &activity.inflating;
        let text = inflating.time(|| entry.about.encoding.decode(&entry.body, document::LONGEST_MEANT, inflater))?;
        activity.parsing.time(|| parse(text, &entry.about.content_type))
    })
}
