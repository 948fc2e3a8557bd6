//! The input of a run from JavaScript. `pkg/src/input.ts` has checked it, refused unknown fields
//! and filled in the package's own defaults. The core's defaults apply to missing fields.
//!
//! `deny_unknown_fields` would have no effect here: `serde-wasm-bindgen` only asks an object for
//! the fields of the struct. `pkg/tests/boundary.test.js` compares these fields with those that
//! TypeScript sends.

use espalier_core::{Allow, NodeModules, Omit, Options, Platform, Project, Reporting};
use espalier_package::trust::Trust;
use espalier_registry::public_host;
use serde::Deserialize;

use crate::files;
use crate::pairs::Pairs;

/// Scripts that change manifests, which npm looks for in a project.
const EXTENSION_FILES: [&str; 2] = [".npm-extension.mjs", ".npm-extension.cjs"];

/// The input of a run. It has a field for each field of the package's input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    manifest: String,
    /// The text of package-lock.json.
    pub lockfile: Option<String>,
    folder_name: String,
    node_version: Option<String>,
    npm_version: Option<String>,
    platform: Option<PlatformInput>,
    #[serde(default)]
    legacy_peer_deps: bool,
    #[serde(default)]
    strict_peer_deps: bool,
    #[serde(default)]
    force: bool,
    #[serde(default)]
    prefer_dedupe: bool,
    #[serde(default)]
    install_links: bool,
    #[serde(default)]
    engine_strict: bool,
    default_tag: Option<String>,
    /// In milliseconds since the epoch.
    before: Option<i64>,
    allow_git: Option<AllowInput>,
    allow_remote: Option<AllowInput>,
    allow_file: Option<AllowInput>,
    allow_directory: Option<AllowInput>,
    /// The paths and texts of the project's other files.
    pub files: Pairs,
    /// The maximum number of concurrent requests.
    pub concurrency: usize,
    /// Whether every decision is reported.
    #[serde(default)]
    decisions: bool,
    /// Whether events are reported.
    pub events: bool,
    /// Whether remedies for a conflict of peers are searched for.
    pub remedies: bool,
    /// What to install. `None` to resolve only.
    pub install: Option<InstallInput>,
}

/// What to install.
#[derive(Deserialize)]
pub struct InstallInput {
    /// The omitted kinds of dependencies.
    pub omit: OmitInput,
    /// Whether the lockfile has to match, as for `npm ci`.
    pub frozen: bool,
    /// The hidden lockfile of the installed packages.
    pub noted: Option<String>,
}

/// Kinds of dependencies.
#[derive(Clone, Copy, Deserialize)]
pub struct OmitInput {
    dev: bool,
    optional: bool,
    peer: bool,
}

impl From<OmitInput> for Omit {
    fn from(OmitInput { dev, optional, peer }: OmitInput) -> Self {
        Self { dev, optional, peer }
    }
}

/// The values `all`, `root` and `none`.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AllowInput {
    All,
    Root,
    None,
}

impl From<AllowInput> for Allow {
    fn from(allow: AllowInput) -> Self {
        match allow {
            AllowInput::All => Self::All,
            AllowInput::Root => Self::Root,
            AllowInput::None => Self::None,
        }
    }
}

#[derive(Deserialize)]
struct PlatformInput {
    os: String,
    cpu: String,
    libc: Option<String>,
}

impl Input {
    /// The path of the project's folder, which has none in a tab.
    pub fn project_path(&self) -> String {
        format!("/{}", self.folder_name)
    }

    /// The permitted sources of packages.
    pub fn trust(&self) -> Trust {
        let allow = |allow: Option<AllowInput>, default: Allow| allow.map_or(default, Into::into);
        Trust {
            git: allow(self.allow_git, Allow::None),
            remote: allow(self.allow_remote, Allow::None),
            file: allow(self.allow_file, Allow::All),
            directory: allow(self.allow_directory, Allow::All),
        }
    }

    /// The input of the core.
    pub fn project_and_options(&self) -> (Project, Options) {
        let project = Project {
            manifest: self.manifest.clone(),
            lockfile: self.lockfile.clone().map(Into::into),
            folder_name: self.folder_name.clone(),
            path: self.project_path(),
            yarn_lock: self.files.get("yarn.lock").map(str::to_owned),
            installed: if self.lockfile.is_some() { NodeModules::default() } else { files::installed(&self.files) },
            extension_file: EXTENSION_FILES.into_iter().find(|name| self.files.get(name).is_some()).map(str::to_owned),
            ..Project::default()
        };
        let defaults = Options::default();
        let platform = self.platform.as_ref().map(|platform| Platform {
            os: platform.os.clone(),
            cpu: platform.cpu.clone(),
            libc: platform.libc.clone(),
        });
        let options = Options {
            node_version: self.node_version.clone().unwrap_or(defaults.node_version),
            npm_version: self.npm_version.clone().unwrap_or(defaults.npm_version),
            platform: platform.unwrap_or(defaults.platform),
            legacy_peer_deps: self.legacy_peer_deps,
            strict_peer_deps: self.strict_peer_deps,
            force: self.force,
            prefer_dedupe: self.prefer_dedupe,
            install_links: self.install_links,
            engine_strict: self.engine_strict,
            reporting: if self.decisions { Reporting::Decisions } else { Reporting::Choices },
            before: self.before,
            default_tag: self.default_tag.clone().unwrap_or(defaults.default_tag),
            allow_git: self.allow_git.map_or(defaults.allow_git, Into::into),
            allow_remote: self.allow_remote.map_or(defaults.allow_remote, Into::into),
            allow_file: self.allow_file.map_or(defaults.allow_file, Into::into),
            allow_directory: self.allow_directory.map_or(defaults.allow_directory, Into::into),
            default_registry_host: public_host().to_owned(),
            // An installation opens bundles when it unpacks them, and `npm ci` takes the lock as it
            // is.
            complete: self.install.is_none(),
            save: self.install.as_ref().is_none_or(|install| !install.frozen),
            omit: self.install.as_ref().map_or(defaults.omit, |install| install.omit.into()),
            ..defaults
        };
        (project, options)
    }
}
