//! What the cache keeps of a document, and what remains to be done with a packument after the
//! resolution has looked into it.
//!
//! How a document is read is not known here.

use std::sync::Arc;

use espalier_core::Packument;
use espalier_core::packument::Source;

use super::{Document, Provenance, Unread};
use crate::body;
use crate::cache::documents::Entry;

/// A document for the cache or from it.
#[derive(Debug)]
pub(super) struct Kept {
    document: Document,
    entry: Entry,
}

/// The remaining work on a packument, after the resolution has looked into it.
#[derive(Debug)]
pub(crate) struct Unsettled {
    /// Gives the text again. `None` if the packument has let its text go already.
    pub(super) source: Option<Source>,
    pub(super) kept: Option<Box<Kept>>,
    /// The number of manifests in the cache's summary, if there is one.
    pub(super) summarised: Option<usize>,
}

/// A packument in the cache. Its summary may turn out to lack manifests that the resolution reads.
#[derive(Debug)]
pub(crate) struct Summarised {
    kept: Box<Kept>,
    packument: Arc<Packument>,
    /// The number of manifests in the summary.
    manifests: usize,
}

impl Unread {
    /// The document for the cache, if it is new and may be kept.
    pub(super) fn into_new(self) -> Option<Kept> {
        matches!(self.came, Provenance::New(..)).then(|| self.into_kept()).flatten()
    }

    /// The document, unless the registry forbids keeping it.
    pub(super) fn into_kept(self) -> Option<Kept> {
        match self.came {
            Provenance::New(_, false) => None,
            Provenance::Stored(entry) | Provenance::Confirmed(entry, _) | Provenance::New(entry, true) => {
                Some(Kept { document: self.document, entry })
            }
        }
    }
}

impl Kept {
    pub(super) fn keep(self, summary: Vec<u8>) {
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
