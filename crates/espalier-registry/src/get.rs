//! One request as it is sent, and what the head of its answer means.

use std::time::Duration;

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::trouble::{Broken, Trouble};
use crate::{freshness, retry};

/// A request.
#[derive(Clone, Debug)]
pub struct Get {
    /// The address of the document or tarball.
    pub address: Address,
    /// The `Accept` header.
    pub accept: &'static str,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The validators of the cached copy.
    pub validators: Validators,
    /// The maximum length of the body, as it is sent.
    pub limit: u64,
}

/// The server's identifiers of one version of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validators {
    /// `ETag`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// The head of an answer.
pub struct ResponseHead<'a> {
    /// The status.
    pub status: u16,
    /// Looks up a header by its name in lower case. A repeated header is one value with commas.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// The current time since the epoch.
    pub now: Duration,
    /// Parses an HTTP date into the time since the epoch.
    pub date: fn(&str) -> Option<Duration>,
    /// The freshness, in seconds, of an answer that states none.
    pub unsaid_freshness: u64,
}

/// The meaning of an answer's head.
#[derive(Debug)]
pub enum Judged {
    /// The cached copy is still right.
    Unchanged {
        /// For how many seconds it stays right.
        fresh_for: u64,
    },
    /// The body is what was asked for.
    Body(BodyMetadata),
    /// The server refuses. The body may give a reason, which [`Trouble::refused`] reads.
    Refused {
        /// The status.
        status: StatusCode,
        /// How long the server asks to wait.
        wait: Option<Duration>,
    },
}

/// The facts about a body that precede it.
#[derive(Debug)]
pub struct BodyMetadata {
    /// `Content-Type`
    pub content_type: String,
    /// The validators for the next request.
    pub validators: Validators,
    /// For how many seconds the body may be used without asking; `None` if it must not be kept.
    pub fresh_for: Option<u64>,
}

impl Validators {
    /// Whether there is neither.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

impl Get {
    /// The headers to send, by their names in lower case.
    ///
    /// # Errors
    /// When a credential contains a character that no header can.
    pub fn headers(&self) -> Result<Vec<(&'static str, &str)>, Trouble> {
        let set = [
            ("accept", Some(self.accept)),
            ("authorization", self.authorization.as_deref()),
            ("if-none-match", self.validators.etag.as_deref()),
            ("if-modified-since", self.validators.last_modified.as_deref()),
        ];
        let set = set.into_iter().filter_map(|(name, value)| Some((name, value?.trim())));
        set.map(|(name, value)| {
            let sendable = value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f));
            let impossible = || Broken::Impossible("its credentials hold characters that no header can".to_owned());
            if sendable { Ok((name, value)) } else { Err(Trouble::Broken(impossible())) }
        })
        .collect()
    }

    /// Interprets the head of the answer.
    pub fn judge(&self, answered: &ResponseHead<'_>) -> Judged {
        let ResponseHead { status, header, now, date, unsaid_freshness } = answered;
        let fresh_for = freshness::lifetime(header, *unsaid_freshness);
        match *status {
            304 if !self.validators.is_empty() => Judged::Unchanged { fresh_for: fresh_for.unwrap_or_default() },
            200 => Judged::Body(BodyMetadata {
                content_type: header("content-type").unwrap_or_default(),
                validators: Validators { etag: header("etag"), last_modified: header("last-modified") },
                fresh_for,
            }),
            status => Judged::Refused {
                status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                wait: retry::asked_wait(header("retry-after").as_deref(), *now, *date),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Get, Judged, ResponseHead, Validators};
    use crate::address::tests::address;

    fn get(etag: Option<&str>, authorization: Option<&str>) -> Get {
        Get {
            address: address("http://registry.test/a"),
            accept: "*/*",
            authorization: authorization.map(str::to_owned),
            validators: Validators { etag: etag.map(str::to_owned), last_modified: None },
            limit: 10,
        }
    }

    fn judged(get: &Get, status: u16, headers: &[(&str, &str)]) -> Judged {
        let header =
            |name: &str| headers.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        get.judge(&ResponseHead { status, header: &header, now: Duration::ZERO, date: |_| None, unsaid_freshness: 300 })
    }

    #[test]
    fn only_what_there_is_is_sent() {
        assert_eq!(get(None, None).headers().expect("headers"), [("accept", "*/*")]);
        let all = get(Some("\"1\""), Some("Bearer abc "));
        let expected = [("accept", "*/*"), ("authorization", "Bearer abc"), ("if-none-match", "\"1\"")];
        assert_eq!(all.headers().expect("headers"), expected);
        let broken = get(None, Some("Bearer a\r\nx: y")).headers().expect_err("not sendable");
        assert!(!broken.is_transient());
    }

    #[test]
    fn a_head_says_what_the_body_is() {
        let asked = get(Some("\"1\""), None);
        let max_age = [("cache-control", "max-age=60")];
        assert!(matches!(judged(&asked, 304, &max_age), Judged::Unchanged { fresh_for: 60 }));
        assert!(matches!(judged(&get(None, None), 304, &max_age), Judged::Refused { .. }));
        let Judged::Body(received) = judged(&asked, 200, &[("etag", "\"2\""), ("content-type", "text/html")]) else {
            panic!("a body")
        };
        assert_eq!((received.content_type.as_str(), received.fresh_for), ("text/html", Some(300)));
        assert_eq!(received.validators.etag.as_deref(), Some("\"2\""));
        let refused = judged(&asked, 429, &[("retry-after", "7")]);
        assert!(
            matches!(refused, Judged::Refused { status, wait: Some(wait) } if status == 429 && wait.as_secs() == 7)
        );
    }
}
