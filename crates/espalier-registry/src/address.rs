//! Addresses of registries and of what they serve.
//!
//! An address is a URL in the normal form of a WHATWG parser. This module finds the parts of that
//! text. The adapter provides the parser: the `url` crate natively, `URL` in JavaScript. Tables of
//! international host names would weigh more than this crate.

use std::fmt;

/// Brings the text of a URL into its normal form, as `new URL(text).href` does; `None` if it isn't
/// a URL.
pub type Normalize = fn(&str) -> Option<String>;

/// An absolute http or https URL in its normal form.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address {
    text: String,
    /// Where the host begins, after the user and password.
    host: usize,
    /// Where the path begins.
    path: usize,
    /// Where the path ends.
    end: usize,
}

impl Address {
    /// Parses a URL; `None` unless its scheme is http or https.
    pub fn parse(text: &str, normalize: Normalize) -> Option<Self> {
        let text = normalize(text)?;
        let after_scheme = ["https://", "http://"].iter().find(|scheme| text.starts_with(**scheme))?.len();
        let path = after_scheme + text[after_scheme..].find('/')?;
        let host = text[after_scheme..path].rfind('@').map_or(after_scheme, |at| after_scheme + at + 1);
        let end = text[path..].find(['?', '#']).map_or(text.len(), |mark| path + mark);
        Some(Self { text, host, path, end })
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        if self.text.starts_with("https:") { "https" } else { "http" }
    }

    /// The host, with its port unless that is the scheme's default.
    pub fn authority(&self) -> &str {
        &self.text[self.host..self.path]
    }

    /// The host without its port.
    pub fn host(&self) -> &str {
        let authority = self.authority();
        match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        }
    }

    /// The path, which begins with a slash.
    pub fn path(&self) -> &str {
        &self.text[self.path..self.end]
    }

    /// The query and the fragment, with their marks.
    pub(crate) fn after_path(&self) -> &str {
        &self.text[self.end..]
    }

    /// Whether both addresses have the same origin.
    pub fn is_of_origin(&self, other: &Self) -> bool {
        self.scheme() == other.scheme() && self.authority() == other.authority()
    }

    /// Whether a user precedes the host. A request to such an address carries a credential.
    pub fn names_user(&self) -> bool {
        self.text[..self.host].ends_with('@')
    }

    /// The address of another path at the same origin, with the same user.
    pub(crate) fn with_path(&self, path: &str) -> Self {
        let text = [&self.text[..self.path], path].concat();
        let end = path.find(['?', '#']).map_or(text.len(), |mark| self.path + mark);
        Self { text, host: self.host, path: self.path, end }
    }

    /// The address without its user, password and query, for messages.
    pub fn shown(&self) -> String {
        format!("{}://{}", self.scheme(), &self.text[self.host..self.end])
    }
}

/// Writes [`Address::shown`].
impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Address;

    /// The `url` crate, which is a WHATWG parser.
    pub fn normalize(text: &str) -> Option<String> {
        url::Url::parse(text).ok().map(String::from)
    }

    pub fn address(text: &str) -> Address {
        Address::parse(text, normalize).expect("an address")
    }

    #[test]
    fn an_address_has_its_parts() {
        let address = address("HTTPS://user:p%40ss@Registry.test:8443/a/../b?token=x#y");
        assert_eq!(address.scheme(), "https");
        assert_eq!(address.authority(), "registry.test:8443");
        assert_eq!(address.host(), "registry.test");
        assert_eq!(address.path(), "/b");
    }

    #[test]
    fn a_shown_address_has_no_secrets() {
        let address = address("https://user:pass@registry.test:8443/a/b?token=x#y");
        assert_eq!(address.shown(), "https://registry.test:8443/a/b");
        assert_eq!(format!("{address:?}"), address.shown());
    }

    #[test]
    fn an_address_of_another_scheme_is_none() {
        for text in ["git+ssh://git@host.test/a.git", "file:a.tgz", "/a", "javascript:alert(1)"] {
            assert!(Address::parse(text, normalize).is_none(), "{text}");
        }
        assert_eq!(address("http://[::1]:80/x").host(), "[::1]");
    }
}
