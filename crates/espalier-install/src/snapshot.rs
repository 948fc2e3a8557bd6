//! `snapshot` writes all documents that the resolution of a project needs into one file. Any server
//! can serve it.
//!
//! The file is compressed by gzip. Its first line is JSON that lists each document: address,
//! `Accept`, type, date and length. The documents follow, one after the other. Documents that
//! needed a credential are left out, because the file is for everyone. The reader decides how old a
//! document may be.

use std::collections::HashSet;
use std::future::Future;
use std::io::{self, Write as _};

use espalier_core::{Event, NodeModules, Project, Resolution};
use espalier_registry::document::{Form, LONGEST_MEANT};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use crate::body::Inflater;
use crate::driver::{self, Ended, Sources};
use crate::lock::{Lock, LockError, Started};
use crate::registry::Asked;

/// The version of the format.
const FORMAT: u32 = 1;

/// A snapshot, ready to be written.
#[derive(Debug)]
pub struct Snapshot {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// How many documents it has.
    pub documents: usize,
    /// How many documents are left out because they needed a credential or must not be kept.
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
        observe: impl FnMut(Event),
        interruption: impl Future<Output = ()>,
    ) -> Result<Snapshot, LockError> {
        let Started { lockfile, mut registry, cache, .. } = self.start()?;
        let asked = registry.note_documents();
        let read = self.project.read(&lockfile)?;
        let project = Project { lockfile: None, yarn_lock: None, installed: NodeModules::default(), ..read };
        let options = self.options().await;
        let resolution = Resolution::new(project.clone(), options);
        let sources = Sources::new(registry, self.project.clone());
        let concurrency = self.settings.network.concurrency;
        let run =
            driver::run(resolution, Resolution::finish, &sources, concurrency, &self.activity, observe, interruption);
        match run.await.0 {
            Ended::Finished(finished) => match *finished {
                Ok(_) => {}
                Err(error) => {
                    let (error, project) = (Box::new(error), Box::new(project));
                    return Err(LockError::Resolve { error, project, remedies: Vec::new() });
                }
            },
            Ended::Interrupted => return Err(LockError::Interrupted),
        }
        if let Some(cache) = &cache {
            cache.flush();
        }
        let mut seen = HashSet::new();
        let mut snapshot = Snapshot { bytes: Vec::new(), documents: 0, left_out: 0 };
        let (mut documents, mut bodies) = (Vec::new(), Vec::new());
        for Asked { key, address, is_private } in asked.take() {
            if !seen.insert((address.clone(), key.form.accept())) {
                continue;
            }
            let entry = cache.as_ref().and_then(|cache| cache.documents.read(&key)).filter(|_| !is_private);
            let Some(entry) = entry else {
                snapshot.left_out += 1;
                continue;
            };
            let length = Inflater::with(|inflater| {
                let (encoding, body) = entry.encoded()?;
                let body = encoding.decode(&body, LONGEST_MEANT, inflater)?;
                bodies.extend_from_slice(body);
                Ok::<_, String>(body.len())
            });
            let Ok(length) = length else { continue };
            documents.push(Document {
                address,
                accept: key.form.accept(),
                is_final: matches!(key.form, Form::Version(_)),
                content_type: entry.about.content_type,
                date: entry.about.confirmed,
                fresh_until: entry.about.fresh_until,
                length,
            });
        }
        snapshot.documents = documents.len();
        snapshot.bytes = packed(&Head { snapshot: FORMAT, documents }, &bodies);
        Ok(snapshot)
    }
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
