//! Bodies to send, which are made once from the recording, compressed, tagged and kept.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use hyper::header::HeaderValue;
use sha2::{Digest, Sha256};

use crate::document;
use crate::habit::Habits;
use crate::registry::Registry;
use crate::spoil;

/// npm's content type of abbreviated packuments.
pub const ABBREVIATED_TYPE: &str = "application/vnd.npm.install-v1+json";
/// The content type of all other documents.
pub const JSON_TYPE: &str = "application/json";

/// A document of a package.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The full packument.
    Full,
    /// The abbreviated packument.
    Abbreviated,
    /// The manifest of this version or tag.
    Version(String),
}

/// The parameters of a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The package.
    pub name: String,
    /// The document.
    pub form: Form,
    /// The client's name of this server, which precedes tarball paths.
    pub origin: String,
    /// Whether the body is compressed.
    pub gzip: bool,
    /// Whether a range can name a version.
    pub ranges: bool,
    /// Whether its hashes are wrong.
    pub wrong_hashes: bool,
}

/// A body and its headers.
#[derive(Debug)]
pub struct Representation {
    pub body: Bytes,
    pub etag: HeaderValue,
    pub content_type: &'static str,
}

/// The result for a document.
#[derive(Clone, Debug)]
pub enum Made {
    /// It can be sent.
    Body(Arc<Representation>),
    /// The packument has no such version or tag.
    NoSuchVersion,
    /// The packument can't be read.
    Broken(String),
}

/// The bodies so far. Each is made once, even if it is requested many times at once.
#[derive(Debug, Default)]
pub struct Representations {
    slots: Mutex<HashMap<Key, Arc<OnceLock<Made>>>>,
}

impl Representations {
    /// The result, if it was made before.
    pub fn ready(&self, key: &Key) -> Option<Made> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.get(key).and_then(|slot| slot.get().cloned())
    }

    /// Makes the result if necessary. Reading, parsing and compressing may take a while. `None` if
    /// the package doesn't exist.
    pub fn make(&self, registry: &Registry, key: &Key, habits: &Habits, factor: f64) -> Option<Made> {
        let packument = registry.packument(&key.name)?;
        let slot = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(key.clone()).or_default())
        };
        Some(slot.get_or_init(|| make(packument, key, habits, factor)).clone())
    }
}

fn make(packument: io::Result<Bytes>, key: &Key, habits: &Habits, factor: f64) -> Made {
    let derive = |packument: Bytes| match &key.form {
        Form::Full => document::full(&packument, &key.origin, factor).map(Some),
        Form::Abbreviated => document::abbreviated(&packument, &key.origin).map(Some),
        Form::Version(selector) => {
            let found = if key.ranges { document::highest_in(&packument, selector)? } else { None };
            document::version(&packument, found.as_deref().unwrap_or(selector), &key.origin, factor)
        }
    };
    match packument.and_then(|packument| derive(packument).map_err(io::Error::from)) {
        Ok(Some(document)) => {
            let document = habits.adapt(document, matches!(key.form, Form::Version(_)));
            let document = if key.wrong_hashes { spoil::hashes(document) } else { document };
            Made::Body(Arc::new(Representation::new(document, key)))
        }
        Ok(None) => Made::NoSuchVersion,
        Err(error) => Made::Broken(format!("the recorded packument of {} can't be read: {error}", key.name)),
    }
}

impl Representation {
    fn new(document: Vec<u8>, key: &Key) -> Self {
        let content_type = if key.form == Form::Abbreviated { ABBREVIATED_TYPE } else { JSON_TYPE };
        let etag = etag(&document, if key.gzip { "-gzip" } else { "" });
        let body = if key.gzip { gzip(&document) } else { document };
        Self { body: body.into(), etag, content_type }
    }
}

/// A strong validator. It differs between encodings, as the bytes do.
pub fn etag(content: &[u8], suffix: &str) -> HeaderValue {
    let digest = Sha256::digest(content);
    let [high, low] =
        [&digest[..8], &digest[8..16]].map(|half| half.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
    HeaderValue::try_from(format!("\"{high:016x}{low:016x}{suffix}\""))
        .expect("hexadecimal digits are valid in a header")
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 6), Compression::default());
    encoder.write_all(content).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}
