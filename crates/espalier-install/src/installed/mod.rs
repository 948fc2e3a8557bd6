//! The tree that is there: what `node_modules` holds, or what the lockfile says it should.
//!
//! Nothing is resolved and nothing is changed. npm keeps a lockfile of its own inside `node_modules`; where that is still
//! true it is read instead of a thousand files, else the folders are looked through ([`scan`]).

mod commands;
pub mod listing;
mod scan;

use espalier_core::graph::Graph;
use espalier_core::{Answer, Options, Progress, Project, Reading, Request, Resolution, ResolveError};
pub use espalier_package::explain;

use crate::project::{ProjectError, ProjectFolder};

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// What is in `node_modules`.
    NodeModules,
    /// What the lockfile says (`package-lock-only`).
    Lockfile,
}

/// A project with its tree.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The nodes and edges; what is missing, invalid or extraneous is marked.
    pub graph: Graph,
    /// The project's folder, absolute with forward slashes.
    pub path: String,
    /// The name of that folder.
    pub folder_name: String,
}

/// Why there is no tree to look at.
#[derive(Debug, thiserror::Error)]
pub enum InstalledError {
    /// The project's files can't be read.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// They can't be understood.
    #[error("{error}")]
    Unreadable {
        /// Why.
        error: Box<ResolveError>,
        /// The files in question.
        project: Box<Project>,
    },
    /// There is no lockfile (npm: ENOLOCK).
    #[error("there is no package-lock.json in {folder}")]
    NoLockfile {
        /// The project's folder.
        folder: String,
    },
}

impl Installed {
    /// Reads the tree of a project.
    pub fn load(folder: &ProjectFolder, source: Source) -> Result<Self, InstalledError> {
        let lockfile = folder.lockfile()?;
        let mut project = folder.read(&lockfile)?;
        match source {
            Source::Lockfile if project.lockfile.is_none() => {
                return Err(InstalledError::NoLockfile { folder: project.path });
            }
            Source::Lockfile => {}
            Source::NodeModules => {
                let noted = folder.noted().map(|(_, text)| text);
                project.lockfile = Some(noted.unwrap_or_else(|| scan::lockfile(folder.path(), lockfile.text())));
            }
        }
        let (path, folder_name) = (project.path.clone(), project.folder_name.clone());
        let graph = inspect(folder, project, source)?;
        Ok(Self { graph, path, folder_name })
    }

    /// A node's folder, absolute.
    pub fn path_of(&self, node: u32) -> String {
        espalier_core::paths::join(&self.path, &self.graph.nodes[node as usize].location)
    }

    /// Where a node really is: of a link, its target's folder.
    pub fn target(&self, node: u32) -> u32 {
        self.graph.nodes[node as usize].target.unwrap_or(node)
    }

    /// `name@version` as npm writes it, an alias as `name@npm:package@version`.
    pub fn id(&self, node: u32) -> String {
        let entry = &self.graph.nodes[node as usize];
        let version = entry.version.as_deref().unwrap_or_default();
        match &entry.package_name {
            Some(own) if node == 0 => format!("{own}@{version}"),
            Some(own) => format!("{}@npm:{own}@{version}", entry.name),
            None => format!("{}@{version}", entry.name),
        }
    }

    /// The name that the package itself has.
    pub fn package_name(&self, node: u32) -> &str {
        explain::package_name(&self.graph, node)
    }

    /// What can explain it.
    pub fn explainer(&self) -> explain::Explainer<'_> {
        explain::Explainer { graph: &self.graph, path: &self.path }
    }
}

fn inspect(folder: &ProjectFolder, project: Project, source: Source) -> Result<Graph, InstalledError> {
    let reading = match source {
        Source::NodeModules => Reading::NodeModules,
        Source::Lockfile => Reading::Lockfile,
    };
    let mut inspection = Resolution::inspect(project.clone(), Options::default(), reading);
    while inspection.advance() == Progress::Waiting {
        while let Some((request, _)) = inspection.next_request() {
            let answer = match &request {
                Request::Folder { path } => folder.manifest_in(path).map(Answer::Folder),
                Request::PackageFolders => folder.package_folders().map(Answer::PackageFolders),
                other => unreachable!("an inspection asks for {other:?}"),
            };
            inspection.supply(&request, answer);
        }
    }
    match inspection.finish() {
        Ok(outcome) => Ok(outcome.graph),
        Err(error) => Err(InstalledError::Unreadable { error: Box::new(error), project: Box::new(project) }),
    }
}
