//! The registry of each package, the addresses of documents and tarballs, and the credential for
//! each request.

use std::sync::Arc;

use deno_npmrc::NPM_DEFAULT_REGISTRY;
use espalier_core::{ByScope, FetchFailure, FetchFailureKind, RegistryAddresses};

use crate::address::{Address, Normalize};
use crate::credentials::Credentials;
use crate::document::{self, Form};
use crate::get::{Get, Validators};
use crate::tarball;
use crate::trouble::printable;

/// The address of npm's public registry.
pub const PUBLIC_REGISTRY: &str = NPM_DEFAULT_REGISTRY;

/// The registries in force, with their credentials.
#[derive(Clone, Debug)]
pub struct Registries {
    /// The addresses, each with a slash at the end.
    addresses: ByScope<Address>,
    credentials: Credentials,
    replaced: ReplacedHost,
    normalize: Normalize,
}

/// Whose tarballs come from the configured registry's host instead of the host in their address:
/// `replace-registry-host`.
#[derive(Clone, Debug, Default)]
pub enum ReplacedHost {
    /// Those of npm's public registry.
    #[default]
    Public,
    /// None.
    Never,
    /// All.
    Always,
    /// Those of this host.
    Host(String),
    /// Those of this host below this path.
    Below(Address),
}

impl ReplacedHost {
    /// Parses the setting.
    pub fn read(text: &str, normalize: Normalize) -> Self {
        match text.trim() {
            "" | "npmjs" => Self::Public,
            "never" => Self::Never,
            "always" => Self::Always,
            other => Address::parse(other, normalize).map_or_else(|| Self::Host(other.to_owned()), Self::Below),
        }
    }

    /// The path that the registry's path replaces, if the setting concerns this tarball.
    fn replaced_path<'a>(&'a self, tarball: &Address) -> Option<&'a str> {
        let concerned = match self {
            Self::Public => tarball.host() == public_host(),
            Self::Never => false,
            Self::Always => true,
            Self::Host(host) => tarball.host() == host,
            Self::Below(address) => {
                let below = without_slash(address.path());
                let concerned = tarball.host() == address.host() && has_prefix(tarball.path(), below);
                return concerned.then_some(below);
            }
        };
        concerned.then_some("")
    }
}

/// The host of npm's own registry.
pub fn public_host() -> &'static str {
    let rest = PUBLIC_REGISTRY.split_once("://").map_or(PUBLIC_REGISTRY, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

impl Registries {
    /// Without `default`, npm's public registry is the default. `scopes` have no `@`.
    ///
    /// # Panics
    /// When `normalize` rejects a valid URL.
    pub fn new(
        default: Option<Address>,
        scopes: impl IntoIterator<Item = (String, Address)>,
        credentials: Credentials,
        replaced: ReplacedHost,
        normalize: Normalize,
    ) -> Self {
        let public = || Address::parse(PUBLIC_REGISTRY, normalize).expect("the crate's constant is a URL");
        let scopes = scopes.into_iter().map(|(scope, address)| (scope, with_slash(address))).collect();
        let addresses = ByScope { default: with_slash(default.unwrap_or_else(public)), scopes };
        Self { addresses, credentials, replaced, normalize }
    }

    /// The registry of a package, with a slash at the end.
    pub fn of_package(&self, name: &str) -> &Address {
        self.addresses.of_package(name)
    }

    /// The registry of a package that no scope claims.
    pub fn default_registry(&self) -> &Address {
        &self.addresses.default
    }

    /// The addresses for a resolution, without credentials.
    pub fn addresses(&self) -> Arc<RegistryAddresses> {
        let ByScope { default, scopes } = &self.addresses;
        let scopes = scopes.iter().map(|(scope, address)| (scope.clone(), address.shown()));
        Arc::new(RegistryAddresses { default: default.shown(), scopes: scopes.collect() })
    }

    /// The request for a document of a package.
    ///
    /// # Errors
    /// When no package can have that name.
    pub fn document(&self, name: &str, form: &Form) -> Result<Get, FetchFailure> {
        let registry = self.of_package(name);
        let version = if let Form::Version(version) = form { Some(version.as_str()) } else { None };
        let mut path = registry.path().to_owned();
        let own = path.len();
        let is_valid = push_step(&mut path, name)
            && version.is_none_or(|version| {
                path.push('/');
                push_step(&mut path, version)
            });
        let address = is_valid.then(|| registry.with_path(&path)).and_then(|address| {
            // A URL parser changes nothing in such a path, and in a browser it costs more than the
            // rest of a request.
            let is_normal = path[own..].bytes().all(|byte| is_unchanged(byte) || byte == b'/');
            if is_normal { Some(address) } else { Address::parse(address.as_str(), self.normalize) }
        });
        let address = address.ok_or_else(|| FetchFailure {
            kind: FetchFailureKind::Invalid,
            message: format!("`{}` is not a valid package name", printable(name)),
            url: registry.shown(),
        })?;
        Ok(self.get(address, name, form.accept(), document::LONGEST_SENT))
    }

    /// The failure for a version that isn't in its packument.
    pub fn no_such_version(&self, name: &str, version: &str) -> FetchFailure {
        let registry = self.of_package(name);
        let message = format!("{} has no version {} of it", registry.authority(), printable(version));
        FetchFailure { kind: FetchFailureKind::NotFound, message, url: registry.shown() }
    }

    /// The request for a tarball. `resolved` is a URL, or a path on the registry of the package,
    /// because recorded registries leave out their own host.
    ///
    /// # Errors
    /// When `resolved` is neither.
    pub fn tarball(&self, resolved: &str, package: &str) -> Result<Get, FetchFailure> {
        let address = self.tarball_address(resolved, package).ok_or_else(|| FetchFailure {
            kind: FetchFailureKind::Unsupported,
            message: format!("`{}` is not the URL of a tarball", printable(resolved)),
            url: self.of_package(package).shown(),
        })?;
        Ok(self.get(address, package, tarball::ACCEPT, tarball::LONGEST_SENT))
    }

    /// The address of a tarball; `None` unless its scheme is http or https.
    pub fn tarball_address(&self, resolved: &str, package: &str) -> Option<Address> {
        let registry = self.of_package(package);
        let published = if resolved.starts_with('/') {
            Address::parse(registry.with_path(resolved).as_str(), self.normalize)?
        } else {
            Address::parse(resolved, self.normalize)?
        };
        let Some(replaced) = self.replaced.replaced_path(&published) else { return Some(published) };
        let own = without_slash(registry.path());
        let query = published.after_path();
        let path = published.path();
        let lead = if !replaced.is_empty() || !has_prefix(path, own) { own } else { "" };
        Some(registry.with_path(&format!("{lead}{}{query}", &path[replaced.len()..])))
    }

    /// Whether an address belongs to the registry of a package. Only from there may its tarball be
    /// fetched without permission (npm's `#isRegistryResolvedTarball`).
    pub fn is_of_registry(&self, resolved: &str, package: &str) -> bool {
        let registry = self.of_package(package);
        let address = self.tarball_address(resolved, package);
        address.is_some_and(|address| address.is_of_origin(registry) && address.path().starts_with(registry.path()))
    }

    /// The `Authorization` for an address, if a credential may be sent there. `package` is the
    /// package of the document or tarball. A registry that serves it under another path of its
    /// origin gets the credential too.
    pub fn authorization(&self, address: &Address, package: &str) -> Option<String> {
        self.credentials.authorization(address, self.of_package(package))
    }

    fn get(&self, address: Address, package: &str, accept: &'static str, limit: u64) -> Get {
        let authorization = self.authorization(&address, package);
        Get { address, accept, authorization, validators: Validators::default(), limit }
    }
}

/// Whether a URL parser leaves this character in a path segment as it is.
fn is_unchanged(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'@' | b'+' | b'%')
}

/// Adds a package name or a version to a path, as one segment. Names come from untrusted manifests.
/// Returns false for one that could lead to another address.
fn push_step(path: &mut String, text: &str) -> bool {
    for (index, piece) in text.split('/').enumerate() {
        if index > 0 {
            path.push_str("%2f");
        }
        path.push_str(piece);
    }
    !matches!(text, "" | "." | "..") && !text.contains(['?', '#', '%', '\\'])
}

fn with_slash(address: Address) -> Address {
    if address.path().ends_with('/') { address } else { address.with_path(&format!("{}/", address.path())) }
}

fn without_slash(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// Whether a path lies below another.
fn has_prefix(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use espalier_core::FetchFailureKind;

    use super::{PUBLIC_REGISTRY, Registries, ReplacedHost};
    use crate::address::tests::{address, normalize};
    use crate::credentials::Credentials;
    use crate::document::Form;

    fn registries(replaced: &str) -> Registries {
        let scopes = [("acme".to_owned(), address("http://acme.test/npm"))];
        let replaced = ReplacedHost::read(replaced, normalize);
        let credentials = Credentials::new([("//acme.test/npm/:_authToken", "abc")]);
        Registries::new(Some(address("http://registry.test/mirror")), scopes, credentials, replaced, normalize)
    }

    #[test]
    fn a_scope_with_its_own_registry_uses_it() {
        let url = |name: &str, form: Form| registries("").document(name, &form).expect("a request").address;
        assert_eq!(url("@acme/ui", Form::Abbreviated).as_str(), "http://acme.test/npm/@acme%2fui");
        assert_eq!(url("@babel/core", Form::Full).as_str(), "http://registry.test/mirror/@babel%2fcore");
        let version = Form::Version("19.0.0".to_owned());
        assert_eq!(url("react", version).as_str(), "http://registry.test/mirror/react/19.0.0");
    }

    #[test]
    fn the_public_registry_is_the_default() {
        let registries = Registries::new(None, [], Credentials::default(), ReplacedHost::Public, normalize);
        let default = registries.default_registry().as_str();
        assert_eq!(default.trim_end_matches('/'), PUBLIC_REGISTRY.trim_end_matches('/'));
    }

    #[test]
    fn a_credential_goes_to_its_registry_only() {
        let sent = |name: &str| registries("").document(name, &Form::Full).expect("a request").authorization;
        assert_eq!(sent("@acme/ui").as_deref(), Some("Bearer abc"));
        assert_eq!(sent("@other/ui"), None);
        let tarball = |url: &str| registries("").tarball(url, "@acme/ui").expect("a request").authorization;
        assert_eq!(tarball("http://acme.test/files/ui.tgz").as_deref(), Some("Bearer abc"));
        assert_eq!(tarball("http://storage.test/ui.tgz?signature=x"), None);
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["..", "a?b", "a#b", "a%2e", "a\\b", ""] {
            let failure = registries("").document(name, &Form::Full).expect_err(name);
            assert_eq!(failure.kind, FetchFailureKind::Invalid, "{name}");
        }
    }

    #[test]
    fn addresses_are_in_their_normal_form() {
        for name in ["react", "@a/b.c-d_e~f", "a+b", "ä", "a b", "(a)", "a'b", "a|b", "a^b", "...", "a..b"] {
            let address = registries("").document(name, &Form::Version("1.0.0-a.0+b".to_owned())).expect(name).address;
            assert_eq!(normalize(address.as_str()).as_deref(), Some(address.as_str()), "{name}");
        }
    }

    #[test]
    fn a_tarball_is_fetched_from_where_it_is() {
        let public = format!("{}/a/-/a-1.0.0.tgz", PUBLIC_REGISTRY.trim_end_matches('/'));
        let elsewhere = "http://files.test:8080/deep/a.tgz?signature=x";
        for (replaced, resolved, expected) in [
            ("", "/a/-/a-1.0.0.tgz", "http://registry.test/a/-/a-1.0.0.tgz"),
            ("", "//evil.test/a.tgz", "http://registry.test//evil.test/a.tgz"),
            ("", public.as_str(), "http://registry.test/mirror/a/-/a-1.0.0.tgz"),
            ("never", public.as_str(), public.as_str()),
            ("", elsewhere, elsewhere),
            ("always", elsewhere, "http://registry.test/mirror/deep/a.tgz?signature=x"),
            ("always", "http://other.test/mirror/a.tgz", "http://registry.test/mirror/a.tgz"),
            ("files.test", elsewhere, "http://registry.test/mirror/deep/a.tgz?signature=x"),
            ("other.test", elsewhere, elsewhere),
            ("http://files.test/deep/", elsewhere, "http://registry.test/mirror/a.tgz?signature=x"),
            ("http://files.test/dee", elsewhere, elsewhere),
        ] {
            let found = registries(replaced).tarball_address(resolved, "a").expect("an address");
            assert_eq!(found.as_str(), expected, "{replaced} {resolved}");
        }
    }

    #[test]
    fn what_is_not_http_has_no_address() {
        for resolved in ["git+ssh://git@host.test/a.git", "file:a.tgz", "a.tgz"] {
            let failure = registries("").tarball(resolved, "a").expect_err(resolved);
            assert_eq!(failure.kind, FetchFailureKind::Unsupported);
        }
    }

    #[test]
    fn only_tarballs_of_the_registry_itself_are_of_the_registry() {
        let of_registry = |address: &str, package: &str| registries("").is_of_registry(address, package);
        assert!(of_registry("http://registry.test/mirror/a/-/a-1.0.0.tgz", "a"));
        assert!(of_registry("http://acme.test/npm/@acme/a/-/a-1.0.0.tgz", "@acme/a"));
        for (address, package) in [
            ("http://acme.test/npm/@acme/a/-/a-1.0.0.tgz", "a"),
            ("https://registry.test/mirror/a.tgz", "a"),
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
