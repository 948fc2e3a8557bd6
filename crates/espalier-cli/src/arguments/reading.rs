//! The arguments of the commands that only read.

use clap::{Args, Subcommand, ValueEnum};

use super::MeasuringArguments;
use super::project::{ProjectArguments, WorkspaceArguments};
use crate::npm_settings::{ForConfig, ForListing, ForOutdated, ForPlaying};

/// The arguments of `tree`.
#[derive(Debug, Args)]
pub struct TreeArguments {
    /// Only these packages, by name or `name@range`, and their dependents
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,

    /// All packages, not only the project's own dependencies
    #[arg(short, long)]
    pub all: bool,

    /// The depth of the list [default: 0; unlimited with --all or PACKAGE]
    #[arg(long, value_name = "N", value_parser = depth)]
    pub depth: Option<usize>,

    /// Only linked packages
    #[arg(long)]
    pub link: bool,

    /// Read the lockfile instead of `node_modules`
    #[arg(long)]
    pub package_lock_only: bool,

    /// Describe each package
    #[arg(short, long)]
    pub long: bool,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForListing>,

    /// Its workspaces.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// Print JSON, as `npm ls --json` does
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Print one folder per line
    #[arg(short, long, help_heading = "Output", conflicts_with = "json")]
    pub parseable: bool,
}

/// The arguments of `why`.
#[derive(Debug, Args)]
pub struct WhyArguments {
    /// A package, by name, `name@range` or folder
    #[arg(value_name = "PACKAGE", required = true)]
    pub packages: Vec<String>,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForListing>,

    /// Print JSON, as `npm explain --json` does
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// The arguments of `outdated`.
#[derive(Debug, Args)]
pub struct OutdatedArguments {
    /// Only these packages
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,

    /// All packages of the tree, not only the project's own dependencies
    #[arg(short, long)]
    pub all: bool,

    /// Also print the kind of dependency, the dependent and the homepage
    #[arg(short, long)]
    pub long: bool,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForOutdated>,

    /// Its workspaces.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// What is measured.
    #[command(flatten)]
    pub measuring: MeasuringArguments,

    /// Print JSON, as `npm outdated --json` does
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Print fields separated by colons
    #[arg(short, long, help_heading = "Output", conflicts_with = "json")]
    pub parseable: bool,
}

/// The arguments of `config`.
#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// The action [default: list]
    #[command(subcommand)]
    pub action: Option<ConfigAction>,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForConfig>,
}

/// The actions of `config`.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print settings and where they come from
    #[command(visible_alias = "ls")]
    List {
        /// Also npm's defaults
        #[arg(short, long)]
        long: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the effective value
    Get {
        /// The settings, by npm's names
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<String>,
    },
    /// Write a setting into a file
    Set {
        /// `key=value`, or a key and a value
        #[arg(value_name = "KEY=VALUE", required = true)]
        settings: Vec<String>,
        /// The file to write
        #[arg(short = 'L', long, value_enum, default_value_t)]
        location: Location,
    },
    /// Remove a setting from a file
    #[command(visible_alias = "rm", alias = "del")]
    Delete {
        /// The settings, by npm's names
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<String>,
        /// The file to change
        #[arg(short = 'L', long, value_enum, default_value_t)]
        location: Location,
    },
}

/// A file of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Location {
    /// `.npmrc` beside package.json
    Project,
    /// The user's own `.npmrc`
    #[default]
    User,
    /// The machine's `npmrc`
    Global,
}

/// The arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionArguments {
    /// The shell to complete for
    pub shell: clap_complete::Shell,
}

/// Parses a depth. npm also accepts `Infinity`.
fn depth(text: &str) -> Result<usize, String> {
    if text.eq_ignore_ascii_case("infinity") {
        return Ok(usize::MAX);
    }
    text.parse().map_err(|_| "expected a number, or Infinity".to_owned())
}

/// The arguments of `play`.
#[derive(Debug, Args)]
pub struct PlayArguments {
    /// The port on 127.0.0.1 [default: 4871, or a free one if that is taken]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Open the page in a browser. Other users of this machine can then read its address in the
    /// list of processes
    #[arg(long)]
    pub open: bool,

    /// Serve this built page instead of the one in the program
    #[arg(long, value_name = "FILE")]
    pub page: Option<std::path::PathBuf>,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForPlaying>,
}
