//! The inputs of a resolution that are not fetched: the project's own files and npm's settings.
//!
//! Everything that changes the answer is here or in an answer to a request; nothing is read from the
//! environment.

use crate::changes::Changes;
use crate::glob::{Manner, Pattern};
use crate::proposal::Proposal;

/// The project to resolve, as text: the core parses it, so that errors can name line and column.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The text of the root package.json.
    pub manifest: String,
    /// The text of package-lock.json, when there is one to start from.
    pub lockfile: Option<String>,
    /// The text of yarn.lock, a source of versions where there is no package-lock.json.
    pub yarn_lock: Option<String>,
    /// What lies in `node_modules`; only looked at where there is no package-lock.json.
    pub installed: NodeModules,
    /// The name of an `.npm-extension` file that the project has: a script that changes manifests, which nothing here can run.
    pub extension_file: Option<String>,
    /// What is asked to be changed.
    pub changes: Changes,
    /// What is tried out in package.json files of workspaces, which nothing is written of.
    pub trial: Vec<Proposal>,
    /// The name of the folder that holds the project: npm's name for a root without `name`.
    pub folder_name: String,
    /// The project's folder, absolute with forward slashes (`/home/me/app`). Only `file:` specs that
    /// leave the project depend on it.
    pub path: String,
}

/// What is installed already. npm starts from it where there is no lock.
#[derive(Clone, Debug, Default)]
pub struct NodeModules {
    /// The text of `node_modules/.package-lock.json`, if it is up to date: nothing in the tree that it describes is newer
    /// than it, and nothing is missing (`assertNoNewer` in `shrinkwrap.js`). Then nothing else is looked at.
    pub hidden_lockfile: Option<String>,
    /// The packages in `node_modules` of the project, level by level, a link before what it leads to.
    pub packages: Vec<InstalledPackage>,
}

/// A package in a `node_modules`, or one that a link there leads to.
#[derive(Clone, Debug, Default)]
pub struct InstalledPackage {
    /// Where it is, relative to the project: `node_modules/a`, `packages/ui`.
    pub path: String,
    /// Of a link, where it leads, relative to the project.
    pub target: Option<String>,
    /// The text of its package.json, if it has one.
    pub manifest: Option<String>,
}

/// The platform a tree is resolved for; npm keeps what doesn't fit in the lock, but marks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// As in Node's `process.platform`: `linux`, `darwin`, `win32`.
    pub os: String,
    /// As in Node's `process.arch`: `x64`, `arm64`.
    pub cpu: String,
    /// `glibc` or `musl` on Linux.
    pub libc: Option<String>,
}

impl Default for Platform {
    /// What npm's own answers in the test corpus were made with.
    fn default() -> Self {
        Self { os: "linux".into(), cpu: "x64".into(), libc: Some("glibc".into()) }
    }
}

/// Who may depend on something that isn't in a registry. npm 12 refuses git and URLs unless it is told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    /// Any package.
    All,
    /// The project itself and its workspaces.
    Root,
    /// Nobody.
    None,
}

/// `--install-strategy`: how high in the tree a package may go. npm's `linked` resolves as `Hoisted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstallStrategy {
    /// As high as it can.
    #[default]
    Hoisted,
    /// As deep as it can, nothing is shared.
    Nested,
    /// Only what the project itself asks for is at the top.
    Shallow,
}

/// Kinds of dependencies that won't be installed (`--omit`). They are in the lock all the same, but it is no
/// error if they don't suit this Node or platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omit {
    /// `--omit=dev`
    pub dev: bool,
    /// `--omit=optional`
    pub optional: bool,
    /// `--omit=peer`
    pub peer: bool,
}

/// npm's settings that change the tree, by npm's names. There are as many fields as npm has such settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The Node version that `engines` are checked against, such as `20.20.2`.
    pub node_version: String,
    /// The npm version that `engines.npm` is checked against.
    pub npm_version: String,
    /// Where the tree shall run (`--os`, `--cpu`, `--libc`): optional packages have to suit it.
    pub platform: Platform,
    /// Where npm would run, if that is another platform: the packages that aren't optional have to suit it,
    /// whatever `--os` says.
    pub host: Option<Platform>,
    /// `--legacy-peer-deps`: peer dependencies are not installed and not checked.
    pub legacy_peer_deps: bool,
    /// `--strict-peer-deps`: any conflicting peer is an error, also deep in the tree.
    pub strict_peer_deps: bool,
    /// `--force`: conflicting peers never stop the resolution.
    pub force: bool,
    /// `--prefer-dedupe`: an older version that is already there is preferred to a newer one.
    pub prefer_dedupe: bool,
    /// `--install-strategy`.
    pub install_strategy: InstallStrategy,
    /// `--omit`.
    pub omit: Omit,
    /// `--install-links`: folders outside the project are packed and copied, not linked.
    pub install_links: bool,
    /// `--engine-strict`: a package that doesn't support this Node or npm is an error.
    pub engine_strict: bool,
    /// Whether it is no error yet if nothing says where a package comes from: it may be there already
    /// ([`Outcome::unknown_origins`](crate::Outcome::unknown_origins)).
    pub origins_may_be_unknown: bool,
    /// `--before`: versions published later do not exist, as milliseconds since the epoch.
    pub before: Option<i64>,
    /// `--tag`: the dist-tag that an empty spec stands for.
    pub default_tag: String,
    /// `--lockfile-version`: the version to write, whatever was there.
    pub lockfile_version: Option<u64>,
    /// `omit-lockfile-registry-resolved`: the lock doesn't say where packages of a registry come from.
    pub omit_registry_resolved: bool,
    /// `--package-lock`: start from the lock that is there. Without it, the lock is neither read nor written.
    pub package_lock: bool,
    /// `--save`: what isn't there yet may be added to the lock. `npm ci` and `npm update` work without.
    pub save: bool,
    /// `--allow-git`: whose git dependencies may be fetched.
    pub allow_git: Allow,
    /// `--allow-remote`: whose dependencies on URLs of tarballs may be fetched.
    pub allow_remote: Allow,
    /// `--allow-file`: whose tarballs on disk may be used.
    pub allow_file: Allow,
    /// `--allow-directory`: whose folders may be used.
    pub allow_directory: Allow,
    /// `--min-release-age-exclude`: names and globs of packages to which `before` doesn't apply.
    pub before_exclude: Vec<String>,
    /// `--allow-unused-patches`: a patch for a package that isn't there is no error.
    pub allow_unused_patches: bool,
    /// `--ignore-scripts` or `--ignore-extension`: an `.npm-extension` is not looked at.
    pub ignore_extension: bool,
    /// The host of the registry that is npm's default, whose tarballs in a yarn.lock stand for plain versions.
    pub default_registry_host: String,
    /// Whether bundles are opened while the tree is built, as npm does for a lockfile alone. An installation opens them
    /// when the tree stands: what bundled packages lack is not fetched then.
    pub complete: bool,
    /// Not npm's: report every decision, with [`Event::Visited`](crate::Event::Visited) and its like.
    pub decisions: bool,
    /// Not npm's: only find out whether there is a tree. What abbreviated packuments leave out isn't fetched, and
    /// the lockfile is short of it.
    pub tree_only: bool,
}

/// The Node version assumed where none can be asked.
pub const DEFAULT_NODE_VERSION: &str = "20.20.2";
/// The npm whose behaviour this crate reproduces.
pub const NPM_VERSION: &str = "12.2.0";

/// Whether a package is excepted from `before` by one of these patterns (`min-release-age-exclude`).
pub fn is_excepted(patterns: &[String], name: &str) -> bool {
    let manner = Manner { plain: true, ..Manner::default() };
    patterns.iter().any(|pattern| pattern == name || Pattern::new(pattern, manner).matches(name))
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node_version: DEFAULT_NODE_VERSION.into(),
            npm_version: NPM_VERSION.into(),
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
            complete: true,
            decisions: false,
            tree_only: false,
        }
    }
}

/// What the lockfile of an inspection describes. npm finds the workspaces first or last, and the order of dependents depends
/// on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A lockfile: the packages that should be installed (`load-virtual.js`).
    Lockfile,
    /// The contents of `node_modules` (`load-actual.js`).
    NodeModules,
}
