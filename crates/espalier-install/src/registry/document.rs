//! Packuments and version documents, cached. [`espalier_registry`] decides how to request and
//! recognise them.
//!
//! Fetching and reading a document are separate steps. One thread fetches. Whoever waits for a
//! document has time to inflate and parse it. This module decides whether the cache or the registry
//! gives a document. `versions` knows what takes the place of the document of a version, `reading`
//! how documents are read, and `keeping` what the cache keeps of them.

mod keeping;
mod reading;
mod versions;

use std::sync::Arc;

use espalier_core::{FetchFailure, FetchFailureKind, Packument, PackumentForm};
use espalier_registry::Get;
use espalier_registry::document::Form;

use super::request::{ReceivedBody, Reply};
use super::wire::Protocol;
use super::{Asked, Registry};
use crate::cache::documents::{DocumentKey, Documents, Entry, Revision};
use crate::cache::recipients::{Credential, Recipient};
use crate::config::settings::Freshness;

pub(crate) use keeping::{Summarised, Unsettled};
pub(crate) use reading::{Misread, ReadAnswer};

/// An unread document.
#[derive(Debug)]
pub(crate) struct Unread {
    document: Document,
    came: Provenance,
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

/// A document with its request and its key in the cache.
#[derive(Debug)]
struct Document {
    registry: Registry,
    get: Get,
    key: DocumentKey,
    /// To whom the registry gives it.
    recipient: Recipient,
}

/// What the cache has of a document.
struct LookedUp {
    document: Document,
    stored: Option<Entry>,
    /// Whether that may be used without asking the registry.
    is_usable: bool,
    /// Whether a request for the document has a credential.
    is_private: bool,
}

/// The source of a document.
#[derive(Debug)]
enum Provenance {
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
        let form = if full { PackumentForm::Full } else { PackumentForm::Any };
        self.unread_packument(name, form).await?.read_in_the_end(Unread::read_whole_packument).await
    }

    /// The packument as its registry sent it, with its content type, for a reader elsewhere, who asks
    /// for it with this `Accept` header.
    pub async fn packument_text(&self, name: &str, accept: &str) -> Result<(Vec<u8>, String), FetchFailure> {
        // The caller may ask again, so it should see what other processes have written since.
        if let Some(cache) = &self.cache {
            cache.documents.look_again();
        }
        let found = match Form::of_accept(accept) {
            Form::RatherFull => self.look_up_either(name, &Form::RatherFull)?,
            // The reader may need an abbreviated one. Offline, the other form is better than nothing.
            Form::Abbreviated if self.is_offline() => self.look_up_either(name, &Form::Abbreviated)?,
            form => self.look_up(name, form, None)?,
        };
        found.unread().await?.read_in_the_end(Unread::read_packument_text).await
    }

    /// The packument of a package, unread.
    pub(crate) async fn unread_packument(&self, name: &str, form: PackumentForm) -> Result<Unread, FetchFailure> {
        let found = self.look_up_packument(name, form)?;
        let is_long = found.document.key.form == Form::RatherFull;
        match found.unread().await {
            // A registry that fails to send a long document may send a short one.
            Err(failure) if is_long && matches!(failure.kind, FetchFailureKind::Status(_)) => {
                Box::pin(self.unread(name, Form::Abbreviated, None)).await
            }
            unread => unread,
        }
    }

    /// What the cache has of a packument. Unless that may be used, the registry will be asked.
    fn look_up_packument(&self, name: &str, form: PackumentForm) -> Result<LookedUp, FetchFailure> {
        // A snapshot doesn't depend on what was learned, nor on what a cache has.
        if form != PackumentForm::Any || self.notes_documents() {
            return self.look_up(name, Form::answering(form)[0].clone(), None);
        }
        let found = self.look_up_any(name)?;
        if !found.is_usable {
            self.experience().note_request(self.registries.of_package(name));
        }
        Ok(found)
    }

    /// What the cache has of a packument in either form.
    fn look_up_any(&self, name: &str) -> Result<LookedUp, FetchFailure> {
        let registry = self.registries.of_package(name);
        let cheapest = self.experience().cheapest(registry, Form::answering(PackumentForm::Any)).clone();
        // Thousands of packages are looked up in the first run.
        let is_empty = self.cache.as_ref().is_none_or(|cache| cache.documents.is_empty());
        if is_empty { self.look_up(name, cheapest, None) } else { self.look_up_either(name, &cheapest) }
    }

    /// What the cache has of a packument that may be abbreviated or full. A full one needs nothing
    /// else, so it comes first. If the cache has neither, the registry will be asked for this form.
    fn look_up_either(&self, name: &str, form: &Form) -> Result<LookedUp, FetchFailure> {
        // Most registries never send a full one, and a look-up takes a while.
        let full = self.key(name, Form::RatherFull, None);
        if self.cache.as_ref().is_some_and(|cache| cache.documents.knows(&full)) {
            let full = self.look_up(name, Form::RatherFull, None)?;
            if full.is_usable {
                return Ok(full);
            }
            let abbreviated = self.look_up(name, Form::Abbreviated, None)?;
            return Ok(if abbreviated.is_usable { abbreviated } else { full });
        }
        let abbreviated = self.look_up(name, Form::Abbreviated, None)?;
        let is_it = *form == Form::Abbreviated || abbreviated.stored.is_some();
        if is_it { Ok(abbreviated) } else { self.look_up(name, form.clone(), None) }
    }

    fn key(&self, name: &str, form: Form, integrity: Option<&str>) -> DocumentKey {
        let registry = self.registries.of_package(name).clone();
        DocumentKey { registry, name: name.to_owned(), form, integrity: integrity.map(str::to_owned) }
    }

    async fn unread(&self, name: &str, form: Form, integrity: Option<&str>) -> Result<Unread, FetchFailure> {
        self.look_up(name, form, integrity)?.unread().await
    }

    fn look_up(&self, name: &str, form: Form, integrity: Option<&str>) -> Result<LookedUp, FetchFailure> {
        let get = self.registries.document(name, &form)?;
        let key = self.key(name, form, integrity);
        let credential = Credential {
            authorization: get.authorization.as_deref(),
            address: get.address.names_user().then(|| key.registry.as_str()),
            certificate: self.requester.clients.certificate(&get.address),
        };
        let is_private = !credential.is_absent();
        let recipient = self.cache.as_ref().map_or(Recipient::ANYBODY, |cache| cache.recipients.of(credential));
        let stored = self.cache.as_ref().and_then(|cache| cache.documents.read(&key));
        let document = Document { registry: self.clone(), get, key, recipient };
        let is_usable = stored.as_ref().is_some_and(|entry| self.is_usable(&document, entry));
        Ok(LookedUp { document, stored, is_usable, is_private })
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

impl LookedUp {
    /// The document from the cache, otherwise from the registry.
    async fn unread(self) -> Result<Unread, FetchFailure> {
        let Self { document, stored, is_usable, is_private } = self;
        if let Some(asked) = &document.registry.asked {
            let address = document.get.address.as_str().to_owned();
            asked.add(Asked { key: document.key.clone(), address, is_private });
        }
        match stored {
            Some(entry) if is_usable => Ok(Unread { document, came: Provenance::Stored(entry), attempts: 0 }),
            // In a box, because a task that only reads the cache would be as large otherwise, and
            // is moved several times.
            stored => Box::pin(document.fetch(stored, 0)).await,
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
                Provenance::New(received.into_entry(self.recipient), may_be_kept)
            }
            (Reply::Unchanged { fresh_for }, Some(mut entry)) => {
                entry.about.recipient = self.recipient;
                Provenance::Confirmed(entry, fresh_for)
            }
            (Reply::Unchanged { .. }, None) => unreachable!("nothing was asked about"),
        };
        Ok(Unread { document: self, came, attempts })
    }
}

impl Unread {
    /// The length of its body in bytes, as it was sent, or 0 if the body need not be read.
    pub fn length(&self) -> usize {
        if self.is_prepared() { 0 } else { self.entry().body.length() }
    }

    /// Whether the registry has sent or confirmed it now.
    pub fn is_sent(&self) -> bool {
        !matches!(self.came, Provenance::Stored(_))
    }

    /// Whether reading it is cheap.
    pub fn is_prepared(&self) -> bool {
        !self.entry().summary.is_empty()
    }

    /// How a later run can find out that it would get the same document. This assumes that the
    /// document has the integrity in its key.
    fn permanence(&self) -> Permanence {
        let key = &self.document.key;
        match &self.came {
            Provenance::New(_, false) => Permanence::Unknown,
            _ if key.is_final() => Permanence::Final,
            _ => Permanence::While(Documents::revision(key, self.entry())),
        }
    }

    fn entry(&self) -> &Entry {
        let (Provenance::Stored(entry) | Provenance::Confirmed(entry, _) | Provenance::New(entry, _)) = &self.came;
        entry
    }
}

impl ReceivedBody {
    fn into_entry(self, recipient: Recipient) -> Entry {
        let espalier_registry::BodyMetadata { content_type, validators, fresh_for } = self.about;
        Entry::new(content_type, self.encoding, validators, fresh_for.unwrap_or_default(), recipient, self.bytes)
    }
}

#[cfg(test)]
mod tests;
