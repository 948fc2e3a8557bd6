//! The inputs of a resolution that aren't fetched: the project's own files and npm's settings.
//!
//! The result depends on these inputs and on answers to requests, and on nothing else.

use std::sync::Arc;

use crate::changes::Changes;
use crate::glob::{Manner, Pattern};
use crate::parsed_lock::LockfileText;
use crate::proposal::Proposal;

/// The project to resolve. Its files are text, so that errors can state line and column.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The text of the root package.json.
    pub manifest: String,
    /// package-lock.json, if there is one to start from. It is shared, because it is large, and its
    /// owner compares the new text with it.
    pub lockfile: Option<LockfileText>,
    /// The text of yarn.lock, a source of versions if there is no package-lock.json.
    pub yarn_lock: Option<String>,
    /// The content of `node_modules`. It is used only if there is no package-lock.json.
    pub installed: NodeModules,
    /// The name of the project's `.npm-extension` file, a script that changes manifests. The core
    /// can't run it.
    pub extension_file: Option<String>,
    /// The requested changes.
    pub changes: Changes,
    /// Changes to package.json files of workspaces that are only tried and never written.
    pub trial: Vec<Proposal>,
    /// The name of the project's folder, which is npm's name for a root without `name`.
    pub folder_name: String,
    /// The absolute folder of the project, with forward slashes (`/home/me/app`). Only `file:`
    /// specs that leave the project depend on it.
    pub path: String,
}

/// The installed packages. npm starts from them if there is no lock.
#[derive(Clone, Debug, Default)]
pub struct NodeModules {
    /// The text of `node_modules/.package-lock.json`, if it is up to date: no folder of its tree is
    /// newer or missing (`assertNoNewer` in `shrinkwrap.js`). Then nothing else is used.
    pub hidden_lockfile: Option<String>,
    /// The packages in the project's `node_modules`, level by level. A link precedes its target.
    pub packages: Vec<InstalledPackage>,
}

/// A package in a `node_modules`, or the target of a link there.
#[derive(Clone, Debug, Default)]
pub struct InstalledPackage {
    /// Its path relative to the project: `node_modules/a`, `packages/ui`.
    pub path: String,
    /// The target of a link, relative to the project.
    pub target: Option<String>,
    /// The text of its package.json, if it has one.
    pub manifest: Option<String>,
}

/// The platform to resolve for. npm keeps unsuitable packages in the lock, but marks them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The value of Node's `process.platform`: `linux`, `darwin`, `win32`.
    pub os: String,
    /// The value of Node's `process.arch`: `x64`, `arm64`.
    pub cpu: String,
    /// `glibc` or `musl` on Linux.
    pub libc: Option<String>,
}

impl Default for Platform {
    /// The platform of npm's answers in the test corpus.
    fn default() -> Self {
        Self { os: "linux".into(), cpu: "x64".into(), libc: Some("glibc".into()) }
    }
}

/// Which packages may depend on sources other than a registry. By default, npm 12 refuses git and
/// URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    /// Any package.
    All,
    /// The project itself and its workspaces.
    Root,
    /// No package.
    None,
}

/// `--install-strategy`: how high in the tree packages are placed. npm's `linked` resolves like
/// `Hoisted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstallStrategy {
    /// As high as possible.
    #[default]
    Hoisted,
    /// As deep as possible. Nothing is shared.
    Nested,
    /// Only the project's own dependencies are at the top.
    Shallow,
}

/// The kinds of dependencies that aren't installed (`--omit`). They are in the lock, but needn't
/// support this Node or platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omit {
    /// `--omit=dev`
    pub dev: bool,
    /// `--omit=optional`
    pub optional: bool,
    /// `--omit=peer`
    pub peer: bool,
}

/// npm's settings that change the tree, under npm's names. There is a field for each of these
/// settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The version of Node that `engines` are compared with, such as `20.20.2`.
    pub node_version: String,
    /// The version of npm that `engines.npm` is compared with.
    pub npm_version: String,
    /// The user's home folder, for paths that begin with `~/`.
    #[cfg(feature = "home")]
    pub home: Option<String>,
    /// The platform to resolve for (`--os`, `--cpu`, `--libc`), which optional packages have to
    /// support.
    pub platform: Platform,
    /// The platform that npm runs on, if it is another one. Packages that aren't optional have to
    /// support it, whatever `--os` says.
    pub host: Option<Platform>,
    /// `--legacy-peer-deps`: peer dependencies are not installed and not checked.
    pub legacy_peer_deps: bool,
    /// `--strict-peer-deps`: every conflict of peers is an error, even deep in the tree.
    pub strict_peer_deps: bool,
    /// `--force`: conflicts of peers never end the resolution.
    pub force: bool,
    /// `--prefer-dedupe`: prefers an older version in the tree to a newer one.
    pub prefer_dedupe: bool,
    /// `--install-strategy`.
    pub install_strategy: InstallStrategy,
    /// `--omit`.
    pub omit: Omit,
    /// `--install-links`: folders outside the project are packed and copied instead of linked.
    pub install_links: bool,
    /// `--engine-strict`: a package that doesn't support this Node or npm is an error.
    pub engine_strict: bool,
    /// Whether a package without a known source is no error yet. It may be in place already
    /// ([`Outcome::unknown_origins`](crate::Outcome::unknown_origins)).
    pub origins_may_be_unknown: bool,
    /// `--before`: ignores versions that were published later, in milliseconds since the epoch.
    pub before: Option<i64>,
    /// `--tag`: the dist-tag for an empty spec.
    pub default_tag: String,
    /// `--lockfile-version`: the version to write, instead of that of the existing lock.
    pub lockfile_version: Option<u64>,
    /// `omit-lockfile-registry-resolved`: the lock has no `resolved` for registry packages.
    pub omit_registry_resolved: bool,
    /// `--package-lock`: starts from the existing lock. Without it, the lock is neither read nor
    /// written.
    pub package_lock: bool,
    /// `--save`: allows additions to the lock. `npm ci` and `npm update` work without it.
    pub save: bool,
    /// `--allow-git`: which packages may have git dependencies.
    pub allow_git: Allow,
    /// `--allow-remote`: which packages may depend on URLs of tarballs.
    pub allow_remote: Allow,
    /// `--allow-file`: which packages may depend on tarballs on disk.
    pub allow_file: Allow,
    /// `--allow-directory`: which packages may depend on folders.
    pub allow_directory: Allow,
    /// `--min-release-age-exclude`: names and globs of packages that are exempt from `before`.
    pub before_exclude: Vec<String>,
    /// `--allow-unused-patches`: a patch without a package is no error.
    pub allow_unused_patches: bool,
    /// `--ignore-scripts` or `--ignore-extension`: ignores an `.npm-extension` file.
    pub ignore_extension: bool,
    /// The host of npm's default registry. Its tarballs in a yarn.lock stand for plain versions.
    pub default_registry_host: String,
    /// Not npm's: the addresses of the registries. Without them, there is no
    /// [`Request::Manifest`](crate::Request::Manifest), and exact versions need packuments, too.
    pub registries: Option<Arc<RegistryAddresses>>,
    /// Whether bundles are opened while the tree is built, as npm does for a lockfile alone. An
    /// installation opens them once the tree is complete, and doesn't fetch what bundled packages
    /// lack.
    pub complete: bool,
    /// Whether extraneous packages are removed in any case, as `prune` does. Without a lockfile,
    /// other commands trust the packages that they find.
    pub prune: bool,
    /// Not npm's: which events are reported.
    pub reporting: Reporting,
    /// Not npm's: whether the outcome contains the tree as a [`Graph`](crate::Graph). A lockfile
    /// doesn't need it. If [`complete`](Self::complete) is false, the outcome always has a graph.
    pub graph: bool,
    /// Not npm's: only checks whether there is a tree. The lockfile then lacks what abbreviated
    /// packuments leave out.
    pub tree_only: bool,
}

/// The addresses of registries without credentials, each with a slash at the end.
pub type RegistryAddresses = ByScope<String>;

/// What applies to the packages of each registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByScope<T> {
    /// For packages that no scope claims.
    pub default: T,
    /// For the packages of scopes, which are written without `@`.
    pub scopes: Vec<(String, T)>,
}

impl<T> ByScope<T> {
    /// What applies to a package.
    pub fn of_package(&self, name: &str) -> &T {
        let scope = name.strip_prefix('@').and_then(|name| name.split_once('/')).map(|(scope, _)| scope);
        let own = scope.and_then(|scope| self.scopes.iter().find(|(other, _)| other == scope));
        own.map_or(&self.default, |(_, own)| own)
    }
}

/// The events that a resolution reports. Each level includes the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reporting {
    /// How the tree grows: [`Event::Placed`](crate::Event::Placed) and `Removed`, and its
    /// completion.
    Tree,
    /// Also the packuments that arrive, the versions that are chosen, and the packages that are
    /// kept.
    #[default]
    Choices,
    /// Also every decision, such as [`Event::Visited`](crate::Event::Visited).
    Decisions,
}

/// The default version of Node, if there is no Node to ask.
pub const DEFAULT_NODE_VERSION: &str = "20.20.2";
/// The version of npm that this crate reproduces.
pub const NPM_VERSION: &str = "12.2.0";

/// Whether one of these patterns exempts a package from `before` (`min-release-age-exclude`).
pub fn is_excepted(patterns: &[String], name: &str) -> bool {
    let manner = Manner { plain: true, ..Manner::default() };
    patterns.iter().any(|pattern| pattern == name || Pattern::new(pattern, manner).matches(name))
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node_version: DEFAULT_NODE_VERSION.into(),
            npm_version: NPM_VERSION.into(),
            #[cfg(feature = "home")]
            home: None,
            platform: Platform::default(),
            host: None,
            legacy_peer_deps: false,
            strict_peer_deps: false,
            force: false,
            prefer_dedupe: false,
            install_strategy: InstallStrategy::Hoisted,
            omit: Omit::default(),
            install_links: false,
            engine_strict: false,
            origins_may_be_unknown: false,
            before: None,
            default_tag: "latest".into(),
            lockfile_version: None,
            omit_registry_resolved: false,
            package_lock: true,
            save: true,
            allow_git: Allow::None,
            allow_remote: Allow::None,
            allow_file: Allow::All,
            allow_directory: Allow::All,
            before_exclude: Vec::new(),
            allow_unused_patches: false,
            ignore_extension: false,
            default_registry_host: String::new(),
            registries: None,
            complete: true,
            prune: false,
            reporting: Reporting::default(),
            graph: true,
            tree_only: false,
        }
    }
}

/// The content of the lockfile of an inspection. npm finds workspaces first or last, and the order
/// of dependents depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A lockfile: the packages that should be installed (`load-virtual.js`).
    Lockfile,
    /// The contents of `node_modules` (`load-actual.js`).
    NodeModules,
}
