//! Prepares a folder for packing: installs the dependencies of a clone and runs `prepare` (`git.js`
//! and `dir.js` of pacote).
//!
//! npm does this for everything that `allow-git` permits. Here the package has to be approved, as
//! for any script. It is packed in either case.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustc_hash::FxHashSet;
use tokio::process::Command;

use crate::scripts::environment::ScriptEnvironment;
use crate::scripts::package::ScriptPackage;
use crate::scripts::process::Script;

/// An environment variable with the clones that outer processes are preparing. It ends a circle of
/// clones.
const SEEN: &str = "_PACOTE_NO_PREPARE_";

/// The scripts that need the dependencies of a clone.
const SCRIPTS: [&str; 6] = ["postinstall", "build", "preinstall", "install", "prepack", "prepare"];

/// Which packages are prepared, and how.
#[derive(Clone, Debug, Default)]
pub struct Preparing {
    /// The `resolved` of the packages that may run scripts.
    pub allowed: FxHashSet<String>,
    /// The environment of their scripts.
    pub environment: ScriptEnvironment,
    /// Whether the scripts print to the terminal.
    pub foreground: bool,
    /// The installer for the dependencies of a clone.
    pub installer: Option<Installer>,
}

/// A program that installs the dependencies of its working directory.
#[derive(Clone, Debug)]
pub struct Installer {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Preparing {
    /// Prepares the package in a folder, if it may run scripts and has any.
    pub(crate) async fn run(&self, folder: &Path, resolved: &str, is_clone: bool) -> Result<(), String> {
        if !self.allowed.contains(resolved) {
            return Ok(());
        }
        let Ok(package) = ScriptPackage::read(folder) else { return Ok(()) };
        let wants_dependencies =
            package.field("workspaces").is_some() || SCRIPTS.iter().any(|event| package.script(event).is_some());
        if let Some(installer) = self.installer.as_ref().filter(|_| is_clone && wants_dependencies) {
            self.install(installer, &package, folder, resolved).await?;
        }
        let Some(command) = package.script("prepare") else { return Ok(()) };
        let extra = [("npm_package_resolved".to_owned(), folder.to_string_lossy().into_owned())];
        let variables = self.environment.of_event(&package, folder, "prepare", command, &[], &extra);
        let script = Script { command, arguments: &[], folder, variables, shell: self.environment.shell.as_deref() };
        let ended = if self.foreground { script.run_in_foreground().await } else { script.run_in_background().await };
        let ended = ended.map_err(|error| format!("cannot start its prepare script: {error}"))?;
        if ended.is_success() { Ok(()) } else { Err(failure("its prepare script", &ended.stderr)) }
    }

    async fn install(
        &self,
        installer: &Installer,
        package: &ScriptPackage,
        folder: &Path,
        resolved: &str,
    ) -> Result<(), String> {
        let seen = std::env::var(SEEN).unwrap_or_default();
        if seen.lines().any(|seen| seen == resolved) {
            return Ok(());
        }
        let seen = if seen.is_empty() { resolved.to_owned() } else { format!("{seen}\n{resolved}") };
        let settings = self.environment.of_event(package, folder, "install", "", &[], &[]);
        let mut command = Command::new(&installer.program);
        command.args(&installer.arguments).current_dir(folder).envs(settings).env(SEEN, seen);
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output: io::Result<_> = command.output().await;
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(failure("installing what it needs to be prepared", &output.stderr)),
            Err(error) => Err(format!("its dependencies for the prepare script could not be installed: {error}")),
        }
    }
}

/// An error message: a sentence, and the end of the output.
fn failure(what: &str, printed: &[u8]) -> String {
    const LINES: usize = 20;
    let printed = String::from_utf8_lossy(printed);
    let lines: Vec<&str> = printed.trim().lines().collect();
    let end = lines[lines.len().saturating_sub(LINES)..].join("\n");
    if end.is_empty() { format!("{what} failed") } else { format!("{what} failed:\n{end}") }
}
