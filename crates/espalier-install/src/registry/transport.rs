//! The HTTP clients: sockets, certificates and proxies.
//!
//! They don't decompress bodies, because the parsing thread does. The plain client
//! ([`super::wire`]) is used if possible, over HTTP/2 if the registry agrees. The general client is
//! used for proxies and client certificates, over HTTP/1.1.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use espalier_registry::{Address, Broken, Trouble};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Identity, NoProxy, Proxy};
use url::Url;

use super::certificates::Trusted;
use super::hosts::Hosts;
use super::wire::{Patience, Wire};
use crate::config::identities::ClientIdentity;
use crate::config::pem::Pem;
use crate::config::settings::Network;
use crate::config::{ConfigError, Origin};

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a registry may be silent, before the first byte and between two bytes.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
const MOST_REDIRECTS: usize = 10;
const USER_AGENT: &str = concat!("espalier/", env!("CARGO_PKG_VERSION"));

/// The clients: one for each client certificate, one without, and a plain one if possible.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    usual: Arc<Usual>,
    identified: Arc<[(ClientIdentity, Client)]>,
    wire: Option<Arc<Wire>>,
}

/// The client without a certificate of its own. It is made when it is needed, because that reads
/// the system's certificates, which takes as long as everything else that a command does before its
/// first request.
#[derive(Debug)]
struct Usual {
    client: OnceLock<Client>,
    network: Network,
    hosts: Hosts,
}

impl Clients {
    /// The clients for these settings.
    pub fn new(network: &Network) -> Result<Self, ConfigError> {
        let hosts = Hosts::default();
        let mut identified = Vec::new();
        for identity in &network.identities {
            identified.push((identity.clone(), client(network, &hosts, Some(identity))?));
        }
        let is_plain = network.identities.is_empty() && network.strict_ssl;
        let is_direct = network.https_proxy.is_none() && network.http_proxy.is_none();
        let wire = (is_plain && is_direct).then(|| {
            let trusted =
                Trusted { only: Arc::clone(&network.certificates), extra: Arc::clone(&network.extra_certificates) };
            let patience = Patience {
                connecting: CONNECT_TIMEOUT.min(network.timeout),
                silence: SILENCE_TIMEOUT.min(network.timeout),
                attempt: network.timeout,
            };
            Arc::new(Wire::new(hosts.clone(), trusted, USER_AGENT, patience, network.concurrency))
        });
        let usual = Usual { client: OnceLock::new(), network: network.clone(), hosts };
        // Settings can be wrong, and are reported before anything else is done.
        if wire.is_none() {
            usual.client()?;
        } else {
            network.certificates.iter().chain(&*network.extra_certificates).try_for_each(Pem::check)?;
        }
        Ok(Self { usual: Arc::new(usual), identified: identified.into(), wire })
    }

    /// The plain client. `None` if there are proxies or client certificates, or if certificates
    /// aren't verified.
    pub fn wire(&self) -> Option<&Wire> {
        self.wire.as_deref()
    }

    /// The client certificate that is sent to this address, with its key.
    pub fn certificate(&self, address: &Address) -> Option<&str> {
        if self.identified.is_empty() {
            return None;
        }
        let url = Url::parse(address.as_str()).ok()?;
        self.identified.iter().find(|(identity, _)| identity.is_for(&url)).map(|(identity, _)| identity.pem.as_str())
    }

    /// The general client for this URL.
    pub fn of(&self, url: &Url) -> Result<&Client, Trouble> {
        match self.identified.iter().find(|(identity, _)| identity.is_for(url)) {
            Some((_, client)) => Ok(client),
            None => self.usual.client().map_err(|error| Trouble::Broken(Broken::Impossible(error.to_string()))),
        }
    }
}

impl Usual {
    fn client(&self) -> Result<&Client, ConfigError> {
        if self.client.get().is_none() {
            // If another thread was faster, its client is equivalent.
            let _ = self.client.set(client(&self.network, &self.hosts, None)?);
        }
        Ok(self.client.get().expect("it was set"))
    }
}

fn client(network: &Network, hosts: &Hosts, identity: Option<&ClientIdentity>) -> Result<Client, ConfigError> {
    // This fails only if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .dns_resolver(hosts.clone())
        .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]))
        .http1_only()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(network.concurrency)
        .connect_timeout(CONNECT_TIMEOUT.min(network.timeout))
        .read_timeout(SILENCE_TIMEOUT.min(network.timeout))
        .timeout(network.timeout)
        // This drops `Authorization` if the host, port or scheme changes.
        .redirect(Policy::limited(MOST_REDIRECTS))
        .referer(false)
        .no_proxy()
        .tls_danger_accept_invalid_certs(!network.strict_ssl);
    let mut builder = if network.certificates.is_empty() {
        builder.tls_certs_merge(certificates(&network.extra_certificates)?)
    } else {
        let trusted = [&*network.certificates, &network.extra_certificates].concat();
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

fn certificates(pems: &[Pem]) -> Result<Vec<Certificate>, ConfigError> {
    let mut certificates = Vec::new();
    for pem in pems {
        pem.check()?;
        let parsed = Certificate::from_pem_bundle(&pem.read()?);
        certificates.extend(parsed.map_err(|error| pem.unusable(super::failure::innermost(&error)))?);
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
            // What can't be parsed can still contain a password, anywhere before the last `@`.
            value: address.rsplit_once('@').map_or(&**address, |(_, rest)| rest).to_owned(),
            expected: "a URL of an http or https proxy",
            origin: Origin::Environment,
        })?;
        proxies.push(proxy.no_proxy(exceptions.clone()));
    }
    Ok(proxies)
}
