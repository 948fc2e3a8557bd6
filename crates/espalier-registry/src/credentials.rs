//! Which credential a request may carry.
//!
//! The invariant: a credential goes only to the host, port and path prefix of its key, or to the
//! origin of the registry that it was configured for. Some registries serve tarballs under another
//! path of their origin.

use espalier_core::base64;

use crate::address::Address;

/// The credentials, by the addresses that they are for.
#[derive(Clone, Default)]
pub struct Credentials(Vec<Credential>);

/// The settings for one address.
#[derive(Clone, Default)]
struct Credential {
    /// Host, port and path, without the scheme: `npm.acme.example/team/`.
    prefix: String,
    token: Option<String>,
    basic: Option<String>,
    username: Option<String>,
    password: Option<String>,
}

impl Credentials {
    /// Takes the credentials from settings such as `//npm.acme.example/team/:_authToken`. Settings
    /// of the nearest place come first.
    pub fn new<'a>(settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut all = Self::default();
        for (key, value) in settings {
            let Some((prefix, field)) = key.strip_prefix("//").and_then(|key| key.rsplit_once(':')) else { continue };
            if value.is_empty() {
                continue;
            }
            let credential = match field {
                "_authToken" | "_auth" | "username" | "_password" => all.entry(prefix),
                _ => continue,
            };
            let slot = match field {
                "_authToken" => &mut credential.token,
                "_auth" => &mut credential.basic,
                "username" => &mut credential.username,
                _ => &mut credential.password,
            };
            slot.get_or_insert_with(|| value.to_owned());
        }
        // A credential that can't become a header is skipped, because npm then uses a shorter
        // prefix.
        all.0.retain(|credential| credential.header().is_some());
        all
    }

    /// The `Authorization` for an address. `registry` is the registry of the package.
    pub fn authorization(&self, address: &Address, registry: &Address) -> Option<String> {
        let own = self.below(address);
        let found = own.or_else(|| if registry.is_of_origin(address) { self.below(registry) } else { None });
        found.and_then(Credential::header)
    }

    /// The credential for the longest prefix of an address.
    fn below(&self, address: &Address) -> Option<&Credential> {
        let covering = self.0.iter().filter(|credential| credential.covers(address));
        covering.max_by_key(|credential| credential.prefix.len())
    }

    fn entry(&mut self, prefix: &str) -> &mut Credential {
        let at = self.0.iter().position(|credential| credential.prefix == prefix).unwrap_or_else(|| {
            self.0.push(Credential { prefix: prefix.to_owned(), ..Credential::default() });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

impl Credential {
    /// Whether an address lies below the one of these settings. A host doesn't cover its other
    /// ports.
    fn covers(&self, address: &Address) -> bool {
        let (authority, path) = self.prefix.split_at(self.prefix.find('/').unwrap_or(self.prefix.len()));
        let below = address.path().strip_prefix(path);
        let whole_step =
            |rest: &str| path.is_empty() || path.ends_with('/') || rest.is_empty() || rest.starts_with('/');
        authority.eq_ignore_ascii_case(address.authority()) && below.is_some_and(whole_step)
    }

    fn header(&self) -> Option<String> {
        if let Some(token) = &self.token {
            return Some(format!("Bearer {token}"));
        }
        if let Some(encoded) = &self.basic {
            return Some(format!("Basic {encoded}"));
        }
        let (username, password) = (self.username.as_ref()?, self.password.as_ref()?);
        let password = String::from_utf8_lossy(&decode(password)).into_owned();
        Some(format!("Basic {}", base64(format!("{username}:{password}").as_bytes())))
    }
}

/// Base64 as Node reads it: other characters are skipped, and padding may be missing.
fn decode(text: &str) -> Vec<u8> {
    let sextet = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let sextets: Vec<u32> = text.bytes().take_while(|byte| *byte != b'=').filter_map(sextet).map(u32::from).collect();
    let mut bytes = Vec::new();
    for group in sextets.chunks(4) {
        let bits = group.iter().fold(0, |bits, sextet| bits << 6 | sextet) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len().max(1)]);
    }
    bytes
}

/// Prints how many there are, and no secret.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} credentials", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Credentials;
    use crate::address::tests::address;

    /// What is sent to an address of a package of this registry.
    fn sent(settings: &[(&str, &str)], registry: &str, to: &str) -> Option<String> {
        Credentials::new(settings.iter().copied()).authorization(&address(to), &address(registry))
    }

    #[test]
    fn a_token_goes_to_its_own_host_and_path_only() {
        let to = |to| sent(&[("//registry.test/team/:_authToken", "abc")], "http://registry.test/", to);
        assert_eq!(to("http://registry.test/team/x").as_deref(), Some("Bearer abc"));
        for elsewhere in [
            "http://registry.test/other/x",
            "http://registry.test:8080/team/x",
            "http://registry.test.evil.test/team/x",
            "http://registry.test/teamster/x",
            "http://team@evil.test/registry.test/team/x",
        ] {
            assert_eq!(to(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn a_registry_that_serves_tarballs_under_another_path_gets_its_token_there_too() {
        let settings = [("//registry.test/api/npm/:_authToken", "abc")];
        let to = |to| sent(&settings, "https://registry.test/api/npm/", to);
        assert_eq!(to("https://registry.test/files/a.tgz").as_deref(), Some("Bearer abc"));
        assert_eq!(to("http://registry.test/files/a.tgz"), None);
        assert_eq!(to("https://storage.test/files/a.tgz"), None);
    }

    #[test]
    fn a_key_may_lack_its_slash_and_the_longest_that_makes_a_header_counts() {
        let settings = [
            ("//registry.test:_authToken", "short"),
            ("//registry.test/a/:_authToken", "long"),
            ("//registry.test/a/b/:username", "half"),
        ];
        let to = |to| sent(&settings, "http://registry.test/", to);
        assert_eq!(to("http://registry.test/x").as_deref(), Some("Bearer short"));
        assert_eq!(to("http://registry.test/a/b/x").as_deref(), Some("Bearer long"));
    }

    #[test]
    fn a_user_and_an_encoded_password_make_a_basic_header() {
        let settings = [("//registry.test/:username", "me"), ("//registry.test/:_password", "c2VjcmV0")];
        let header = sent(&settings, "http://registry.test/", "http://registry.test/x");
        assert_eq!(header.as_deref(), Some("Basic bWU6c2VjcmV0"));
        let both = [settings.as_slice(), &[("//registry.test/:_auth", "eDp5")]].concat();
        let header = sent(&both, "http://registry.test/", "http://registry.test/x");
        assert_eq!(header.as_deref(), Some("Basic eDp5"));
    }

    #[test]
    fn base64_is_read_as_node_reads_it() {
        for (text, bytes) in
            [("", ""), ("YQ==", "a"), ("YQ", "a"), ("YWI", "ab"), ("YWJj\nZA==", "abcd"), ("Pz8-", "??>")]
        {
            assert_eq!(super::decode(text), bytes.as_bytes(), "{text}");
        }
    }

    #[test]
    fn the_nearest_setting_counts_and_none_is_shown() {
        let settings = [("//registry.test/:_authToken", "near"), ("//registry.test/:_authToken", "far")];
        let header = sent(&settings, "http://registry.test/", "http://registry.test/x");
        assert_eq!(header.as_deref(), Some("Bearer near"));
        assert_eq!(format!("{:?}", Credentials::new(settings)), "1 credentials");
    }
}
