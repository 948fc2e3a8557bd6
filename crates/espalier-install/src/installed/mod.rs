//! Reads the existing tree, either from `node_modules` or from the lockfile.
//!
//! Nothing is resolved or changed. If npm's hidden lockfile is up to date, it is read instead of a
//! thousand files. Otherwise the folders are scanned (`scan`).

mod commands;
pub mod listing;
mod scan;

use espalier_core::graph::Graph;
use espalier_core::{Answer, EdgeKind, Options, Progress, Project, Reading, Request, Resolution, ResolveError};
pub use espalier_package::explain;
use rustc_hash::FxHashSet;

use crate::project::{ProjectError, ProjectFolder};

/// The source of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The folder `node_modules`.
    NodeModules,
    /// The lockfile (`package-lock-only`).
    Lockfile,
}

/// A project with its tree.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The nodes and edges. Missing, invalid and extraneous ones are marked.
    pub graph: Graph,
    /// The project's folder, absolute with forward slashes.
    pub path: String,
    /// The name of that folder.
    pub folder_name: String,
}

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum InstalledError {
    /// The project's files can't be read.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The project's files can't be understood.
    #[error("{error}")]
    Unreadable {
        /// The reason.
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
                let text = noted.unwrap_or_else(|| scan::lockfile(folder.path(), lockfile.text()));
                project.lockfile = Some(text.into());
            }
        }
        let (path, folder_name) = (project.path.clone(), project.folder_name.clone());
        let graph = inspect(folder, project, source)?;
        Ok(Self { graph, path, folder_name })
    }

    /// The absolute folder of a node.
    pub fn path_of(&self, node: u32) -> String {
        espalier_core::paths::join(&self.path, &self.graph.nodes[node as usize].location)
    }

    /// The node itself, or the target of a link.
    pub fn target(&self, node: u32) -> u32 {
        self.graph.nodes[node as usize].target.unwrap_or(node)
    }

    /// `name@version` as npm prints it. An alias is `name@npm:package@version`.
    pub fn id(&self, node: u32) -> String {
        let entry = &self.graph.nodes[node as usize];
        let version = entry.version.as_deref().unwrap_or_default();
        match &entry.package_name {
            Some(own) if node == 0 => format!("{own}@{version}"),
            Some(own) => format!("{}@npm:{own}@{version}", entry.name),
            None => format!("{}@{version}", entry.name),
        }
    }

    /// The package's own name.
    pub fn package_name(&self, node: u32) -> &str {
        explain::package_name(&self.graph, node)
    }

    /// The packages that the project needs without its workspaces (`excludeWorkspacesDependencySet`).
    pub fn needed_by_the_project(&self) -> FxHashSet<u32> {
        let mut needed = FxHashSet::default();
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            let edges = self.graph.edges_of(node).iter().filter(|edge| edge.kind != EdgeKind::Workspace);
            open.extend(edges.filter_map(|edge| edge.to).filter(|to| needed.insert(*to)));
        }
        needed
    }

    /// The explanations of this tree.
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
