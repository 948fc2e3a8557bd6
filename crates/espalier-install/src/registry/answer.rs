//! What both clients have in common: the headers of a request, and the judgement of its answer.

use std::time::{SystemTime, UNIX_EPOCH};

use espalier_registry::{Broken, Get, Judged, ResponseHead, Trouble};
use reqwest::header::{HeaderMap, HeaderValue};

use crate::body::Encoding;

/// How much of a refusal's body is read.
pub(super) const LONGEST_REFUSAL: u64 = 16 << 10;

/// An answer with an unread body.
#[derive(Debug)]
pub(super) struct Answer {
    pub judged: Judged,
    pub encoding: Encoding,
    pub body: Vec<u8>,
}

/// The headers of a request. The credential is marked as sensitive.
pub(super) fn headers(get: &Get) -> Result<HeaderMap, Trouble> {
    let unusable = |_| Trouble::Broken(Broken::Impossible("a header can't be sent".to_owned()));
    let mut headers = HeaderMap::new();
    for (name, value) in get.headers()? {
        let mut value = HeaderValue::from_str(value).map_err(unusable)?;
        value.set_sensitive(name == "authorization");
        headers.insert(name, value);
    }
    Ok(headers)
}

/// What the status and headers of an answer mean.
pub(super) fn judged(get: &Get, status: u16, header: &dyn Fn(&str) -> Option<String>) -> Judged {
    get.judge(&ResponseHead {
        status,
        header,
        now: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        date: |text| httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok(),
        // A document without a stated lifetime is revalidated each time.
        unsaid_freshness: 0,
    })
}

/// The values of a header, joined with commas.
pub(super) fn joined(headers: &HeaderMap, name: &str) -> Option<String> {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}
