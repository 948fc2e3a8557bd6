//! Error messages, each on one screen: what happened, the dependents, and what to do.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use espalier_core::semver::Version;
use espalier_core::spec::{SpecKind, Specs};
use espalier_core::{FetchFailure, FetchFailureKind, InvalidJson, Project, Refusal, Remedy, Requirer, ResolveError};
use espalier_install::config::settings::Settings;
use espalier_install::config::{Config, ConfigError};
use espalier_install::lock::LockError;
use espalier_install::project::ProjectError;

use super::chain::{branch, spec_text};
use super::{conflict, excerpt, wrapped};
use crate::style::{quiet, strong};

/// What a message uses beside the error.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The project's folder, if it was found.
    pub folder: Option<&'a Path>,
    /// The settings, if they were read.
    pub configuration: Option<(&'a Config, &'a Settings)>,
    /// The width of the terminal, if there is one.
    pub width: Option<usize>,
}

impl Circumstances<'_> {
    /// Those of a failure before the project was found.
    pub fn unknown() -> Self {
        Self { folder: None, configuration: None, width: super::terminal_width() }
    }
}

/// npm's code of an error, or one in its style.
pub fn code(error: &LockError) -> Cow<'static, str> {
    let code = match error {
        LockError::Resolve { error, .. } => return error.code(),
        LockError::Config(_) => "ECONFIG",
        LockError::Project(ProjectError::NoManifest { .. } | ProjectError::NoFolder { .. }) => "ENOENT",
        LockError::Project(ProjectError::NoWorkspace { .. }) => "ENOWORKSPACE",
        LockError::Project(ProjectError::Unreadable { .. }) => "EREAD",
        LockError::Project(ProjectError::Unwritable { .. }) => "EWRITE",
        LockError::Interrupted => "EINTERRUPTED",
    };
    code.into()
}

/// One sentence, which is the first line of the message and part of the JSON.
pub fn headline(error: &LockError) -> String {
    match error {
        LockError::Resolve { error, .. } => resolve_headline(error),
        LockError::Config(error) => with_source(error),
        LockError::Project(error) => with_source(error),
        LockError::Interrupted => error.to_string(),
    }
}

/// The whole message.
pub fn render(error: &LockError, circumstances: Circumstances<'_>) -> String {
    let details = match error {
        LockError::Resolve { error, project, remedies } => resolve_details(error, project, remedies, circumstances),
        LockError::Config(error) => config_details(error),
        LockError::Project(error) => project_details(error),
        LockError::Interrupted => String::new(),
    };
    super::screen(&headline(error), &code(error), &details, circumstances.width)
}

fn with_source(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

fn project_details(error: &ProjectError) -> String {
    match error {
        ProjectError::NoManifest { .. } => {
            "  Name the project's folder with -C, or create a package.json with `npm init`.\n".to_owned()
        }
        ProjectError::NoFolder { .. } => "  -C takes the folder that contains package.json.\n".to_owned(),
        ProjectError::NoWorkspace { .. } => {
            "  `workspaces` in package.json lists the folders of the workspaces.\n".to_owned()
        }
        ProjectError::Unreadable { .. } => "  Check the owner and the permissions of the file.\n".to_owned(),
        ProjectError::Unwritable { .. } => {
            "  A new lockfile is written beside the old one and then replaces it. The folder\n  must be writable and have \
             space. The old lockfile is unchanged.\n"
                .to_owned()
        }
    }
}

fn config_details(error: &ConfigError) -> String {
    match error {
        ConfigError::UnscopedCredential { key, replacement, .. } => format!(
            "  A credential without a registry could be sent to any registry. Write\n\n    {}\n\n  instead of `{key}=…`; \
             `npm config fix` does the same.\n",
            strong(format!("{replacement}=…"))
        ),
        ConfigError::Invalid { key, .. } => format!("  `npm help config` lists the values of {key}.\n"),
        ConfigError::Unreadable { .. } => "  Check the owner and the permissions of the file.\n".to_owned(),
        ConfigError::Certificates { .. } => "  The file must contain certificates in PEM format.\n".to_owned(),
    }
}

fn resolve_headline(error: &ResolveError) -> String {
    match error {
        ResolveError::NoMatchingVersion { name, spec, .. } => {
            format!("no version of {name} satisfies {}", spec_text(spec))
        }
        ResolveError::Fetch { name, failure, chain } if is_of_git(failure, chain) => git_headline(name, failure),
        ResolveError::Fetch { name, failure, .. } => fetch_headline(name, failure),
        ResolveError::InvalidJson(_) | ResolveError::PeerConflict(_) | ResolveError::Refused { .. } => {
            error.to_string()
        }
    }
}

fn git_headline(name: &str, failure: &FetchFailure) -> String {
    match failure.kind {
        FetchFailureKind::NotFound => format!("the repository of {name} does not have what is requested"),
        _ => format!("the repository of {name} could not be read"),
    }
}

/// Whether the source of a package is a git repository: the spec of its last dependent says so, or
/// without dependents, the address.
fn is_of_git(failure: &FetchFailure, chain: &[Requirer]) -> bool {
    let is_of_git = match chain.last() {
        Some(asker) => matches!(Specs::default().intern(&asker.spec).kind, SpecKind::Git(_)),
        None => Path::new(&failure.url).extension().is_some_and(|extension| extension == "git"),
    };
    is_of_git && failure.kind != FetchFailureKind::Unsupported
}

pub(super) fn fetch_headline(name: &str, failure: &FetchFailure) -> String {
    let what = if is_tarball(failure) { format!("the tarball of {name}") } else { name.to_owned() };
    match failure.kind {
        FetchFailureKind::NotFound if failure.url.starts_with("file:") => format!("{what} does not exist"),
        kind if kind.is_absence() => format!("the registry does not have {what}"),
        FetchFailureKind::Unauthorized | FetchFailureKind::Forbidden => {
            format!("the registry denies access to {what}")
        }
        FetchFailureKind::NotFound | FetchFailureKind::Status(_) => {
            format!("the registry failed to answer for {what}")
        }
        FetchFailureKind::Unreachable | FetchFailureKind::NotCached | FetchFailureKind::Preflight => {
            format!("{what} could not be fetched")
        }
        FetchFailureKind::Invalid | FetchFailureKind::Integrity => {
            format!("the data received for {what} cannot be used")
        }
        FetchFailureKind::Unsupported => format!("Espalier does not support the source of {what}"),
    }
}

fn is_tarball(failure: &FetchFailure) -> bool {
    [".tgz", ".tar.gz", ".tar"].iter().any(|ending| failure.url.ends_with(ending))
}

fn resolve_details(
    error: &ResolveError,
    project: &Project,
    remedies: &[Remedy],
    circumstances: Circumstances<'_>,
) -> String {
    match error {
        ResolveError::InvalidJson(InvalidJson { file, line, column, .. }) => {
            let on_disk = || circumstances.folder.and_then(|folder| std::fs::read_to_string(folder.join(file)).ok());
            let text = if file == "package.json" { Some(project.manifest.clone()) } else { on_disk() };
            invalid_json(file, *line, *column, text.as_deref())
        }
        ResolveError::NoMatchingVersion { name, spec, chain, nearest } => {
            // Without dependents, an argument asks for it, or the lockfile.
            let is_locked = chain.is_empty() && project.lockfile.is_some() && Version::parse(spec).is_some();
            no_matching_version(name, chain, nearest, is_locked, circumstances)
        }
        ResolveError::Fetch { name, failure, chain } => fetch(name, failure, chain, circumstances),
        ResolveError::PeerConflict(conflict) => conflict::details(conflict, remedies),
        ResolveError::Refused { refusal, chain } => refused(refusal, chain, error.remedy()),
    }
}

fn refused(refusal: &Refusal, chain: &[Requirer], remedy: Option<&str>) -> String {
    let mut details = match (refusal.package(), chain.split_last()) {
        (_, None) => String::new(),
        (Some((name, version)), _) => branch(chain, name, version),
        (None, Some((asker, above))) => branch(above, &asker.name, asker.version.as_deref()),
    };
    if let Some(remedy) = remedy {
        let lines = wrapped(remedy, 2, Some(80)).join("\n  ");
        let gap = if details.is_empty() { "" } else { "\n" };
        let _ = writeln!(details, "{gap}  {lines}");
    }
    details
}

/// The details of a file that isn't JSON, with an excerpt of its text if it is known.
pub fn invalid_json(file: &str, line: usize, column: usize, text: Option<&str>) -> String {
    let drawn = text.map(|text| excerpt::excerpt(text, line, column) + "\n").unwrap_or_default();
    let remedy = if file.ends_with("package.json") {
        "  Correct it there and run espalier again."
    } else {
        "  Correct it there, or delete the file to make a new one from package.json."
    };
    format!("{drawn}{remedy}\n")
}

fn no_matching_version(
    name: &str,
    chain: &[Requirer],
    nearest: &[String],
    is_locked: bool,
    circumstances: Circumstances<'_>,
) -> String {
    let mut details = if chain.is_empty() { String::new() } else { branch(chain, name, None) + "\n" };
    if !nearest.is_empty() {
        let _ = writeln!(details, "  Nearest: {}\n", strong(nearest.join(", ")));
    }
    if circumstances.configuration.is_some_and(|(_, settings)| settings.options.before.is_some()) {
        details += "  Versions that were published after the date of --before are ignored.\n";
    }
    match (chain, nearest.first()) {
        ([_, .., asker], Some(best)) => {
            let _ = writeln!(
                details,
                "  {} asks for it. Try another version of {0}, or choose this one in\n  package.json:\n\n    {}",
                asker.name,
                strong(format!("\"overrides\": {{ \"{name}\": \"{best}\" }}"))
            );
        }
        ([_, .., asker], None) => {
            let _ = writeln!(details, "  {} asks for it. Try another version of {0}.", asker.name);
        }
        _ if is_locked => {
            let _ = writeln!(
                details,
                "  The lockfile has this version, but the registry does not. Choose another one\n  with {}.",
                strong(format!("espalier update {name}"))
            );
        }
        _ => details += "  Choose a version that exists.\n",
    }
    details
}

pub(super) fn fetch(
    name: &str,
    failure: &FetchFailure,
    chain: &[Requirer],
    circumstances: Circumstances<'_>,
) -> String {
    let mut details = String::new();
    if !chain.is_empty() {
        details += &(branch(chain, name, None) + "\n");
    }
    let mut row = |label: &str, text: &str| {
        let lines = wrapped(text, 13, circumstances.width).join(&format!("\n{:13}", ""));
        let _ = writeln!(details, "  {}   {lines}", quiet(format!("{label:<8}")));
    };
    row("reason", &failure.message);
    row("url", &failure.url);
    let is_of_git = is_of_git(failure, chain);
    let is_of_registry = !is_of_git && !failure.url.starts_with("file:");
    if let Some(setting) = registry_setting(name, circumstances).filter(|_| is_of_registry) {
        row("registry", &setting);
    }
    let remedy = if is_of_git { git_remedy(failure) } else { fetch_remedy(failure) };
    let _ = write!(details, "\n{remedy}");
    details
}

/// Whether this is the URL of a tarball, and not of a document.
fn is_of_tarball(url: &str) -> bool {
    Path::new(url).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tgz"))
}

fn git_remedy(failure: &FetchFailure) -> String {
    match failure.kind {
        FetchFailureKind::NotFound => "  Choose a branch, a tag or a commit that the repository has.\n".to_owned(),
        FetchFailureKind::NotCached => "  Run espalier once without --offline to fetch it.\n".to_owned(),
        _ => format!(
            "  Check the address, the network, and your access to the repository. This\n  command has to \
             work:\n\n    {}\n",
            strong(format!("git ls-remote {}", failure.url))
        ),
    }
}

fn fetch_remedy(failure: &FetchFailure) -> String {
    let lines: &[&str] = match failure.kind {
        FetchFailureKind::NotFound if failure.url.starts_with("file:") => {
            &["Check the path in package.json. It is relative to the folder of that file."]
        }
        kind if kind.is_absence() && is_of_tarball(&failure.url) => &[
            "There is no tarball at this address. If it belongs to a registry's package,",
            "that version may have been unpublished. `espalier update` with the package's",
            "name chooses another one.",
        ],
        kind if kind.is_absence() => &[
            "Check the spelling of the name. A private package needs its registry, and",
            "often a token for it, in .npmrc:",
            "",
            "  @scope:registry=https://…",
            "  //…/:_authToken=${NPM_TOKEN}",
        ],
        FetchFailureKind::Unauthorized | FetchFailureKind::Forbidden => &[
            "Log in with `npm login`, or add a token for this registry to .npmrc:",
            "",
            "  //…/:_authToken=${NPM_TOKEN}",
            "",
            "An existing token may have expired or may not allow access to this package.",
        ],
        FetchFailureKind::NotFound | FetchFailureKind::Status(_) => &[
            "This is a problem of the registry and may be temporary. Try again later, or",
            "name another registry with --registry.",
        ],
        FetchFailureKind::NotCached => &["Run espalier once without --offline to fill the cache."],
        FetchFailureKind::Unreachable | FetchFailureKind::Preflight => &[
            "Check the network and the address. Behind a proxy, set `proxy` and",
            "`https-proxy` in .npmrc. If a company signs its own certificates, set",
            "`cafile`. --prefer-offline uses what the cache contains.",
        ],
        FetchFailureKind::Integrity => &[
            "A proxy or a mirror may have changed it on the way. Try again, or use another",
            "registry with --registry. If the integrity in package-lock.json is wrong,",
            "remove the package's entry there and run `espalier install`.",
        ],
        FetchFailureKind::Invalid => &[
            "A proxy, a mirror or a login page may have changed it on the way.",
            "Try again, or use another registry with --registry.",
        ],
        FetchFailureKind::Unsupported => &["See \"Differences from npm\" in the README."],
    };
    lines.iter().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
}

/// The setting that chose the registry of a package.
fn registry_setting(name: &str, circumstances: Circumstances<'_>) -> Option<String> {
    let (config, _) = circumstances.configuration?;
    let of_scope = name.starts_with('@').then(|| name.split('/').next()).flatten();
    let keys = of_scope.map(|scope| format!("{scope}:registry")).into_iter().chain(["registry".to_owned()]);
    let found = keys.into_iter().find_map(|key| Some((config.origin(&key)?, key)));
    Some(match found {
        Some((origin, key)) if key == "registry" => format!("set by {origin}"),
        Some((origin, key)) => format!("set by {origin}, as {key}"),
        None => "npm's default, because none is set".to_owned(),
    })
}
