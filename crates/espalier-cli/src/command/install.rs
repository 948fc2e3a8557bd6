//! `espalier ci` and `espalier install`.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use espalier_core::Changes;
use espalier_install::activity::Activity;
use espalier_install::config::{Config, Environment, Value};
use espalier_install::install::scripts::Scripts;
use espalier_install::install::{Done, Install, InstallError};
use espalier_install::packing::prepare::Installer;
use espalier_install::store;

use super::complaint::Complaint;
use super::lock::{self, FAILED, Known};
use super::say;
use crate::arguments::{ChangeArguments, InstallArguments};
use crate::progress::Progress;
use crate::report::{self, install, machine, success};

/// Which of the commands it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ci`
    Ci,
    /// `install`, and what changes dependencies.
    Install,
    /// `prune`
    Prune,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Ci => "ci",
            Self::Install => "install",
            Self::Prune => "prune",
        }
    }
}

/// Changes dependencies, and installs them unless only the lockfile is wanted.
pub fn change(arguments: &ChangeArguments, changes: Changes) -> ExitCode {
    lock_or_install(&arguments.install, changes, arguments.package_lock_only)
}

/// Installs, unless only the lockfile is wanted.
pub fn lock_or_install(arguments: &InstallArguments, changes: Changes, lock_only: bool) -> ExitCode {
    // The setting also works from the environment or an .npmrc; the lockfile is written then, whatever else says.
    let lock_only = lock_only || lock::is_on(&arguments.lock, "package-lock-only");
    if lock_only && !arguments.dry_run {
        let mut arguments = arguments.lock.clone();
        arguments.npm.set("package-lock-only", Value::Flag(true));
        return lock::run(&arguments, changes);
    }
    run(arguments, changes, Kind::Install)
}

/// Installs.
pub fn run(arguments: &InstallArguments, changes: Changes, kind: Kind) -> ExitCode {
    if arguments.lock.global {
        return Complaint::no_globals(kind.name()).report(arguments.lock.output.json);
    }
    let mut known = Known::default();
    let activity = Arc::<Activity>::default();
    let name = kind.name();
    let output = &arguments.lock.output;
    match execute(arguments, changes, kind, &activity, &mut known) {
        Ok(done) if output.json => say(&machine::installed(name, &done, &activity)),
        Ok(done) => {
            if let Some(plan) = &done.plan {
                say(&plan.to_string());
            }
            if !output.quiet {
                say(&install::sentence(&done));
                anstream::eprint!("{}", install::remarks(&done, report::terminal_width()));
            }
            if output.timings {
                anstream::eprint!("{}", success::installation_timings(&done.phases, &activity));
            }
        }
        Err(error) => {
            if output.json {
                say(&machine::install_failure(name, &error));
            } else {
                anstream::eprint!("{}", install::render(&error, known.circumstances()));
            }
            return ExitCode::from(exit_code(&error));
        }
    }
    ExitCode::SUCCESS
}

fn execute(
    arguments: &InstallArguments,
    changes: Changes,
    kind: Kind,
    activity: &Arc<Activity>,
    known: &mut Known,
) -> Result<Done, InstallError> {
    let lock = lock::prepare(&arguments.lock, changes, activity, known)?;
    let environment = Environment::of_process();
    let config = known.configuration.as_ref().map(|(config, _)| config.clone()).expect("it was just read");
    let usual = || store::default_folder(&environment, lock.cache.as_deref());
    let folder = arguments.store_dir.clone().or_else(usual);
    let folder = folder.unwrap_or_else(|| lock.project.path().join("node_modules/.espalier-store"));
    let output = &arguments.lock.output;
    // What the project's own scripts print would get into the object.
    let scripts = Scripts::new(&config, &environment, &lock.project, kind.name(), !output.json)?;
    let trust = lock.settings.trust();
    let install = Install {
        lock,
        store: std::path::absolute(&folder).unwrap_or(folder),
        clean: kind == Kind::Ci,
        project_scripts: kind != Kind::Prune,
        dry_run: arguments.dry_run || config.flag("dry-run", false),
        trust,
        scripts,
        without_workspaces: arguments.lock.workspaces.are_off(),
        bin_links: config.flag("bin-links", true),
        installer: installer(arguments, &config),
    };
    let _progress =
        (!output.quiet && !output.json && config.flag("progress", true)).then(|| Progress::start(Arc::clone(activity)));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let observe = lock::count(activity);
    let result = runtime.block_on(async { install.run(observe, lock::interruption()).await });
    // What is still on its way is of no use any more.
    runtime.shutdown_background();
    result
}

/// This program, as npm starts itself for what a package from git needs to be prepared.
fn installer(arguments: &InstallArguments, config: &Config) -> Option<Installer> {
    let mut given: Vec<OsString> =
        ["install", "--force", "--no-save", "--quiet", "--include=dev", "--include=peer", "--include=optional"]
            .map(OsString::from)
            .into();
    for switch in ["offline", "prefer-offline", "prefer-online"] {
        if config.flag(switch, false) {
            given.push(format!("--{switch}").into());
        }
    }
    if let Some(before) = config.text("before") {
        given.push(format!("--before={before}").into());
    }
    for (name, folder) in [("--cache-dir", &arguments.lock.cache_dir), ("--store-dir", &arguments.store_dir)] {
        if let Some(folder) = folder.as_ref().and_then(|folder| std::path::absolute(folder).ok()) {
            given.extend([name.into(), folder.into()]);
        }
    }
    Some(Installer { program: std::env::current_exe().ok()?, arguments: given })
}

pub(super) fn exit_code(error: &InstallError) -> u8 {
    use espalier_install::reify::ReifyError;
    match error {
        InstallError::Lock(error) => lock::exit_code(error),
        InstallError::Reify(ReifyError::Interrupted) => lock::INTERRUPTED,
        // As npm does.
        InstallError::Script(failure) => failure.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED),
        _ => FAILED,
    }
}
