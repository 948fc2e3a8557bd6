//! Reads registries and credentials from npm's settings.
//!
//! [`espalier_registry`] decides which of them apply to a package or URL, as in JavaScript.

use espalier_registry::{Address, Credentials, PUBLIC_REGISTRY, Registries, ReplacedHost};
use url::Url;

use super::{Config, ConfigError, Origin, Value};

/// Brings a URL into its normal form, with the `url` crate.
pub(crate) fn normalize(text: &str) -> Option<String> {
    Url::parse(text).ok().map(String::from)
}

/// Reads the registries from the settings.
pub fn read(config: &Config) -> Result<Registries, ConfigError> {
    let registry = registry_address(config, "registry")?;
    refuse_unscoped_credentials(config, registry.as_ref())?;

    let mut scopes: Vec<(String, Address)> = Vec::new();
    for key in config.keys() {
        let Some(scope) = key.strip_prefix('@').and_then(|key| key.strip_suffix(":registry")) else { continue };
        if scopes.iter().all(|(known, _)| known != scope)
            && let Some(address) = registry_address(config, key)?
        {
            scopes.push((scope.to_owned(), address));
        }
    }
    // `scope` names the scope whose registry replaces the default one.
    let of_scope = |scope: String| {
        let scope = scope.trim_start_matches('@');
        scopes.iter().find(|(known, _)| known == scope).map(|(_, address)| address.clone())
    };
    let default = config.text("scope").and_then(of_scope).or(registry);
    let set: Vec<(&str, String)> =
        config.keys().filter(|key| key.starts_with("//")).filter_map(|key| Some((key, config.text(key)?))).collect();
    let credentials = Credentials::new(set.iter().map(|(key, value)| (*key, value.as_str())));
    let replaced = config.text("replace-registry-host");
    let replaced = replaced.map_or_else(ReplacedHost::default, |text| ReplacedHost::read(&text, normalize));
    Ok(Registries::new(default, scopes, credentials, replaced, normalize))
}

fn registry_address(config: &Config, key: &str) -> Result<Option<Address>, ConfigError> {
    let Some(text) = config.text(key) else { return Ok(None) };
    let address = Address::parse(text.trim(), normalize);
    address.map(Some).ok_or_else(|| config.invalid(key, "an http or https URL"))
}

fn refuse_unscoped_credentials(config: &Config, registry: Option<&Address>) -> Result<(), ConfigError> {
    for layer in config.layers.iter().filter(|layer| layer.origin.is_file()) {
        for key in ["_authToken", "_auth", "_password", "username"] {
            if layer.settings.get(key).is_some_and(|value| *value != Value::Null) {
                let shown = registry.map_or_else(|| PUBLIC_REGISTRY.to_owned(), Address::shown);
                let place = shown.split_once("://").map_or(shown.as_str(), |(_, place)| place).trim_end_matches('/');
                let replacement = format!("//{place}/:{key}");
                return Err(ConfigError::UnscopedCredential { key, origin: layer.origin.clone(), replacement });
            }
        }
    }
    Ok(())
}

impl Config {
    /// Warnings about the settings. A project that chooses the registry *and* expands an
    /// environment variable in its settings could send that variable anywhere.
    pub fn warnings(&self) -> Vec<String> {
        let redirects = |key: &String| key == "registry" || key.ends_with(":registry");
        let suspicious = |layer: &&super::Layer| {
            matches!(layer.origin, Origin::Project(_)) && layer.expanded && layer.settings.keys().any(redirects)
        };
        let warning = |layer: &super::Layer| {
            format!("{} chooses the registry and uses environment variables in its settings", layer.origin)
        };
        self.layers.iter().filter(suspicious).map(warning).collect()
    }
}
