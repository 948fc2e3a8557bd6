//! Packuments and version documents, cached. [`espalier_registry`] decides how to request and
//! recognise them.
//!
//! Fetching and reading a document are separate steps. One thread fetches. Whoever waits for a
//! document has time to inflate and parse it. A document that can't be read is fetched again, which
//! counts as another attempt.

use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use espalier_core::packument::Source;
use espalier_core::{Answer, FetchFailure, Packument, essentials};
use espalier_registry::document::{self, Form};
use espalier_registry::{Experience, Get, Trouble};

use super::request::{Received, Reply};
use super::wire::Protocol;
use super::{Asked, Registry};
use crate::body::{self, Encoding, Inflater};
use crate::cache::documents::{DocumentKey, Documents, Entry, Revision};
use crate::cache::recipients::{Credential, Recipient};
use crate::config::settings::Freshness;

/// An unread document.
#[derive(Debug)]
pub(crate) struct Unread {
    document: Document,
    came: Came,
    /// How many attempts failed before.
    attempts: u32,
}

/// Whether a later run can find out that it would get the same document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permanence {
    /// The document never changes.
    Final,
    /// It is the same while the cache has it in this state.
    While(Revision),
    /// Nothing shows it.
    Unknown,
}

/// A document that can't be read.
#[derive(Debug)]
pub(crate) struct Misread {
    unread: Unread,
    /// Completes a sentence about the document.
    reason: String,
}

/// A document with its request and its key in the cache.
#[derive(Debug)]
struct Document {
    registry: Registry,
    get: Get,
    key: DocumentKey,
    /// To whom the registry gives it.
    recipient: Recipient,
    /// Whether it is requested with a credential.
    is_private: bool,
}

/// A document for the cache or from it.
#[derive(Debug)]
struct Kept {
    document: Document,
    entry: Entry,
}

/// The remaining work on a packument, after the resolution has looked into it.
#[derive(Debug)]
pub(crate) struct Unsettled {
    /// Gives the text again. `None` if the packument has let its text go already.
    source: Option<Source>,
    kept: Option<Box<Kept>>,
    /// The number of manifests in the cache's summary, if there is one.
    summarised: Option<usize>,
}

/// A packument in the cache. Its summary may turn out to lack manifests that the resolution reads.
#[derive(Debug)]
pub(crate) struct Summarised {
    kept: Box<Kept>,
    packument: Arc<Packument>,
    /// The number of manifests in the summary.
    manifests: usize,
}

/// An answer, the remaining work on a packument, and whether the answer will be the same. One that
/// this run had before is `Final`, because its permanence is known.
pub(crate) type Told = (Answer, Option<Box<Unsettled>>, Permanence);

/// A packument that a resolution asked for.
type ForResolution = (Arc<Packument>, Option<Box<Unsettled>>);

/// The source of a document.
#[derive(Debug)]
enum Came {
    /// The cache, without a question to the registry.
    Stored(Entry),
    /// The cache. The registry has confirmed it for this number of seconds.
    Confirmed(Entry, u64),
    /// The registry, and whether the document may be kept.
    New(Entry, bool),
}

impl Registry {
    /// The packument of a package, in full if needed.
    pub async fn packument(&self, name: &str, full: bool) -> Result<Arc<Packument>, FetchFailure> {
        self.unread_packument(name, full).await?.read_in_the_end(Unread::read_whole_packument).await
    }

    /// The packument as its registry sent it, with its content type, for a reader elsewhere.
    pub async fn packument_text(&self, name: &str, full: bool) -> Result<(Vec<u8>, String), FetchFailure> {
        // The caller may ask again, so it should see what other processes have written since.
        if let Some(cache) = &self.cache {
            cache.documents.look_again();
        }
        self.unread_packument(name, full).await?.read_in_the_end(Unread::read_packument_text).await
    }

    /// The document of one version, as JSON text. `integrity` is that of the tarball, by the
    /// packument.
    pub async fn version_document(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
    ) -> Result<String, FetchFailure> {
        let read = match self.unread_version(name, version, integrity).await {
            Ok(unread) => unread.read_in_the_end(Unread::read_whole_version).await,
            Err(failure) => Err(failure),
        };
        match read {
            Ok(text) => Ok(text),
            Err(failure) => self.version_instead(name, version, failure).await,
        }
    }

    /// The same, unread.
    pub(crate) async fn unread_packument(&self, name: &str, full: bool) -> Result<Unread, FetchFailure> {
        let form = if full { Form::Full } else { Form::Abbreviated };
        self.unread(name, form, None).await
    }

    /// The unread document of one version. `integrity` is that of the tarball, by the packument.
    pub(crate) async fn unread_version(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
    ) -> Result<Unread, FetchFailure> {
        self.unread(name, self.form_of_version(name, version)?, integrity).await
    }

    /// The form of the document of a version, unless the registry is known to have no such documents.
    fn form_of_version(&self, name: &str, version: &str) -> Result<Form, FetchFailure> {
        let registry = self.registries.of_package(name);
        let form = self.experience().form(registry, Form::Version(version.to_owned()));
        if form.is_of_version() { Ok(form) } else { Err(self.registries.no_such_version(name, version)) }
    }

    /// The unread document of a version that a dependent names exactly. `None` if the cache has a
    /// packument instead that may be used without asking the registry: a version that doesn't exist
    /// would be asked for in each run otherwise. A snapshot is for those who have no such packument.
    pub(crate) async fn unread_manifest(&self, name: &str, version: &str) -> Result<Option<Unread>, FetchFailure> {
        let (document, stored) = self.looked_up(name, self.form_of_version(name, version)?, None)?;
        let is_usable = stored.as_ref().is_some_and(|entry| self.is_usable(&document, entry));
        if !is_usable && !self.notes_documents() && self.has_packument(name)? {
            return Ok(None);
        }
        self.stored_or_fetched(document, stored).await.map(Some)
    }

    /// Whether the cache has a packument that may be used without asking the registry.
    fn has_packument(&self, name: &str) -> Result<bool, FetchFailure> {
        // Thousands of packages are asked for in the first run.
        if self.cache.as_ref().is_none_or(|cache| cache.documents.is_empty()) {
            return Ok(false);
        }
        let (document, stored) = self.looked_up(name, Form::Abbreviated, None)?;
        Ok(stored.is_some_and(|entry| self.is_usable(&document, &entry)))
    }

    /// Whether the packument may have a version, though its document could not be fetched.
    pub(crate) fn has_no_document(&self, name: &str, version: &str, failure: &FetchFailure) -> bool {
        let is_offline = self.is_offline();
        let may_have = Form::Version(version.to_owned()).instead(failure.kind, is_offline).is_some();
        if may_have && !is_offline {
            self.experience().note_refusal(name, version);
        }
        may_have
    }

    /// The manifest of one version in the full packument, for a registry without its document.
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

    /// The full packument. If several callers want the same one at once, the first fetches it.
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
        let (document, stored) = self.looked_up(name, form, integrity)?;
        self.stored_or_fetched(document, stored).await
    }

    async fn stored_or_fetched(&self, document: Document, stored: Option<Entry>) -> Result<Unread, FetchFailure> {
        if let Some(asked) = &self.asked {
            let (address, is_private) = (document.get.address.as_str().to_owned(), document.is_private);
            asked.add(Asked { key: document.key.clone(), address, is_private });
        }
        match stored {
            Some(entry) if self.is_usable(&document, &entry) => {
                Ok(Unread { document, came: Came::Stored(entry), attempts: 0 })
            }
            // In a box, because a task that only reads the cache would be as large otherwise, and
            // is moved several times.
            stored => Box::pin(document.fetch(stored, 0)).await,
        }
    }

    /// A document and its entry in the cache.
    fn looked_up(
        &self,
        name: &str,
        form: Form,
        integrity: Option<&str>,
    ) -> Result<(Document, Option<Entry>), FetchFailure> {
        let get = self.registries.document(name, &form)?;
        let registry = self.registries.of_package(name).clone();
        let key = DocumentKey { registry, name: name.to_owned(), form, integrity: integrity.map(str::to_owned) };
        let credential = Credential {
            authorization: get.authorization.as_deref(),
            address: get.address.names_user().then(|| key.registry.as_str()),
            certificate: self.requester.clients.certificate(&get.address),
        };
        let is_private = !credential.is_absent();
        let recipient = self.cache.as_ref().map_or(Recipient::ANYBODY, |cache| cache.recipients.of(credential));
        let stored = self.cache.as_ref().and_then(|cache| cache.documents.read(&key));
        Ok((Document { registry: self.clone(), get, key, recipient, is_private }, stored))
    }

    /// Whether the cached document may be used without asking the registry. One that the registry
    /// gave to another user may not, except where there is no registry to ask.
    fn is_usable(&self, document: &Document, entry: &Entry) -> bool {
        let is_final = document.key.is_final();
        // The integrity of a version's document comes from a packument that the registry has given
        // to us. That is enough, except for a snapshot, which is for everyone.
        let is_for_us = entry.about.recipient == document.recipient || (is_final && !self.notes_documents());
        match self.freshness {
            Freshness::Revalidate => false,
            Freshness::AnyAge => is_for_us,
            Freshness::CacheOnly => true,
            Freshness::Normal => is_for_us && (is_final || entry.is_fresh()),
        }
    }
}

impl Document {
    /// Asks the registry, which may confirm the stored entry.
    async fn fetch(mut self, stored: Option<Entry>, mut attempts: u32) -> Result<Unread, FetchFailure> {
        if self.registry.is_offline() {
            return Err(Registry::not_cached(&self.get.address));
        }
        self.get.validators = stored.as_ref().map(|entry| entry.about.validators.clone()).unwrap_or_default();
        let reply = self.registry.requester.fetch(&self.get, Protocol::Either, &mut attempts).await?;
        let came = match (reply, stored) {
            (Reply::Body(received), _) => {
                let may_be_kept = received.about.fresh_for.is_some();
                Came::New(received.into_entry(self.recipient), may_be_kept)
            }
            (Reply::Unchanged { fresh_for }, Some(mut entry)) => {
                entry.about.recipient = self.recipient;
                Came::Confirmed(entry, fresh_for)
            }
            (Reply::Unchanged { .. }, None) => unreachable!("nothing was asked about"),
        };
        Ok(Unread { document: self, came, attempts })
    }
}

impl Unread {
    /// A source that gives the text of a packument again, if that takes less memory than the text.
    /// Without the text, the resolution has no true result; the cache counts the damage.
    fn source(&self) -> Option<Source> {
        let Entry { about, body, .. } = self.entry();
        let is_smaller = about.encoding == Encoding::Gzip && !self.document.key.form.is_of_version();
        let (body, cache) = (body.clone(), self.document.registry.cache.clone());
        let text = move || {
            let inflate = |bytes: Bytes| {
                Inflater::with(|inflater| {
                    let text = Encoding::Gzip.decode(&bytes, document::LONGEST_MEANT, inflater).ok()?;
                    Some(text.to_vec())
                })
            };
            let text = body.read().and_then(inflate);
            if let (None, Some(cache)) = (&text, &cache) {
                cache.documents.found_damaged(&body);
            }
            text
        };
        is_smaller.then(|| Source::new(text))
    }

    /// The length of its body in bytes, as it was sent, or 0 if the body need not be read.
    pub fn length(&self) -> usize {
        if self.is_prepared() { 0 } else { self.entry().body.length() }
    }

    /// Whether the registry has sent or confirmed it now.
    pub fn is_sent(&self) -> bool {
        !matches!(self.came, Came::Stored(_))
    }

    /// Whether reading it is cheap.
    pub fn is_prepared(&self) -> bool {
        !self.entry().summary.is_empty()
    }

    /// Whether a later run can find out that it would get the same document, if it is the document
    /// of its key.
    fn permanence(&self) -> Permanence {
        let key = &self.document.key;
        match &self.came {
            Came::New(_, false) => Permanence::Unknown,
            _ if key.is_final() => Permanence::Final,
            _ => Permanence::While(Documents::revision(key, self.entry())),
        }
    }

    fn entry(&self) -> &Entry {
        let (Came::Stored(entry) | Came::Confirmed(entry, _) | Came::New(entry, _)) = &self.came;
        entry
    }

    /// Reads it, as the answer to a request.
    pub fn read(self) -> Result<Told, Box<Misread>> {
        let permanence = self.permanence();
        if self.document.key.form.is_of_version() {
            let (text, is_of_key) = self.read_version()?;
            let permanence = if is_of_key { permanence } else { Permanence::Unknown };
            return Ok((Answer::VersionDocument(text), None, permanence));
        }
        let (packument, unsettled) = self.read_packument()?;
        Ok((Answer::Packument(packument), unsettled, permanence))
    }

    /// Reads it. An unreadable document is fetched again while there are attempts left.
    async fn read_in_the_end<T>(mut self, read: fn(Self) -> Result<T, Box<Misread>>) -> Result<T, FetchFailure> {
        loop {
            self = match read(self) {
                Ok(document) => return Ok(document),
                Err(misread) => misread.again().await?,
            };
        }
    }

    /// The document of a version, as far as a resolution reads it, and whether it is of the
    /// publication that was asked for.
    fn read_version(self) -> Result<(String, bool), Box<Misread>> {
        if self.is_prepared()
            && let Some(text) = essentials::document(&self.entry().summary)
        {
            self.note_use();
            self.document.registry.experience().learn(&self.document.key.registry, true);
            return Ok((text, true));
        }
        let (summary, kept, is_of_key) = self.read_version_as(|text| {
            let text = str::from_utf8(text).map_err(|error| format!("is not text: {error}"))?;
            essentials::summary(text).map_err(|error| format!("is not the document of a version: {error}"))
        })?;
        if let Some(kept) = kept {
            kept.keep(summary.clone());
        }
        Ok((essentials::document(&summary).expect("a summary that was just made"), is_of_key))
    }

    fn read_whole_version(self) -> Result<String, Box<Misread>> {
        let (text, kept, _) = self.read_version_as(|text| document::check_version(text).map(str::to_owned))?;
        if let Some(kept) = kept {
            kept.keep(Vec::new());
        }
        Ok(text)
    }

    fn read_version_as<T>(
        self,
        read: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<(T, Option<Kept>, bool), Box<Misread>> {
        let (registry, of) = (self.document.registry.clone(), self.document.key.registry.clone());
        let mut is_of_key = true;
        let (document, read) = self.read_as(|document, entry| {
            document.decoded(entry, |text| {
                // A document of another publication must not be kept under this integrity.
                is_of_key = document.key.integrity.as_deref().is_none_or(|integrity| holds(text, integrity));
                read(text)
            })
        })?;
        registry.experience().learn(&of, true);
        Ok((document, read.into_new().filter(|_| is_of_key), is_of_key))
    }

    fn read_packument(self) -> Result<ForResolution, Box<Misread>> {
        let source = self.source();
        let Some(source) = source else { return self.read_whole_packument().map(|packument| (packument, None)) };
        if self.is_prepared()
            && let Some(packument) = Packument::from_summary(&self.entry().summary, source)
        {
            self.note_use();
            self.learn_from(&packument);
            let kept = self.into_kept().map(Box::new);
            let unsettled = Unsettled { source: None, kept, summarised: Some(packument.known_manifests()) };
            return Ok((Arc::new(packument), Some(Box::new(unsettled))));
        }
        let source = self.source();
        let (packument, read) = self.read_as(Document::packument)?;
        read.learn_from(&packument);
        // The cache has no summary of a stored packument that this version of the program can read.
        let summarised = (!matches!(read.came, Came::New(..))).then_some(0);
        let kept = read.into_kept().map(Box::new);
        let unsettled = source.is_some().then(|| Box::new(Unsettled { source, kept, summarised }));
        Ok((Arc::new(packument), unsettled))
    }

    /// The packument with its whole text, because the caller wants more of it than a resolution
    /// does.
    fn read_whole_packument(self) -> Result<Arc<Packument>, Box<Misread>> {
        let (packument, read) = self.read_as(Document::packument)?;
        read.learn_from(&packument);
        if let Some(kept) = read.into_new() {
            kept.keep(Vec::new());
        }
        Ok(Arc::new(packument))
    }

    fn read_packument_text(self) -> Result<(Vec<u8>, String), Box<Misread>> {
        let (text, read) = self.read_as(|document, entry| {
            document.decoded(entry, |text| {
                let content_type = &entry.about.content_type;
                // An answer that isn't a packument has to be fetched again.
                document.key.form.packument(text, content_type)?;
                Ok((text.to_vec(), content_type.clone()))
            })
        })?;
        if let Some(kept) = read.into_new() {
            kept.keep(Vec::new());
        }
        Ok(text)
    }

    /// Reads it.
    fn read_as<T>(self, read: impl FnOnce(&Document, &Entry) -> Result<T, String>) -> Result<(T, Self), Box<Misread>> {
        match read(&self.document, self.entry()) {
            Ok(read) => {
                self.note_use();
                Ok((read, self))
            }
            Err(reason) => Err(Box::new(Misread { unread: self, reason })),
        }
    }

    /// The document for the cache, if it is new and may be kept.
    fn into_new(self) -> Option<Kept> {
        matches!(self.came, Came::New(..)).then(|| self.into_kept()).flatten()
    }

    /// The document, if the cache has it or may have it.
    fn into_kept(self) -> Option<Kept> {
        match self.came {
            Came::New(_, false) => None,
            Came::Stored(entry) | Came::Confirmed(entry, _) | Came::New(entry, true) => {
                Some(Kept { document: self.document, entry })
            }
        }
    }

    /// Lets the run learn which documents of versions the registry refuses.
    fn learn_from(&self, packument: &Packument) {
        let Document { registry, key, .. } = &self.document;
        registry.experience().learn_from(&key.registry, &key.name, packument);
    }

    /// Counts answers from the cache, and tells the cache what the registry has confirmed.
    fn note_use(&self) {
        let Document { registry, key, recipient, .. } = &self.document;
        if !matches!(self.came, Came::New(..)) {
            registry.activity().cached_documents.add(1);
        }
        if let (Came::Confirmed(_, fresh_for), Some(cache)) = (&self.came, &registry.cache) {
            cache.documents.confirm(key, *recipient, *fresh_for);
        }
    }
}

impl Document {
    /// Reads a text that nobody needs afterwards.
    fn decoded<T>(&self, entry: &Entry, read: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<T, String> {
        let activity = self.registry.activity();
        Inflater::with(|inflater| {
            let (encoding, body) = entry.encoded()?;
            let inflating = &activity.inflating;
            let text = inflating.time(|| encoding.decode(&body, document::LONGEST_MEANT, inflater))?;
            activity.parsing.time(|| read(text))
        })
    }

    fn packument(&self, entry: &Entry) -> Result<Packument, String> {
        let activity = self.registry.activity();
        let (encoding, body) = entry.encoded()?;
        let decode = |inflater: &mut _| encoding.decode_to_keep(&body, document::LONGEST_MEANT, inflater);
        let (memory, length) = activity.inflating.time(|| Inflater::with(decode))?;
        let detail = self.key.form.detail(&entry.about.content_type);
        let parse = || Packument::parse_in(memory, length, detail);
        activity.parsing.time(parse).map_err(|error| format!("is {error}"))
    }
}

impl Kept {
    fn keep(self, summary: Vec<u8>) {
        let Document { registry, key, .. } = &self.document;
        if let Some(cache) = &registry.cache {
            cache.documents.write(key, Entry { summary: summary.into(), ..self.entry });
        }
    }

    /// The same, for an entry that may be written again.
    fn write(&self, summary: Vec<u8>) {
        let Document { registry, key, .. } = &self.document;
        if let Some(cache) = &registry.cache {
            cache.documents.write(key, Entry { summary: summary.into(), ..self.entry.clone() });
        }
    }
}

impl Unsettled {
    /// Lets the text go. The cache keeps a summary of a new document, which is quicker to read.
    pub fn settle(self, packument: Arc<Packument>) -> Option<Summarised> {
        if let Some(source) = self.source
            && let Some(memory) = packument.settle(source)
        {
            body::recycle(memory);
        }
        let kept = self.kept?;
        let manifests = self.summarised.unwrap_or_else(|| {
            kept.write(packument.summary());
            packument.known_manifests()
        });
        Some(Summarised { kept, packument, manifests })
    }
}

impl Summarised {
    /// Writes the summary again if the resolution has read more manifests than it has. Otherwise
    /// each later run would inflate the packument for them. A manifest from a damaged body is
    /// wrong, so damage in the cache prevents it.
    pub fn complete(self) {
        let Kept { document: Document { registry, key, .. }, entry } = *self.kept;
        if let Some(cache) = &registry.cache
            && self.packument.known_manifests() > self.manifests
            && cache.documents.found_damage() == 0
        {
            cache.documents.summarise(&key, Entry { summary: self.packument.summary().into(), ..entry });
        }
    }
}

impl Misread {
    /// Fetches it again, without validators, because a stored or confirmed document that can't be
    /// read was kept by mistake.
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
    fn into_entry(self, recipient: Recipient) -> Entry {
        let espalier_registry::Received { content_type, validators, fresh_for } = self.about;
        Entry::new(content_type, self.encoding, validators, fresh_for.unwrap_or_default(), recipient, self.bytes)
    }
}

/// Whether the text of a document contains an integrity. A search for texts in general first
/// examines what it searches for, which takes longer than the search in a document of a version.
fn holds(text: &[u8], integrity: &str) -> bool {
    let integrity = integrity.as_bytes();
    let Some(&first) = integrity.first() else { return true };
    memchr::memchr_iter(first, text).any(|at| text[at..].starts_with(integrity))
}

#[cfg(test)]
mod tests;
