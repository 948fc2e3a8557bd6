//! The project on disk: its manifest, its lockfile, and the folders of its dependencies.
//!
//! This module hands files over as text, which the core interprets. Paths that leave it are
//! relative to the project and have forward slashes.

mod folders;
mod installed;
mod lockfile;
mod workspaces;

use std::io;
use std::path::{Component, Path, PathBuf};

use espalier_core::{Changes, FetchFailure, FetchFailureKind, NodeModules, Project, TarballListing};
use espalier_package::agreement::Declared;

pub(crate) use folders::files_below;
pub(crate) use installed::HIDDEN_LOCKFILE;
pub(crate) use lockfile::readable_as_usual;
pub use lockfile::{Lockfile, Written};
pub use workspaces::Workspace;

use crate::integrity::{Hashed, Integrity};
use crate::packing;
use crate::tarball;

const MANIFEST: &str = "package.json";
const YARN_LOCK: &str = "yarn.lock";
/// Scripts that may change manifests.
const EXTENSION_FILES: [&str; 2] = [".npm-extension.mjs", ".npm-extension.cjs"];

/// A folder with a package.json.
#[derive(Clone, Debug)]
pub struct ProjectFolder {
    path: PathBuf,
    /// The workspace that the search for the project began in.
    workspace: Option<PathBuf>,
}

/// Why there is no project, or why its files can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The folder doesn't exist.
    #[error("there is no folder {}", path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has no package.json. With `upwards`, neither has any folder above.
    #[error("there is no package.json in {}{}", folder.display(), if *upwards { " or any folder above it" } else { "" })]
    NoManifest {
        /// The folder in which the search began.
        folder: PathBuf,
        /// Whether the search went on in the folders above.
        upwards: bool,
    },
    /// A file exists but can't be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// No workspace matches.
    #[error("{} has no workspace{}", project.display(), if filters.is_empty() { String::new() } else { format!(" {}", filters.join(" or ")) })]
    NoWorkspace {
        /// The project.
        project: PathBuf,
        /// The filters; empty for all workspaces.
        filters: Vec<String>,
    },
    /// A file can't be written.
    #[error("cannot write {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl ProjectFolder {
    /// The project in exactly this folder.
    pub fn at(folder: &Path) -> Result<Self, ProjectError> {
        let path = absolute(folder)?;
        if path.join(MANIFEST).is_file() {
            return Ok(Self { path, workspace: None });
        }
        Err(ProjectError::NoManifest { folder: path, upwards: false })
    }

    /// The project that this folder belongs to: the nearest folder upwards with a package.json, as
    /// in npm, or the project that has this folder as a workspace.
    pub fn around(folder: &Path) -> Result<Self, ProjectError> {
        let nearest = Self::nearest(folder)?;
        Ok(nearest.above().unwrap_or(nearest))
    }

    /// The nearest folder upwards with a package.json, even if it is a workspace
    /// (`--no-workspaces`).
    pub fn nearest(folder: &Path) -> Result<Self, ProjectError> {
        let start = absolute(folder)?;
        let found = start.ancestors().find(|folder| folder.join(MANIFEST).is_file()).map(Path::to_owned);
        let project = found.map(|path| Self { path, workspace: None });
        project.ok_or(ProjectError::NoManifest { folder: start, upwards: true })
    }

    /// A folder without a package.json. The caller creates a project in it, or needs only its
    /// settings.
    pub fn without_manifest(folder: &Path) -> Result<Self, ProjectError> {
        Ok(Self { path: absolute(folder)?, workspace: None })
    }

    /// The folder in which npm creates a project for added packages: the nearest folder upwards
    /// with a `node_modules`, otherwise this one.
    pub fn to_be(folder: &Path) -> Result<Self, ProjectError> {
        let start = absolute(folder)?;
        let found = start.ancestors().find(|folder| folder.join("node_modules").is_dir()).map(Path::to_owned);
        Ok(Self { path: found.unwrap_or(start), workspace: None })
    }

    /// The workspace that the search began in, if it began in one.
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// The text of the project's package.json.
    pub fn manifest(&self) -> Option<String> {
        self.manifest_in("").ok().flatten()
    }

    /// The real path of a folder that is named by a symbolic link.
    pub fn follow(&self, folder: &str) -> Option<String> {
        let real = std::fs::canonicalize(folder).ok()?;
        // A link to the project's own folder isn't followed, so its real path is needed here.
        let project = std::fs::canonicalize(&self.path).ok()?;
        let real = real.strip_prefix(&project).map_or_else(|_| real.clone(), |inside| self.path.join(inside));
        let real = real.to_string_lossy().replace('\\', "/");
        (real != folder).then_some(real)
    }

    /// The absolute path of the project.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute path of the project, with forward slashes.
    pub fn path_as_text(&self) -> String {
        self.path.to_string_lossy().replace('\\', "/")
    }

    /// The script that may change manifests, if there is one.
    fn extension(&self) -> Option<&'static str> {
        EXTENSION_FILES.into_iter().find(|name| self.path.join(name).is_file())
    }

    /// What `ci` requires the lockfile to be made with, including the script that may change
    /// manifests, even if it is ignored. npm looks for files of the usual names, unless a setting
    /// names another file.
    pub fn declared(&self, extension_file: Option<&str>) -> Declared {
        let names = extension_file.map_or(EXTENSION_FILES.to_vec(), |name| vec![name]);
        let read = |name: &str| Some((name.to_owned(), std::fs::read(self.path.join(name)).ok()?));
        let manifest = std::fs::read(self.path.join(MANIFEST)).unwrap_or_default();
        Declared {
            manifest: String::from_utf8_lossy(&manifest).into_owned(),
            extension_files: names.into_iter().filter_map(read).collect(),
        }
    }

    /// Whether there is such a script.
    pub fn has_extension(&self) -> bool {
        self.extension().is_some()
    }

    /// The manifest and the lockfile, as the input of a resolution.
    pub fn read(&self, lockfile: &Lockfile) -> Result<Project, ProjectError> {
        let path = self.path.join(MANIFEST);
        let manifest = match std::fs::read(&path) {
            Ok(manifest) => manifest,
            // An added dependency will create it.
            Err(error) if is_absent(&error) => b"{}\n".to_vec(),
            Err(source) => return Err(ProjectError::Unreadable { path, source }),
        };
        let has_lock = lockfile.text().is_some_and(|text| !text.is_empty());
        Ok(Project {
            manifest: String::from_utf8_lossy(&manifest).into_owned(),
            lockfile: lockfile.shared(),
            yarn_lock: std::fs::read_to_string(self.path.join(YARN_LOCK)).ok(),
            installed: if has_lock { NodeModules::default() } else { self.installed() },
            extension_file: self.extension().map(str::to_owned),
            changes: Changes::default(),
            trial: Vec::new(),
            folder_name: self.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: self.path_as_text(),
        })
    }

    /// Replaces the package.json of a folder relative to the project. Blocks.
    pub fn write_manifest(&self, folder: &str, text: &str) -> Result<(), ProjectError> {
        lockfile::write(&self.path.join(folder).join(MANIFEST), text)
    }

    /// Replaces yarn.lock. Blocks.
    pub fn write_yarn_lock(&self, text: &str) -> Result<(), ProjectError> {
        lockfile::write(&self.path.join(YARN_LOCK), text)
    }

    /// The package.json of a folder relative to the project, if there is one. Blocks.
    pub fn manifest_in(&self, folder: &str) -> Result<Option<String>, FetchFailure> {
        let path = self.path.join(folder).join(MANIFEST);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(failure(FetchFailureKind::Invalid, &path, &error)),
        }
    }

    /// The content of a file in the project, if it exists. Blocks.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, FetchFailure> {
        let path = self.path.join(path);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(failure(FetchFailureKind::Invalid, &path, &error)),
        }
    }

    /// Lists a tarball on disk. The address is `file:` and a path, which can be relative to the
    /// project. Blocks.
    pub fn tarball(&self, address: &str, integrity: Option<&str>) -> Result<TarballListing, FetchFailure> {
        let path = address.strip_prefix("file:").unwrap_or(address);
        let path = path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path);
        let path = self.path.join(path);
        // With --install-links, a folder is packed, as during the installation.
        let bytes = if path.is_dir() { packing::pack(&path) } else { std::fs::read(&path) };
        let bytes = bytes.map_err(|error| {
            let kind = if is_absent(&error) { FetchFailureKind::NotFound } else { FetchFailureKind::Invalid };
            failure(kind, &path, &error)
        })?;
        let invalid = |reason: &dyn std::fmt::Display| failure(FetchFailureKind::Invalid, &path, reason);
        let tarball = Hashed::new(&bytes);
        if let Some(integrity) = integrity {
            let expected: Integrity = integrity.parse().map_err(|error| invalid(&error))?;
            expected.verify(&tarball).map_err(|error| invalid(&error))?;
        }
        tarball::list(&tarball).map_err(|error| invalid(&error))
    }
}

/// An absolute path as Node's `path.resolve` makes it: without `..` and without a slash at its end,
/// so that its last part is the folder's name.
fn absolute(folder: &Path) -> Result<PathBuf, ProjectError> {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut resolved = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(part);
        }
    }
    if resolved.is_dir() { Ok(resolved) } else { Err(ProjectError::NoFolder { path: resolved }) }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn failure(kind: FetchFailureKind, path: &Path, reason: &dyn std::fmt::Display) -> FetchFailure {
    let path = path.display();
    FetchFailure { kind, message: format!("cannot use {path}: {reason}"), url: format!("file:{path}") }
}

#[cfg(test)]
mod tests;
