//! Reads documents: whole, or as far as a resolution needs them.
//!
//! A document that can't be read is fetched again, which counts as another attempt.

use std::sync::Arc;

use bytes::Bytes;
use espalier_core::packument::Source;
use espalier_core::{Answer, FetchFailure, Packument, essentials};
use espalier_registry::Trouble;
use espalier_registry::document;

use super::keeping::{Kept, Unsettled};
use super::{Document, Permanence, Provenance, Unread};
use crate::body::{Encoding, Inflater};
use crate::cache::documents::Entry;

/// A document that can't be read.
#[derive(Debug)]
pub(crate) struct Misread {
    unread: Unread,
    /// Completes a sentence about the document.
    reason: String,
}

/// An answer, the remaining work on a packument, and whether the answer will be the same. One that
/// this run had before is `Final`, because its permanence is known.
pub(crate) type ReadAnswer = (Answer, Option<Box<Unsettled>>, Permanence);

/// A packument that a resolution asked for.
type ForResolution = (Arc<Packument>, Option<Box<Unsettled>>);

impl Unread {
    /// Reads it, as the answer to a request.
    pub fn read(self) -> Result<ReadAnswer, Box<Misread>> {
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
    pub(super) async fn read_in_the_end<T>(
        mut self,
        read: fn(Self) -> Result<T, Box<Misread>>,
    ) -> Result<T, FetchFailure> {
        loop {
            self = match read(self) {
                Ok(document) => return Ok(document),
                Err(misread) => misread.again().await?,
            };
        }
    }

    /// The document of a version, as far as a resolution reads it, and whether it is of the
    /// publication that was asked for.
    pub(super) fn read_version(self) -> Result<(String, bool), Box<Misread>> {
        if self.is_prepared()
            && let Some(text) = essentials::document(&self.entry().summary)
        {
            self.note_use();
            self.document.learn_of_version();
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

    pub(super) fn read_whole_version(self) -> Result<String, Box<Misread>> {
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
        let mut is_of_key = true;
        let (document, read) = self.read_as(|document, entry| {
            document.decoded(entry, |text| {
                // A document of another publication must not be kept under this integrity.
                is_of_key = document.key.integrity.as_deref().is_none_or(|integrity| holds(text, integrity));
                read(text)
            })
        })?;
        read.document.learn_of_version();
        Ok((document, read.into_new().filter(|_| is_of_key), is_of_key))
    }

    pub(super) fn read_packument(self) -> Result<ForResolution, Box<Misread>> {
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
        let summarised = (!matches!(read.came, Provenance::New(..))).then_some(0);
        let kept = read.into_kept().map(Box::new);
        let unsettled = source.is_some().then(|| Box::new(Unsettled { source, kept, summarised }));
        Ok((Arc::new(packument), unsettled))
    }

    /// The packument with its whole text, because the caller wants more of it than a resolution
    /// does.
    pub(super) fn read_whole_packument(self) -> Result<Arc<Packument>, Box<Misread>> {
        let (packument, read) = self.read_as(Document::packument)?;
        read.learn_from(&packument);
        if let Some(kept) = read.into_new() {
            kept.keep(Vec::new());
        }
        Ok(Arc::new(packument))
    }

    pub(super) fn read_packument_text(self) -> Result<(Vec<u8>, String), Box<Misread>> {
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

    /// Lets the run learn which documents of versions the registry refuses, and how long its
    /// packuments are.
    fn learn_from(&self, packument: &Packument) {
        let Document { registry, key, .. } = &self.document;
        registry.experience().learn_packument(&key.registry, &key.name, packument);
    }

    /// Counts answers from the cache, and tells the cache what the registry has confirmed.
    fn note_use(&self) {
        let Document { registry, key, recipient, .. } = &self.document;
        if !matches!(self.came, Provenance::New(..)) {
            registry.activity().cached_documents.add(1);
        }
        if let (Provenance::Confirmed(_, fresh_for), Some(cache)) = (&self.came, &registry.cache) {
            cache.documents.confirm(key, *recipient, *fresh_for);
        }
    }
}

impl Document {
    /// Lets the run learn that the registry has documents of versions.
    fn learn_of_version(&self) {
        self.registry.experience().learn_document(&self.key.registry);
    }

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

impl Misread {
    /// Fetches it again, without validators, because a stored or confirmed document that can't be
    /// read was kept by mistake.
    pub async fn again(self) -> Result<Unread, FetchFailure> {
        let Unread { document, came, mut attempts } = self.unread;
        if !matches!(came, Provenance::Stored(_)) {
            let trouble = Trouble::Unusable(self.reason);
            document.registry.requester.wait(&document.get, &mut attempts, trouble).await?;
        }
        document.fetch(None, attempts).await
    }
}

/// Whether the text of a document contains an integrity. A search for texts in general first
/// examines what it searches for, which takes longer than the search in a document of a version.
fn holds(text: &[u8], integrity: &str) -> bool {
    let integrity = integrity.as_bytes();
    let Some(&first) = integrity.first() else { return true };
    memchr::memchr_iter(first, text).any(|at| text[at..].starts_with(integrity))
}
