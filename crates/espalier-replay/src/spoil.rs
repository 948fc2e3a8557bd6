//! Implements faults: bodies that end early, stop, or differ from the recording. [`crate::fault`]
//! chooses the requests.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{self, HeaderValue};
use memchr::memmem;

use crate::fault::FaultKind;
use crate::habit::alias;

/// The body of an answer, complete unless there is a fault.
pub struct ReplyBody {
    /// The bytes that are still to be sent.
    data: Bytes,
    /// The stated length, if it isn't that of the data.
    announced: Option<u64>,
    /// Whether no length is stated.
    in_chunks: bool,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Proper,
    /// The connection is cut, after the earlier bytes were sent.
    Cut {
        flushed: bool,
    },
    /// The server sends no more, and the body doesn't end.
    Silence,
}

impl From<Bytes> for ReplyBody {
    fn from(data: Bytes) -> Self {
        Self { data, announced: None, in_chunks: false, end: End::Proper }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if !self.data.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.data)))));
        }
        match self.end {
            End::Proper => Poll::Ready(None),
            End::Silence => Poll::Pending,
            End::Cut { flushed: false } => {
                self.end = End::Cut { flushed: true };
                context.waker().wake_by_ref();
                Poll::Pending
            }
            End::Cut { flushed: true } => Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_empty() && self.end == End::Proper
    }

    fn size_hint(&self) -> SizeHint {
        if self.in_chunks {
            return SizeHint::default();
        }
        SizeHint::with_exact(self.announced.unwrap_or(self.data.len() as u64))
    }
}

/// The answer with a fault of its body. Other faults change nothing.
pub fn body(reply: Response<ReplyBody>, fault: FaultKind) -> Response<ReplyBody> {
    reply.map(|whole| {
        let length = whole.data.len();
        let half = |end| {
            let data = whole.data.slice(..length / 2);
            ReplyBody { data, announced: Some(length as u64), in_chunks: false, end }
        };
        match fault {
            FaultKind::Truncate => half(End::Cut { flushed: false }),
            FaultKind::Unended => ReplyBody { in_chunks: true, end: End::Cut { flushed: false }, ..whole },
            FaultKind::StallBody => half(End::Silence),
            FaultKind::ShortLength => whole.data.slice(..length / 2).into(),
            FaultKind::Corrupt => corrupt(&whole.data).into(),
            _ => whole,
        }
    })
}

fn corrupt(data: &Bytes) -> Bytes {
    let mut data = data.to_vec();
    let middle = data.len() / 2;
    if let Some(byte) = data.get_mut(middle) {
        *byte ^= 1;
    }
    data.into()
}

/// A document with wrong but well-formed hashes.
pub fn hashes(mut document: Vec<u8>) -> Vec<u8> {
    for start in [&br#""integrity""#[..], br#""shasum""#] {
        let keys: Vec<usize> = memmem::find_iter(&document, start).collect();
        for key in keys {
            let value = &mut document[key + start.len()..];
            // The last characters of a value may be padding. Its middle never is.
            let quotes: Vec<usize> = memchr::memchr_iter(b'"', value).take(2).collect();
            if let [open, close] = quotes[..] {
                let middle = &mut value[usize::midpoint(open, close)];
                *middle = if *middle == b'0' { b'1' } else { b'0' };
            }
        }
    }
    document
}

/// The same path at another origin.
pub fn elsewhere(origin: &str, path: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("{}{path}?redirected", alias(origin))).ok()
}

/// Whether [`elsewhere`] has redirected this request.
pub fn is_redirected(query: Option<&str>) -> bool {
    query == Some("redirected")
}

/// The same path at another origin, with a signed address.
pub fn signed(origin: &str, path: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("{}{path}?signature=2f7a", alias(origin))).ok()
}

/// Whether this request uses an address of [`signed`].
pub fn is_signed(query: Option<&str>) -> bool {
    query == Some("signature=2f7a")
}

/// Adds `Retry-After` to an answer.
pub fn retry_after<T>(reply: &mut Response<T>, seconds: u32) {
    reply.headers_mut().insert(header::RETRY_AFTER, seconds.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_change_and_nothing_else() {
        let document = br#"{"dist":{"integrity":"sha512-AAAA==","shasum": "0f0f","tarball":"/a.tgz"}}"#;
        let spoiled = hashes(document.to_vec());
        let different: Vec<usize> = (0..document.len()).filter(|&at| document[at] != spoiled[at]).collect();
        assert_eq!(different.len(), 2);
        assert!(serde_json::from_slice::<serde_json::Value>(&spoiled).is_ok());
    }
}
