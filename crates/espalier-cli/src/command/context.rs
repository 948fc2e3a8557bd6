//! What most commands begin with: the project, its settings, and which of its workspaces are meant.

use std::path::{Path, PathBuf};

use espalier_core::{Omit, Options};
use espalier_install::config::settings::Settings;
use espalier_install::config::{Config, Environment};
use espalier_install::host;
use espalier_install::lock::LockError;
use espalier_install::project::{ProjectError, ProjectFolder, Workspace};

use super::complaint::Complaint;
use crate::arguments::project::{ProjectArguments, WorkspaceArguments};
use crate::npm_settings::Shown;

/// The surroundings of a command.
pub struct Context {
    /// The project.
    pub project: ProjectFolder,
    /// Its settings, and where they were made.
    pub config: Config,
    /// The same, typed.
    pub settings: Settings,
    /// What the settings were read in.
    pub environment: Environment,
}

impl Context {
    /// Finds the project and reads its settings. In a workspace's folder, the project is the one that it belongs to.
    pub fn new<S: Shown>(
        arguments: &ProjectArguments<S>,
        workspaces: &WorkspaceArguments,
        command: &str,
    ) -> Result<Self, Complaint> {
        if arguments.global {
            return Err(Complaint::no_globals(command));
        }
        let project = match &arguments.directory {
            Some(folder) => ProjectFolder::at(folder),
            None if workspaces.are_off() => ProjectFolder::nearest(Path::new(".")),
            None => ProjectFolder::around(Path::new(".")),
        };
        Self::of(project.map_err(LockError::from)?, arguments)
    }

    /// The same where there need not be a project.
    pub fn anywhere<S: Shown>(
        arguments: &ProjectArguments<S>,
        workspaces: &WorkspaceArguments,
        command: &str,
    ) -> Result<Self, Complaint> {
        match Self::new(arguments, workspaces, command) {
            Err(Complaint::Shared(error)) if matches!(*error, LockError::Project(ProjectError::NoManifest { .. })) => {
                let folder = arguments.directory.as_deref().unwrap_or(Path::new("."));
                Self::of(ProjectFolder::without_manifest(folder).map_err(LockError::from)?, arguments)
            }
            other => other,
        }
    }

    fn of<S: Shown>(project: ProjectFolder, arguments: &ProjectArguments<S>) -> Result<Self, Complaint> {
        let environment = Environment::of_process();
        let flags = arguments.npm.clone().into_settings();
        let config = Config::load(project.path(), flags, &environment).map_err(LockError::from)?;
        let settings = Settings::new(&config, &environment).map_err(LockError::from)?;
        Ok(Self { project, config, settings, environment })
    }

    /// The workspaces that are meant: those that were named, all, the one around the current folder, or none.
    pub fn workspaces(&self, arguments: &WorkspaceArguments) -> Result<Option<Vec<Workspace>>, Complaint> {
        Ok(workspaces_meant(&self.project, arguments).map_err(LockError::from)?)
    }

    /// The kinds of dependencies that are left out, by npm's names.
    pub fn omitted(&self) -> Vec<String> {
        let Omit { dev, optional, peer } = self.settings.options.omit;
        let kinds = [("dev", dev), ("optional", optional), ("peer", peer)];
        kinds.into_iter().filter(|(_, omitted)| *omitted).map(|(kind, _)| kind.to_owned()).collect()
    }
}

/// The folder that a command runs in, links resolved as the shell shows them.
pub fn current_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// The workspaces of a project that are meant: those that were named, all, the one that the search for it began in, or none.
pub fn workspaces_meant(
    project: &ProjectFolder,
    arguments: &WorkspaceArguments,
) -> Result<Option<Vec<Workspace>>, ProjectError> {
    let mut filters = arguments.workspace.clone();
    if arguments.are_off() {
        return Ok(None);
    }
    if filters.is_empty() && arguments.workspaces != Some(true) {
        match project.workspace() {
            Some(folder) => filters.push(folder.to_string_lossy().into_owned()),
            None => return Ok(None),
        }
    }
    project.workspaces_by(&filters, Path::new(".")).map(Some)
}

/// What the choice of a version depends on, where nothing is resolved but single packages.
pub async fn choosing(settings: &Settings) -> Options {
    let mut options = (*settings.options).clone();
    options.node_version = host::node_version().await.unwrap_or(options.node_version);
    options
}
