//! The arguments of every command that concerns a project: its folder, its workspaces, and npm's
//! settings.

use std::path::PathBuf;

use clap::Args;

use crate::npm_settings::{NpmSettings, Shown};

/// The project and the settings.
#[derive(Clone, Debug, Args)]
pub struct ProjectArguments<S: Shown> {
    /// The project's folder [default: the nearest parent folder with a package.json]
    #[arg(short = 'C', long = "directory", visible_alias = "prefix", value_name = "DIR", help_heading = "Project")]
    pub directory: Option<PathBuf>,

    /// npm's settings.
    #[command(flatten)]
    pub npm: NpmSettings<S>,

    /// npm can install for the whole machine. Espalier can't, and reports this option as an error.
    #[arg(short = 'g', long, hide = true)]
    pub global: bool,
}

/// The selected workspaces.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Project")]
pub struct WorkspaceArguments {
    /// Apply the command to this workspace only, by name or folder; can be repeated
    #[arg(short = 'w', long = "workspace", value_name = "NAME")]
    pub workspace: Vec<String>,

    /// Apply the command to all workspaces
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL",
          hide_possible_values = true)]
    pub workspaces: Option<bool>,

    /// Apply the command to the root project only, even in the folder of a workspace
    #[arg(long, conflicts_with_all = ["workspace", "workspaces"])]
    pub no_workspaces: bool,

    /// Apply the command to the root project too
    #[arg(long)]
    pub include_workspace_root: bool,
}

impl WorkspaceArguments {
    /// Whether workspaces are left out.
    pub fn are_off(&self) -> bool {
        self.no_workspaces || self.workspaces == Some(false)
    }
}
