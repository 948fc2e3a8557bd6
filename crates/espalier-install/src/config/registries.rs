//! Which registry a package comes from, and which credentials a URL may see.
//!
//! The lookups are `deno_npmrc`'s. Its parser is not used, because it reads only some keys of one file; this module fills
//! its tables from npm's merged settings instead. The invariant: a credential is sent only to the host, port and path
//! prefix that its key names, or to the same origin as the registry it was configured for.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use deno_npmrc::{NPM_DEFAULT_REGISTRY, NpmRc, NpmRegistryUrl, RegistryConfig, ReplaceRegistryHost, ResolvedNpmRc};
use url::Url;

use super::{Config, ConfigError, Origin, Value};

static PUBLIC_REGISTRY: LazyLock<Url> =
    LazyLock::new(|| Url::parse(NPM_DEFAULT_REGISTRY).expect("the crate's constant is a URL"));

/// The registries in force, with their credentials.
#[derive(Clone, Debug)]
pub struct Registries {
    tables: ResolvedNpmRc,
}

impl Registries {
    /// Takes what concerns registries out of the settings.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let registry = registry_url(config, "registry")?;
        refuse_unscoped_credentials(config, registry.as_ref().unwrap_or(&PUBLIC_REGISTRY))?;

        let mut scope_registries = HashMap::new();
        for key in config.keys() {
            let Some(scope) = key.strip_prefix('@').and_then(|key| key.strip_suffix(":registry")) else { continue };
            if let Some(url) = registry_url(config, key)? {
                scope_registries.insert(scope.to_owned(), url.into());
            }
        }
        // `scope` says whose registry stands in for the default one.
        let in_scope =
            config.text("scope").and_then(|scope| scope_registries.get(scope.trim_start_matches('@')).cloned());
        let rules = NpmRc {
            registry: in_scope.or(registry.map(Into::into)),
            scope_registries,
            registry_configs: credentials(config),
            replace_registry_host: config.text("replace-registry-host").map(|text| replaced_host(&text)),
            ..NpmRc::default()
        };
        let tables = rules
            .as_resolved(&NpmRegistryUrl { url: PUBLIC_REGISTRY.clone(), from_env: false })
            .map_err(|_| config.invalid("registry", "a URL"))?;
        Ok(Self { tables })
    }

    /// The registry of a package, with a slash at the end.
    pub fn of_package(&self, name: &str) -> &Url {
        self.tables.get_registry_url(name)
    }

    /// The registry of a package that no scope claims.
    pub fn default_registry(&self) -> &Url {
        &self.tables.default_config.registry_url
    }

    /// The tarball's URL with the registry's host in place of the one it was published under, as
    /// `replace-registry-host` has it.
    pub fn tarball_url(&self, published: Url, package: &str) -> Url {
        self.tables.replace_tarball_url(published, package)
    }

    /// The `Authorization` for a URL, when a credential may be sent there. `package` is whose document or tarball it
    /// is: a registry that serves them under another path of its origin gets the credential too.
    pub fn authorization(&self, url: &Url, package: &str) -> Option<String> {
        let config = self.tables.tarball_config_for_package(url, package)?;
        if let Some(token) = &config.auth_token {
            return Some(format!("Bearer {token}"));
        }
        if let Some(encoded) = &config.auth {
            return Some(format!("Basic {encoded}"));
        }
        let (username, password) = (config.username.as_ref()?, config.password.as_ref()?);
        let password = String::from_utf8_lossy(&decode(password)).into_owned();
        Some(format!("Basic {}", general_purpose::STANDARD.encode(format!("{username}:{password}"))))
    }
}

fn registry_url(config: &Config, key: &str) -> Result<Option<Url>, ConfigError> {
    let Some(text) = config.text(key) else { return Ok(None) };
    let invalid = || config.invalid(key, "an http or https URL");
    let mut url = Url::parse(text.trim()).map_err(|_| invalid())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid());
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(Some(url))
}

/// The credentials by host and path. What can't make a header is left out, because npm goes on to a shorter prefix then.
fn credentials(config: &Config) -> HashMap<String, Arc<RegistryConfig>> {
    let mut found: HashMap<String, RegistryConfig> = HashMap::new();
    for key in config.keys() {
        let Some((prefix, field)) = key.strip_prefix("//").and_then(|key| key.rsplit_once(':')) else { continue };
        let Some(value) = config.text(key).filter(|value| !value.is_empty()) else { continue };
        let entry = found.entry(prefix.to_owned()).or_default();
        match field {
            "_authToken" => entry.auth_token = Some(value),
            "_auth" => entry.auth = Some(value),
            "username" => entry.username = Some(value),
            "_password" => entry.password = Some(value),
            _ => {}
        }
    }
    found.retain(|_, entry| entry.has_auth());
    found.into_iter().map(|(prefix, entry)| (prefix, Arc::new(entry))).collect()
}

fn refuse_unscoped_credentials(config: &Config, registry: &Url) -> Result<(), ConfigError> {
    for layer in config.layers.iter().filter(|layer| layer.origin.is_file()) {
        for key in ["_authToken", "_auth", "_password", "username"] {
            if layer.settings.get(key).is_some_and(|value| *value != Value::Null) {
                let host = &registry[url::Position::BeforeHost..url::Position::AfterPath];
                let replacement = format!("//{host}:{key}");
                return Err(ConfigError::UnscopedCredential { key, origin: layer.origin.clone(), replacement });
            }
        }
    }
    Ok(())
}

fn replaced_host(text: &str) -> ReplaceRegistryHost {
    match text.trim() {
        "" | "npmjs" => ReplaceRegistryHost::NpmJs,
        "never" => ReplaceRegistryHost::Never,
        "always" => ReplaceRegistryHost::Always,
        other => match Url::parse(other) {
            Ok(url) if url.has_host() => ReplaceRegistryHost::Url(url),
            _ => ReplaceRegistryHost::Hostname(other.to_owned()),
        },
    }
}

/// Base64 as Node reads it: padding may be missing.
fn decode(text: &str) -> Vec<u8> {
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&base64::alphabet::STANDARD, lenient).decode(text.trim()).unwrap_or_default()
}

impl Config {
    /// What a person should know about the settings before trusting them: a project that chooses the registry *and* puts
    /// a variable of the environment into its settings could send that variable anywhere.
    pub fn warnings(&self) -> Vec<String> {
        let redirects = |key: &String| key == "registry" || key.ends_with(":registry");
        let suspicious = |layer: &&super::Layer| {
            matches!(layer.origin, Origin::Project(_)) && layer.expanded && layer.settings.keys().any(redirects)
        };
        let warning = |layer: &super::Layer| {
            format!("{} chooses the registry and puts environment variables into its settings", layer.origin)
        };
        self.layers.iter().filter(suspicious).map(warning).collect()
    }
}
/// The host of npm's own registry.
pub fn default_host() -> String {
    url::Url::parse(deno_npmrc::NPM_DEFAULT_REGISTRY)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
        .unwrap_or_default()
}
