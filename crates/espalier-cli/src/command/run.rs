//! `espalier run`, and `test`, `start`, `stop` and `restart`, which run the scripts with those
//! names (`run.js`).

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use espalier_core::manifest_edit::Edit;
use espalier_core::{InvalidJson, ResolveError};
use espalier_install::host;
use espalier_install::scripts::environment::{ScriptEnvironment, Surroundings};
use espalier_install::scripts::package::ScriptPackage;
use espalier_install::scripts::process::{Ended, Script};
use espalier_install::scripts::shell;

use super::complaint::Complaint;
use super::context::Context;
use crate::arguments::InstallArguments;
use crate::arguments::project::ProjectArguments;
use crate::arguments::scripts::ScriptArguments;
use crate::report;
use crate::style::{STRONG, Styled, quiet, strong};

/// The scripts that npm runs by itself. A list starts with them.
const LIFECYCLE: [&str; 29] = [
    "prepare",
    "prepublishOnly",
    "prepack",
    "postpack",
    "dependencies",
    "preinstall",
    "install",
    "postinstall",
    "prepublish",
    "publish",
    "postpublish",
    "prerestart",
    "restart",
    "postrestart",
    "prestart",
    "start",
    "poststart",
    "prestop",
    "stop",
    "poststop",
    "pretest",
    "test",
    "posttest",
    "preuninstall",
    "uninstall",
    "postuninstall",
    "preversion",
    "version",
    "postversion",
];

/// Runs a script, or lists all scripts.
pub fn run(script: Option<&str>, arguments: &ScriptArguments, command: &str) -> ExitCode {
    match run_or_list(script, arguments, command) {
        Ok(code) => code,
        Err(complaint) => complaint.report(arguments.json),
    }
}

/// Runs the script `test` after a successful installation (`install-test`).
pub fn test_after(installed: ExitCode, arguments: &InstallArguments) -> ExitCode {
    if installed != ExitCode::SUCCESS || arguments.dry_run {
        return installed;
    }
    let of_lock = &arguments.lock;
    let ProjectArguments { directory, npm, global } = of_lock.project.clone();
    let project = ProjectArguments { directory, npm: npm.for_another(), global };
    let (json, quiet) = (of_lock.output.json, of_lock.output.quiet);
    let workspaces = of_lock.workspaces.clone();
    let arguments = ScriptArguments { arguments: Vec::new(), if_present: false, project, workspaces, json, quiet };
    run(Some("test"), &arguments, "test")
}

fn run_or_list(script: Option<&str>, arguments: &ScriptArguments, command: &str) -> Result<ExitCode, Complaint> {
    let context = Context::new(&arguments.project, &arguments.workspaces, command)?;
    let workspaces = context.workspaces(&arguments.workspaces)?;
    let mut folders: Vec<(Option<String>, PathBuf)> = Vec::new();
    if workspaces.is_none() || arguments.workspaces.include_workspace_root {
        folders.push((None, context.project.path().to_owned()));
    }
    let of_workspaces = workspaces.is_some();
    for workspace in workspaces.into_iter().flatten() {
        folders.push((Some(workspace.name), workspace.path));
    }
    let Some(event) = script else {
        list(&folders, arguments.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let runner = Runner::new(&context, command, of_workspaces, arguments.quiet);
    let mut worst = ExitCode::SUCCESS;
    for (workspace, folder) in &folders {
        let ended = run_events(&runner, &context, event, arguments, folder);
        // In one folder, a failure ends the command. In several, the others still run, as in npm.
        match ended {
            Ok(None) => {}
            Ok(Some((event, ended))) => {
                complain_of_script(&event, workspace.as_deref(), &ended);
                worst = exit_code(&ended);
            }
            Err(complaint) if folders.len() == 1 => return Err(complaint),
            Err(complaint) => worst = complaint.report(false),
        }
    }
    Ok(worst)
}

/// Runs scripts on the terminal.
pub(super) struct Runner {
    environment: ScriptEnvironment,
    runtime: tokio::runtime::Runtime,
    quiet: bool,
}

impl Runner {
    pub(super) fn new(context: &Context, command: &str, workspaces: bool, quiet: bool) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let nearby = context.environment.node.as_deref().and_then(host::node_version_nearby);
        let node_version = nearby.or_else(|| runtime.block_on(host::node_version()));
        let environment = ScriptEnvironment::new(&Surroundings {
            config: &context.config,
            environment: &context.environment,
            project: context.project.path(),
            command,
            node_version: node_version.as_deref(),
            workspaces,
        });
        Self { environment, runtime, quiet }
    }

    pub(super) fn environment(&self) -> &ScriptEnvironment {
        &self.environment
    }

    pub(super) fn runtime(&self) -> &tokio::runtime::Runtime {
        &self.runtime
    }

    /// Runs a command line to its end.
    pub(super) fn run(
        &self,
        package: &ScriptPackage,
        folder: &Path,
        event: &str,
        command: &str,
        arguments: &[String],
        programs: &[PathBuf],
    ) -> Result<Ended, Complaint> {
        let script = Script {
            command,
            arguments,
            folder,
            variables: self.environment.of_event(package, folder, event, command, programs, &[]),
            shell: self.environment.shell.as_deref(),
        };
        self.runtime.block_on(script.run_in_foreground()).map_err(|error| {
            let shell = self.environment.shell.clone().unwrap_or_else(shell::default_shell);
            let details = format!("  The shell is {shell}. The setting script-shell names another one.\n");
            Complaint::own("ESHELL", format!("cannot start the script {event}: {error}"), details)
        })
    }
}

/// Runs a script and the scripts before and after it. Returns which of them failed.
fn run_events(
    runner: &Runner,
    context: &Context,
    event: &str,
    arguments: &ScriptArguments,
    folder: &Path,
) -> Result<Option<(String, Ended)>, Complaint> {
    let package = read(folder)?;
    let Some(command) = command_of(&package, event) else {
        if arguments.if_present {
            return Ok(None);
        }
        return Err(missing(&package, event));
    };
    let around = !context.config.flag("ignore-scripts", false);
    let beside = |prefix: &str| {
        let name = format!("{prefix}{event}");
        package.script(&name).filter(|_| around).map(|command| (name.clone(), command.to_owned(), &[][..]))
    };
    let main = (event.to_owned(), command, arguments.arguments.as_slice());
    for (event, command, arguments) in beside("pre").into_iter().chain([main]).chain(beside("post")) {
        if !runner.quiet {
            let quoted: Vec<String> = arguments.iter().map(|argument| shell::for_sh(argument)).collect();
            let line = [command.trim(), &quoted.join(" ")].join(" ");
            anstream::eprintln!("{} {}", Styled(STRONG, format!("{event}:")), quiet(line.trim_end()));
        }
        let ended = runner.run(&package, folder, &event, &command, arguments, &[])?;
        if !ended.is_success() {
            return Ok(Some((event, ended)));
        }
    }
    Ok(None)
}

pub(super) fn read(folder: &Path) -> Result<ScriptPackage, Complaint> {
    let unreadable = |error: io::Error| {
        let file = folder.join("package.json");
        let path = report::shown_path(&file);
        let text = std::fs::read(file).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
        match Edit::of(&text) {
            Err(ResolveError::InvalidJson(invalid)) => {
                let details = report::failure::invalid_json(&path, invalid.line, invalid.column, Some(&text));
                Complaint::own("EJSONPARSE", InvalidJson { file: path, ..invalid }.to_string(), details)
            }
            _ => Complaint::own("EJSONPARSE", format!("cannot read {path}: {error}"), ""),
        }
    };
    ScriptPackage::read(folder).map_err(unreadable)
}

fn command_of(package: &ScriptPackage, event: &str) -> Option<String> {
    let declared = package.scripts().find(|&(name, _)| name == event).map(|(_, command)| command.to_owned());
    declared.or_else(|| match event {
        "env" => Some(if cfg!(windows) { "SET" } else { "env" }.to_owned()),
        "restart" => {
            let program = std::env::current_exe().ok()?;
            let program = shell::for_sh(&program.to_string_lossy());
            Some(format!("{program} stop --if-present && {program} start"))
        }
        _ => None,
    })
}

fn missing(package: &ScriptPackage, event: &str) -> Complaint {
    let mut names: Vec<&str> = package.scripts().map(|(name, _)| name).collect();
    names.sort_by_key(|name| distance(name, event));
    let close: Vec<&str> =
        names.into_iter().filter(|name| distance(name, event) * 5 <= event.len() * 2).take(3).collect();
    let mut details = String::new();
    if !close.is_empty() {
        let _ = writeln!(details, "  Did you mean {}?\n", strong(close.join(", ")));
    }
    let _ = writeln!(details, "  {} lists the scripts.", strong("espalier run"));
    let of = package.id().or_else(|| package.name().map(str::to_owned));
    let of = of.map(|of| format!(" in {of}")).unwrap_or_default();
    Complaint::own("ENOSCRIPT", format!("there is no script \"{event}\"{of}"), details)
}

/// The number of letters to change to make one word of the other (Levenshtein distance).
pub(super) fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (index, same) in other.iter().map(|&other| other == letter).enumerate() {
            let replaced = diagonal + usize::from(!same);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[other.len()]
}

fn complain_of_script(event: &str, workspace: Option<&str>, ended: &Ended) {
    let how = match (ended.code, ended.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    };
    let of = workspace.map(|name| format!(" of {name}")).unwrap_or_default();
    anstream::eprintln!("{} script {}{of} ended with {how}", Styled(crate::style::PROBLEM, "error:"), strong(event));
}

/// A script's exit code becomes the command's. As in npm, a signal that ended it is raised in this
/// process, too.
pub(super) fn exit_code(ended: &Ended) -> ExitCode {
    #[cfg(unix)]
    if let Some(signal) = ended.signal {
        // This returns if the signal doesn't end a process by default.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(1));
    }
    ExitCode::from(ended.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn list(folders: &[(Option<String>, PathBuf)], json: bool) -> Result<(), Complaint> {
    let mut packages = Vec::new();
    for (workspace, folder) in folders {
        packages.push((workspace.as_deref(), read(folder)?));
    }
    if json {
        let scripts = |package: &ScriptPackage| -> serde_json::Value {
            package
                .scripts()
                .map(|(name, command)| (name.to_owned(), command.into()))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let value = match packages.as_slice() {
            [(None, package)] => scripts(package),
            several => several
                .iter()
                .map(|(workspace, package)| {
                    (workspace.or(package.name()).unwrap_or_default().to_owned(), scripts(package))
                })
                .collect::<serde_json::Map<_, _>>()
                .into(),
        };
        super::say(&format!("{value:#}\n"));
        return Ok(());
    }
    let screens: Vec<String> = packages.iter().map(|(_, package)| screen(package)).collect();
    super::say(&screens.join("\n"));
    Ok(())
}

/// The scripts of a package, one on each line.
fn screen(package: &ScriptPackage) -> String {
    let of = package.id().or_else(|| package.name().map(str::to_owned)).unwrap_or_else(|| "this project".to_owned());
    let (own, others): (Vec<_>, Vec<_>) = package.scripts().partition(|(name, _)| LIFECYCLE.contains(name));
    if own.is_empty() && others.is_empty() {
        return format!("{} has no scripts.\n", strong(of));
    }
    let width = package.scripts().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let mut screen = format!("Scripts of {}\n", strong(of));
    for group in [own, others].into_iter().filter(|group| !group.is_empty()) {
        screen.push('\n');
        for (name, command) in group {
            let room = report::output_width().map(|columns| columns.saturating_sub(width + 5).max(20));
            let command = report::shortened(&command.replace(['\n', '\r'], " "), room);
            let _ = writeln!(screen, "  {}  {}", strong(format!("{name:width$}")), quiet(command));
        }
    }
    screen
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_count_letters() {
        assert_eq!(distance("test", "test"), 0);
        assert_eq!(distance("test", "tets"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("build", "built:all"), 5);
    }
}
