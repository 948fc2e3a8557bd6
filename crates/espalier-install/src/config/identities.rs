//! Client certificates, which identify the user to a registry.
//!
//! `//host/path/:certfile` and `:keyfile` name the files for one registry. `cert` and `key` hold
//! the texts for all registries, as in older npm. The longest prefix wins, as for tokens.

use url::{Position, Url};

use super::{Config, ConfigError, Environment};

/// A certificate with its key.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    /// The host and path that it is for, with a slash at the end. Empty for all registries.
    prefix: String,
    /// The setting that names it, for error messages.
    pub setting: String,
    /// The key and the certificates, in PEM.
    pub pem: String,
}

impl ClientIdentity {
    /// All configured certificates.
    pub(super) fn all(config: &Config, environment: &Environment) -> Result<Vec<Self>, ConfigError> {
        let mut identities: Vec<Self> = Vec::new();
        for key in config.keys() {
            let Some(registry) = key.strip_prefix("//").and_then(|key| key.strip_suffix(":certfile")) else { continue };
            let prefix = format!("{}/", registry.trim_end_matches('/'));
            let certificate = config.path(key, environment);
            let private = config.path(&format!("//{registry}:keyfile"), environment);
            let (Some(certificate), Some(private)) = (certificate, private) else { continue };
            if identities.iter().any(|identity| identity.prefix == prefix) {
                continue;
            }
            let read = |path: std::path::PathBuf| {
                std::fs::read_to_string(&path).map_err(|source| ConfigError::Unreadable { path, source })
            };
            let pem = format!("{}\n{}", read(private)?, read(certificate)?);
            identities.push(Self { prefix, setting: key.to_owned(), pem });
        }
        if let (Some(certificate), Some(private)) = (config.text("cert"), config.text("key")) {
            // An .npmrc can only write line breaks as `\n`.
            let pem = format!("{private}\n{certificate}").replace("\\n", "\n");
            identities.push(Self { prefix: String::new(), setting: "cert".to_owned(), pem });
        }
        identities.sort_by_key(|identity| std::cmp::Reverse(identity.prefix.len()));
        Ok(identities)
    }

    /// Whether this certificate is for a URL.
    pub fn is_for(&self, url: &Url) -> bool {
        let address = &url[Position::BeforeHost..Position::AfterPath];
        url.scheme() == "https" && (address.starts_with(&self.prefix) || format!("{address}/") == self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use url::Url;

    use super::ClientIdentity;
    use crate::config::{Config, Environment, Value};

    #[test]
    fn the_longest_prefix_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.pem", "b.pem", "key.pem"] {
            std::fs::write(folder.path().join(name), name).expect("written");
        }
        let file = |name: &str| Value::Text(folder.path().join(name).to_string_lossy().into_owned());
        let flags = IndexMap::from([
            ("//registry.test/:certfile".to_owned(), file("a.pem")),
            ("//registry.test/:keyfile".to_owned(), file("key.pem")),
            ("//registry.test/deep:certfile".to_owned(), file("b.pem")),
            ("//registry.test/deep:keyfile".to_owned(), file("key.pem")),
            ("//lonely.test/:certfile".to_owned(), file("a.pem")),
        ]);
        let environment = Environment::of_variables([]);
        let config = Config::load(folder.path(), flags, &environment).expect("settings");
        let all = ClientIdentity::all(&config, &environment).expect("identities");
        let of = |url: &str| {
            let url = Url::parse(url).expect("a URL");
            all.iter().find(|identity| identity.is_for(&url)).map(|identity| identity.pem.as_str())
        };
        assert_eq!(of("https://registry.test/lodash"), Some("key.pem\na.pem"));
        assert_eq!(of("https://registry.test/deep/lodash"), Some("key.pem\nb.pem"));
        assert_eq!(of("https://registry.test.evil/lodash"), None);
        assert_eq!(of("https://lonely.test/lodash"), None);
        assert_eq!(of("http://registry.test/lodash"), None);
    }
}
