//! The command line: the commands and what each of them takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::npm_settings::{ForResolving, NpmSettings};

pub mod project;
pub mod reading;
pub mod scripts;

/// npm's dependency tree, to the byte.
#[derive(Debug, Parser)]
#[command(name = "espalier", version, about, disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Resolve the dependencies of package.json and write package-lock.json
    ///
    /// Writes what `npm install --package-lock-only` would write, and touches nothing else. Settings come from the
    /// command line, from `npm_config_*` variables, and from the .npmrc files of the project, the user and the machine;
    /// the first of these that makes a setting wins.
    Lock(LockArguments),

    /// Run a script of package.json
    #[command(visible_alias = "run-script")]
    Run(scripts::RunArguments),

    /// Run the script `test`
    #[command(visible_alias = "t")]
    Test(scripts::ScriptArguments),

    /// Run the script `start`
    Start(scripts::ScriptArguments),

    /// Run the script `stop`
    Stop(scripts::ScriptArguments),

    /// Run the script `restart`, or `stop` and `start`
    Restart(scripts::ScriptArguments),

    /// Run a program of an installed package
    #[command(visible_alias = "x")]
    Exec(scripts::ExecArguments),

    /// Run the install scripts of installed packages again
    #[command(visible_alias = "rb")]
    Rebuild(scripts::RebuildArguments),

    /// Let installed packages run their install scripts
    #[command(alias = "approve-scripts")]
    Approve(scripts::ApprovalArguments),

    /// Keep packages from running install scripts, whatever else says they may
    #[command(alias = "deny-scripts")]
    Deny(scripts::ApprovalArguments),

    /// Print what is installed, and what is wrong with it
    #[command(visible_aliases = ["ls", "list"])]
    Tree(reading::TreeArguments),

    /// Say why a package is installed
    #[command(visible_alias = "explain")]
    Why(reading::WhyArguments),

    /// Compare what is installed with what the registry has
    Outdated(reading::OutdatedArguments),

    /// Read and write npm's settings
    #[command(visible_alias = "c")]
    Config(reading::ConfigArguments),

    /// Print a script that lets a shell complete commands and options
    Completions(reading::CompletionArguments),

    /// What npm has and Espalier doesn't, and what neither has.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// What `lock` takes.
#[derive(Debug, Args)]
pub struct LockArguments {
    /// The project's folder [default: the nearest one upwards with a package.json]
    #[arg(short = 'C', long = "directory", visible_alias = "prefix", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// npm's own settings.
    #[command(flatten)]
    pub npm: NpmSettings<ForResolving>,

    /// The Node version to resolve for [default: that of the `node` on the PATH]
    #[arg(long, value_name = "VERSION", value_parser = node_version, help_heading = "Platform")]
    pub node_version: Option<String>,

    /// Where to keep what was fetched [default: espalier in the user's cache folder]
    #[arg(long, value_name = "DIR", help_heading = "Network")]
    pub cache_dir: Option<PathBuf>,

    /// How to say it.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// What every command takes about its output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Print one JSON object instead of text; errors too
    #[arg(long)]
    pub json: bool,

    /// Say where the time went
    #[arg(long)]
    pub timings: bool,

    /// Print errors only
    #[arg(short, long)]
    pub quiet: bool,
}

/// A version with or without the `v` that Node itself puts in front.
fn node_version(text: &str) -> Result<String, String> {
    let version = text.trim().trim_start_matches('v');
    let parts: Vec<_> = version.split('-').next().unwrap_or_default().split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() == 3 && parts.iter().all(is_number) {
        return Ok(version.to_owned());
    }
    Err("expected a full version such as 22.14.0".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Arguments, node_version};

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn node_versions_are_whole() {
        assert_eq!(node_version("v22.14.0").as_deref(), Ok("22.14.0"));
        assert_eq!(node_version("23.0.0-rc.1").as_deref(), Ok("23.0.0-rc.1"));
        for text in ["22", "22.x.0", "latest", ""] {
            assert!(node_version(text).is_err(), "{text}");
        }
    }
}
