//! What can go wrong with one attempt, and how a person is told.
//!
//! No message holds a credential: URLs lose user, password and query before they are shown, and what a server says about
//! itself is stripped of control characters, because it ends on a terminal.

use std::error::Error;
use std::time::Duration;

use espalier_core::{FetchFailure, FetchFailureKind};
use reqwest::StatusCode;
use url::Url;

use super::retry;

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No answer, or one that broke off.
    Transport(reqwest::Error),
    /// An answer that says no.
    Status {
        status: StatusCode,
        /// How long the server asks to wait.
        wait: Option<Duration>,
        /// Its own words.
        detail: Option<String>,
    },
    /// An answer that can't be used.
    Unusable(String),
}

impl Trouble {
    /// Whether another attempt may fare better. A body that can't be read is tried again too: what cut it short was
    /// probably on the way.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Transport(error) => !(error.is_redirect() || error.is_builder() || is_unknown_host(error)),
            Self::Status { status, .. } => retry::is_transient(*status),
            Self::Unusable(_) => true,
        }
    }

    /// The wait that the server asked for.
    pub(super) fn asked_wait(&self) -> Option<Duration> {
        match self {
            Self::Status { wait, .. } => *wait,
            Self::Transport(_) | Self::Unusable(_) => None,
        }
    }

    /// The failure that a resolution is told, after so many attempts.
    pub(super) fn into_failure(self, url: &Url, attempts: u32) -> FetchFailure {
        let host = host(url);
        let (kind, message) = match &self {
            Self::Transport(error) => describe(error, &host),
            Self::Status { status, detail, .. } => {
                // "404 Not Found: Not found" says nothing twice.
                let new =
                    |said: &&String| status.canonical_reason().is_none_or(|reason| !reason.eq_ignore_ascii_case(said));
                let said = detail.as_ref().filter(new).map(|said| format!(": {said}")).unwrap_or_default();
                let (kind, word) = match status.as_u16() {
                    404 | 405 | 410 => (FetchFailureKind::NotFound, "has no such thing"),
                    401 => (FetchFailureKind::Forbidden, "wants to know who asks"),
                    403 => (FetchFailureKind::Forbidden, "does not allow this"),
                    code => (FetchFailureKind::Status(code), "failed"),
                };
                (kind, format!("{host} {word} ({}){said}", status_text(*status)))
            }
            Self::Unusable(reason) => (FetchFailureKind::Invalid, format!("the answer of {host} {reason}")),
        };
        let message = if attempts > 1 { format!("{message} (tried {attempts} times)") } else { message };
        FetchFailure { kind, message, url: shown(url) }
    }
}

fn status_text(status: StatusCode) -> String {
    status
        .canonical_reason()
        .map_or_else(|| status.as_u16().to_string(), |reason| format!("{} {reason}", status.as_u16()))
}

/// A transport error in one clause: the deepest cause is the one that says something.
fn describe(error: &reqwest::Error, host: &str) -> (FetchFailureKind, String) {
    let unreachable = |message| (FetchFailureKind::Unreachable, message);
    let cause = innermost(error);
    if error.is_redirect() {
        (FetchFailureKind::Invalid, format!("{host} redirects without end"))
    } else if is_unknown_host(error) {
        unreachable(format!("the host {host} could not be found"))
    } else if error.is_connect() && error.is_timeout() {
        unreachable(format!("no connection to {host} could be made in time"))
    } else if error.is_timeout() {
        unreachable(format!("{host} did not answer in time"))
    } else if sources(error).any(<dyn Error>::is::<rustls::Error>) {
        unreachable(format!("the connection to {host} is not secure: {cause}"))
    } else if error.is_connect() {
        unreachable(format!("no connection to {host} could be made: {cause}"))
    } else {
        unreachable(format!("the connection to {host} broke off: {cause}"))
    }
}

/// Whether the name of the host has no address. The resolver's error has no type of its own, only its words.
fn is_unknown_host(error: &reqwest::Error) -> bool {
    error.is_connect() && sources(error).any(|source| source.to_string() == "dns error")
}

fn sources<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // What io::Error wraps is not its source, but its inner error's source is.
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

/// The words of the deepest cause of an error.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let cause = sources(error).last().map(ToString::to_string).unwrap_or_default();
    // The system's own number of an error says nothing to the reader.
    let words = cause.split_once(" (os error ").map_or(cause.as_str(), |(words, _)| words);
    printable(words).trim_end_matches('.').to_owned()
}

/// A text that can be put on a terminal, on one line and not too long.
pub(super) fn printable(text: &str) -> String {
    const LONGEST: usize = 200;
    let words = text.split(|character: char| character.is_control() || character.is_whitespace());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The host of a URL, with its port where that is unusual.
fn host(url: &Url) -> String {
    url[url::Position::BeforeHost..url::Position::AfterPort].to_owned()
}

/// A URL as it may be shown.
pub(crate) fn shown(url: &Url) -> String {
    format!("{}://{}", url.scheme(), &url[url::Position::BeforeHost..url::Position::AfterPath])
}

#[cfg(test)]
mod tests {
    use espalier_core::FetchFailureKind;
    use reqwest::StatusCode;
    use url::Url;

    use super::{Trouble, printable, shown};

    #[test]
    fn a_shown_url_has_no_secrets() {
        let url = Url::parse("https://user:pass@registry.test:8443/a/b?token=x#y").expect("a URL");
        assert_eq!(shown(&url), "https://registry.test:8443/a/b");
    }

    #[test]
    fn what_a_server_says_cannot_move_the_cursor() {
        assert_eq!(printable("no\u{1b}[2J\r\nentry  here"), "no [2J entry here");
        assert_eq!(printable(&"x".repeat(300)).chars().count(), 201);
    }

    #[test]
    fn statuses_become_kinds() {
        let url = Url::parse("http://registry.test/a").expect("a URL");
        let failure = |code: u16| {
            let status = StatusCode::from_u16(code).expect("a status");
            Trouble::Status { status, wait: None, detail: None }.into_failure(&url, 1)
        };
        for (code, kind) in [
            (404, FetchFailureKind::NotFound),
            (405, FetchFailureKind::NotFound),
            (401, FetchFailureKind::Forbidden),
            (403, FetchFailureKind::Forbidden),
            (418, FetchFailureKind::Status(418)),
            (503, FetchFailureKind::Status(503)),
        ] {
            assert_eq!(failure(code).kind, kind, "{code}");
        }
        assert_eq!(failure(503).message, "registry.test failed (503 Service Unavailable)");
    }
}
