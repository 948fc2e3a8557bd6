//! `espalier exec` runs a program of a package, which is fetched if it isn't installed
//! (`libnpmexec`).
//!
//! The nearest program wins: the project's own, one in a `node_modules/.bin` upwards, one that is
//! installed globally, one of an installed package. Otherwise [`fetch`] installs it.

mod fetch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use espalier_core::semver;
use espalier_core::spec::{Spec, SpecKind, Specs};
use espalier_install::installed::{Installed, Source};
use espalier_install::programs::package_of;
use espalier_install::project::ProjectFolder;
use espalier_install::scripts::package::ScriptPackage;
use espalier_install::scripts::shell;

use super::complaint::Complaint;
use super::context::{Context, current_folder};
use super::measured::Measured;
use super::run::{Runner, exit_code};
use crate::arguments::scripts::ExecArguments;
use crate::style::strong;

/// Runs the program.
pub fn run(arguments: &ExecArguments) -> ExitCode {
    let mut measured = Measured::start(&arguments.measuring);
    let ended = exec(arguments, &mut measured);
    measured.end();
    ended.unwrap_or_else(|complaint| complaint.report(false))
}

fn exec(arguments: &ExecArguments, measured: &mut Measured<'_>) -> Result<ExitCode, Complaint> {
    let context = Context::anywhere(&arguments.project, &arguments.workspaces, "exec")?;
    let workspaces = context.workspaces(&arguments.workspaces)?;
    let runner = Runner::new(&context, "exec", workspaces.is_some(), true);
    let folders = match workspaces {
        // npm runs it in the current folder, wherever the project is.
        None => vec![(current_folder(), context.project.path().to_owned())],
        Some(workspaces) => workspaces.into_iter().map(|workspace| (workspace.path.clone(), workspace.path)).collect(),
    };
    let mut worst = ExitCode::SUCCESS;
    for (folder, package) in folders {
        let found = found(&context, arguments, &package, measured)?;
        let (command, rest) = match (&arguments.call, arguments.program.split_first()) {
            (Some(call), _) => (call.clone(), &[][..]),
            (None, Some((_, rest))) => (found.command, rest),
            (None, None) => (shell::default_shell(), &[][..]),
        };
        let manifest = ScriptPackage::read(&package).unwrap_or_default();
        let run = || runner.run(&manifest, &folder, "npx", &command, rest, &found.folders);
        let ended = measured.phase("running", "the program", run)?;
        if !ended.is_success() {
            worst = exit_code(&ended);
        }
    }
    Ok(worst)
}

/// A program that was found.
#[derive(Default)]
struct Found {
    /// The command for the shell.
    command: String,
    /// The folders that precede the rest of `PATH`.
    folders: Vec<PathBuf>,
}

/// Finds the program and fetches missing packages.
fn found(
    context: &Context,
    arguments: &ExecArguments,
    project: &Path,
    measured: &mut Measured<'_>,
) -> Result<Found, Complaint> {
    let program = arguments.program.first();
    let mut packages = arguments.package.clone();
    let is_package = packages.is_empty();
    if let Some(program) = program.filter(|_| is_package) {
        if let Some(found) = at_hand(context, program, project) {
            return Ok(found);
        }
        packages.push(program.clone());
    }
    let local = Local::load(project);
    let mut found = Found::default();
    let mut missing = Vec::new();
    let mut manifest = None;
    for package in &mut packages {
        let (name, spec) =
            Specs::default().argument(package).map_err(|refusal| refused(refusal.code, &refusal.message))?;
        match local.as_ref().and_then(|local| local.find(name.unwrap_or_default(), &spec)) {
            Some(folder) => {
                found.folders.extend(modules_above(&folder).map(|modules| modules.join(".bin")));
                manifest = ScriptPackage::read(&folder).ok();
            }
            None => {
                if let SpecKind::Directory(path) = &spec.kind {
                    *package = path.resolve(&current_folder().to_string_lossy());
                }
                missing.push(package.clone());
            }
        }
    }
    if !missing.is_empty() {
        let fetched = fetch::fetch(context, arguments, &packages, &missing, measured)?;
        manifest = manifest.or(fetched.manifest);
        found.folders.insert(0, fetched.programs);
    }
    if let Some(program) = program {
        let name = match &manifest {
            Some(manifest) if is_package => only_program(manifest).ok_or_else(|| no_program(program, manifest))?,
            _ => program,
        };
        found.command = quoted(name);
    }
    Ok(found)
}

/// Finds a program without looking at packages: in the project, in a `node_modules` upwards, or
/// globally.
fn at_hand(context: &Context, program: &str, project: &Path) -> Option<Found> {
    let own = ScriptPackage::read(project).ok();
    let own = own.as_ref().and_then(|package| package.programs().find(|(name, _)| *name == program));
    if let Some((_, path)) = own {
        let command = shell::for_sh(&project.join(path).to_string_lossy());
        return Some(Found { command, folders: Vec::new() });
    }
    let file = if cfg!(windows) { format!("{program}.cmd") } else { program.to_owned() };
    let upwards = project.ancestors().map(|folder| folder.join("node_modules").join(".bin"));
    let global = context.config.global_prefix(&context.environment);
    let global = global.map(|prefix| if cfg!(windows) { prefix } else { prefix.join("bin") });
    let folder = upwards.chain(global).find(|folder| folder.join(&file).is_file())?;
    Some(Found { command: quoted(program), folders: vec![folder] })
}

/// Quotes the program, so that the shell doesn't interpret it.
fn quoted(program: &str) -> String {
    if cfg!(windows) { program.to_owned() } else { format!("'{}'", program.replace('\'', "'\\''")) }
}

/// The installed tree of a project.
struct Local(Installed);

impl Local {
    fn load(project: &Path) -> Option<Self> {
        let project = ProjectFolder::at(project).ok()?;
        Installed::load(&project, Source::NodeModules).ok().map(Self)
    }

    /// The folder of an installed package that satisfies a registry spec. Only the registry knows
    /// the current version of a tag.
    fn find(&self, name: &str, spec: &Spec) -> Option<PathBuf> {
        let (name, spec) = package_of(name, spec);
        let range = spec.range()?;
        let nodes = 1..u32::try_from(self.0.graph.nodes.len()).unwrap_or(u32::MAX);
        let mut suitable = nodes.filter(|&node| {
            let entry = &self.0.graph.nodes[node as usize];
            let version = entry.version.as_deref().and_then(semver::Version::parse);
            entry.target.is_none()
                && self.0.package_name(node) == name
                && (spec.raw.is_empty()
                    || &*spec.raw == "*"
                    || version.is_some_and(|version| range.satisfied_by(&version)))
        });
        suitable.next().map(|node| PathBuf::from(self.0.path_of(node)))
    }
}

/// The `node_modules` that contains a package.
fn modules_above(package: &Path) -> Option<PathBuf> {
    package.ancestors().find(|folder| folder.ends_with("node_modules")).map(Path::to_owned)
}

/// The program of a package: its only one, or the one with its name (`get-bin-from-manifest.js`).
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
    let details = match programs.first() {
        Some(first) => format!(
            "  It has {}. Choose one:\n\n    {}\n",
            programs.join(", "),
            strong(format!("espalier exec --package={name} {first}"))
        ),
        None => "  It is a library. Add it to the project to use it.\n".to_owned(),
    };
    Complaint::own("ENOBIN", format!("{name} has no program of that name"), details)
}

fn refused(code: &'static str, message: &str) -> Complaint {
    Complaint::own(code, message, "  A package is `name`, `name@range`, a folder, a tarball or a repository.\n")
}
