//! What can go wrong with one attempt, and how a person is told.
//!
//! No message holds a credential: addresses lose user, password and query before they are shown, and what a server says about
//! itself is stripped of control characters, because it ends on a terminal.

use std::time::Duration;

use espalier_core::{FetchFailure, FetchFailureKind};
use http::StatusCode;
use serde_json::Value;

use crate::address::Address;
use crate::retry;

/// Why an attempt came to nothing.
#[derive(Debug)]
pub enum Trouble {
    /// No answer, or one that broke off.
    Broken(Broken),
    /// An answer that says no.
    Status {
        /// What it says.
        status: StatusCode,
        /// How long the server asks to wait.
        wait: Option<Duration>,
        /// Its own words.
        detail: Option<String>,
    },
    /// An answer that can't be used: the rest of a sentence about it.
    Unusable(String),
    /// A tarball that isn't the promised one: the rest of a sentence about it.
    Other(String),
}

/// What is between a request and its answer. Texts are the innermost cause, in words.
#[derive(Debug)]
pub enum Broken {
    /// The host's name has no address.
    UnknownHost,
    /// There is no connection.
    NotConnected(String),
    /// There is none in time.
    NotConnectedInTime,
    /// There is one, and not all of an answer in time.
    NotInTime,
    /// Nothing vouches for the other side.
    Insecure(String),
    /// The connection ended too soon.
    BrokeOff(String),
    /// One redirect after another.
    RedirectsWithoutEnd,
    /// A request that can't be made, or a client that gives something else than an answer.
    Impossible(String),
    /// A browser doesn't say what.
    Unexplained {
        /// All that it says.
        reason: String,
        /// Whether the request carried a credential, for which browsers ask permission first.
        with_credential: bool,
    },
}

impl Trouble {
    /// The trouble with an answer of this status; `wait` is its `Retry-After`, `body` what came with it.
    pub fn refused(status: StatusCode, wait: Option<Duration>, body: &[u8]) -> Self {
        Self::Status { status, wait, detail: said(body) }
    }

    /// Whether another attempt may fare better. A body that can't be read is tried again too: what cut it short was
    /// probably on the way.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Broken(broken) => match broken {
                Broken::UnknownHost | Broken::RedirectsWithoutEnd | Broken::Impossible(_) => false,
                Broken::Unexplained { with_credential, .. } => !with_credential,
                _ => true,
            },
            Self::Status { status, .. } => retry::is_transient(*status),
            Self::Unusable(_) | Self::Other(_) => true,
        }
    }

    /// The wait that the server asked for.
    pub fn asked_wait(&self) -> Option<Duration> {
        match self {
            Self::Status { wait, .. } => *wait,
            Self::Broken(_) | Self::Unusable(_) | Self::Other(_) => None,
        }
    }

    /// The failure that a resolution is told, after so many attempts.
    pub fn into_failure(self, address: &Address, attempts: u32) -> FetchFailure {
        let host = address.authority();
        let (kind, message) = match &self {
            Self::Broken(broken) => broken.describe(address),
            Self::Status { status, detail, .. } => {
                // "404 Not Found: Not found" says nothing twice.
                let new =
                    |said: &&String| status.canonical_reason().is_none_or(|reason| !reason.eq_ignore_ascii_case(said));
                let said = detail.as_ref().filter(new).map(|said| format!(": {said}")).unwrap_or_default();
                let (kind, word) = match status.as_u16() {
                    404 => (FetchFailureKind::NotFound, "has no such thing"),
                    code @ (405 | 410) => (FetchFailureKind::Status(code), "has no such thing"),
                    401 => (FetchFailureKind::Unauthorized, "wants to know who asks"),
                    403 => (FetchFailureKind::Forbidden, "does not allow this"),
                    code => (FetchFailureKind::Status(code), "failed"),
                };
                (kind, format!("{host} {word} ({}){said}", status_text(*status)))
            }
            Self::Unusable(reason) => (FetchFailureKind::Invalid, format!("the answer of {host} {reason}")),
            Self::Other(reason) => (FetchFailureKind::Integrity, format!("the answer of {host} {reason}")),
        };
        let message = if attempts > 1 { format!("{message} (tried {attempts} times)") } else { message };
        FetchFailure { kind, message, url: address.shown() }
    }
}

impl Broken {
    fn describe(&self, address: &Address) -> (FetchFailureKind, String) {
        let host = address.authority();
        let message = match self {
            Self::UnknownHost => format!("the host {host} could not be found"),
            Self::NotConnected(cause) => format!("no connection to {host} could be made: {cause}"),
            Self::NotConnectedInTime => format!("no connection to {host} could be made in time"),
            Self::NotInTime => format!("{host} did not answer in time"),
            Self::Insecure(cause) => format!("the connection to {host} is not secure: {cause}"),
            Self::BrokeOff(cause) => format!("the connection to {host} broke off: {cause}"),
            Self::RedirectsWithoutEnd => {
                return (FetchFailureKind::Invalid, format!("{host} redirects without end"));
            }
            Self::Impossible(cause) => {
                return (FetchFailureKind::Invalid, format!("{host} could not be asked: {cause}"));
            }
            Self::Unexplained { reason, with_credential: true } => {
                let message = format!(
                    "{} can't be reached with a token ({reason}): browsers ask a registry for permission first (a preflight), \
                     and it seems that this one does not allow this origin to send `authorization`. A registry, or a proxy in \
                     front of it, that answers OPTIONS with `Access-Control-Allow-Headers: authorization` would work.",
                    address.shown()
                );
                return (FetchFailureKind::Preflight, message);
            }
            Self::Unexplained { reason, with_credential: false } => format!(
                "{} was not found, or is unreachable from a browser ({reason}): its host may be down, may not allow other \
                 origins (no CORS header), or may send its 404 without that header",
                address.shown()
            ),
        };
        (FetchFailureKind::Unreachable, message)
    }
}

fn status_text(status: StatusCode) -> String {
    status
        .canonical_reason()
        .map_or_else(|| status.as_u16().to_string(), |reason| format!("{} {reason}", status.as_u16()))
}

/// What the server says about its refusal, where it says so in JSON as npm's registry does.
fn said(body: &[u8]) -> Option<String> {
    let said: Value = serde_json::from_str(str::from_utf8(body).ok()?).ok()?;
    let field = |name| said.get(name).and_then(Value::as_str);
    let words = printable(field("error").or_else(|| field("message"))?);
    (!words.is_empty()).then_some(words)
}

/// A text that can be put on a terminal, on one line and not too long.
pub fn printable(text: &str) -> String {
    const LONGEST: usize = 200;
    let words = text.split(|character: char| character.is_control() || character.is_whitespace());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use espalier_core::FetchFailureKind as Kind;
    use http::StatusCode;

    use super::{Broken, Trouble, printable};
    use crate::address::tests::address;

    fn refused(code: u16, body: &str) -> Trouble {
        Trouble::refused(StatusCode::from_u16(code).expect("a status"), None, body.as_bytes())
    }

    #[test]
    fn what_a_server_says_cannot_move_the_cursor() {
        assert_eq!(printable("no\u{1b}[2J\r\nentry  here"), "no [2J entry here");
        assert_eq!(printable(&"x".repeat(300)).chars().count(), 201);
    }

    #[test]
    fn statuses_become_kinds_and_some_pass() {
        let address = address("http://registry.test/a");
        for (code, kind, transient) in [
            (400, Kind::Status(400), false),
            (401, Kind::Unauthorized, false),
            (403, Kind::Forbidden, false),
            (404, Kind::NotFound, false),
            (405, Kind::Status(405), false),
            (406, Kind::Status(406), false),
            (408, Kind::Status(408), true),
            (410, Kind::Status(410), false),
            (418, Kind::Status(418), false),
            (420, Kind::Status(420), true),
            (429, Kind::Status(429), true),
            (500, Kind::Status(500), true),
            (503, Kind::Status(503), true),
        ] {
            assert_eq!(refused(code, "").is_transient(), transient, "{code}");
            assert_eq!(refused(code, "").into_failure(&address, 1).kind, kind, "{code}");
        }
    }

    #[test]
    fn a_servers_own_words_come_with_its_status() {
        let message = |code, body| refused(code, body).into_failure(&address("http://registry.test/a"), 1).message;
        assert_eq!(message(503, "<html>"), "registry.test failed (503 Service Unavailable)");
        assert_eq!(message(404, r#"{"error":"Not found"}"#), "registry.test has no such thing (404 Not Found)");
        let login = r#"{"message":"log in with `jf npm-config`"}"#;
        let expected = "registry.test wants to know who asks (401 Unauthorized): log in with `jf npm-config`";
        assert_eq!(message(401, login), expected);
    }

    #[test]
    fn what_broke_is_told_in_words_and_how_often_it_was_tried() {
        let address = address("https://user:secret@registry.test:8443/a?token=secret");
        let unexplained = |with_credential| Broken::Unexplained { reason: "Failed to fetch".into(), with_credential };
        for (broken, kind, transient, words) in [
            (Broken::UnknownHost, Kind::Unreachable, false, "the host registry.test:8443 could not be found"),
            (Broken::NotInTime, Kind::Unreachable, true, "registry.test:8443 did not answer in time"),
            (Broken::RedirectsWithoutEnd, Kind::Invalid, false, "registry.test:8443 redirects without end"),
            (unexplained(true), Kind::Preflight, false, "can't be reached with a token (Failed to fetch)"),
            (unexplained(false), Kind::Unreachable, true, "https://registry.test:8443/a was not found, or"),
        ] {
            let trouble = Trouble::Broken(broken);
            assert_eq!(trouble.is_transient(), transient, "{words}");
            let failure = trouble.into_failure(&address, 3);
            assert_eq!(failure.kind, kind, "{words}");
            assert!(failure.message.contains(words), "{failure}");
            assert!(failure.message.ends_with("(tried 3 times)") && !failure.message.contains("secret"), "{failure}");
        }
    }
}
