//! npm's refusals, apart from missing versions, failed fetches and peer conflicts. Each is a
//! variant with fields.
//!
//! The code, the message, the package and the remedy of each refusal are defined only here. A
//! consumer that needs to know more gets another field.

use crate::options::Platform;
use crate::spec::InvalidSpec;

/// One of npm's refusals.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A key of `overrides` names no package.
    #[error("the key {key} in overrides names no package")]
    UnnamedOverride {
        /// The key.
        key: String,
    },
    /// An override contradicts a dependency of the root.
    #[error("the override for {name}@{spec} conflicts with the direct dependency on it")]
    OverriddenDependency {
        /// The dependency.
        name: String,
        /// The root's spec.
        spec: String,
    },
    /// The key of an override contains no range, but has to be compared with one.
    #[error("the override key {key} contains no range that can be compared with the requested ranges")]
    IncomparableOverride {
        /// The key.
        key: String,
    },
    /// An override refers to a dependency that doesn't exist.
    #[error("the reference {reference} in overrides names no dependency of the root")]
    DanglingReference {
        /// The reference, `$name`.
        reference: String,
    },
    /// A spec or a package name is invalid.
    #[error("{}", .0.message)]
    InvalidSpec(InvalidSpec),
    /// The spec of a dependency is invalid.
    #[error("the spec {name}@{spec} is invalid: {}", .problem.message)]
    InvalidDependency {
        /// The dependency.
        name: String,
        /// The requested spec.
        spec: String,
        /// What is wrong with it.
        problem: InvalidSpec,
    },
    /// `allow-git`, `allow-remote`, `allow-file` or `allow-directory` forbids a source.
    #[error("{name}@{spec} is refused: {} may depend on {source_kind}. --{setting}={} allows it", match .only_root { true => "only the project itself", false => "nothing" }, match .is_own { true => "root", false => "all" })]
    NotAllowed {
        /// The dependency.
        name: String,
        /// npm's code.
        code: &'static str,
        /// The setting that would allow it.
        setting: &'static str,
        /// The kind of source, in the plural.
        source_kind: &'static str,
        /// The dependency's spec.
        spec: String,
        /// Whether the project itself may have such dependencies.
        only_root: bool,
        /// Whether the project itself has this one.
        is_own: bool,
    },
    /// A package has no versions.
    #[error("{name} has no versions")]
    NoVersions {
        /// The package.
        name: String,
    },
    /// The manifest of a version can't be parsed.
    #[error("the manifest of {name}@{version} is unreadable: {reason}")]
    UnreadableManifest {
        /// The package.
        name: String,
        /// The version.
        version: String,
        /// The parser's message.
        reason: String,
    },
    /// A manifest has no version.
    #[error("the manifest of {name} has no version")]
    IncompleteManifest {
        /// The package.
        name: String,
    },
    /// A package doesn't support this Node.js or npm, and `engine-strict` is set.
    #[error("{} requires {wanted}, but this is Node.js {node} with npm {npm}", id(name, version.as_deref()))]
    Engine {
        /// The package.
        name: String,
        /// Its version.
        version: Option<String>,
        /// Its `engines`, as text.
        wanted: String,
        /// The version of Node.js.
        node: String,
        /// The version of npm.
        npm: String,
    },
    /// A package doesn't support the platform.
    #[error("{} does not support {} on {}", id(name, version.as_deref()), platform.os, platform.cpu)]
    Platform {
        /// The package.
        name: String,
        /// Its version.
        version: Option<String>,
        /// The platform.
        platform: Platform,
    },
    /// The project's `devEngines` aren't met or can't be read.
    #[error("{reason}")]
    DevEngines {
        /// Which one, and why.
        reason: String,
    },
    /// The peers of a candidate have no end.
    #[error("the peer dependencies of {name} require each other in an endless sequence of versions")]
    EndlessPeers {
        /// The package.
        name: String,
    },
    /// Another peer replaced a candidate in its virtual root. npm crashes when it looks there for
    /// the candidate's peers.
    #[error("a peer dependency replaced {name} with another version, and npm fails at this point, too")]
    DisplacedPeer {
        /// The package.
        name: String,
    },
    /// A location was visited too often.
    #[error(
        "the dependencies of {} replace each other endlessly. An override, or another version of it, may help", id(name, version.as_deref())
    )]
    Unsettled {
        /// The package there.
        name: String,
        /// Its version.
        version: Option<String>,
    },
    /// npm doesn't know the lockfile's version.
    #[error("package-lock.json has lockfileVersion {version}, but npm 12 reads versions up to {newest}")]
    NewerLockfile {
        /// Its version.
        version: u64,
        /// The newest version that npm reads.
        newest: u64,
    },
    /// A link in a lockfile has no target.
    #[error(
        "package-lock.json has no entry for \"{target}\", the target of the link \"{location}\". Delete the lockfile and resolve again"
    )]
    MissingTarget {
        /// The location of the link.
        location: String,
        /// The location of the target.
        target: String,
    },
    /// `workspaces` isn't an array.
    #[error("workspaces in package.json must be an array of patterns")]
    WorkspacesNotAList,
    /// Two workspaces have the same name.
    #[error("two workspaces have the name {name}: {first} and {second}")]
    DuplicateWorkspace {
        /// The name.
        name: String,
        /// The folder of one.
        first: String,
        /// The folder of the other.
        second: String,
    },
    /// No workspace matches.
    #[error("no workspace has the name or the folder {wanted}")]
    NoWorkspace {
        /// The requested name or folder.
        wanted: String,
    },
    /// An argument of `update` or `remove` isn't a package name.
    #[error("{command} accepts only package names, as in: {command} {name}")]
    NotAName {
        /// npm's code.
        code: &'static str,
        /// The command.
        command: &'static str,
        /// A name that it would accept.
        name: String,
    },
    /// An added package has no name.
    #[error("the package.json of {argument} has no name")]
    Nameless {
        /// The argument.
        argument: String,
    },
    /// The project has a script that changes manifests.
    #[error(
        "{file} is a script that changes manifests, and only npm runs it. Use packageExtensions in package.json, or --ignore-extension"
    )]
    ExtensionFile {
        /// The file.
        file: String,
    },
    /// `packageExtensions` isn't an object.
    #[error("packageExtensions must be an object")]
    ExtensionsNotAnObject,
    /// Two extensions match the same version.
    #[error(
        "several packageExtensions match {name}@{version}: \"{first}\" and \"{second}\". Narrow or remove one of them"
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
    /// An extension is invalid.
    #[error("packageExtensions[\"{key}\"]{problem}")]
    Extension {
        /// Its key.
        key: String,
        /// What is wrong.
        problem: ExtensionProblem,
    },
    /// A patched package doesn't come from a registry.
    #[error("{} cannot be patched, because it does not come from a registry (patchedDependencies \"{key}\")", id(name, version.as_deref()))]
    PatchOfOther {
        /// The package.
        name: String,
        /// Its version.
        version: Option<String>,
        /// The key of the patch.
        key: String,
    },
    /// A workspace declares patches.
    #[error("patchedDependencies of the workspace {name} have no effect. Move them to the root's package.json")]
    PatchInWorkspace {
        /// The workspace.
        name: String,
    },
    /// Two patches match the same version.
    #[error(
        "the patches \"{first}\" and \"{second}\" both match {name}@{version}, and neither is narrower. Add one for \"{name}@{version}\""
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
    /// A patch is outside the project.
    #[error("the patch {path} is outside the project")]
    PatchOutside {
        /// Its path.
        path: String,
    },
    /// A patch file doesn't exist.
    #[error("patch file not found: {path}")]
    PatchNotFound {
        /// Its path.
        path: String,
    },
    /// Patches match no package.
    #[error("patchedDependencies match no package of the tree: {}. Remove them, or use --allow-unused-patches", .patches.join(", "))]
    UnusedPatches {
        /// The key and path of each patch, as `key (path)`.
        patches: Vec<String>,
    },
}

/// What is wrong with an extension.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionProblem {
    /// Its key names no package.
    #[error(": the key is not a package name with an optional range")]
    KeyNotAName,
    /// Its key has nothing after the `@`.
    #[error(": the name alone matches every version")]
    KeyWithoutRange,
    /// Its key has no range after the `@`.
    #[error(": the text after the @ is not a range")]
    KeyNotARange,
    /// It, or something in it, isn't an object.
    #[error("{} must be an object", .0)]
    NotAnObject(String),
    /// It has an unsupported field.
    #[error(" has the unsupported field \"{field}\"; these are supported: {}", .allowed.join(", "))]
    UnknownField {
        /// The field.
        field: String,
        /// The supported fields.
        allowed: &'static [&'static str],
    },
    /// It deletes a dependency.
    #[error(".{block}.{name} deletes a dependency, which is not supported")]
    Deletion {
        /// The block.
        block: String,
        /// The dependency.
        name: String,
    },
    /// It adds a dependency that the package already has.
    #[error(": {block}.{name} is already in the package's {existing}; use overrides to change a version")]
    Declared {
        /// The block.
        block: &'static str,
        /// The dependency.
        name: String,
        /// The package's block with the dependency.
        existing: &'static str,
    },
    /// It describes a peer that doesn't exist.
    #[error(": peerDependenciesMeta.{name} needs peerDependencies.{name}")]
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

    /// The package that the refusal concerns, if any, and its version, if it concerns one version.
    pub fn package(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::OverriddenDependency { name, .. }
            | Self::InvalidDependency { name, .. }
            | Self::NotAllowed { name, .. }
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

    /// The remedy, if the message doesn't contain it. `is_own` says whether the project itself or a
    /// workspace is at fault.
    pub fn remedy(&self, is_own: bool) -> Option<&'static str> {
        match self {
            Self::InvalidDependency { .. } if is_own => Some("Correct it in package.json."),
            Self::InvalidDependency { .. } => Some("Use another version of the package that asks for it."),
            Self::Engine { .. } if is_own => Some(
                "Use a Node.js that it supports, or change `engines` in its package.json. Without engine-strict, this \
                 is a warning.",
            ),
            Self::Engine { .. } => {
                Some("Use another version of the package or of Node.js. Without engine-strict, this is a warning.")
            }
            Self::Platform { .. } if is_own => {
                Some("Its package.json restricts `os`, `cpu` or `libc`. --force installs it anyway.")
            }
            Self::Platform { .. } => {
                Some("Move it to `optionalDependencies` if the project works without it. --force installs it anyway.")
            }
            Self::NewerLockfile { .. } => {
                Some("Use the npm that wrote it, or delete the lockfile to make a new one from package.json.")
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
