//! The workspaces of a project: all of them, those that filters select, and the project of a
//! workspace's folder (`get-workspaces.js` of npm, `loadLocalPrefix` of `@npmcli/config`).

use std::path::{Path, PathBuf};

use espalier_core::{Answer, EdgeKind, Options, Progress, Project, Reading, Request, Resolution, paths};
use serde_json::Value;

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
    /// All workspaces in npm's order. The list is empty if package.json declares none or can't be read.
    pub fn workspaces(&self) -> Vec<Workspace> {
        let Some(manifest) = self.manifest().map(|text| identity(&text)) else { return Vec::new() };
        if manifest.get("workspaces").is_none() {
            return Vec::new();
        }
        let root = self.path_as_text();
        let project = Project { manifest: manifest.to_string(), path: root.clone(), ..Project::default() };
        let mut inspection = Resolution::inspect(project, Options::default(), Reading::Lockfile);
        while inspection.advance() == Progress::Waiting {
            while let Some((request, _)) = inspection.next_request() {
                let answer = match &request {
                    Request::Folder { path } => {
                        self.manifest_in(path).map(|text| Answer::Folder(text.map(|text| identity(&text).to_string())))
                    }
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

/// The fields of a package.json that decide which workspaces there are. Invalid dependencies don't
/// hide a workspace. A text that isn't JSON counts as a package.json without fields, so that `play`
/// keeps the workspace while its file is edited.
fn identity(manifest: &str) -> Value {
    let mut manifest: Value = serde_json::from_str(manifest.trim_start_matches('\u{feff}')).unwrap_or_default();
    if let Some(fields) = manifest.as_object_mut() {
        fields.retain(|field, _| matches!(field.as_str(), "name" | "workspaces"));
    }
    manifest
}
