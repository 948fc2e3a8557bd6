//! Security advisories, from the bulk endpoint of the default registry, as for `npm audit`. The
//! caller interprets them.

use espalier_core::{FetchFailure, FetchFailureKind};
use espalier_registry::{Address, Trouble};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use url::Url;

use super::request::read;
use super::{Registry, failure};
use crate::body::{Encoding, Inflater};
use crate::config::registries::normalize;

const PATH: &str = "-/npm/v1/security/advisories/bulk";
const LONGEST: u64 = 32 << 20;

impl Registry {
    /// Sends names with their versions as JSON, once, and returns the answer as it is. Nothing is
    /// cached.
    pub async fn advisories(&self, question: Vec<u8>) -> Result<Vec<u8>, FetchFailure> {
        let registry = self.registries.default_registry();
        let address = Address::parse(&format!("{}{PATH}", registry.as_str()), normalize);
        let address = address.unwrap_or_else(|| registry.clone());
        if self.is_offline() {
            let message = "advisories are not in the cache, and the network is off (--offline)".to_owned();
            return Err(FetchFailure { kind: FetchFailureKind::NotCached, message, url: address.shown() });
        }
        self.ask_advisories(&address, question).await.map_err(|trouble| trouble.into_failure(&address, 1))
    }

    async fn ask_advisories(&self, address: &Address, question: Vec<u8>) -> Result<Vec<u8>, Trouble> {
        let url = Url::parse(address.as_str()).expect("an address is a URL");
        let mut request = self.requester.clients.of(&url)?.post(url).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = self.registries.authorization(address, "") {
            let value = HeaderValue::from_str(&authorization);
            let mut value = value.map_err(|_| Trouble::Unusable("can't be asked with this token".to_owned()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let broken = |error: reqwest::Error| Trouble::Broken(failure::broken(&error.without_url()));
        let response = request.body(question).send().await.map_err(broken)?;
        if !response.status().is_success() {
            return Err(Trouble::refused(response.status(), None, &[]));
        }
        let encoding = response.headers().get(reqwest::header::CONTENT_ENCODING);
        let encoding = Encoding::of(encoding.and_then(|value| value.to_str().ok()))?;
        let bytes = read(response, LONGEST).await?;
        Inflater::with(|inflater| encoding.decode(&bytes, LONGEST, inflater).map(<[u8]>::to_vec))
            .map_err(Trouble::Unusable)
    }
}
