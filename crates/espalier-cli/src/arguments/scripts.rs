//! The arguments of the commands that run something or decide what may run.

use clap::Args;

use super::MeasuringArguments;
use super::project::{ProjectArguments, WorkspaceArguments};
use crate::npm_settings::{ForPrograms, ForScripts};

/// The arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The script; without it, all scripts are listed
    #[arg(value_name = "SCRIPT")]
    pub script: Option<String>,

    /// How to run it.
    #[command(flatten)]
    pub how: ScriptArguments,
}

/// The arguments of every command that runs a script.
#[derive(Debug, Args)]
pub struct ScriptArguments {
    /// Arguments of the script
    #[arg(value_name = "ARGS")]
    pub arguments: Vec<String>,

    /// Succeed if the script does not exist
    #[arg(long)]
    pub if_present: bool,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForScripts>,

    /// Its workspaces.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// List scripts as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Do not print what runs
    #[arg(short, long, visible_alias = "silent", visible_short_alias = 's', help_heading = "Output")]
    pub quiet: bool,
}

/// The arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArguments {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM [ARGS]")]
    pub program: Vec<String>,

    /// A shell command line that can use the programs of the packages
    #[arg(short, long, value_name = "COMMAND", conflicts_with = "program")]
    pub call: Option<String>,

    /// The package that contains the program, as `name` or `name@range`; can be repeated
    #[arg(short, long, value_name = "PACKAGE")]
    pub package: Vec<String>,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForPrograms>,

    /// Its workspaces.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// What is measured.
    #[command(flatten)]
    pub measuring: MeasuringArguments,
}

/// The arguments of `rebuild`.
#[derive(Debug, Args)]
pub struct RebuildArguments {
    /// Only these packages, by name or `name@range`
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForScripts>,

    /// Its workspaces.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// What is measured.
    #[command(flatten)]
    pub measuring: MeasuringArguments,

    /// Print nothing
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// The arguments of `approve` and `deny`.
#[derive(Debug, Args)]
pub struct ApprovalArguments {
    /// Installed packages, by name or `name@range`; without packages, the undecided ones are listed
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,

    /// All undecided packages
    #[arg(long, conflicts_with = "packages")]
    pub all: bool,

    /// Only list the undecided packages
    #[arg(long, alias = "allow-scripts-pending", conflicts_with_all = ["packages", "all"])]
    pub pending: bool,

    /// Remove entries of allowScripts that match no installed package with install scripts
    #[arg(long, conflicts_with_all = ["packages", "all", "pending"])]
    pub prune: bool,

    /// Print the changes and make none
    #[arg(long)]
    pub dry_run: bool,

    /// Approve all versions instead of the installed ones
    #[arg(long, alias = "no-allow-scripts-pin")]
    pub no_pin: bool,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForScripts>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
