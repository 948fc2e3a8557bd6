//! The failures of one attempt, and their messages.
//!
//! No message contains a credential: addresses lose user, password and query before they are shown.
//! Text from a server loses its control characters, because it is printed on a terminal.

use std::time::Duration;

use espalier_core::{FetchFailure, FetchFailureKind};
use http::StatusCode;
use serde_json::Value;

use crate::address::Address;
use crate::retry;

/// Why an attempt failed.
#[derive(Debug)]
pub enum Trouble {
    /// There was no answer, or an incomplete one.
    Broken(Broken),
    /// The answer is a refusal.
    Status {
        /// Its status.
        status: StatusCode,
        /// How long the server asks to wait.
        wait: Option<Duration>,
        /// The server's explanation.
        detail: Option<String>,
    },
    /// The answer can't be used. The text completes a sentence about it.
    Unusable(String),
    /// The tarball isn't the expected one. The text completes a sentence about it.
    Other(String),
}

/// What prevents an answer. Texts are the innermost cause.
#[derive(Debug)]
pub enum Broken {
    /// The host's name has no address.
    UnknownHost,
    /// No connection could be made.
    NotConnected(String),
    /// Connecting timed out.
    NotConnectedInTime,
    /// The answer timed out.
    NotInTime,
    /// The certificate isn't trusted.
    Insecure(String),
    /// The connection was lost.
    BrokeOff(String),
    /// The server redirects endlessly.
    RedirectsWithoutEnd,
    /// The request can't be made, or the client returns something other than an answer.
    Impossible(String),
    /// A browser doesn't tell the cause.
    Unexplained {
        /// The browser's message.
        reason: String,
        /// Whether the request carried a credential, for which browsers ask permission first.
        with_credential: bool,
    },
}

impl Trouble {
    /// A refusal with this status. `wait` is its `Retry-After`, and `body` is the answer's body.
    pub fn refused(status: StatusCode, wait: Option<Duration>, body: &[u8]) -> Self {
        Self::Status { status, wait, detail: said(body) }
    }

    /// Whether another attempt may succeed. An unreadable body is fetched again, because it was
    /// probably cut short on the way.
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

    /// How long the server asks to wait.
    pub fn asked_wait(&self) -> Option<Duration> {
        match self {
            Self::Status { wait, .. } => *wait,
            Self::Broken(_) | Self::Unusable(_) | Self::Other(_) => None,
        }
    }

    /// The failure for the resolution, after this number of attempts.
    pub fn into_failure(self, address: &Address, attempts: u32) -> FetchFailure {
        let host = address.authority();
        let (kind, message) = match &self {
            Self::Broken(broken) => broken.describe(address),
            Self::Status { status, detail, .. } => {
                // "404 Not Found: Not found" would repeat itself.
                let new =
                    |said: &&String| status.canonical_reason().is_none_or(|reason| !reason.eq_ignore_ascii_case(said));
                let said = detail.as_ref().filter(new).map(|said| format!(": {said}")).unwrap_or_default();
                let kind = FetchFailureKind::of_status(status.as_u16());
                let word = match kind {
                    kind if kind.is_absence() => "does not have it",
                    FetchFailureKind::Unauthorized => "requires authentication",
                    FetchFailureKind::Forbidden => "denies access",
                    _ => "failed",
                };
                (kind, format!("{host} {word} ({}){said}", status_text(*status)))
            }
            Self::Unusable(reason) => (FetchFailureKind::Invalid, format!("the answer from {host} {reason}")),
            Self::Other(reason) => (FetchFailureKind::Integrity, format!("the answer from {host} {reason}")),
        };
        let message = if attempts > 1 { format!("{message} (tried {attempts} times)") } else { message };
        FetchFailure { kind, message, url: address.shown() }
    }
}

impl Broken {
    fn describe(&self, address: &Address) -> (FetchFailureKind, String) {
        let host = address.authority();
        let message = match self {
            Self::UnknownHost => format!("the host {host} was not found"),
            Self::NotConnected(cause) => format!("cannot connect to {host}: {cause}"),
            Self::NotConnectedInTime => format!("connecting to {host} timed out"),
            Self::NotInTime => format!("{host} timed out"),
            Self::Insecure(cause) => format!("the connection to {host} is not secure: {cause}"),
            Self::BrokeOff(cause) => format!("the connection to {host} was lost: {cause}"),
            Self::RedirectsWithoutEnd => {
                return (FetchFailureKind::Invalid, format!("{host} redirects endlessly"));
            }
            Self::Impossible(cause) => {
                return (FetchFailureKind::Invalid, format!("cannot send a request to {host}: {cause}"));
            }
            Self::Unexplained { reason, with_credential: true } => {
                let message = format!(
                    "cannot reach {} with a token ({reason}). Browsers ask for permission first (a preflight), and this \
                     registry seems to refuse it. A registry, or a proxy in front of it, must answer OPTIONS with \
                     `Access-Control-Allow-Headers: authorization`.",
                    address.shown()
                );
                return (FetchFailureKind::Preflight, message);
            }
            Self::Unexplained { reason, with_credential: false } => format!(
                "{} was not found or is unreachable from a browser ({reason}): the host may be down, may not allow other \
                 origins (no CORS header), or may answer 404 without that header",
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

/// The server's explanation of its refusal, if it is JSON in the form of npm's registry.
fn said(body: &[u8]) -> Option<String> {
    let said: Value = serde_json::from_str(str::from_utf8(body).ok()?).ok()?;
    let field = |name| said.get(name).and_then(Value::as_str);
    let words = printable(field("error").or_else(|| field("message"))?);
    (!words.is_empty()).then_some(words)
}

/// The text as one line for a terminal, without control characters and of limited length.
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
            assert_eq!((kind.code().into_owned(), kind.status()), (format!("E{code}"), Some(code)));
        }
    }

    #[test]
    fn a_servers_own_words_come_with_its_status() {
        let message = |code, body| refused(code, body).into_failure(&address("http://registry.test/a"), 1).message;
        assert_eq!(message(503, "<html>"), "registry.test failed (503 Service Unavailable)");
        assert_eq!(message(404, r#"{"error":"Not found"}"#), "registry.test does not have it (404 Not Found)");
        let login = r#"{"message":"log in with `jf npm-config`"}"#;
        let expected = "registry.test requires authentication (401 Unauthorized): log in with `jf npm-config`";
        assert_eq!(message(401, login), expected);
    }

    #[test]
    fn what_broke_is_told_in_words_and_how_often_it_was_tried() {
        let address = address("https://user:secret@registry.test:8443/a?token=secret");
        let unexplained = |with_credential| Broken::Unexplained { reason: "Failed to fetch".into(), with_credential };
        for (broken, kind, transient, words) in [
            (Broken::UnknownHost, Kind::Unreachable, false, "the host registry.test:8443 was not found"),
            (Broken::NotInTime, Kind::Unreachable, true, "registry.test:8443 timed out"),
            (Broken::RedirectsWithoutEnd, Kind::Invalid, false, "registry.test:8443 redirects endlessly"),
            (unexplained(true), Kind::Preflight, false, "with a token (Failed to fetch)"),
            (unexplained(false), Kind::Unreachable, true, "https://registry.test:8443/a was not found or"),
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
