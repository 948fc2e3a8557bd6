//! What most commands start with: the project, its settings, and the selected workspaces.

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
use crate::report::failure::Circumstances;
use crate::report::terminal_width;
use crate::trace;

/// The project of a command and its settings.
pub struct Context {
    /// The project.
    pub project: ProjectFolder,
    /// Its settings, with their origins.
    pub config: Config,
    /// The settings that Espalier interprets.
    pub settings: Settings,
    /// The environment that the settings were read in.
    pub environment: Environment,
}

impl Context {
    /// Finds the project and reads its settings. In a workspace's folder, the project is the one
    /// that has the workspace.
    pub fn new<S: Shown>(
        arguments: &ProjectArguments<S>,
        workspaces: &WorkspaceArguments,
        command: &str,
    ) -> Result<Self, Complaint> {
        Self::of(arguments, workspaces, command, Err)
    }

    /// The same for a command that needs no project, but the settings of the folder.
    pub fn anywhere<S: Shown>(
        arguments: &ProjectArguments<S>,
        workspaces: &WorkspaceArguments,
        command: &str,
    ) -> Result<Self, Complaint> {
        let folder = arguments.directory.as_deref().unwrap_or(Path::new("."));
        Self::of(arguments, workspaces, command, |_| ProjectFolder::without_manifest(folder))
    }

    /// The same for a command that creates the project if there is none, as npm does with added
    /// packages.
    pub fn created<S: Shown>(
        arguments: &ProjectArguments<S>,
        workspaces: &WorkspaceArguments,
        command: &str,
    ) -> Result<Self, Complaint> {
        Self::of(arguments, workspaces, command, |_| match &arguments.directory {
            Some(folder) => ProjectFolder::without_manifest(folder),
            None => ProjectFolder::to_be(Path::new(".")),
        })
    }

    /// `otherwise` decides what happens without a package.json.
    fn of<S: Shown>(
        arguments: &ProjectArguments<S>,
        workspaces: &WorkspaceArguments,
        command: &str,
        otherwise: impl FnOnce(ProjectError) -> Result<ProjectFolder, ProjectError>,
    ) -> Result<Self, Complaint> {
        if arguments.global {
            return Err(Complaint::no_globals(command));
        }
        let found = match &arguments.directory {
            Some(folder) => ProjectFolder::at(folder),
            None if workspaces.are_off() => ProjectFolder::nearest(Path::new(".")),
            None => ProjectFolder::around(Path::new(".")),
        };
        let project = match found {
            Err(error @ ProjectError::NoManifest { .. }) => otherwise(error),
            found => found,
        };
        let project = project.map_err(LockError::from)?;
        let environment = Environment::of_process();
        let flags = arguments.npm.clone().into_settings();
        let config = Config::load(project.path(), flags, &environment).map_err(LockError::from)?;
        trace::start(&config);
        let settings = Settings::new(&config, &environment).map_err(LockError::from)?;
        Ok(Self { project, config, settings, environment })
    }

    /// The selected workspaces: those that are named, all, the one around the current folder, or
    /// none.
    pub fn workspaces(&self, arguments: &WorkspaceArguments) -> Result<Option<Vec<Workspace>>, LockError> {
        let mut filters = arguments.workspace.clone();
        if arguments.are_off() {
            return Ok(None);
        }
        if filters.is_empty() && arguments.workspaces != Some(true) {
            match self.project.workspace() {
                Some(folder) => filters.push(folder.to_string_lossy().into_owned()),
                None => return Ok(None),
            }
        }
        Ok(Some(self.project.workspaces_by(&filters, Path::new("."))?))
    }

    /// What an error message uses beside the error.
    pub fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            folder: Some(self.project.path()),
            configuration: Some((&self.config, &self.settings)),
            width: terminal_width(),
        }
    }

    /// The omitted kinds of dependencies, by npm's names.
    pub fn omitted(&self) -> Vec<String> {
        let Omit { dev, optional, peer } = self.settings.options.omit;
        let kinds = [("dev", dev), ("optional", optional), ("peer", peer)];
        kinds.into_iter().filter(|(_, omitted)| *omitted).map(|(kind, _)| kind.to_owned()).collect()
    }
}

/// The current folder, by the path that the shell shows.
pub fn current_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// The options for choosing the version of a single package.
pub async fn choosing(settings: &Settings) -> Options {
    let mut options = (*settings.options).clone();
    options.node_version = host::node_version().await.unwrap_or(options.node_version);
    options
}
