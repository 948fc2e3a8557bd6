//! `espalier exec`: a program of an installed package (`libnpmexec`).
//!
//! What isn't installed isn't fetched: running code that nobody has chosen takes more than a word on a command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use espalier_install::scripts::package::ScriptPackage;
use espalier_install::scripts::shell;

use super::complaint::Complaint;
use super::context::{Context, current_folder};
use super::run::{Runner, exit_code};
use crate::arguments::scripts::ExecArguments;
use crate::style::strong;

/// Runs the program.
pub fn run(arguments: &ExecArguments) -> ExitCode {
    match exec(arguments) {
        Ok(code) => code,
        Err(complaint) => complaint.report(false),
    }
}

fn exec(arguments: &ExecArguments) -> Result<ExitCode, Complaint> {
    let context = Context::new(&arguments.project, &arguments.workspaces, "exec")?;
    let workspaces = context.workspaces(&arguments.workspaces)?;
    let runner = Runner::new(&context, "exec", workspaces.is_some(), true);
    let folders = match workspaces {
        // npm runs it where it was called, wherever the project is.
        None => vec![(current_folder(), context.project.path().to_owned())],
        Some(workspaces) => workspaces.into_iter().map(|workspace| (workspace.path.clone(), workspace.path)).collect(),
    };
    let mut worst = ExitCode::SUCCESS;
    for (folder, package) in folders {
        let code = exec_in(&runner, arguments, &folder, &package)?;
        if code != ExitCode::SUCCESS {
            worst = code;
        }
    }
    Ok(worst)
}

fn exec_in(runner: &Runner, arguments: &ExecArguments, folder: &Path, project: &Path) -> Result<ExitCode, Complaint> {
    let mut programs = Vec::new();
    for package in &arguments.package {
        let (found, _) = installed(package, project).ok_or_else(|| not_installed(package, package))?;
        programs.push(found.join(".bin"));
    }
    let (command, rest) = match (&arguments.call, arguments.program.split_first()) {
        (Some(call), _) => (call.clone(), &[][..]),
        (None, Some((program, rest))) => {
            (resolve(program, project, &mut programs, !arguments.package.is_empty())?, rest)
        }
        (None, None) => (shell::default_shell(), &[][..]),
    };
    let package = ScriptPackage::read(project).unwrap_or_default();
    let ended = runner.run(&package, folder, "npx", &command, rest, &programs)?;
    Ok(if ended.is_success() { ExitCode::SUCCESS } else { exit_code(&ended) })
}

/// The command line for a program: of the project itself, of what is installed, or by the name of an installed package.
fn resolve(program: &str, project: &Path, programs: &mut Vec<PathBuf>, named: bool) -> Result<String, Complaint> {
    let own = ScriptPackage::read(project).ok();
    let own = own.as_ref().and_then(|package| package.programs().find(|(name, _)| *name == program));
    if let Some((_, path)) = own.filter(|_| !named) {
        return Ok(shell::for_sh(&project.join(path).to_string_lossy()));
    }
    let file = if cfg!(windows) { format!("{program}.cmd") } else { program.to_owned() };
    let is_there = |folder: &PathBuf| folder.join(&file).exists();
    let upwards = project.ancestors().map(|folder| folder.join("node_modules").join(".bin"));
    if named || upwards.clone().any(|folder| is_there(&folder)) {
        programs.extend(upwards.filter(is_there));
        return Ok(quoted(program));
    }
    match installed(program, project) {
        Some((modules, package)) => {
            let name = only_program(&package).ok_or_else(|| no_program(program, &package))?;
            programs.push(modules.join(".bin"));
            Ok(quoted(name))
        }
        None => Err(not_installed(program, program)),
    }
}

/// The shell shall not take it for a word of its own.
fn quoted(program: &str) -> String {
    if cfg!(windows) { program.to_owned() } else { format!("'{}'", program.replace('\'', "'\\''")) }
}

/// The `node_modules` that has a package, and its manifest.
fn installed(name: &str, project: &Path) -> Option<(PathBuf, ScriptPackage)> {
    let name = espalier_core::spec::split_argument(name).0.unwrap_or(name);
    let modules = project.ancestors().map(|folder| folder.join("node_modules"));
    modules.into_iter().find_map(|modules| {
        let package = ScriptPackage::read(&modules.join(name)).ok()?;
        Some((modules, package))
    })
}

/// The program that a package is for: its only one, or the one that is called like it (`get-bin-from-manifest.js`).
fn only_program(package: &ScriptPackage) -> Option<&str> {
    let mut paths: Vec<&str> = package.programs().map(|(_, path)| path).collect();
    paths.dedup();
    if paths.len() == 1 {
        return package.programs().next().map(|(name, _)| name);
    }
    let name = package.name()?.rsplit('/').next()?;
    package.programs().map(|(program, _)| program).find(|program| *program == name)
}

fn no_program(name: &str, package: &ScriptPackage) -> Complaint {
    let programs: Vec<&str> = package.programs().map(|(name, _)| name).collect();
    let details =
        if programs.is_empty() { String::new() } else { format!("  It has {}.\n", strong(programs.join(", "))) };
    Complaint::own("ENOBIN", format!("{name} has no program of its name"), details)
}

fn not_installed(program: &str, package: &str) -> Complaint {
    let details = format!(
        "  Add the package that has it to the project, then try again:\n\n    {}\n\n  Espalier does not fetch programs for one \
         run; `npx {program}` does.\n",
        strong(format!("espalier add --save-dev {package}"))
    );
    Complaint::own("ENOTINSTALLED", format!("{program} is not installed here"), details)
}
