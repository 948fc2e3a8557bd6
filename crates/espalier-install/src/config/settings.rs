//! Interprets the settings that decide what is resolved and how it is fetched.
//!
//! Names and defaults are npm's, with two exceptions. The default wait before the first retry is
//! half a second, because npm's ten seconds are needlessly long. More requests for documents are
//! made at once than npm's 15.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use espalier_core::{Allow, InstallStrategy, Omit, Options, Platform, Reporting};

use super::identities::ClientIdentity;
use super::pem::Pem;
use espalier_package::trust::Trust;
use espalier_registry::{Registries, Retries};

use super::registries;
use super::{Config, ConfigError, Environment, Value};
use crate::digest::{Digest, Digested};

/// All settings, with types.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The sources of packages.
    pub registries: Registries,
    /// How packages are fetched.
    pub network: Network,
    /// How the cache is used.
    pub freshness: Freshness,
    /// The options of the resolution, without the version of Node and the platform.
    pub options: Box<Options>,
    /// The platform to resolve for, if it isn't the machine's own.
    pub target: Target,
    /// How package.json and package-lock.json are written.
    pub saving: Saving,
    /// npm's `extension-file`, which replaces `.npm-extension.mjs` and `.npm-extension.cjs`.
    pub extension_file: Option<String>,
    /// A digest of all settings and their origins, including those without effect.
    pub(crate) source: Digested,
}

/// Certificates, shared by the copies of the settings.
pub type Certificates = Arc<[Pem]>;

/// How to talk to a registry. It has a field for each of npm's settings on the subject.
#[derive(Clone, Debug)]
pub struct Network {
    /// The number of retries.
    pub retries: u32,
    /// The wait before the first retry.
    pub retry_minimum: Duration,
    /// The maximum wait before a retry.
    pub retry_maximum: Duration,
    /// The factor by which each wait exceeds the one before.
    pub retry_factor: u32,
    /// The maximum duration of one attempt, from the connection to the last byte.
    pub timeout: Duration,
    /// The maximum number of concurrent requests for documents: `maxsockets`.
    pub concurrency: usize,
    /// The maximum number of concurrent requests for tarballs, which is lower.
    pub tarballs: usize,
    /// The proxy for `https:` URLs.
    pub https_proxy: Option<String>,
    /// The proxy for `http:` URLs.
    pub http_proxy: Option<String>,
    /// The hosts that need no proxy, separated by commas.
    pub no_proxy: Option<String>,
    /// Whether certificates are verified.
    pub strict_ssl: bool,
    /// The certificates that replace the system's.
    pub certificates: Certificates,
    /// The certificates that are trusted in addition to the system's.
    pub extra_certificates: Certificates,
    /// The user's client certificates, those with the longest prefix first.
    pub identities: Vec<ClientIdentity>,
}

/// How old a cached document may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// As old as the registry permits. After that, it is revalidated.
    #[default]
    Normal,
    /// The registry is always asked (`prefer-online`).
    Revalidate,
    /// Any age. The registry is asked for missing documents only (`prefer-offline`).
    AnyAge,
    /// Any age. A missing document is an error (`offline`).
    CacheOnly,
}

/// `os`, `cpu` and `libc`, if they are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The setting `os`.
    pub os: Option<String>,
    /// The setting `cpu`.
    pub cpu: Option<String>,
    /// The setting `libc`.
    pub libc: Option<String>,
}

/// How files are saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// `save`, if it is set. The default depends on the command.
    pub save: Option<bool>,
    /// The prefix of a saved version: `save-prefix`, or nothing with `save-exact`.
    pub prefix: String,
    /// `format-package-lock`: whether the lockfile has line breaks.
    pub format_package_lock: bool,
}

/// The maximum number of concurrent requests for documents. Documents are small and there are two
/// for each package, so the round trip dominates. The driver reaches this number only if the
/// registry is far away.
const DOCUMENTS_AT_ONCE: usize = 256;
/// The maximum number of concurrent requests for tarballs. They are large and stay in memory until
/// they are verified.
const TARBALLS_AT_ONCE: usize = 64;

impl Settings {
    /// Interprets the settings. An error names the setting and its origin.
    pub fn new(config: &Config, environment: &Environment) -> Result<Self, ConfigError> {
        let registries = registries::read(config)?;
        let options = Options { registries: Some(registries.addresses()), ..options(config, environment)? };
        Ok(Self {
            registries,
            network: Network::new(config, environment)?,
            freshness: Freshness::new(config),
            options: Box::new(options),
            target: Target { os: named(config, "os"), cpu: named(config, "cpu"), libc: named(config, "libc") },
            saving: Saving::new(config),
            extension_file: named(config, "extension-file"),
            source: Digest::of(format!("{:?}", config.layers)),
        })
    }

    /// The permitted sources of packages.
    pub fn trust(&self) -> Trust {
        let options = &self.options;
        Trust {
            git: options.allow_git,
            remote: options.allow_remote,
            file: options.allow_file,
            directory: options.allow_directory,
        }
    }
}

impl Target {
    /// The platform to resolve for on this machine. A C library belongs to a platform, so this
    /// machine's says nothing about another platform.
    pub fn on(&self, machine: &Platform) -> Platform {
        let os = self.os.clone().unwrap_or_else(|| machine.os.clone());
        let libc = machine.libc.clone().filter(|_| os == machine.os);
        Platform { os, cpu: self.cpu.clone().unwrap_or_else(|| machine.cpu.clone()), libc: self.libc.clone().or(libc) }
    }
}

impl Saving {
    fn new(config: &Config) -> Self {
        let prefix = || config.text("save-prefix").unwrap_or_else(|| "^".to_owned());
        Self {
            save: config.origin("save").map(|_| config.flag("save", false)),
            prefix: if config.flag("save-exact", false) { String::new() } else { prefix() },
            format_package_lock: config.flag("format-package-lock", true),
        }
    }
}

impl Network {
    fn new(config: &Config, environment: &Environment) -> Result<Self, ConfigError> {
        let milliseconds =
            |key, default| Ok::<_, ConfigError>(Duration::from_millis(config.number(key)?.unwrap_or(default)));
        let small =
            |key| Ok::<_, ConfigError>(config.number(key)?.map(|number| u32::try_from(number).unwrap_or(u32::MAX)));
        // npm uses `https-proxy` for every registry if it is set. `proxy=false` turns proxies off.
        let configured = |key| config.text(key).filter(|text| !text.is_empty());
        let off = configured("proxy").is_some_and(|text| text == "false");
        let proxy = configured("https-proxy").or_else(|| configured("proxy")).filter(|text| text != "false");
        let from = |names: &[&str]| {
            let named = || names.iter().find_map(|name| environment.variable_in_either_case(name));
            proxy.clone().or_else(|| if off { None } else { named().map(str::to_owned) })
        };
        let no_proxy = Some(config.list("noproxy").join(",")).filter(|hosts| !hosts.is_empty());
        let concurrency = config.number("maxsockets")?.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let concurrency = concurrency.unwrap_or(DOCUMENTS_AT_ONCE).max(1);
        Ok(Self {
            retries: small("fetch-retries")?.unwrap_or(2),
            retry_minimum: milliseconds("fetch-retry-mintimeout", 500)?,
            retry_maximum: milliseconds("fetch-retry-maxtimeout", 60_000)?,
            retry_factor: small("fetch-retry-factor")?.unwrap_or(Retries::default().factor),
            timeout: match milliseconds("fetch-timeout", 5 * 60 * 1000)? {
                // npm takes zero for "no limit". A year is as good, and can be added to any time.
                Duration::ZERO => Duration::from_hours(365 * 24),
                timeout => timeout,
            },
            concurrency,
            tarballs: concurrency.min(TARBALLS_AT_ONCE),
            https_proxy: from(&["https_proxy"]),
            http_proxy: from(&["https_proxy", "http_proxy", "proxy"]),
            no_proxy: no_proxy.or_else(|| environment.variable_in_either_case("no_proxy").map(str::to_owned)),
            strict_ssl: config.flag("strict-ssl", true),
            certificates: certificates(config, environment)?,
            extra_certificates: extra_certificates(environment)?,
            identities: ClientIdentity::all(config, environment)?,
        })
    }
}

/// The certificates of `cafile`, otherwise `ca`. As in Node, they replace the system's.
fn certificates(config: &Config, environment: &Environment) -> Result<Certificates, ConfigError> {
    if let Some(path) = config.path("cafile", environment) {
        return match Pem::of_file("cafile", path.clone()) {
            Ok(pem) => Ok([pem].into()),
            // npm ignores a file that doesn't exist.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Arc::default()),
            Err(source) => Err(ConfigError::Unreadable { path, source }),
        };
    }
    let texts = config.list("ca").into_iter().filter(|text| !text.is_empty());
    Ok(texts.map(|text| Pem::of_text("ca", text)).collect())
}

/// The certificates of the file that Node is told to trust in addition.
fn extra_certificates(environment: &Environment) -> Result<Certificates, ConfigError> {
    let Some(path) = environment.variable("NODE_EXTRA_CA_CERTS").filter(|path| !path.is_empty()) else {
        return Ok(Arc::default());
    };
    let pem = Pem::of_file("NODE_EXTRA_CA_CERTS", path.into());
    Ok([pem.map_err(|source| ConfigError::Unreadable { path: path.into(), source })?].into())
}

impl Freshness {
    fn new(config: &Config) -> Self {
        if config.flag("offline", false) {
            Self::CacheOnly
        } else if config.flag("prefer-offline", false) || config.amount("cache-min").is_some_and(|age| age >= 9999.0) {
            Self::AnyAge
        } else if config.flag("prefer-online", false) || config.amount("cache-max").is_some_and(|age| age <= 0.0) {
            Self::Revalidate
        } else {
            Self::Normal
        }
    }
}

/// The text of a setting, if it is set and not empty.
fn named(config: &Config, key: &str) -> Option<String> {
    config.text(key).filter(|text| !text.is_empty())
}

/// The options of a resolution. If `--save` isn't set, the command decides.
fn options(config: &Config, environment: &Environment) -> Result<Options, ConfigError> {
    let flag = |key| config.flag(key, false);
    let defaults = Options::default();
    Ok(Options {
        legacy_peer_deps: flag("legacy-peer-deps"),
        strict_peer_deps: flag("strict-peer-deps"),
        force: flag("force"),
        reporting: match config.text("loglevel").as_deref() {
            Some("verbose" | "silly") => Reporting::Decisions,
            _ => Reporting::Tree,
        },
        prefer_dedupe: flag("prefer-dedupe"),
        install_strategy: install_strategy(config)?,
        install_links: flag("install-links"),
        engine_strict: flag("engine-strict"),
        before: before(config)?,
        default_tag: named(config, "tag").unwrap_or(defaults.default_tag),
        allow_git: allow(config, "allow-git", defaults.allow_git)?,
        allow_remote: allow(config, "allow-remote", defaults.allow_remote)?,
        allow_file: allow(config, "allow-file", defaults.allow_file)?,
        allow_directory: allow(config, "allow-directory", defaults.allow_directory)?,
        before_exclude: config.list("min-release-age-exclude"),
        // A project cannot make it its policy (`cli-only-flag.js`).
        allow_unused_patches: config.is_option("allow-unused-patches") && flag("allow-unused-patches"),
        home: environment.home.as_deref().map(|home| home.to_string_lossy().into_owned()),
        omit: omitted(config, environment),
        ignore_extension: flag("ignore-extension") || flag("ignore-scripts"),
        lockfile_version: lockfile_version(config)?,
        omit_registry_resolved: flag("omit-lockfile-registry-resolved"),
        package_lock: config.flag("package-lock", defaults.package_lock) || flag("package-lock-only"),
        default_registry_host: espalier_registry::public_host().to_owned(),
        ..defaults
    })
}

fn allow(config: &Config, key: &str, default: Allow) -> Result<Allow, ConfigError> {
    match config.text(key).as_deref() {
        None => Ok(default),
        Some("all") => Ok(Allow::All),
        Some("root") => Ok(Allow::Root),
        Some("none") => Ok(Allow::None),
        Some(_) => Err(config.invalid(key, "all, root or none")),
    }
}

fn lockfile_version(config: &Config) -> Result<Option<u64>, ConfigError> {
    match config.number("lockfile-version")? {
        None => Ok(None),
        Some(version @ 1..=3) => Ok(Some(version)),
        Some(_) => Err(config.invalid("lockfile-version", "1, 2 or 3")),
    }
}

fn install_strategy(config: &Config) -> Result<InstallStrategy, ConfigError> {
    if config.flag("global-style", false) {
        return Ok(InstallStrategy::Shallow);
    }
    if config.flag("legacy-bundling", false) {
        return Ok(InstallStrategy::Nested);
    }
    match config.text("install-strategy").as_deref() {
        None | Some("" | "hoisted") => Ok(InstallStrategy::Hoisted),
        Some("nested") => Ok(InstallStrategy::Nested),
        Some("shallow") => Ok(InstallStrategy::Shallow),
        // npm also has `linked`. That is a different layout, so ignoring it silently would be worse
        // than an error.
        Some(_) => Err(config.invalid("install-strategy", "hoisted, nested or shallow")),
    }
}

/// The nearest place that sets one of the two decides. Within one place, the date wins.
fn before(config: &Config) -> Result<Option<i64>, ConfigError> {
    let sets = |key: &'static str| move |layer: &&super::Layer| layer.settings.contains_key(key);
    let nearest = config.layers.iter().find(|layer| sets("before")(layer) || sets("min-release-age")(layer));
    let Some(nearest) = nearest else { return Ok(None) };
    if sets("before")(&nearest) {
        let Some(text) = config.text("before") else { return Ok(None) };
        let date = parse_date(text.trim()).ok_or_else(|| config.invalid("before", "a date such as 2026-01-31"))?;
        return Ok(Some(date));
    }
    let days = config.number("min-release-age")?.filter(|days| *days > 0);
    let Some(days) = days else { return Ok(None) };
    let age = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
    let moment = SystemTime::now().checked_sub(age).unwrap_or(UNIX_EPOCH);
    let since_epoch = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Some(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)))
}

/// Parses a date as JavaScript does. A date alone is in UTC; a time without a zone is local.
fn parse_date(text: &str) -> Option<i64> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment.as_millisecond());
    }
    let zone = if text.contains([':', 'T']) { jiff::tz::TimeZone::system() } else { jiff::tz::TimeZone::UTC };
    if let Ok(local) = text.parse::<jiff::civil::DateTime>() {
        return Some(local.to_zoned(zone).ok()?.timestamp().as_millisecond());
    }
    let mail = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(mail.timestamp().as_millisecond())
}

/// Reads npm's `omit` and `include` and the older settings with the same meaning (`buildOmitList`).
/// In production, dev dependencies are omitted unless they are included.
pub fn omitted(config: &Config, environment: &Environment) -> Omit {
    let in_production = environment.variable("NODE_ENV") == Some("production");
    let (mut omit, mut include) = (config.list("omit"), config.list("include"));
    let said = |key| config.find(key).filter(|(value, _)| **value != Value::Null).map(|_| config.flag(key, false));
    let text = |key| config.text(key).unwrap_or_default();
    let add = |kinds: &mut Vec<String>, kind: &str| kinds.push(kind.to_owned());
    if matches!(text("only").as_str(), "prod" | "production") || said("production") == Some(true) {
        add(&mut omit, "dev");
    } else if said("production") == Some(false) {
        add(&mut include, "dev");
    }
    if text("also").starts_with("dev") || said("dev") == Some(true) {
        add(&mut include, "dev");
    }
    match said("optional") {
        Some(false) => add(&mut omit, "optional"),
        Some(true) => add(&mut include, "optional"),
        None => {}
    }
    // In npm, the default of `omit` depends on the environment.
    if in_production && config.origin("omit").is_none() {
        add(&mut omit, "dev");
    }
    let has = |kinds: &[String], kind: &str| kinds.iter().any(|other| other == kind);
    let omits = |kind: &str| has(&omit, kind) && !has(&include, kind);
    Omit { dev: omits("dev"), optional: omits("optional"), peer: omits("peer") }
}
