//! The command line: the commands and what each of them takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use espalier_core::manifest_edit::SaveType;

use crate::npm_settings::{ForResolving, NpmSettings, SAVING};
use project::WorkspaceArguments;

pub mod as_npm;
pub mod project;
pub mod reading;
pub mod scripts;

/// npm's dependency tree, to the byte.
#[derive(Debug, Parser)]
#[command(
    name = "espalier",
    version,
    about = "npm's dependency tree, to the byte",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Install the dependencies of package.json, and bring package-lock.json up to date
    ///
    /// With packages, adds them first. A package is `name`, `name@range`, `name@tag`, `alias@npm:name@range`, a folder, a
    /// tarball or a repository.
    #[command(visible_alias = "i", aliases = ["in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall"])]
    Install(ChangeArguments),

    /// Install exactly what package-lock.json says, and repair what isn't as it should be
    ///
    /// Does what `npm ci` does, but leaves in place what is right already. Neither package.json nor the lockfile changes.
    #[command(aliases = ["clean-install", "ic", "install-clean", "isntall-clean"])]
    Ci(InstallArguments),

    /// Add dependencies, and install them
    Add(ChangeArguments),

    /// Remove dependencies
    #[command(visible_alias = "rm", aliases = ["uninstall", "un", "unlink", "r"])]
    Remove(ChangeArguments),

    /// Bring dependencies up to date within the ranges that package.json asks for
    #[command(visible_alias = "up", aliases = ["u", "upgrade", "udpate"])]
    Update(ChangeArguments),

    /// Do with fewer copies of packages where the ranges allow it
    #[command(visible_alias = "ddp")]
    Dedupe(DedupeArguments),

    /// Remove from `node_modules` what nothing needs
    Prune(InstallArguments),

    /// Resolve the dependencies of package.json and write package-lock.json
    ///
    /// Writes what `npm install --package-lock-only` would write, and touches nothing else. Settings come from the
    /// command line, from `npm_config_*` variables, and from the .npmrc files of the project, the user and the machine;
    /// the first of these that makes a setting wins.
    Lock(RelockArguments),

    /// Print what is installed, and what is wrong with it
    #[command(visible_aliases = ["ls", "list"])]
    Tree(reading::TreeArguments),

    /// Say why a package is installed
    #[command(visible_alias = "explain")]
    Why(reading::WhyArguments),

    /// Compare what is installed with what the registry has
    Outdated(reading::OutdatedArguments),

    /// Run a script of package.json
    #[command(visible_alias = "run-script", aliases = ["rum", "urn"])]
    Run(scripts::RunArguments),

    /// Run the script `test`
    #[command(visible_alias = "t", alias = "tst")]
    Test(scripts::ScriptArguments),

    /// Run the script `start`
    Start(scripts::ScriptArguments),

    /// Run the script `stop`
    Stop(scripts::ScriptArguments),

    /// Run the script `restart`, or `stop` and `start`
    Restart(scripts::ScriptArguments),

    /// Install the dependencies, then run the script `test`
    #[command(visible_alias = "it")]
    InstallTest(ChangeArguments),

    /// Install what package-lock.json says, then run the script `test`
    #[command(visible_alias = "cit", aliases = ["clean-install-test", "sit"])]
    InstallCiTest(InstallArguments),

    /// Run a program of a package, which is fetched for it where it isn't installed
    ///
    /// A program of the project or of an installed package runs as it is. Another one is installed into a folder of its own
    /// in the cache, after asking, and runs in the folder where it was called for. Scripts of what is fetched don't run unless
    /// the user's own .npmrc allows them.
    #[command(visible_alias = "x")]
    Exec(scripts::ExecArguments),

    /// Let installed packages run their install scripts
    #[command(alias = "approve-scripts")]
    Approve(scripts::ApprovalArguments),

    /// Keep packages from running install scripts, whatever else says they may
    #[command(alias = "deny-scripts")]
    Deny(scripts::ApprovalArguments),

    /// Link the commands of installed packages and run their install scripts again
    #[command(visible_alias = "rb")]
    Rebuild(scripts::RebuildArguments),

    /// Look after the store that all projects share
    Store(StoreArguments),

    /// Read and write npm's settings
    #[command(visible_alias = "c")]
    Config(reading::ConfigArguments),

    /// Print a script that lets a shell complete commands and options
    ///
    /// bash: `source <(espalier completions bash)` in ~/.bashrc. zsh: `espalier completions zsh > _espalier` in a folder of
    /// $fpath. fish: `espalier completions fish > ~/.config/fish/completions/espalier.fish`.
    Completions(reading::CompletionArguments),

    /// What npm has and Espalier doesn't, and what neither has.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// What `lock` takes.
#[derive(Debug, Args)]
pub struct RelockArguments {
    /// Packages, and where to save them.
    #[command(flatten)]
    pub packages: PackageArguments,

    /// What every resolution takes.
    #[command(flatten)]
    pub lock: LockArguments,
}

/// What the commands that change dependencies take.
#[derive(Debug, Args)]
pub struct ChangeArguments {
    /// Packages, and where to save them.
    #[command(flatten)]
    pub packages: PackageArguments,

    /// Write package-lock.json and package.json only; do not touch `node_modules`
    #[arg(long)]
    pub package_lock_only: bool,

    /// What every installation takes.
    #[command(flatten)]
    pub install: InstallArguments,
}
/// What `dedupe` takes.
#[derive(Debug, Args)]
pub struct DedupeArguments {
    /// Write package-lock.json only; do not touch `node_modules`
    #[arg(long)]
    pub package_lock_only: bool,

    /// What every installation takes.
    #[command(flatten)]
    pub install: InstallArguments,
}

/// Packages, and npm's `--save-…`.
#[derive(Debug, Args)]
pub struct PackageArguments {
    /// The packages
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,

    /// Save to `dependencies`
    #[arg(short = 'P', long, help_heading = SAVING, group = "save_type")]
    pub save_prod: bool,

    /// Save to `devDependencies`
    #[arg(short = 'D', long, help_heading = SAVING, group = "save_type")]
    pub save_dev: bool,

    /// Save to `optionalDependencies`
    #[arg(short = 'O', long, help_heading = SAVING, group = "save_type")]
    pub save_optional: bool,

    /// Save to `peerDependencies`
    #[arg(long, help_heading = SAVING, group = "save_type")]
    pub save_peer: bool,

    /// Save to `bundleDependencies`, too
    #[arg(short = 'B', long, help_heading = SAVING)]
    pub save_bundle: bool,
}

impl PackageArguments {
    /// The block that was asked for.
    pub fn kind(&self) -> Option<SaveType> {
        let kinds = [
            (self.save_prod, SaveType::Prod),
            (self.save_dev, SaveType::Dev),
            (self.save_optional, SaveType::Optional),
            (self.save_peer, SaveType::Peer),
        ];
        kinds.into_iter().find(|(given, _)| *given).map(|(_, kind)| kind)
    }
}

/// What `ci` and `install` take.
#[derive(Debug, Args)]
pub struct InstallArguments {
    /// What they have in common with `lock`.
    #[command(flatten)]
    pub lock: LockArguments,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Where to keep packages for all projects [default: store in the cache folder, or `ESPALIER_STORE`]
    #[arg(long, value_name = "DIR")]
    pub store_dir: Option<PathBuf>,
}

/// What `store` takes.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// What to do with it.
    #[command(subcommand)]
    pub command: StoreCommand,

    /// Where it is [default: store in the cache folder, or `ESPALIER_STORE`]
    #[arg(long, value_name = "DIR", global = true)]
    pub store_dir: Option<PathBuf>,

    /// Print one JSON object instead of text; errors too
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with the store.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum StoreCommand {
    /// Print where it is
    Path,
    /// Compare every file with what was stored, and remove the packages that differ
    Verify,
    /// Remove the packages that no project uses
    Prune,
}

/// What `lock` takes.
#[derive(Clone, Debug, Args)]
pub struct LockArguments {
    /// The project's folder [default: the nearest one upwards with a package.json]
    #[arg(short = 'C', long = "directory", visible_alias = "prefix", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Which of its workspaces are meant.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// npm's own settings.
    #[command(flatten)]
    pub npm: NpmSettings<ForResolving>,

    /// npm installs for the whole machine; Espalier is for projects, and says so.
    #[arg(short = 'g', long, hide = true)]
    pub global: bool,

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
#[derive(Clone, Debug, Args)]
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
