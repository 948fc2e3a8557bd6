//! What npm's settings mean, as far as they decide what is resolved and how it is fetched.
//!
//! Names and defaults are npm's, except where a wait would be needlessly long: npm's ten seconds before a first retry
//! are half a second here, unless they are configured.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use espalier_core::{Allow, InstallStrategy, Omit, Options, Platform};

use super::identities::ClientIdentity;
use espalier_package::trust::Trust;
use espalier_registry::{Registries, Retries};

use super::registries;
use super::{Config, ConfigError, Environment, Value};
use crate::digest::{Digest, Digested};

/// Everything that is configured, typed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where packages come from.
    pub registries: Registries,
    /// How they are fetched.
    pub network: Network,
    /// When the network is used at all.
    pub freshness: Freshness,
    /// What changes the tree. Node's version and the platform are still those of nobody in particular.
    pub options: Box<Options>,
    /// The platform to resolve for, where it isn't the machine's own.
    pub target: Target,
    /// What is written into package.json and package-lock.json.
    pub saving: Saving,
    /// npm's `extension-file`, in place of `.npm-extension.mjs` and `.npm-extension.cjs`.
    pub extension_file: Option<String>,
    /// A digest of all that is configured, and where, whether it means anything or not.
    pub(crate) source: Digested,
}

/// How to talk to a registry.
#[derive(Clone, Debug)]
pub struct Network {
    /// How often a request is tried again.
    pub retries: u32,
    /// The wait before the first retry.
    pub retry_minimum: Duration,
    /// The wait that no retry exceeds.
    pub retry_maximum: Duration,
    /// By how much each wait is longer than the one before.
    pub retry_factor: u32,
    /// The longest that one attempt may take, from the connection to the last byte.
    pub timeout: Duration,
    /// How many requests for documents may be in flight at once: `maxsockets`.
    pub concurrency: usize,
    /// How many requests for tarballs: no more than that, and not too many.
    pub tarballs: usize,
    /// The proxy for `https:` URLs.
    pub https_proxy: Option<String>,
    /// The proxy for `http:` URLs.
    pub http_proxy: Option<String>,
    /// Hosts that are reached without one, separated by commas.
    pub no_proxy: Option<String>,
    /// Whether certificates are verified.
    pub strict_ssl: bool,
    /// PEM texts, each with the name of the setting; they stand in for the system's certificates.
    pub certificates: Vec<(String, String)>,
    /// PEM texts that are trusted beside the system's.
    pub extra_certificates: Vec<(String, String)>,
    /// Certificates of the user's own, the one for the longest prefix first.
    pub identities: Vec<ClientIdentity>,
}

/// How old a cached document may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// As old as the registry said, then it is asked whether there is a newer one.
    #[default]
    Normal,
    /// The registry is always asked (`prefer-online`).
    Revalidate,
    /// Any age; the registry is asked for what is missing (`prefer-offline`).
    AnyAge,
    /// Any age, and what is missing is an error (`offline`).
    CacheOnly,
}

/// `os`, `cpu` and `libc`, where they are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// `os`
    pub os: Option<String>,
    /// `cpu`
    pub cpu: Option<String>,
    /// `libc`
    pub libc: Option<String>,
}

/// How files are saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// `save`, where it is set: what it is otherwise depends on the command.
    pub save: Option<bool>,
    /// What is put before a version that is saved: `save-prefix`, or nothing with `save-exact`.
    pub prefix: String,
    /// `format-package-lock`: whether the lockfile has lines.
    pub format_package_lock: bool,
}

/// Documents are small, and there are two for each package: what counts is the way to the registry and back. So many are asked
/// for at once only where that way is long.
const DOCUMENTS_AT_ONCE: usize = 256;
/// Tarballs are large, and are held in memory until they are verified.
const TARBALLS_AT_ONCE: usize = 64;

impl Settings {
    /// Reads the settings; what is wrong is an error that says where it was set.
    pub fn new(config: &Config, environment: &Environment) -> Result<Self, ConfigError> {
        Ok(Self {
            registries: registries::read(config)?,
            network: Network::new(config, environment)?,
            freshness: Freshness::new(config),
            options: Box::new(options(config, environment)?),
            target: Target { os: named(config, "os"), cpu: named(config, "cpu"), libc: named(config, "libc") },
            saving: Saving::new(config),
            extension_file: named(config, "extension-file"),
            source: Digest::of(format!("{:?}", config.layers)),
        })
    }

    /// Where packages may come from.
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
    /// The platform that is resolved for on a machine. A C library belongs to a platform: that of this machine says nothing
    /// about another one.
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
        // npm speaks to every registry through `https-proxy` when that is set, and lets `proxy=false` turn proxies off.
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
                // npm's agent takes it for no limit. A year is none, and can be added to any moment.
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

/// `cafile`, else `ca`. As in Node, they replace what the system trusts.
fn certificates(config: &Config, environment: &Environment) -> Result<Vec<(String, String)>, ConfigError> {
    if let Some(path) = config.path("cafile", environment) {
        return match std::fs::read_to_string(&path) {
            Ok(text) => Ok(vec![(format!("cafile {}", path.display()), text)]),
            // npm takes a file that doesn't exist for none.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(ConfigError::Unreadable { path, source }),
        };
    }
    Ok(config.list("ca").into_iter().filter(|text| !text.is_empty()).map(|text| ("ca".to_owned(), text)).collect())
}

/// The file that Node is told to trust besides the usual ones.
fn extra_certificates(environment: &Environment) -> Result<Vec<(String, String)>, ConfigError> {
    let Some(path) = environment.variable("NODE_EXTRA_CA_CERTS").filter(|path| !path.is_empty()) else {
        return Ok(Vec::new());
    };
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|source| ConfigError::Unreadable { path: path.into(), source })?;
    Ok(vec![(format!("NODE_EXTRA_CA_CERTS {path}"), text)])
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

/// A text that is set, and not empty.
fn named(config: &Config, key: &str) -> Option<String> {
    config.text(key).filter(|text| !text.is_empty())
}

/// The options of a resolution. `--save` is the command's to decide, where it isn't set.
fn options(config: &Config, environment: &Environment) -> Result<Options, ConfigError> {
    let flag = |key| config.flag(key, false);
    let defaults = Options::default();
    Ok(Options {
        legacy_peer_deps: flag("legacy-peer-deps"),
        strict_peer_deps: flag("strict-peer-deps"),
        force: flag("force"),
        decisions: matches!(config.text("loglevel").as_deref(), Some("verbose" | "silly")),
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
        allow_unused_patches: flag("allow-unused-patches"),
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
        // npm's fourth, `linked`, is another layout altogether, and doing something else silently would be worse.
        Some(_) => Err(config.invalid("install-strategy", "hoisted, nested or shallow")),
    }
}

/// The nearest place that sets either of the two decides, and within it the date.
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

/// A date as JavaScript reads the usual forms: a day alone begins in UTC, a time without a zone is local.
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

/// npm's `omit` and `include`, and the older settings that mean the same (`buildOmitList`); in production, development is
/// omitted unless it is included.
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
    // npm's own default of `omit` is what the environment says.
    if in_production && config.origin("omit").is_none() {
        add(&mut omit, "dev");
    }
    let has = |kinds: &[String], kind: &str| kinds.iter().any(|other| other == kind);
    let omits = |kind: &str| has(&omit, kind) && !has(&include, kind);
    Omit { dev: omits("dev"), optional: omits("optional"), peer: omits("peer") }
}
