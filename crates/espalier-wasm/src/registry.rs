//! Which address a package, a version or a tarball has.
//!
//! Knows names and URLs as text only; whether anything answers there is JavaScript's business.

use std::collections::BTreeMap;

use deno_npmrc::NPM_DEFAULT_REGISTRY;

/// The registries of a run.
#[derive(Clone)]
pub struct Registries {
    /// Ends with a slash, as do all the others.
    default: String,
    scoped: BTreeMap<String, String>,
}

impl Registries {
    /// `default` is npm's public registry when absent; `scoped` maps `@scope` to an address.
    pub fn new(default: Option<String>, scoped: BTreeMap<String, String>) -> Self {
        Self {
            default: with_slash(default.unwrap_or_else(|| NPM_DEFAULT_REGISTRY.to_owned())),
            scoped: scoped.into_iter().map(|(scope, address)| (scope, with_slash(address))).collect(),
        }
    }

    /// The address of a package's document.
    pub fn packument(&self, name: &str) -> String {
        format!("{}{}", self.of(name), escaped(name))
    }

    /// The address of one version's document.
    pub fn version(&self, name: &str, version: &str) -> String {
        format!("{}{}/{version}", self.of(name), escaped(name))
    }

    /// Where a package's tarball is fetched from, given its `resolved`; `None` when that isn't an HTTP address.
    ///
    /// As npm does it (`replace-registry-host=npmjs`), the public registry's tarballs are fetched from the
    /// registry that is configured in its place, so that a lock made elsewhere works behind a mirror.
    pub fn tarball(&self, resolved: &str, package: &str) -> Option<String> {
        let registry = self.of(package);
        let public = with_slash(NPM_DEFAULT_REGISTRY.to_owned());
        if let Some(path) = resolved.strip_prefix(&public) {
            return Some(format!("{registry}{path}"));
        }
        if resolved.starts_with("https://") || resolved.starts_with("http://") {
            return Some(resolved.to_owned());
        }
        resolved.starts_with('/').then(|| format!("{}{resolved}", origin(registry)))
    }

    /// Whether an address is one of the registry that a package comes from: there, and nowhere else, its tarball may be
    /// fetched without asking (npm's `#isRegistryResolvedTarball`).
    pub fn is_of_registry(&self, resolved: &str, package: &str) -> bool {
        // What only `fetch` would make sense of could lead out of the registry's path.
        let climbs = |step: &str| matches!(step.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
        let address = self.tarball(resolved, package);
        address.is_some_and(|address| {
            address.starts_with(self.of(package)) && !address.contains('\\') && !address.split('/').any(climbs)
        })
    }

    fn of(&self, name: &str) -> &str {
        let scope = name.starts_with('@').then(|| name.split_once('/')).flatten().map(|(scope, _)| scope);
        scope.and_then(|scope| self.scoped.get(scope)).unwrap_or(&self.default)
    }
}

/// The host of npm's public registry.
pub fn default_host() -> String {
    let rest = NPM_DEFAULT_REGISTRY.split_once("://").map_or(NPM_DEFAULT_REGISTRY, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

fn with_slash(mut address: String) -> String {
    if !address.ends_with('/') {
        address.push('/');
    }
    address
}

/// npm's form of a scoped name in a path.
fn escaped(name: &str) -> String {
    name.replacen('/', "%2f", 1)
}

/// Scheme and host, without the slash after them.
fn origin(address: &str) -> &str {
    let host = address.find("://").map_or(0, |position| position + 3);
    address[host..].find('/').map_or(address, |slash| &address[..host + slash])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registries() -> Registries {
        let scoped = BTreeMap::from([("@acme".to_owned(), "http://acme.test/npm".to_owned())]);
        Registries::new(Some("http://registry.test/mirror".to_owned()), scoped)
    }

    #[test]
    fn a_scope_with_its_own_registry_uses_it() {
        assert_eq!(registries().packument("@acme/ui"), "http://acme.test/npm/@acme%2fui");
        assert_eq!(registries().packument("@babel/core"), "http://registry.test/mirror/@babel%2fcore");
        assert_eq!(registries().version("react", "19.0.0"), "http://registry.test/mirror/react/19.0.0");
    }

    #[test]
    fn a_tarball_without_a_host_is_on_the_registrys() {
        let address = registries().tarball("/a/-/a-1.0.0.tgz", "a");
        assert_eq!(address.as_deref(), Some("http://registry.test/a/-/a-1.0.0.tgz"));
    }

    #[test]
    fn the_public_registrys_tarballs_come_from_the_configured_one() {
        let resolved = format!("{}/a/-/a-1.0.0.tgz", NPM_DEFAULT_REGISTRY.trim_end_matches('/'));
        assert_eq!(
            registries().tarball(&resolved, "a").as_deref(),
            Some("http://registry.test/mirror/a/-/a-1.0.0.tgz")
        );
    }

    #[test]
    fn other_hosts_tarballs_stay_where_they_are() {
        let address = "http://files.test/a.tgz";
        assert_eq!(registries().tarball(address, "a").as_deref(), Some(address));
    }

    #[test]
    fn what_is_not_http_has_no_address() {
        assert_eq!(registries().tarball("git+ssh://git@host.test/a.git", "a"), None);
        assert_eq!(registries().tarball("file:a.tgz", "a"), None);
    }

    #[test]
    fn only_the_registrys_own_tarballs_are_of_the_registry() {
        let of_registry = |address: &str, package: &str| registries().is_of_registry(address, package);
        assert!(of_registry("http://registry.test/mirror/a/-/a-1.0.0.tgz", "a"));
        assert!(of_registry("http://acme.test/npm/@acme/a/-/a-1.0.0.tgz", "@acme/a"));
        for (address, package) in [
            ("http://acme.test/npm/@acme/a/-/a-1.0.0.tgz", "a"),
            ("http://registry.test/elsewhere/a.tgz", "a"),
            ("http://registry.test.evil.test/mirror/a.tgz", "a"),
            ("http://registry.test/mirror/../elsewhere/a.tgz", "a"),
            ("http://registry.test/mirror/%2E%2e/elsewhere/a.tgz", "a"),
            ("http://registry.test/mirror/..\\elsewhere/a.tgz", "a"),
            ("file:a.tgz", "a"),
        ] {
            assert!(!of_registry(address, package), "{address}");
        }
    }
}
