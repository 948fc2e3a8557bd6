//! The addresses of hosts. Each host is looked up once, however many connections to it are made.
//!
//! A run opens dozens of connections to one registry at the same moment. Some name servers can't
//! answer a look-up for each of them, and one failure fails the run. npm keeps addresses for five
//! minutes (`@npmcli/agent`, `dns.js`).

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use hyper_util::client::legacy::connect::dns::Name;
use tokio::time::Instant;
use tower_service::Service;

/// How long the addresses of a host are used.
const BELIEVED: Duration = Duration::from_mins(5);

type Found = Result<Vec<SocketAddr>, Unresolved>;
type Pending = Pin<Box<dyn Future<Output = Found> + Send>>;
type Lookup = Shared<Pending>;

/// The look-ups so far. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    lookups: Arc<Mutex<HashMap<String, (Instant, Lookup)>>>,
}

/// The look-up failed. All requests that wait for it get this error.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct Unresolved(Arc<io::Error>);

/// The addresses of one host.
pub(super) type Addresses = std::vec::IntoIter<SocketAddr>;

impl Hosts {
    /// The addresses of a host, with port 0.
    pub async fn addresses(&self, host: String) -> Result<Addresses, Unresolved> {
        let lookup = self.lookup(&host);
        let found = lookup.clone().await;
        if found.is_err() {
            self.forget(&host, &lookup);
        }
        found.map(Vec::into_iter)
    }

    fn lookup(&self, host: &str) -> Lookup {
        let now = Instant::now();
        let mut lookups = self.lookups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, lookup)) = lookups.get(host)
            && now.duration_since(*since) < BELIEVED
        {
            return lookup.clone();
        }
        let lookup = look_up(host.to_owned()).shared();
        lookups.insert(host.to_owned(), (now, lookup.clone()));
        lookup
    }

    /// Removes a failed look-up, so that the next caller tries again.
    fn forget(&self, host: &str, failed: &Lookup) {
        let mut lookups = self.lookups.lock().unwrap_or_else(PoisonError::into_inner);
        if lookups.get(host).is_some_and(|(_, lookup)| lookup.ptr_eq(failed)) {
            lookups.remove(host);
        }
    }
}

/// Asks the system on a thread of its own, because that can take seconds.
fn look_up(host: String) -> Pending {
    let task = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs());
    Box::pin(async move {
        let addresses = task.await.map_err(io::Error::other).flatten();
        addresses.map(Iterator::collect).map_err(|error| Unresolved(Arc::new(error)))
    })
}

/// For the connector of the plain client.
impl Service<Name> for Hosts {
    type Response = Addresses;
    type Error = Unresolved;
    type Future = Pin<Box<dyn Future<Output = Result<Addresses, Unresolved>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unresolved>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let hosts = self.clone();
        Box::pin(async move { hosts.addresses(name.as_str().to_owned()).await })
    }
}

/// For the general client.
impl reqwest::dns::Resolve for Hosts {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let hosts = self.clone();
        Box::pin(async move {
            let addresses = hosts.addresses(name.as_str().to_owned()).await?;
            Ok(Box::new(addresses) as reqwest::dns::Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_made_at_once_share_one_lookup() {
        let hosts = Hosts::default();
        let (first, second) = (hosts.lookup("localhost"), hosts.lookup("localhost"));
        assert!(first.ptr_eq(&second));
        assert!(hosts.addresses("localhost".to_owned()).await.unwrap().all(|address| address.ip().is_loopback()));
        assert!(hosts.lookup("localhost").ptr_eq(&first));
    }

    #[tokio::test]
    async fn a_failed_lookup_is_not_remembered() {
        let hosts = Hosts::default();
        // Names with a zero byte never reach a name server.
        let first = hosts.lookup("no\0host");
        assert!(hosts.addresses("no\0host".to_owned()).await.is_err());
        assert!(!hosts.lookup("no\0host").ptr_eq(&first));
    }
}
