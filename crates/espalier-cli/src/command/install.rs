//! `espalier ci`, `espalier install` and the commands that change dependencies.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use espalier_core::Changes;
use espalier_install::activity::Activity;
use espalier_install::config::{Config, Value};
use espalier_install::install::scripts::Scripts;
use espalier_install::install::{Done, Install, InstallError};
use espalier_install::lock::Lock;
use espalier_install::packing::prepare::Installer;
use espalier_install::store;

use super::complaint::Complaint;
use super::context::Context;
use super::lock;
use super::measured;
use super::say;
use crate::arguments::{ChangeArguments, InstallArguments};
use crate::progress::Progress;
use crate::report::failure::Circumstances;
use crate::report::{self, install, machine, success};

/// The command that installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ci`
    Ci,
    /// `install`, and the commands that change dependencies.
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

/// Changes dependencies and installs them, unless only the lockfile is wanted.
pub fn change(arguments: &ChangeArguments, changes: Changes) -> ExitCode {
    lock_or_install(&arguments.install, changes, arguments.package_lock_only)
}

/// Installs, unless only the lockfile is wanted.
pub fn lock_or_install(arguments: &InstallArguments, changes: Changes, lock_only: bool) -> ExitCode {
    let mut arguments = arguments.clone();
    if lock_only && !arguments.dry_run {
        arguments.lock.project.npm.set("package-lock-only", Value::Flag(true));
    }
    let name = if lock_only { "lock" } else { Kind::Install.name() };
    match lock::context(&arguments.lock, &changes, name) {
        // The setting also works from the environment and from an .npmrc.
        Ok(context) if context.config.flag("package-lock-only", false) && !arguments.dry_run => {
            lock::run_in(&context, &arguments.lock, changes)
        }
        Ok(context) => run_in(&context, &arguments, changes, Kind::Install),
        Err(complaint) => complaint.report_as(name, Circumstances::unknown(), arguments.lock.output.json),
    }
}

/// Installs.
pub fn run(arguments: &InstallArguments, changes: Changes, kind: Kind) -> ExitCode {
    let context = lock::context(&arguments.lock, &changes, kind.name());
    let context = context.and_then(|context| match refused_option(&context.config, kind) {
        Some(complaint) => Err(complaint),
        None => Ok(context),
    });
    match context {
        Ok(mut context) => {
            context.settings.options.prune = kind == Kind::Prune;
            let lock_only = kind == Kind::Prune && context.config.flag("package-lock-only", false);
            if lock_only && !arguments.dry_run {
                return lock::run_in(&context, &arguments.lock, changes);
            }
            run_in(&context, arguments, changes, kind)
        }
        Err(complaint) => complaint.report_as(kind.name(), Circumstances::unknown(), arguments.lock.output.json),
    }
}

/// As in npm, `ci` accepts no option that tolerates problems with patches.
fn refused_option(config: &Config, kind: Kind) -> Option<Complaint> {
    let options = ["allow-unused-patches", "ignore-patch-failures"];
    let option = options.into_iter().find(|option| kind == Kind::Ci && config.is_option(option))?;
    Some(Complaint::own("ECIPATCHFLAG", format!("`ci` does not accept --{option}"), "  Use `espalier install`.\n"))
}

fn run_in(context: &Context, arguments: &InstallArguments, changes: Changes, kind: Kind) -> ExitCode {
    let activity = Arc::<Activity>::default();
    let name = kind.name();
    let output = &arguments.lock.output;
    let result = execute(context, arguments, changes, kind, &activity);
    measured::write_trace(&output.measuring, &activity);
    match result {
        Ok(done) if output.json => say(&machine::installed(name, &done, &activity)),
        Ok(done) => {
            if let Some(plan) = &done.plan {
                say(&plan.to_string());
            }
            if !output.quiet {
                say(&install::sentence(&done));
                anstream::eprint!("{}", install::remarks(&done, report::terminal_width()));
            }
            if output.measuring.timings {
                anstream::eprint!("{}", success::installation_timings(&done.phases, &activity));
            }
        }
        Err(error) => return Complaint::from(error).report_as(name, context.circumstances(), output.json),
    }
    ExitCode::SUCCESS
}

fn execute(
    context: &Context,
    arguments: &InstallArguments,
    changes: Changes,
    kind: Kind,
    activity: &Arc<Activity>,
) -> Result<Done, InstallError> {
    let Context { config, environment, .. } = context;
    let lock = Lock { is_last: true, ..lock::of(context, &arguments.lock, changes, activity)? };
    let usual = || store::default_folder(environment, lock.cache.as_deref());
    let folder = arguments.store_dir.clone().or_else(usual);
    let folder = folder.unwrap_or_else(|| lock.project.path().join("node_modules/.espalier-store"));
    let output = &arguments.lock.output;
    // The output of the project's own scripts must not get into the JSON.
    let scripts = Scripts::new(config, environment, &lock.project, kind.name(), !output.json)?;
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
        installer: installer(arguments, config),
    };
    let _progress =
        (!output.quiet && !output.json && config.flag("progress", true)).then(|| Progress::start(Arc::clone(activity)));
    // The work is done by threads for blocking work. A thread for each core, by default, would only
    // cost its start.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let observe = lock::count(activity);
    let result = runtime.block_on(async { install.run(observe, lock::interruption()).await });
    // The remaining downloads are of no use.
    runtime.shutdown_background();
    result
}

/// This program with the options that npm gives itself to prepare a git dependency.
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
