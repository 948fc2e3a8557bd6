//! The command line: the commands and their arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Args, Parser, Subcommand};

use espalier_core::manifest_edit::SaveType;

use crate::npm_settings::{ForResolving, SAVING};
use project::{ProjectArguments, WorkspaceArguments};

pub mod as_npm;
pub mod direct;
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
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Install the dependencies of package.json and update package-lock.json
    ///
    /// If packages are given, they are added first. A package is `name`, `name@range`, `name@tag`,
    /// `alias@npm:name@range`, a folder, a tarball or a repository.
    #[command(visible_alias = "i", aliases = ["in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall"])]
    Install(ChangeArguments),

    /// Install exactly the packages of package-lock.json and repair `node_modules`
    ///
    /// The result is that of `npm ci`, but files that are already right stay in place. Neither
    /// package.json nor the lockfile changes.
    #[command(mut_args(hide_saving), aliases = ["clean-install", "ic", "install-clean", "isntall-clean"])]
    Ci(InstallArguments),

    /// Add dependencies and install them
    Add(ChangeArguments),

    /// Remove dependencies
    #[command(visible_alias = "rm", aliases = ["uninstall", "un", "unlink", "r"])]
    Remove(ChangeArguments),

    /// Update dependencies within the ranges of package.json
    #[command(visible_alias = "up", aliases = ["u", "upgrade", "udpate"])]
    Update(ChangeArguments),

    /// Remove duplicate packages where the ranges allow it
    #[command(visible_alias = "ddp")]
    Dedupe(DedupeArguments),

    /// Remove packages from `node_modules` that nothing depends on
    #[command(mut_args(hide_saving))]
    Prune(PruneArguments),

    /// Resolve the dependencies of package.json and write package-lock.json
    ///
    /// The lockfile is the one that `npm install --package-lock-only` writes. Packages that are named
    /// are added to package.json. Nothing else changes.
    /// Settings come from the command line, then from `npm_config_*` variables, then from the
    /// .npmrc files of the project, the user and the machine. The first value found is used.
    Lock(RelockArguments),

    /// Write the registry documents that a project needs to one file
    ///
    /// In JavaScript, `resolve({ snapshot })` and `install({ snapshot })` read that file instead of
    /// making thousands of requests. The project is resolved from its package.json, without a
    /// lockfile. Documents that require credentials are left out, and with --offline those that
    /// were requested with credentials.
    #[command(mut_args(hide_saving))]
    Snapshot(SnapshotArguments),

    /// List the installed packages and their problems
    #[command(visible_aliases = ["ls", "list"])]
    Tree(reading::TreeArguments),

    /// Explain why a package is installed
    #[command(visible_alias = "explain")]
    Why(reading::WhyArguments),

    /// List installed packages that have newer versions in the registry
    Outdated(reading::OutdatedArguments),

    /// Explore the project's dependency tree in a browser
    ///
    /// Serves the playground on loopback, under an address that nobody can guess. The page shows
    /// the whole tree, explains why a package is installed, tries changes, and replays npm's
    /// decisions. It follows the lockfile and the package.json files of the project and its
    /// workspaces, and changes nothing. This program sends the requests to registries, with the
    /// settings and tokens of your .npmrc files. The page never sees the tokens.
    Play(reading::PlayArguments),

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

    /// Run the script `restart`, or `stop` and then `start`
    Restart(scripts::ScriptArguments),

    /// Install the dependencies, then run the script `test`
    #[command(visible_alias = "it")]
    InstallTest(ChangeArguments),

    /// Install the packages of package-lock.json, then run the script `test`
    #[command(mut_args(hide_saving), visible_alias = "cit", aliases = ["clean-install-test", "sit"])]
    InstallCiTest(InstallArguments),

    /// Run a program of a package, and fetch the package if it is not installed
    ///
    /// A program of the project or of an installed package runs directly. For any other program,
    /// the command asks whether it may fetch the package, and installs it into a separate folder of
    /// the cache. The program runs in the current folder. Install scripts of fetched packages run
    /// only if the user's own .npmrc allows them.
    #[command(visible_alias = "x")]
    Exec(scripts::ExecArguments),

    /// Allow installed packages to run their install scripts
    #[command(alias = "approve-scripts")]
    Approve(scripts::ApprovalArguments),

    /// Do not let packages run their install scripts, even if another setting allows them
    #[command(mut_arg("no_pin", |argument| argument.hide(true)), alias = "deny-scripts")]
    Deny(scripts::ApprovalArguments),

    /// Link the commands of installed packages and run their install scripts again
    #[command(visible_alias = "rb")]
    Rebuild(scripts::RebuildArguments),

    /// Manage the store that all projects share
    #[command(mut_args(anywhere))]
    Store(StoreArguments),

    /// Read and write npm's settings
    #[command(visible_alias = "c")]
    Config(reading::ConfigArguments),

    /// Print a script for shell completion
    ///
    /// bash: `source <(espalier completions bash)` in ~/.bashrc. zsh: `espalier completions zsh >
    /// _espalier` in a folder of $fpath. fish: `espalier completions fish >
    /// ~/.config/fish/completions/espalier.fish`.
    Completions(reading::CompletionArguments),

    /// A command that only npm has, or that does not exist.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// The arguments of `lock`.
#[derive(Debug, Args)]
pub struct RelockArguments {
    /// Packages and where to save them.
    #[command(flatten)]
    pub packages: PackageArguments,

    /// Options of every resolution.
    #[command(flatten)]
    pub lock: LockArguments,
}

/// The arguments of `snapshot`.
#[derive(Debug, Args)]
pub struct SnapshotArguments {
    /// The file to write
    #[arg(long = "out", value_name = "FILE", default_value = "espalier.snapshot")]
    pub file: PathBuf,

    /// Options of every resolution.
    #[command(flatten)]
    pub lock: LockArguments,
}

/// The arguments of the commands that change dependencies.
#[derive(Debug, Args)]
pub struct ChangeArguments {
    /// Packages and where to save them.
    #[command(flatten)]
    pub packages: PackageArguments,

    /// Write only package-lock.json and package.json; leave `node_modules` unchanged
    #[arg(long)]
    pub package_lock_only: bool,

    /// Options of every installation.
    #[command(flatten)]
    pub install: InstallArguments,
}

/// The arguments of `dedupe`.
#[derive(Debug, Args)]
pub struct DedupeArguments {
    /// Write only package-lock.json; leave `node_modules` unchanged
    #[arg(long)]
    pub package_lock_only: bool,

    /// Options of every installation.
    #[command(flatten)]
    pub install: InstallArguments,
}

/// Packages, and npm's options `--save-…`.
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

    /// Also save to `bundleDependencies`
    #[arg(short = 'B', long, help_heading = SAVING)]
    pub save_bundle: bool,
}

impl PackageArguments {
    /// The block of package.json to save to, if an option names it.
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

/// The arguments of `prune`.
#[derive(Clone, Debug, Args)]
pub struct PruneArguments {
    /// Names, which npm ignores.
    #[arg(hide = true)]
    pub names: Vec<String>,

    /// Options of every installation.
    #[command(flatten)]
    pub install: InstallArguments,
}

/// The arguments of `ci` and `install`.
#[derive(Clone, Debug, Args)]
pub struct InstallArguments {
    /// Options of every resolution.
    #[command(flatten)]
    pub lock: LockArguments,

    /// Print the plan and change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// The folder of the store that all projects share [default: `ESPALIER_STORE`, or store in the
    /// cache folder]
    #[arg(long, value_name = "DIR")]
    pub store_dir: Option<PathBuf>,
}

/// The arguments of `store`.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// The action.
    #[command(subcommand)]
    pub command: StoreCommand,

    /// The folder of the store [default: `ESPALIER_STORE`, or store in the cache folder]
    #[arg(long, value_name = "DIR")]
    pub store_dir: Option<PathBuf>,

    /// Print one JSON object instead of text, also for errors
    #[arg(long)]
    pub json: bool,

    /// The measurements of the command itself.
    #[command(flatten)]
    pub measuring: MeasuringArguments,
}

/// The actions of `store`.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum StoreCommand {
    /// Print the folder of the store
    Path,
    /// Check every file and remove damaged packages
    Verify,
    /// Remove packages that no project uses, and stores of earlier versions
    Prune,
}

/// The options of every command that resolves.
#[derive(Clone, Debug, Args)]
pub struct LockArguments {
    /// The project.
    #[command(flatten)]
    pub project: ProjectArguments<ForResolving>,

    /// Its workspaces.
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,

    /// The Node.js version to resolve for [default: the version of `node` on the PATH]
    #[arg(long, value_name = "VERSION", value_parser = node_version, help_heading = "Platform")]
    pub node_version: Option<String>,

    /// The cache folder, which contains the store [default: `ESPALIER_CACHE_DIR`, or espalier in
    /// the user's cache folder]
    #[arg(long, value_name = "DIR", help_heading = "Network")]
    pub cache_dir: Option<PathBuf>,

    /// The output.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// The options of every command about its output.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Print one JSON object instead of text, also for errors
    #[arg(long)]
    pub json: bool,

    /// What is measured.
    #[command(flatten)]
    pub measuring: MeasuringArguments,

    /// Print errors only
    #[arg(short, long)]
    pub quiet: bool,
}

/// The options of every command about its own speed.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct MeasuringArguments {
    /// Print how long each phase took
    #[arg(long)]
    pub timings: bool,

    /// Write a trace of all work by thread, which Perfetto opens
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// Accepts an option after the action, too.
fn anywhere(argument: Arg) -> Arg {
    argument.global(true)
}

/// Hides the options about saving in the help of a command that saves nothing. It accepts them,
/// because npm does.
fn hide_saving(argument: Arg) -> Arg {
    let is_about_saving = argument.get_help_heading() == Some(SAVING);
    if is_about_saving { argument.hide(true) } else { argument }
}

/// Parses a version, with or without the `v` that Node prints before it.
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

    /// clap's `defer` would let the description of a struct of options replace that of the command.
    #[test]
    fn help_describes_the_command() {
        let mut definition = Arguments::command();
        definition.build();
        let install = definition.find_subcommand_mut("install").expect("a command");
        let help = install.render_long_help().to_string();
        assert!(help.starts_with("Install the dependencies of package.json"), "{help}");
        assert!(help.contains("If packages are given"), "{help}");
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
