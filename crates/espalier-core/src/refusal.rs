//! What npm refuses, other than what can't be found, fetched or met: a variant for each, with what it is about.
//!
//! The code, the words, the package and the remedy of each are here and nowhere else. Whoever needs to know more than the words say
//! gets another field.

use crate::options::Platform;
use crate::spec::InvalidSpec;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `overrides` has a key without a package's name.
    #[error("override without a name: {key}")]
    UnnamedOverride {
        /// The key.
        key: String,
    },
    /// An override contradicts what the root itself asks for.
    #[error("the override for {name}@{spec} conflicts with the direct dependency on it")]
    OverriddenDependency {
        /// The dependency.
        name: String,
        /// What the root asks for.
        spec: String,
    },
    /// The key of an override would have to be compared with a range, and is none.
    #[error("the override for {key} can't be compared with the ranges that are asked for: name a range")]
    IncomparableOverride {
        /// The key.
        key: String,
    },
    /// An override refers to a dependency that the root doesn't have.
    #[error("unable to resolve the reference {reference} in overrides: the root has no such dependency")]
    DanglingReference {
        /// The reference, `$name`.
        reference: String,
    },
    /// A spec or a package's name can't be read.
    #[error("{}", .0.message)]
    InvalidSpec(InvalidSpec),
    /// The same of a dependency.
    #[error("{name}@{spec} can't be read: {}", .problem.message)]
    InvalidDependency {
        /// The dependency.
        name: String,
        /// What is asked for.
        spec: String,
        /// What is wrong with it.
        problem: InvalidSpec,
    },
    /// npm's allow-git and its like.
    #[error("{} {source_kind} ({spec}); --{setting}=all or --{setting}=root allows it", match .only_root { true => "only the project itself may depend on", false => "nothing may depend on" })]
    NotAllowed {
        /// npm's code.
        code: &'static str,
        /// The setting that would allow it.
        setting: &'static str,
        /// What it is about, in the plural.
        source_kind: &'static str,
        /// The dependency's spec.
        spec: String,
        /// Whether the project itself may have such dependencies.
        only_root: bool,
    },
    /// A package has no versions.
    #[error("there are no versions of {name}")]
    NoVersions {
        /// The package.
        name: String,
    },
    /// The manifest of a version in a packument can't be read.
    #[error("the manifest of {name}@{version} is unreadable: {reason}")]
    UnreadableManifest {
        /// The package.
        name: String,
        /// The version.
        version: String,
        /// The parser's words.
        reason: String,
    },
    /// A manifest has no version.
    #[error("incomplete manifest for {name}, missing version")]
    IncompleteManifest {
        /// The package.
        name: String,
    },
    /// A package doesn't support this Node or npm, and `engine-strict` is on.
    #[error("{} wants {wanted}, but this is node {node} with npm {npm}", id(name, version.as_deref()))]
    Engine {
        /// The package.
        name: String,
        /// Its version.
        version: Option<String>,
        /// Its `engines`, in words.
        wanted: String,
        /// This Node's version.
        node: String,
        /// This npm's version.
        npm: String,
    },
    /// A package isn't made for this platform.
    #[error("{} is not made for {} on {}", id(name, version.as_deref()), platform.os, platform.cpu)]
    Platform {
        /// The package.
        name: String,
        /// Its version.
        version: Option<String>,
        /// This platform.
        platform: Platform,
    },
    /// The project's `devEngines` don't suit, or can't be read.
    #[error("{reason}")]
    DevEngines {
        /// Which, and why.
        reason: String,
    },
    /// The peers of a candidate lead to ever more.
    #[error("the peers of {name} want each other in ever other versions, without an end")]
    EndlessPeers {
        /// The package.
        name: String,
    },
    /// npm looks among the candidates for the counterpart of a peer, on behalf of one that another has displaced from there.
    #[error("{name} was displaced by a peer that wants another version of it, and npm stumbles here")]
    DisplacedPeer {
        /// The package.
        name: String,
    },
    /// A location was looked at too often.
    #[error(
        "the dependencies can't be settled: whatever is placed for {} upsets what was placed before. An override, or another version of it, may \
         end that", id(name, version.as_deref())
    )]
    Unsettled {
        /// The package there.
        name: String,
        /// Its version.
        version: Option<String>,
    },
    /// A lockfile of a version that npm doesn't know.
    #[error("package-lock.json is of version {version}, and npm reads up to {newest}: it was written by a newer npm")]
    NewerLockfile {
        /// Its version.
        version: u64,
        /// The newest that is read.
        newest: u64,
    },
    /// A link of a lockfile leads nowhere.
    #[error(
        "package-lock.json has no entry for \"{target}\", which \"{location}\" is a link to: remove the lock and resolve again"
    )]
    MissingTarget {
        /// The link.
        location: String,
        /// Where it leads.
        target: String,
    },
    /// `workspaces` isn't a list.
    #[error("workspaces in package.json has to be an array of patterns")]
    WorkspacesNotAList,
    /// Two workspaces have one name.
    #[error("two workspaces are called {name}: {first} and {second}")]
    DuplicateWorkspace {
        /// The name.
        name: String,
        /// One folder.
        first: String,
        /// The other.
        second: String,
    },
    /// There is no workspace as was asked for.
    #[error("there is no workspace {wanted}, and none in a folder of that name")]
    NoWorkspace {
        /// What was asked for.
        wanted: String,
    },
    /// An argument of `update` or `remove` isn't a name.
    #[error("{command} takes names of packages only, as in: {command} {name}")]
    NotAName {
        /// npm's code.
        code: &'static str,
        /// The command.
        command: &'static str,
        /// What it would take.
        name: String,
    },
    /// A package that is to be added has no name.
    #[error("the package at {argument} has no name in its package.json")]
    Nameless {
        /// As it was asked for.
        argument: String,
    },
    /// The project has a script that changes manifests.
    #[error(
        "the project has {file}, a script that changes manifests, and only npm itself can run it: use packageExtensions in package.json instead, \
         or resolve with --ignore-extension"
    )]
    ExtensionFile {
        /// The file.
        file: String,
    },
    /// `packageExtensions` isn't an object.
    #[error("packageExtensions must be an object")]
    ExtensionsNotAnObject,
    /// Two extensions are about one version.
    #[error(
        "several packageExtensions are about {name}@{version}: \"{first}\" and \"{second}\". Narrow or remove one of them"
    )]
    AmbiguousExtension {
        /// The package.
        name: String,
        /// Its version.
        version: String,
        /// One key.
        first: String,
        /// The other.
        second: String,
    },
    /// An extension says something that it can't.
    #[error("packageExtensions[\"{key}\"]{problem}")]
    Extension {
        /// Its key.
        key: String,
        /// What is wrong.
        problem: ExtensionProblem,
    },
    /// A patch is for a package that doesn't come from a registry.
    #[error("{} doesn't come from a registry, and can't be patched (patchedDependencies \"{key}\")", id(name, version.as_deref()))]
    PatchOfOther {
        /// The package.
        name: String,
        /// Its version.
        version: Option<String>,
        /// The key of the patch.
        key: String,
    },
    /// A workspace has patches.
    #[error("patchedDependencies of the workspace {name} have no effect: move them to the root's package.json")]
    PatchInWorkspace {
        /// The workspace.
        name: String,
    },
    /// Two patches are for one version.
    #[error(
        "two patches are for {name}@{version}: \"{first}\" and \"{second}\" overlap, but neither is narrower. Add one for \"{name}@{version}\""
    )]
    AmbiguousPatch {
        /// The package.
        name: String,
        /// Its version.
        version: String,
        /// One key.
        first: String,
        /// The other.
        second: String,
    },
    /// A patch lies outside of the project.
    #[error("the patch {path} lies outside of the project")]
    PatchOutside {
        /// Where.
        path: String,
    },
    /// A patch isn't there.
    #[error("patch file not found: {path}")]
    PatchNotFound {
        /// Where it should be.
        path: String,
    },
    /// Patches are for nothing.
    #[error("patchedDependencies match no installed package: {}. Remove them, or use --allow-unused-patches", .patches.join(", "))]
    UnusedPatches {
        /// Key and path of each, as `key (path)`.
        patches: Vec<String>,
    },
}

/// What is wrong with an extension.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionProblem {
    /// Its key names no package.
    #[error(": the key is not a package's name with or without a range")]
    KeyNotAName,
    /// Its key has an `@` and nothing after it.
    #[error(": use the name alone for every version")]
    KeyWithoutRange,
    /// Its key has no range after the `@`.
    #[error(": what follows the @ is not a range")]
    KeyNotARange,
    /// It, or something in it, isn't an object.
    #[error("{} must be an object", .0)]
    NotAnObject(String),
    /// It has a field that can't be extended.
    #[error(" has the field \"{field}\", which can't be extended; these can: {}", .allowed.join(", "))]
    UnknownField {
        /// The field.
        field: String,
        /// Those that can.
        allowed: &'static [&'static str],
    },
    /// It takes a dependency away.
    #[error(".{block}.{name} attempts deletion, which is not supported")]
    Deletion {
        /// The block.
        block: String,
        /// The dependency.
        name: String,
    },
    /// It adds what the package has already.
    #[error(": {block}.{name} stands in the package's own {existing}; use overrides to change a version")]
    Declared {
        /// The block.
        block: &'static str,
        /// The dependency.
        name: String,
        /// The package's block that has it.
        existing: &'static str,
    },
    /// It says something about a peer that isn't there.
    #[error(": peerDependenciesMeta.{name} has no peerDependencies.{name} to go with")]
    OrphanMeta {
        /// The peer.
        name: String,
    },
}

impl Refusal {
    /// npm's code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnnamedOverride { .. }
            | Self::OverriddenDependency { .. }
            | Self::IncomparableOverride { .. }
            | Self::DanglingReference { .. } => "EOVERRIDE",
            Self::InvalidSpec(problem) | Self::InvalidDependency { problem, .. } => problem.code,
            Self::NotAllowed { code, .. } | Self::NotAName { code, .. } => code,
            Self::NoVersions { .. } => "ENOVERSIONS",
            Self::UnreadableManifest { .. } => "EJSONPARSE",
            Self::IncompleteManifest { .. } => "EINCOMPLETEMANIFEST",
            Self::Engine { .. } => "EBADENGINE",
            Self::Platform { .. } => "EBADPLATFORM",
            Self::DevEngines { .. } => "EBADDEVENGINES",
            Self::EndlessPeers { .. } | Self::DisplacedPeer { .. } => "ERESOLVE",
            Self::Unsettled { .. } => "ELOOP",
            Self::NewerLockfile { .. } => "ELOCKFILEVERSION",
            Self::MissingTarget { .. } => "EMISSINGTARGET",
            Self::WorkspacesNotAList => "EWORKSPACESCONFIG",
            Self::DuplicateWorkspace { .. } => "EDUPLICATEWORKSPACE",
            Self::NoWorkspace { .. } => "ENOWORKSPACE",
            Self::Nameless { .. } => "EINVALIDPACKAGENAME",
            Self::ExtensionFile { .. } => "EUNSUPPORTED",
            Self::ExtensionsNotAnObject => "EEXTENSIONROOT",
            Self::AmbiguousExtension { .. } => "EEXTENSIONCONFLICT",
            Self::Extension { problem, .. } => problem.code(),
            Self::PatchOfOther { .. } => "EPATCHNONREGISTRY",
            Self::PatchInWorkspace { .. } => "EPATCHWORKSPACE",
            Self::AmbiguousPatch { .. } => "EPATCHAMBIGUOUS",
            Self::PatchOutside { .. } => "EPATCHUNSAFE",
            Self::PatchNotFound { .. } => "EPATCHNOTFOUND",
            Self::UnusedPatches { .. } => "EPATCHUNUSED",
        }
    }

    /// The package that it is about, where it is about one, and its version, where it is about that.
    pub fn package(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::OverriddenDependency { name, .. }
            | Self::InvalidDependency { name, .. }
            | Self::NoVersions { name }
            | Self::IncompleteManifest { name }
            | Self::EndlessPeers { name }
            | Self::DisplacedPeer { name }
            | Self::PatchInWorkspace { name } => Some((name, None)),
            Self::UnreadableManifest { name, version, .. }
            | Self::AmbiguousExtension { name, version, .. }
            | Self::AmbiguousPatch { name, version, .. } => Some((name, Some(version))),
            Self::Engine { name, version, .. }
            | Self::Platform { name, version, .. }
            | Self::Unsettled { name, version }
            | Self::PatchOfOther { name, version, .. } => Some((name, version.as_deref())),
            _ => None,
        }
    }

    /// What to do about it, where the message doesn't say so itself.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Engine { .. } => Some(
                "Use another version of it, or another Node. It is an error because of engine-strict, and without that a warning.",
            ),
            Self::Platform { .. } => Some(
                "If the project can do without it, move it to `optionalDependencies`: it is left out then where it does not work. --force \
                 installs it all the same.",
            ),
            Self::NewerLockfile { .. } => {
                Some("Use the npm that wrote it, or delete the lockfile: a new one is made from package.json.")
            }
            _ => None,
        }
    }
}

impl ExtensionProblem {
    fn code(&self) -> &'static str {
        match self {
            Self::KeyNotAName | Self::KeyWithoutRange | Self::KeyNotARange => "EEXTENSIONSELECTOR",
            Self::NotAnObject(_) => "EEXTENSIONVALUE",
            Self::UnknownField { .. } => "EEXTENSIONFIELD",
            Self::Deletion { .. } => "EEXTENSIONDELETE",
            Self::Declared { .. } => "EEXTENSIONDUPDEP",
            Self::OrphanMeta { .. } => "EEXTENSIONORPHANMETA",
        }
    }
}

fn id(name: &str, version: Option<&str>) -> String {
    match version {
        Some(version) => format!("{name}@{version}"),
        None => name.to_owned(),
    }
}
