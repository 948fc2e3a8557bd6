//! Parses the head of an answer and finds the end of its body (RFC 9112). It knows no connections.

use std::str;

/// The maximum number of headers.
const MOST_HEADERS: usize = 128;

/// The head of an answer.
pub(super) struct Head<'a> {
    pub status: u16,
    /// Its length in bytes.
    pub length: usize,
    is_old: bool,
    headers: Vec<(&'a str, &'a [u8])>,
}

/// The end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// After this number of bytes.
    Length(u64),
    /// After an empty chunk.
    Chunked,
    /// At the end of the connection.
    UntilClosed,
}

impl<'a> Head<'a> {
    /// Parses a head. `None` if it is incomplete.
    pub fn read(bytes: &'a [u8]) -> Result<Option<Self>, &'static str> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let length = match response.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err("the answer isn't HTTP/1.1"),
        };
        let status = response.code.unwrap_or_default();
        let is_old = response.version == Some(0);
        let headers = response.headers.iter().map(|header| (header.name, header.value)).collect();
        Ok(Some(Self { status, length, is_old, headers }))
    }

    /// Whether the final answer follows.
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }

    /// The values of a header, joined with commas. Values that aren't text are skipped.
    pub fn header(&self, name: &str) -> Option<String> {
        let values = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut values = values.filter_map(|(_, value)| str::from_utf8(value).ok());
        let first = values.next()?.to_owned();
        Some(values.fold(first, |all, value| all + ", " + value))
    }

    /// The end of the body. Ambiguous answers are refused.
    pub fn framing(&self) -> Result<Framing, &'static str> {
        if self.status == 204 || self.status == 304 {
            return Ok(Framing::Length(0));
        }
        if let Some(codings) = self.header("transfer-encoding") {
            let is_chunked = codings.trim().eq_ignore_ascii_case("chunked");
            return if is_chunked { Ok(Framing::Chunked) } else { Err("the answer is coded in an unknown way") };
        }
        let Some(lengths) = self.header("content-length") else { return Ok(Framing::UntilClosed) };
        let mut lengths = lengths.split(',').map(|length| {
            let length = length.trim();
            length.bytes().all(|byte| byte.is_ascii_digit()).then(|| length.parse().ok()).flatten()
        });
        let first: Option<u64> = lengths.next().flatten();
        match first.filter(|_| lengths.all(|length| length == first)) {
            Some(length) => Ok(Framing::Length(length)),
            None => Err("the length of the answer is no number"),
        }
    }

    /// Whether the connection can carry another request.
    pub fn may_be_used_again(&self) -> bool {
        let said = self.header("connection").unwrap_or_default();
        let says = |word: &str| said.split(',').any(|token| token.trim().eq_ignore_ascii_case(word));
        !says("close") && (!self.is_old || says("keep-alive"))
    }
}

/// Parses the line before a chunk. Returns the length of the line and of the chunk; `None` if the
/// line is incomplete.
pub(super) fn chunk_size(bytes: &[u8]) -> Result<Option<(usize, u64)>, &'static str> {
    match httparse::parse_chunk_size(bytes) {
        Ok(httparse::Status::Complete(found)) => Ok(Some(found)),
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err("a piece of the answer has no length"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Framing, Head, chunk_size};

    fn head(text: &str) -> Head<'_> {
        Head::read(text.as_bytes()).expect("a head").expect("all of it")
    }

    #[test]
    fn a_head_is_read_when_all_of_it_is_there() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: a\r\nCache-Control: x\r\ncache-control: y\r\n\r\nbody";
        let head = head(text);
        assert_eq!((head.status, head.length), (200, text.len() - 4));
        assert_eq!(head.header("content-type").as_deref(), Some("a"));
        assert_eq!(head.header("cache-control").as_deref(), Some("x, y"));
        assert!(Head::read(&text.as_bytes()[..30]).expect("so far").is_none());
        assert!(Head::read(b"SSH-2.0-OpenSSH\r\n\r\n").is_err());
    }

    #[test]
    fn a_body_ends_where_the_head_says() {
        let framing = |headers: &str| head(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n")).framing();
        assert_eq!(framing("content-length: 12\r\n"), Ok(Framing::Length(12)));
        assert_eq!(framing("content-length: 12\r\ncontent-length: 12\r\n"), Ok(Framing::Length(12)));
        assert_eq!(framing("transfer-encoding: Chunked\r\ncontent-length: 12\r\n"), Ok(Framing::Chunked));
        assert_eq!(framing(""), Ok(Framing::UntilClosed));
        for ambiguous in [
            "content-length: 12\r\ncontent-length: 13\r\n",
            "content-length: -1\r\n",
            "content-length: +1\r\n",
            "content-length:\r\n",
            "transfer-encoding: gzip, chunked\r\n",
        ] {
            assert!(framing(ambiguous).is_err(), "{ambiguous}");
        }
        assert_eq!(head("HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n").framing(), Ok(Framing::Length(0)));
    }

    #[test]
    fn a_connection_is_kept_unless_someone_hangs_up() {
        for (text, kept) in [
            ("HTTP/1.1 200 OK\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nconnection: x, Close\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\n\r\n", true),
        ] {
            assert_eq!(head(text).may_be_used_again(), kept, "{text}");
        }
    }

    #[test]
    fn a_chunk_says_how_long_it_is() {
        assert_eq!(chunk_size(b"1a;x=y\r\nrest"), Ok(Some((8, 26))));
        assert_eq!(chunk_size(b"1a"), Ok(None));
        assert!(chunk_size(b"no\r\n").is_err());
    }
}
