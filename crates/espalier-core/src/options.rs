//! The inputs of a resolution that are not fetched: the project's own files and npm's settings.
//!
//! Everything that changes the answer is here or in an answer to a request; nothing is read from the
//! environment.

/// The project to resolve, as text: the core parses it, so that errors can name line and column.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The text of the root package.json.
    pub manifest: String,
    /// The text of package-lock.json (or npm-shrinkwrap.json), when there is one to start from.
    pub lockfile: Option<String>,
    /// The name of the folder that holds the project: npm's name for a root without `name`.
    pub folder_name: String,
    /// The project's folder, absolute with forward slashes (`/home/me/app`). Only `file:` specs that
    /// leave the project depend on it.
    pub path: String,
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

/// npm's settings that change the tree, by npm's names.
#[derive(Clone, Debug)]
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
    /// `--before`: versions published later do not exist, as milliseconds since the epoch.
    pub before: Option<i64>,
    /// `--tag`: the dist-tag that an empty spec stands for.
    pub default_tag: String,
    /// Not npm's: only find out whether there is a tree. What abbreviated packuments leave out isn't fetched, and
    /// the lockfile is short of it.
    pub tree_only: bool,
}

/// The Node version assumed where none can be asked.
pub const DEFAULT_NODE_VERSION: &str = "20.20.2";
/// The npm whose behaviour this crate reproduces.
pub const NPM_VERSION: &str = "12.2.0";

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
            before: None,
            default_tag: "latest".into(),
            tree_only: false,
        }
    }
}
