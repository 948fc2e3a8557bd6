//! The HTTP client: sockets, certificates and proxies.
//!
//! HTTP/1.1 with many sockets, because one connection's h2 was slower for thousands of small documents. Bodies are not
//! decompressed here: that is done on the thread that parses.

use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Identity, NoProxy, Proxy};
use url::Url;

use crate::config::identities::ClientIdentity;
use crate::config::settings::Network;
use crate::config::{ConfigError, Origin};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a registry may be silent, before its first byte and between any two.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
const MOST_REDIRECTS: usize = 10;
const USER_AGENT: &str = concat!("espalier/", env!("CARGO_PKG_VERSION"));

/// The clients: one for each certificate of the user's own, and one without.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    usual: Client,
    identified: Vec<(ClientIdentity, Client)>,
}

impl Clients {
    /// The clients for these settings.
    pub fn new(network: &Network) -> Result<Self, ConfigError> {
        let mut identified = Vec::new();
        for identity in &network.identities {
            identified.push((identity.clone(), client(network, Some(identity))?));
        }
        Ok(Self { usual: client(network, None)?, identified })
    }

    /// The one that may talk to this URL.
    pub fn of(&self, url: &Url) -> &Client {
        self.identified.iter().find(|(identity, _)| identity.is_for(url)).map_or(&self.usual, |(_, client)| client)
    }
}

fn client(network: &Network, identity: Option<&ClientIdentity>) -> Result<Client, ConfigError> {
    // Fails only where a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]))
        .http1_only()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(network.concurrency)
        .connect_timeout(CONNECT_TIMEOUT.min(network.timeout))
        .read_timeout(SILENCE_TIMEOUT.min(network.timeout))
        .timeout(network.timeout)
        // Drops `Authorization` where host, port or scheme change.
        .redirect(Policy::limited(MOST_REDIRECTS))
        .referer(false)
        .no_proxy()
        .tls_danger_accept_invalid_certs(!network.strict_ssl);
    let mut builder = if network.certificates.is_empty() {
        builder.tls_certs_merge(certificates(&network.extra_certificates)?)
    } else {
        let trusted = [network.certificates.as_slice(), &network.extra_certificates].concat();
        builder.tls_certs_only(certificates(&trusted)?)
    };
    for proxy in proxies(network)? {
        builder = builder.proxy(proxy);
    }
    let setting = identity.map_or("the system", |identity| &identity.setting);
    let unusable = |error: reqwest::Error| ConfigError::Certificates {
        setting: setting.to_owned(),
        reason: super::failure::innermost(&error),
    };
    if let Some(identity) = identity {
        builder = builder.identity(Identity::from_pem(identity.pem.as_bytes()).map_err(unusable)?);
    }
    builder.build().map_err(unusable)
}

fn certificates(texts: &[(String, String)]) -> Result<Vec<Certificate>, ConfigError> {
    let mut certificates = Vec::new();
    for (setting, text) in texts {
        let unusable = |reason: String| ConfigError::Certificates { setting: setting.clone(), reason };
        let parsed = Certificate::from_pem_bundle(text.as_bytes());
        let parsed = parsed.map_err(|error| unusable(super::failure::innermost(&error)))?;
        if parsed.is_empty() {
            return Err(unusable("there is no PEM certificate in it".to_owned()));
        }
        certificates.extend(parsed);
    }
    Ok(certificates)
}

fn proxies(network: &Network) -> Result<Vec<Proxy>, ConfigError> {
    let exceptions = network.no_proxy.as_deref().and_then(NoProxy::from_string);
    let mut proxies = Vec::new();
    let settings = [("https-proxy", &network.https_proxy, true), ("proxy", &network.http_proxy, false)];
    for (key, address, secure) in settings {
        let Some(address) = address else { continue };
        let proxy = if secure { Proxy::https(address) } else { Proxy::http(address) };
        let proxy = proxy.map_err(|_| ConfigError::Invalid {
            key: key.to_owned(),
            value: without_credentials(address),
            expected: "a URL of an http or https proxy",
            origin: Origin::Environment,
        })?;
        proxies.push(proxy.no_proxy(exceptions.clone()));
    }
    Ok(proxies)
}

/// What can't be parsed can still hold a password: everything up to the last `@` is left out.
fn without_credentials(address: &str) -> String {
    address.rsplit_once('@').map_or(address, |(_, rest)| rest).to_owned()
}
