//! A server that answers each request with the next line of a script, and records the requests.
//!
//! It can do what no well-behaved server does: break off, stall, refuse once, redirect elsewhere.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The registry's reaction to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A response with this status line's rest, these header lines and this body.
    Respond(String, Vec<String>, Vec<u8>),
    /// Closes the connection without an answer.
    HangUp,
    /// Sends nothing, for longer than any test waits.
    Stall,
    /// Sends half of the announced body.
    BreakOff(Vec<u8>),
}

impl Reply {
    pub fn ok(body: &str) -> Self {
        Self::Respond("200 OK".into(), vec!["content-type: application/json".into()], body.into())
    }

    pub fn status(line: &str) -> Self {
        Self::Respond(line.into(), Vec::new(), Vec::new())
    }

    pub fn redirect(location: &str) -> Self {
        Self::Respond("302 Found".into(), vec![format!("location: {location}")], Vec::new())
    }
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `GET /a HTTP/1.1`
    pub line: String,
    pub headers: Vec<(String, String)>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| value.as_str())
    }
}

pub struct Scripted {
    pub origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    accepting: JoinHandle<()>,
}

impl Scripted {
    /// Starts a server; a request beyond the script's end is answered with 500.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(Mutex::new(script.into_iter().collect::<Vec<_>>().into_iter()));
        let remembered = Arc::clone(&seen);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&remembered));
                tokio::spawn(async move {
                    let mut stream = stream;
                    let Some(request) = read(&mut stream).await else { return };
                    seen.lock().expect("not poisoned").push(request);
                    let reply = script.lock().expect("not poisoned").next();
                    answer(stream, reply.unwrap_or_else(|| Reply::status("500 Script Ended"))).await;
                });
            }
        });
        Self { origin, seen, accepting }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Some(Seen { line, headers })
}

async fn answer(mut stream: TcpStream, reply: Reply) {
    let (status, headers, body, sent) = match reply {
        Reply::HangUp => return,
        Reply::Stall => return tokio::time::sleep(Duration::from_mins(1)).await,
        Reply::BreakOff(body) => ("200 OK".into(), Vec::new(), body.clone(), body.len() / 2),
        Reply::Respond(status, headers, body) => (status, headers, body.clone(), body.len()),
    };
    let headers: String = headers.iter().map(|line| line.clone() + "\r\n").collect();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(&[head.as_bytes(), &body[..sent]].concat()).await;
    let _ = stream.shutdown().await;
}
