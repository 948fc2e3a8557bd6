//! A bare HTTP/1.1 client. Each connection has a thread that requests the next document and drops
//! it, or inflates it first, or also reads it. It knows all documents beforehand, or learns of each
//! from another one, as a resolution does.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use espalier_core::{Detail, Packument};
use libdeflater::Decompressor;
use serde::de::IgnoredAny;

/// The number of connections, which is that of the contestants.
const CONNECTIONS: usize = 64;

/// What is done with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is dropped.
    Drop,
    /// It is inflated and dropped.
    Inflate,
    /// It is inflated and read: a packument as a resolution reads it, and the document of a version
    /// as any JSON.
    Read,
}

/// The form of the packuments that are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forms {
    /// Abbreviated. The documents of versions complete them.
    Abbreviated,
    /// Full.
    Full,
}

/// Fetches documents. Returns the time in milliseconds.
pub fn all(address: SocketAddr, forms: Forms, paths: &[String], treatment: Treatment) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            let (mut connection, mut inflated) = (Connection::open(address, forms)?, Inflated::default());
            while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                let document = connection.get(path)?;
                if treatment == Treatment::Drop {
                    continue;
                }
                let text = inflated.inflate(document).with_context(|| format!("{path} cannot be inflated"))?;
                if treatment == Treatment::Read {
                    read(path, text).with_context(|| format!("{path} cannot be read"))?;
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..CONNECTIONS.min(paths.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a client doesn't panic"))
    })?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// Documents that name others.
#[derive(Default)]
pub struct Mentions {
    /// All documents.
    pub documents: BTreeSet<String>,
    /// The documents that are known from the start.
    pub known: BTreeSet<String>,
    /// The documents that each document names.
    pub named: BTreeMap<String, BTreeSet<String>>,
}

impl Mentions {
    /// Keeps those documents that exist, and counts as known what none of the known ones leads to.
    pub fn complete(&mut self) {
        let documents = &self.documents;
        self.known.retain(|path| documents.contains(path));
        self.named.values_mut().for_each(|named| named.retain(|path| documents.contains(path)));
        let mut found = BTreeSet::new();
        let mut open: Vec<&String> = self.known.iter().collect();
        while let Some(path) = open.pop() {
            if found.insert(path) {
                open.extend(self.named.get(path).into_iter().flatten());
            }
        }
        self.known.extend(documents.iter().filter(|path| !found.contains(path)).cloned().collect::<Vec<_>>());
    }
}

/// Fetches, inflates and reads documents. Each is requested once another one has named it. Returns
/// the time in milliseconds.
pub fn as_named(address: SocketAddr, forms: Forms, mentions: &Mentions) -> Result<f64> {
    let open = Mutex::new(Open {
        queue: mentions.known.iter().cloned().collect(),
        requested: mentions.known.clone(),
        unread: mentions.documents.len(),
    });
    let more = Condvar::new();
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            let (mut connection, mut inflated) = (Connection::open(address, forms)?, Inflated::default());
            loop {
                let waiting = open.lock().expect("a client doesn't panic");
                let is_idle = |open: &mut Open| open.queue.is_empty() && open.unread > 0;
                let Some(path) = more.wait_while(waiting, is_idle).expect("a client doesn't panic").queue.pop_front()
                else {
                    return Ok(());
                };
                let read = connection.get(&path).and_then(|body| read(&path, inflated.inflate(body)?));
                let mut open = open.lock().expect("a client doesn't panic");
                if let Err(error) = read {
                    open.queue.clear();
                    open.unread = 0;
                    more.notify_all();
                    return Err(error.context(path));
                }
                if open.unread == 0 {
                    // Another client has failed meanwhile.
                    return Ok(());
                }
                open.unread -= 1;
                let named = mentions.named.get(&path).into_iter().flatten();
                let new: Vec<&String> = named.filter(|path| open.requested.insert((*path).clone())).collect();
                // Those that name more come first.
                for path in &new {
                    if mentions.named.contains_key(*path) {
                        open.queue.push_front((*path).clone());
                    } else {
                        open.queue.push_back((*path).clone());
                    }
                }
                let is_over = open.unread == 0;
                drop(open);
                if is_over {
                    more.notify_all();
                }
                // This thread takes one itself.
                new.iter().skip(1).for_each(|_| more.notify_one());
            }
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a client doesn't panic"))
    })?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The state of such a run.
struct Open {
    /// The named documents that nobody has requested yet.
    queue: VecDeque<String>,
    /// The documents that were named.
    requested: BTreeSet<String>,
    /// How many documents were not read yet. 0 after a failure.
    unread: usize,
}

/// Whether a path is that of a packument, which is one segment.
pub fn is_packument(path: &str) -> bool {
    path.rfind('/') == Some(0)
}

fn read(path: &str, text: &[u8]) -> Result<()> {
    if is_packument(path) {
        Packument::parse(text, Detail::Unstated)?;
    } else {
        serde_json::from_slice::<IgnoredAny>(text)?;
    }
    Ok(())
}

/// Fetches one document.
pub fn once(address: SocketAddr, path: &str) -> Result<Vec<u8>> {
    let mut connection = Connection::open(address, Forms::Full)?;
    connection.get(path)?;
    Ok(connection.body)
}

/// Inflates one body after the other into the same memory.
pub struct Inflated {
    inflater: Decompressor,
    memory: Vec<u8>,
}

impl Default for Inflated {
    fn default() -> Self {
        Self { inflater: Decompressor::new(), memory: Vec::new() }
    }
}

impl Inflated {
    /// Inflates a body of one gzip member, which states its length at its end.
    pub fn inflate(&mut self, body: &[u8]) -> Result<&[u8]> {
        let (_, length) = body.split_last_chunk().context("it is empty")?;
        self.memory.resize(u32::from_le_bytes(*length) as usize, 0);
        self.inflater.gzip_decompress(body, &mut self.memory)?;
        Ok(&self.memory)
    }
}

/// A connection that serves one request after the other.
pub struct Connection {
    stream: BufReader<TcpStream>,
    forms: Forms,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    pub fn open(address: SocketAddr, forms: Forms) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(1 << 16, stream), forms, line: String::new(), body: Vec::new() })
    }

    /// Requests a document and returns its body.
    pub fn get(&mut self, path: &str) -> Result<&[u8]> {
        let accept = match self.forms {
            Forms::Abbreviated => "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*",
            Forms::Full => "application/json",
        };
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip\r\naccept: {accept}\r\n\r\n");
        // Statistics are wanted uncompressed.
        let request = if path.starts_with("/-/") { request.replace("accept-encoding: gzip\r\n", "") } else { request };
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.read_line()?;
        ensure!(self.line.contains(" 200 "), "{path}: {}", self.line.trim_end());
        let mut length = None;
        loop {
            self.read_line()?;
            let line = self.line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = Some(value.trim().parse()?);
            }
        }
        self.body.resize(length.with_context(|| format!("{path} has no length"))?, 0);
        self.stream.read_exact(&mut self.body)?;
        Ok(&self.body)
    }

    fn read_line(&mut self) -> Result<()> {
        self.line.clear();
        ensure!(self.stream.read_line(&mut self.line)? > 0, "the server hung up");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{CONNECTIONS, Forms, Mentions, as_named};

    /// Answers with an empty object, and says of one document that it doesn't exist.
    fn serve(connection: &TcpStream) -> Option<()> {
        let mut body = GzEncoder::new(Vec::new(), Compression::default());
        body.write_all(b"{}").ok()?;
        let body = body.finish().ok()?;
        let mut lines = BufReader::new(connection).lines().map_while(Result::ok);
        while let Some(request) = lines.next() {
            lines.by_ref().find(String::is_empty)?;
            let (status, body) =
                if request.contains("/a/0 ") { ("404 Not Found", &[][..]) } else { ("200 OK", &*body) };
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
            (&*connection).write_all(&[head.as_bytes(), body].concat()).ok()?;
        }
        Some(())
    }

    #[test]
    fn a_document_that_does_not_exist_ends_the_run_of_all_clients() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for connection in listener.incoming().take(CONNECTIONS).flatten() {
                thread::spawn(move || serve(&connection));
            }
        });
        let documents = (0..4 * CONNECTIONS).map(|number| format!("/a/{number}"));
        let mut mentions = Mentions { documents: documents.collect(), ..Mentions::default() };
        mentions.complete();
        let error = as_named(address, Forms::Full, &mentions).expect_err("a document is missing");
        assert!(format!("{error:#}").contains("/a/0: HTTP/1.1 404"), "{error:#}");
    }
}
