//! One request with its retries.
//!
//! A request takes no longer than all attempts and the waits between them, so it always ends. The
//! reader of a body decides whether it is usable. Reading is part of the attempt, so a body that
//! was damaged on its way is fetched again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use espalier_core::FetchFailure;
use espalier_registry::{Broken, Get, Judged, Retries, Trouble, printable};
use tokio::sync::Semaphore;
use url::Url;

use super::answer::{Answer, LONGEST_REFUSAL, headers, joined, judged};
use super::failure;
use super::transport::Clients;
use super::wire::{Outcome, Protocol};
use crate::activity::Activity;
use crate::body::{Encoding, Inflater, too_long};
use crate::spans::Spans;
use crate::workers::Workers;

/// The answer to a request.
#[derive(Debug)]
pub(super) enum Reply {
    /// The cached document is still right.
    Unchanged {
        /// The number of seconds for which it stays right.
        fresh_for: u64,
    },
    /// A body.
    Body(ReceivedBody),
}

impl Reply {
    /// The length of its body in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Unchanged { .. } => 0,
            Self::Body(received) => received.bytes.len(),
        }
    }
}

#[derive(Debug)]
pub(super) struct ReceivedBody {
    pub bytes: Vec<u8>,
    pub encoding: Encoding,
    pub about: espalier_registry::BodyMetadata,
}

/// Makes requests.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    pub clients: Clients,
    pub retries: Retries,
    pub activity: Arc<Activity>,
    /// Limits the concurrent downloads of large bodies.
    pub downloads: Arc<Semaphore>,
    /// The threads that read large bodies.
    pub workers: Workers,
}

impl Requester {
    /// Fetches something large and decodes it on another thread.
    pub(super) async fn get<T: Send + 'static>(
        &self,
        get: &Get,
        decode: impl Fn(Reply) -> Result<T, String> + Clone + Send + 'static,
    ) -> Result<T, FetchFailure> {
        let mut attempts = 0;
        loop {
            let (reply, size, room) = {
                // The semaphore is never closed.
                let _download = self.downloads.acquire().await;
                let reply = self.fetch(get, Protocol::Http1, &mut attempts).await?;
                let size = reply.size();
                (reply, size, self.workers.room(size).await)
            };
            let decode = decode.clone();
            let unusable = match self.workers.read(size, room, move || decode(reply)).await {
                Some(Ok(result)) => return Ok(result),
                Some(Err(reason)) => reason,
                None => "could not be read, because the program is ending".to_owned(),
            };
            self.wait(get, &mut attempts, Trouble::Unusable(unusable)).await?;
        }
    }

    /// Makes a request, with retries. `attempts` includes earlier attempts and is updated.
    pub(super) async fn fetch(&self, get: &Get, protocol: Protocol, attempts: &mut u32) -> Result<Reply, FetchFailure> {
        loop {
            match self.exchange(get, protocol).await {
                Ok(reply) => return Ok(reply),
                Err(trouble) => self.wait(get, attempts, trouble).await?,
            }
        }
    }

    /// Waits before the next attempt, if the failure allows one and attempts are left.
    pub(super) async fn wait(&self, get: &Get, attempts: &mut u32, trouble: Trouble) -> Result<(), FetchFailure> {
        let mut spread = DefaultHasher::new();
        get.address.as_str().hash(&mut spread);
        let spread = spread.finish().wrapping_add(u64::from(*attempts));
        let wait = self.retries.wait(*attempts, trouble.asked_wait(), spread);
        *attempts += 1;
        match wait.filter(|_| trouble.is_transient()) {
            Some(wait) => tokio::time::sleep(wait).await,
            None => return Err(trouble.into_failure(&get.address, *attempts)),
        }
        self.activity.retries.add(1);
        Ok(())
    }

    async fn exchange(&self, get: &Get, protocol: Protocol) -> Result<Reply, Trouble> {
        self.activity.network_requests.add(1);
        match self.activity.spans() {
            Some(spans) => spans.request(get.address.shown(), Box::pin(self.ask(get, protocol))).await,
            None => self.ask(get, protocol).await,
        }
    }

    async fn ask(&self, get: &Get, protocol: Protocol) -> Result<Reply, Trouble> {
        let plain = match self.clients.wire() {
            Some(wire) => wire.exchange(get, protocol, self.activity.spans()).await.transpose()?,
            None => None,
        };
        let url = |text| Url::parse(text).expect("an address is a URL");
        let Answer { judged, encoding, body } = match plain {
            Some(Outcome::Answer(answer)) => answer,
            Some(Outcome::Elsewhere(location)) => {
                let origin = url(get.address.as_str());
                let unusable = |_| {
                    let target = printable(&location);
                    Trouble::Broken(Broken::Impossible(format!("it redirects to {target}, which is not a URL")))
                };
                let target = origin.join(&location).map_err(unusable)?;
                let is_same = target.origin() == origin.origin();
                // A credential is sent to its own registry only.
                let authorization = get.authorization.clone().filter(|_| is_same);
                Box::pin(self.exchange_through_client(&Get { authorization, ..get.clone() }, target)).await?
            }
            None => Box::pin(self.exchange_through_client(get, url(get.address.as_str()))).await?,
        };
        match judged {
            Judged::Unchanged { fresh_for } => Ok(Reply::Unchanged { fresh_for }),
            Judged::Refused { status, wait } => {
                let words = |inflater: &mut Inflater| {
                    encoding.decode(&body, LONGEST_REFUSAL, inflater).unwrap_or_default().to_vec()
                };
                Err(Trouble::refused(status, wait, &Inflater::with(words)))
            }
            Judged::Body(about) => {
                self.activity.network_bytes.add(body.len() as u64);
                Ok(Reply::Body(ReceivedBody { bytes: body, encoding, about }))
            }
        }
    }

    async fn exchange_through_client(&self, get: &Get, url: Url) -> Result<Answer, Trouble> {
        let request = self.clients.of(&url)?.get(url).headers(headers(get)?);
        let broken = |error: reqwest::Error| Trouble::Broken(failure::broken(&error.without_url()));
        let response = request.send().await.map_err(broken)?;
        let header = |name: &str| joined(response.headers(), name);
        let judged = judged(get, response.status().as_u16(), &header);
        let encoding = Encoding::of(header("content-encoding").as_deref());
        if matches!(judged, Judged::Unchanged { .. }) {
            return Ok(Answer { judged, encoding: Encoding::Identity, body: Vec::new() });
        }
        if matches!(judged, Judged::Refused { .. }) {
            // A refusal is a refusal, even if its body can't be read.
            let body = read(response, LONGEST_REFUSAL).await.unwrap_or_default();
            return Ok(Answer { judged, encoding: encoding.unwrap_or(Encoding::Identity), body });
        }
        let encoding = encoding?;
        let body = Spans::body(self.activity.spans(), read(response, get.limit)).await?;
        Ok(Answer { judged, encoding, body })
    }
}

/// Reads a body without decoding it.
pub(super) async fn read(mut response: reqwest::Response, limit: u64) -> Result<Vec<u8>, Trouble> {
    let announced = response.content_length().unwrap_or_default();
    if announced > limit {
        return Err(Trouble::Unusable(too_long(limit)));
    }
    let mut body = Vec::with_capacity(usize::try_from(announced).unwrap_or_default());
    while let Some(chunk) = response.chunk().await.map_err(|error| Trouble::Broken(failure::broken(&error)))? {
        body.extend_from_slice(&chunk);
        if body.len() as u64 > limit {
            return Err(Trouble::Unusable(too_long(limit)));
        }
    }
    Ok(body)
}
