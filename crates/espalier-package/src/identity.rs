//! Checks that a tarball is the requested package: a registry has to serve the name and version
//! that were asked for. A tarball by URL can contain any package.

use serde_json::Value;

use crate::entry::owned;

/// The name and version in a package.json.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: Option<String>,
    /// The version.
    pub version: Option<String>,
}

impl Identity {
    /// Reads the text of a package.json. Empty if it can't be read.
    pub fn read(manifest: &[u8]) -> Self {
        let text = manifest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(manifest);
        // This reads text and not bytes, because the latter would add a second JSON reader to the
        // wasm.
        let text = str::from_utf8(text).unwrap_or_default();
        let manifest: Value = serde_json::from_str(text).unwrap_or_default();
        Self { name: owned(&manifest, "name"), version: owned(&manifest, "version") }
    }

    /// Compares it with the expected name and version. The error completes a sentence.
    pub fn check(&self, name: &str, version: &str) -> Result<(), String> {
        let same_name = self.name.as_ref().is_none_or(|own| own == name);
        let same_version = self.version.as_deref().is_none_or(|own| plain(own) == plain(version));
        if same_name && same_version {
            return Ok(());
        }
        let own = [self.name.as_deref(), self.version.as_deref()].map(|text| text.unwrap_or("?")).join("@");
        Err(format!("is of {own}, but {name}@{version} was asked for"))
    }
}

/// The version without a leading `v` and without build metadata.
fn plain(version: &str) -> &str {
    let version = version.trim().trim_start_matches(['v', '=', ' ']);
    version.split('+').next().unwrap_or_default()
}

/// The package in a tarball's address, by the convention `<name>/-/<file>`. Empty if the address
/// doesn't follow it.
pub fn package_of(address: &str) -> String {
    let Some((before, _)) = address.split_once("/-/") else { return String::new() };
    let mut steps = before.rsplit('/');
    let last = steps.next().unwrap_or_default().replace("%2f", "/").replace("%2F", "/").replace("%40", "@");
    match steps.next().map(|scope| scope.replace("%40", "@")) {
        Some(scope) if scope.starts_with('@') && !last.contains('/') => format!("{scope}/{last}"),
        _ => last,
    }
}

#[cfg(test)]
mod tests {
    use super::{Identity, package_of};

    fn check(manifest: &str) -> Result<(), String> {
        Identity::read(manifest.as_bytes()).check("a", "1.0.0")
    }

    #[test]
    fn a_package_has_to_be_the_one_that_was_asked_for() {
        assert_eq!(check(r#"{"name": "a", "version": "1.0.0"}"#), Ok(()));
        assert_eq!(check(r#"{"name": "a", "version": " v1.0.0+build"}"#), Ok(()));
        assert_eq!(check("not JSON"), Ok(()));
        let error = "is of b@1.0.0, but a@1.0.0 was asked for".to_owned();
        assert_eq!(check(r#"{"name": "b", "version": "1.0.0"}"#), Err(error));
        assert!(check(r#"{"name": "a", "version": "1.0.1"}"#).is_err());
    }

    #[test]
    fn the_package_stands_before_the_dash() {
        for (address, package) in [
            ("/a/-/a-1.0.0.tgz", "a"),
            ("http://registry.test/npm/@s/a/-/a-1.0.0.tgz", "@s/a"),
            ("http://registry.test/@s%2fa/-/a-1.0.0.tgz", "@s/a"),
            ("http://registry.test/download/a-1.0.0.tgz", ""),
        ] {
            assert_eq!(package_of(address), package, "{address}");
        }
    }
}
