//! What the commands take that only look.

use clap::{Args, Subcommand, ValueEnum};

use super::project::{ProjectArguments, WorkspaceArguments};
use crate::npm_settings::{ForConfig, ForListing, ForOutdated};

/// What `tree` takes.
#[derive(Debug, Args)]
pub struct TreeArguments {
    /// Only these packages, by name or `name@range`, and the way to them
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,

    /// Everything, not only what the project itself asks for
    #[arg(short, long)]
    pub all: bool,

    /// How deep to look [default: 0, or all the way with --all or PACKAGE]
    #[arg(long, value_name = "N", value_parser = depth)]
    pub depth: Option<usize>,

    /// Only what is linked
    #[arg(long)]
    pub link: bool,

    /// Look at the lockfile instead of `node_modules`
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

    /// Print one folder on each line
    #[arg(short, long, help_heading = "Output", conflicts_with = "json")]
    pub parseable: bool,
}

/// What `why` takes.
#[derive(Debug, Args)]
pub struct WhyArguments {
    /// A package's name, `name@range`, or its folder
    #[arg(value_name = "PACKAGE", required = true)]
    pub packages: Vec<String>,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForListing>,

    /// Print JSON, as `npm explain --json` does
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// What `outdated` takes.
#[derive(Debug, Args)]
pub struct OutdatedArguments {
    /// Only these packages
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,

    /// Everything in the tree, not only what the project itself asks for
    #[arg(short, long)]
    pub all: bool,

    /// Also say in which block and where each is asked for
    #[arg(short, long)]
    pub long: bool,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForOutdated>,

    /// Its workspaces.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// Print JSON, as `npm outdated --json` does
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Print fields joined by colons
    #[arg(short, long, help_heading = "Output", conflicts_with = "json")]
    pub parseable: bool,
}

/// What `config` takes.
#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// What to do [default: list]
    #[command(subcommand)]
    pub action: Option<ConfigAction>,

    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForConfig>,
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print settings and where they come from
    #[command(visible_alias = "ls")]
    List {
        /// npm's defaults, too
        #[arg(short, long)]
        long: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the value in force
    Get {
        /// npm's names of settings
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<String>,
    },
    /// Write a setting into a file
    Set {
        /// `key=value`, or a key and a value
        #[arg(value_name = "KEY=VALUE", required = true)]
        settings: Vec<String>,
        /// Into which file
        #[arg(short = 'L', long, value_enum, default_value_t)]
        location: Location,
    },
    /// Take a setting out of a file
    #[command(visible_alias = "rm", alias = "del")]
    Delete {
        /// npm's names of settings
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<String>,
        /// Out of which file
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

/// What `completions` takes.
#[derive(Debug, Args)]
pub struct CompletionArguments {
    /// The shell to complete for
    pub shell: clap_complete::Shell,
}

/// npm also takes `Infinity`.
fn depth(text: &str) -> Result<usize, String> {
    if text.eq_ignore_ascii_case("infinity") {
        return Ok(usize::MAX);
    }
    text.parse().map_err(|_| "expected a number, or Infinity".to_owned())
}
