//! One request as it is sent, and what the head of its answer means.

use std::time::Duration;

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::trouble::{Broken, Trouble};
use crate::{freshness, retry};

/// What to fetch.
#[derive(Clone, Debug)]
pub struct Get {
    /// From where.
    pub address: Address,
    /// In which form.
    pub accept: &'static str,
    /// With which credential.
    pub authorization: Option<String>,
    /// By which the server knows what is already here.
    pub validators: Validators,
    /// The longest body, as it is sent.
    pub limit: u64,
}

/// What identifies a version of a document, as the server gave it.
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
pub struct Answered<'a> {
    /// Its status.
    pub status: u16,
    /// Its headers by their names in lower case; those that came several times with commas in between.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// The time since the epoch.
    pub now: Duration,
    /// What an HTTP date says, as the time since the epoch.
    pub date: fn(&str) -> Option<Duration>,
    /// For how many seconds an answer is fresh that doesn't say.
    pub unsaid_freshness: u64,
}

/// What the head of an answer means.
#[derive(Debug)]
pub enum Judged {
    /// What is already here is still right, for so many seconds.
    Unchanged {
        /// For how many seconds it stays right.
        fresh_for: u64,
    },
    /// The body is what was asked for.
    Body(Received),
    /// It is not; the body may say why, for [`Trouble::refused`].
    Refused {
        /// Why not.
        status: StatusCode,
        /// How long the server asks to wait.
        wait: Option<Duration>,
    },
}

/// What is known of a body before it is there.
#[derive(Debug)]
pub struct Received {
    /// `Content-Type`
    pub content_type: String,
    /// To ask about it later.
    pub validators: Validators,
    /// For how many seconds it may be used without asking; `None` where it must not be kept.
    pub fresh_for: Option<u64>,
}

impl Validators {
    /// Whether nothing can be asked with them.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

impl Get {
    /// The headers to send, by their names in lower case.
    ///
    /// # Errors
    /// When a credential holds what no header can.
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

    /// What the head of the answer means.
    pub fn judge(&self, answered: &Answered<'_>) -> Judged {
        let Answered { status, header, now, date, unsaid_freshness } = answered;
        let fresh_for = freshness::lifetime(header, *unsaid_freshness);
        match *status {
            304 if !self.validators.is_empty() => Judged::Unchanged { fresh_for: fresh_for.unwrap_or_default() },
            200 => Judged::Body(Received {
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

    use super::{Answered, Get, Judged, Validators};
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
        get.judge(&Answered { status, header: &header, now: Duration::ZERO, date: |_| None, unsaid_freshness: 300 })
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
