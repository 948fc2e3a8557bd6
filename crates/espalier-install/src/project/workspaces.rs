//! The workspaces of a project: all of them, those that filters select, and the project of a
//! workspace's folder (`get-workspaces.js` of npm, `loadLocalPrefix` of `@npmcli/config`).

use std::path::{Path, PathBuf};

use espalier_core::{Answer, EdgeKind, Options, Progress, Reading, Request, Resolution, paths};

use super::{ProjectError, ProjectFolder};

/// A workspace of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The name of its package.
    pub name: String,
    /// Its absolute folder.
    pub path: PathBuf,
    /// Its folder relative to the project, with forward slashes. This is npm's location.
    pub location: String,
}

impl ProjectFolder {
    /// All workspaces in npm's order. Empty if package.json declares none or can't be read.
    pub fn workspaces(&self) -> Vec<Workspace> {
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}')).ok();
        let declared = self.manifest().and_then(|text| parsed(&text));
        if declared.is_none_or(|manifest| manifest.get("workspaces").is_none()) {
            return Vec::new();
        }
        let Ok(lockfile) = self.lockfile() else { return Vec::new() };
        let Ok(mut project) = self.read(&lockfile) else { return Vec::new() };
        project.lockfile = None;
        let root = project.path.clone();
        let mut inspection = Resolution::inspect(project, Options::default(), Reading::Lockfile);
        while inspection.advance() == Progress::Waiting {
            while let Some((request, _)) = inspection.next_request() {
                let answer = match &request {
                    Request::Folder { path } => self.manifest_in(path).map(Answer::Folder),
                    _ => self.package_folders().map(Answer::PackageFolders),
                };
                inspection.supply(&request, answer);
            }
        }
        let Ok(outcome) = inspection.finish() else { return Vec::new() };
        let edges = outcome.graph.edges_of(0).iter().filter(|edge| edge.kind == EdgeKind::Workspace);
        let workspace = |edge: &espalier_core::GraphEdge| {
            let path = edge.spec.strip_prefix("file:")?;
            Some(Workspace { name: edge.name.clone(), path: path.into(), location: paths::relative(&root, path) })
        };
        edges.filter_map(workspace).collect()
    }

    /// The workspaces that these filters select. A filter is a name, a folder, or a folder of
    /// folders; relative ones start at `from`.
    pub fn workspaces_by(&self, filters: &[String], from: &Path) -> Result<Vec<Workspace>, ProjectError> {
        let all = self.workspaces();
        let text = |path: &Path| path.to_string_lossy().replace('\\', "/");
        let from = text(&std::path::absolute(from).unwrap_or_else(|_| from.to_owned()));
        let is_meant = |workspace: &Workspace, filter: &String| {
            let path = text(&workspace.path);
            let folder = paths::join(&from, filter);
            let above = paths::parent(&path);
            *filter == workspace.name
                || folder == path
                || folder == above
                || paths::join(&text(self.path()), filter) == above
        };
        let mut meant: Vec<Workspace> = Vec::new();
        for filter in filters {
            for workspace in all.iter().filter(|workspace| is_meant(workspace, filter)) {
                if !meant.contains(workspace) {
                    meant.push(workspace.clone());
                }
            }
        }
        if filters.is_empty() {
            meant = all;
        }
        if meant.is_empty() {
            return Err(ProjectError::NoWorkspace { project: self.path().to_owned(), filters: filters.to_vec() });
        }
        Ok(meant)
    }

    /// The project that this project is a workspace of, if there is one.
    pub(super) fn above(&self) -> Option<Self> {
        let candidates = self.path().ancestors().skip(1).filter(|folder| folder.join(super::MANIFEST).is_file());
        let mut projects =
            candidates.map(|folder| Self { path: folder.to_owned(), workspace: Some(self.path().to_owned()) });
        projects.find(|project| project.workspaces().iter().any(|workspace| workspace.path == *self.path()))
    }
}
