//! One request, with its retries.
//!
//! A request ends within attempts × timeout plus the waits between them; nothing here can wait for ever. What the body is
//! worth is decided by the caller's `decode`, which runs on a thread where it may take its time and counts as part of the
//! attempt, so that a body that broke on its way is fetched again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::SystemTime;

use espalier_core::FetchFailure;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use reqwest::{Response, StatusCode};
use url::Url;

use super::body::{self, Encoding};
use super::failure::{self, Trouble};
use super::retry::{self, Retries};
use super::transport::Clients;
use crate::activity::Activity;
use crate::cache::freshness;

/// What to fetch.
#[derive(Clone, Debug)]
pub(super) struct Get {
    pub url: Url,
    pub accept: &'static str,
    pub authorization: Option<String>,
    /// By which the server knows what is already here.
    pub validators: Validators,
    /// The longest body, as it is sent.
    pub limit: u64,
}

/// What identifies a version of a document, as the server gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Validators {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// What came.
#[derive(Debug)]
pub(super) enum Reply {
    /// What is already here is still right.
    Unchanged {
        /// For how many seconds it stays right.
        fresh_for: u64,
    },
    /// A body.
    Body(Received),
}

#[derive(Debug)]
pub(super) struct Received {
    pub bytes: Vec<u8>,
    pub encoding: Encoding,
    pub content_type: String,
    pub validators: Validators,
    /// For how many seconds it may be used without asking; `None` where it must not be kept.
    pub fresh_for: Option<u64>,
}

/// Makes requests.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    pub clients: Clients,
    pub retries: Retries,
    pub activity: Arc<Activity>,
}

impl Requester {
    /// Fetches something and makes of it what `decode` makes of it.
    pub(super) async fn get<T: Send + 'static>(
        &self,
        get: &Get,
        decode: impl Fn(Reply) -> Result<T, String> + Clone + Send + 'static,
    ) -> Result<T, FetchFailure> {
        let mut spread = DefaultHasher::new();
        get.url.as_str().hash(&mut spread);
        let spread = spread.finish();
        let mut attempt = 0;
        loop {
            let trouble = match self.attempt(get, decode.clone()).await {
                Ok(result) => return Ok(result),
                Err(trouble) => trouble,
            };
            let wait = self.retries.wait(attempt, trouble.asked_wait(), spread.wrapping_add(u64::from(attempt)));
            attempt += 1;
            match wait.filter(|_| trouble.is_transient()) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(trouble.into_failure(&get.url, attempt)),
            }
            self.activity.retries.add(1);
        }
    }

    async fn attempt<T: Send + 'static>(
        &self,
        get: &Get,
        decode: impl FnOnce(Reply) -> Result<T, String> + Send + 'static,
    ) -> Result<T, Trouble> {
        let reply = self.exchange(get).await?;
        let decoded = tokio::task::spawn_blocking(move || decode(reply)).await;
        match decoded {
            Ok(result) => result.map_err(Trouble::Unusable),
            // A decoder that panics is a bug, which is not to be hidden behind a failed fetch.
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Trouble::Unusable("came while everything was ending".to_owned())),
            },
        }
    }

    async fn exchange(&self, get: &Get) -> Result<Reply, Trouble> {
        self.activity.network_requests.add(1);
        let request = self.clients.of(&get.url).get(get.url.clone()).headers(get.headers()?);
        let response = request.send().await.map_err(|error| Trouble::Transport(error.without_url()))?;
        let status = response.status();
        let fresh_for = freshness::lifetime(response.headers());
        if status == StatusCode::NOT_MODIFIED && !get.validators.is_empty() {
            return Ok(Reply::Unchanged { fresh_for: fresh_for.unwrap_or_default() });
        }
        if status != StatusCode::OK {
            let wait = retry::asked_wait(response.headers(), SystemTime::now());
            return Err(Trouble::Status { status, wait, detail: detail(response).await });
        }
        let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let content_type = text(CONTENT_TYPE).unwrap_or_default();
        let validators = Validators { etag: text(ETAG), last_modified: text(LAST_MODIFIED) };
        let encoding = Encoding::of(&response)?;
        let bytes = body::read(response, get.limit).await?;
        self.activity.network_bytes.add(bytes.len() as u64);
        Ok(Reply::Body(Received { bytes, encoding, content_type, validators, fresh_for }))
    }
}

impl Get {
    fn headers(&self) -> Result<HeaderMap, Trouble> {
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(self.accept))]);
        let set = [
            (AUTHORIZATION, &self.authorization),
            (IF_NONE_MATCH, &self.validators.etag),
            (IF_MODIFIED_SINCE, &self.validators.last_modified),
        ];
        for (name, text) in set {
            let Some(text) = text else { continue };
            let value = HeaderValue::from_str(text.trim());
            let mut value = value.map_err(|_| {
                Trouble::Unusable("was not asked for: its credentials hold characters that no header can".to_owned())
            })?;
            value.set_sensitive(name == AUTHORIZATION);
            headers.insert(name, value);
        }
        Ok(headers)
    }
}

impl Validators {
    pub(super) fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// What the server says about its refusal, where it says so in JSON as npm's registry does.
async fn detail(response: Response) -> Option<String> {
    const LIMIT: u64 = 16 * 1024;
    #[derive(serde::Deserialize)]
    struct Said {
        error: Option<String>,
        message: Option<String>,
    }
    let encoding = Encoding::of(&response).ok()?;
    let bytes = body::read(response, LIMIT).await.ok()?;
    let said: Said = serde_json::from_slice(&encoding.decode(&bytes, LIMIT).ok()?).ok()?;
    let words = failure::printable(&said.error.or(said.message)?);
    (!words.is_empty()).then_some(words)
}
