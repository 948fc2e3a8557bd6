//! `snapshot` writes all documents that the resolution of a project needs into one file. Any server
//! can serve it.
//!
//! The file is compressed by gzip. Its first line is JSON that lists each document: address,
//! `Accept`, type, date and length. The documents follow, one after the other. Documents that
//! needed a credential are left out, because the file is for everyone. So are those that the cache
//! has from a run with a credential, unless the registry confirms them without it. The reader
//! decides how old a document may be.

use std::collections::HashSet;
use std::future::Future;
use std::io::{self, Write as _};
use std::pin::pin;

use espalier_core::{Event, NodeModules, Project, Resolution};
use espalier_registry::document::LONGEST_MEANT;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use crate::body::Inflater;
use crate::cache::Cache;
use crate::cache::documents::Entry;
use crate::cache::recipients::Recipient;
use crate::driver::{self, Ended};
use crate::lock::{Lock, LockError, Started};
use crate::registry::Asked;

/// The version of the format.
const FORMAT: u32 = 1;

/// A cache that can't be written gives the same damaged documents again, so there is a last run.
const MOST_RUNS: u32 = 3;

/// A snapshot, ready to be written.
#[derive(Debug)]
pub struct Snapshot {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// How many documents it has.
    pub documents: usize,
    /// How many documents are left out because they needed a credential, must not be kept, or are
    /// damaged in a cache that can't be written.
    pub left_out: usize,
}

#[derive(Serialize)]
struct Head {
    snapshot: u32,
    documents: Vec<Document>,
}

/// `SnapshotDocument` in `pkg/src/cache/snapshot.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    address: String,
    accept: &'static str,
    /// Whether the document never changes.
    #[serde(rename = "final")]
    is_final: bool,
    content_type: String,
    /// When the registry last confirmed the document, and until when it is fresh, in seconds since
    /// the epoch.
    date: i64,
    fresh_until: i64,
    length: usize,
}

impl Lock {
    /// Resolves the project from its package.json, as if there were no lockfile, and collects the
    /// documents. It writes nothing but the cache.
    ///
    /// # Errors
    /// When the project can't be resolved.
    pub async fn snapshot(
        &self,
        mut observe: impl FnMut(Event),
        interruption: impl Future<Output = ()>,
    ) -> Result<Snapshot, LockError> {
        let Started { lockfile, mut registry, cache, .. } = self.start()?;
        let asked = registry.note_documents();
        let read = self.project.read(&lockfile)?;
        let project = Project { lockfile: None, yarn_lock: None, installed: NodeModules::default(), ..read };
        let options = self.options().await;
        let mut interruption = pin!(interruption);
        let damage = || cache.as_deref().map_or(0, |cache| cache.documents.found_damage());
        for attempt in 1.. {
            let known_damage = damage();
            let resolution = Resolution::new(project.clone(), options.clone());
            let sources = self.sources(registry.clone());
            let run = driver::run(resolution, Resolution::finish, &sources, &mut observe, interruption.as_mut());
            let Ended::Finished(finished) = run.await.0 else { break };
            let snapshot = collected(asked.take(), cache.as_deref());
            // What turned out to be damaged is fetched for another run.
            if damage() > known_damage && attempt < MOST_RUNS {
                continue;
            }
            return match *finished {
                Ok(_) => Ok(snapshot),
                Err(error) => {
                    let (error, project) = (Box::new(error), Box::new(project));
                    Err(LockError::Resolve { error, project, remedies: Vec::new() })
                }
            };
        }
        Err(LockError::Interrupted)
    }
}

/// Collects these documents from the cache.
fn collected(mut asked: Vec<Asked>, cache: Option<&Cache>) -> Snapshot {
    if let Some(cache) = cache {
        cache.flush();
    }
    // The tree needs documents that can change, and the lockfile needs the others. The same address
    // can be both.
    asked.sort_by_key(|asked| asked.key.is_final());
    let (mut found, mut missing) = (HashSet::new(), HashSet::new());
    let (mut documents, mut bodies) = (Vec::new(), Vec::new());
    for Asked { key, address, is_private } in asked {
        let place = (address, key.form.accept());
        if found.contains(&place) {
            continue;
        }
        let kept = cache.filter(|_| !is_private).and_then(|cache| {
            let is_public = |entry: &Entry| entry.about.recipient == Recipient::ANYBODY;
            let entry = cache.documents.read(&key).filter(is_public)?;
            let length = append(&entry, &mut bodies);
            if length.is_none() {
                cache.documents.found_damaged(&entry.body);
            }
            Some((length?, entry.about))
        });
        let Some((length, about)) = kept else {
            missing.insert(place);
            continue;
        };
        let (address, accept) = place.clone();
        missing.remove(&place);
        found.insert(place);
        documents.push(Document {
            address,
            accept,
            is_final: key.is_final(),
            content_type: about.content_type,
            date: about.confirmed,
            fresh_until: about.fresh_until,
            length,
        });
    }
    let count = documents.len();
    Snapshot {
        bytes: packed(&Head { snapshot: FORMAT, documents }, &bodies),
        documents: count,
        left_out: missing.len(),
    }
}

/// Appends the body of an entry, and returns its length. `None` if it can't be read.
fn append(entry: &Entry, bodies: &mut Vec<u8>) -> Option<usize> {
    Inflater::with(|inflater| {
        let (encoding, body) = entry.encoded().ok()?;
        let body = encoding.decode(&body, LONGEST_MEANT, inflater).ok()?;
        bodies.extend_from_slice(body);
        Some(body.len())
    })
}

fn packed(head: &Head, bodies: &[u8]) -> Vec<u8> {
    let write = || -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        serde_json::to_writer(&mut encoder, head)?;
        encoder.write_all(b"\n")?;
        encoder.write_all(bodies)?;
        encoder.finish()
    };
    write().expect("writing to memory does not fail")
}
