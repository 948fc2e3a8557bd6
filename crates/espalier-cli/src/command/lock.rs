//! `espalier lock`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use espalier_core::manifest_edit::SaveType;
use espalier_core::{Changes, Event, Update};
use espalier_install::activity::Activity;
use espalier_install::cache;
use espalier_install::config::settings::Settings;
use espalier_install::config::{Config, ConfigError, Environment, Origin};
use espalier_install::lock::{Lock, LockError, Locked};
use espalier_install::project::{ProjectError, ProjectFolder};

use super::complaint::Complaint;
use crate::arguments::{LockArguments, OutputArguments, PackageArguments};
use crate::progress::Progress;
use crate::report::failure::{self, Circumstances};
use crate::report::{self, machine, success};
use crate::trace;

pub(super) const FAILED: u8 = 1;
const CALLED_WRONGLY: u8 = 2;
pub(super) const INTERRUPTED: u8 = 130;

/// What `lock` and `add` ask for.
pub fn additions(arguments: &PackageArguments) -> Changes {
    Changes { add: arguments.packages.clone(), ..places(arguments) }
}

/// What `remove` asks for.
pub fn removals(arguments: &PackageArguments) -> Changes {
    Changes { remove: arguments.packages.clone(), ..places(arguments) }
}

/// What `update` asks for: everything, where no names are given.
pub fn updates(arguments: &PackageArguments) -> Changes {
    let names = arguments.packages.clone();
    let update = if names.is_empty() { Update::All } else { Update::Names(names) };
    Changes { update, ..places(arguments) }
}

fn places(arguments: &PackageArguments) -> Changes {
    Changes { save_type: arguments.kind(), save_bundle: arguments.save_bundle, ..Changes::default() }
}

/// Runs the command to its exit code.
pub fn run(arguments: &LockArguments, changes: Changes) -> ExitCode {
    if arguments.global {
        return Complaint::no_globals("lock").report(arguments.output.json);
    }
    let mut known = Known::default();
    let activity = Arc::<Activity>::default();
    let result = lock(arguments, changes, &activity, &mut known);
    match result {
        Ok(locked) => {
            report_success(&locked, &activity, &arguments.output);
            // The process ends now. Taking a large tree apart takes time.
            std::mem::forget(locked);
            ExitCode::SUCCESS
        }
        Err(error) => {
            report_failure(&error, &known, &arguments.output);
            ExitCode::from(exit_code(&error))
        }
    }
}

/// What was found out before it failed.
#[derive(Default)]
pub(super) struct Known {
    pub project: Option<ProjectFolder>,
    pub configuration: Option<(Config, Settings)>,
}

fn lock(
    arguments: &LockArguments,
    changes: Changes,
    activity: &Arc<Activity>,
    known: &mut Known,
) -> Result<Locked, LockError> {
    let lock = Lock { is_last: true, ..prepare(arguments, changes, activity, known)? };
    let is_shown = known.configuration.as_ref().is_none_or(|(config, _)| config.flag("progress", true));
    let _progress =
        (is_shown && !arguments.output.quiet && !arguments.output.json).then(|| Progress::start(Arc::clone(activity)));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let observe = count(activity);
    let result = runtime.block_on(async { lock.run(observe, interruption()).await });
    // What is still on its way is of no use any more.
    runtime.shutdown_background();
    result
}

/// Finds the project. What is added where there is none makes one, as with npm.
pub(super) fn project(arguments: &LockArguments, may_be_new: bool) -> Result<ProjectFolder, ProjectError> {
    let found = match &arguments.directory {
        Some(folder) => ProjectFolder::at(folder),
        None if arguments.workspaces.are_off() => ProjectFolder::nearest(Path::new(".")),
        None => ProjectFolder::around(Path::new(".")),
    };
    match (found, &arguments.directory) {
        (Err(ProjectError::NoManifest { .. }), Some(folder)) if may_be_new => ProjectFolder::without_manifest(folder),
        (Err(ProjectError::NoManifest { .. }), None) if may_be_new => ProjectFolder::to_be(Path::new(".")),
        (found, _) => found,
    }
}

/// Whether a switch of npm's is on, wherever it was set. What is wrong with the project or the settings is told later.
pub(super) fn is_on(arguments: &LockArguments, key: &str) -> bool {
    let Ok(project) = project(arguments, true) else { return false };
    let flags = arguments.npm.clone().into_settings();
    let config = Config::load(project.path(), flags, &Environment::of_process());
    config.is_ok_and(|config| config.flag(key, false))
}

/// Finds the project and reads its settings.
pub(super) fn prepare(
    arguments: &LockArguments,
    changes: Changes,
    activity: &Arc<Activity>,
    known: &mut Known,
) -> Result<Lock, LockError> {
    if arguments.output.timings || arguments.output.json {
        activity.measure();
    }
    let project = project(arguments, !changes.add.is_empty())?;
    known.project = Some(project.clone());
    let environment = Environment::of_process();
    let config = Config::load(project.path(), arguments.npm.clone().into_settings(), &environment)?;
    trace::start(&config);
    let settings = Settings::new(&config, &environment)?;
    let changes = Changes { save_type: changes.save_type.or_else(|| save_type(&config)), ..changes };
    let changes = Changes { save_bundle: changes.save_bundle || config.flag("save-bundle", false), ..changes };
    known.configuration = Some((config.clone(), settings.clone()));
    if !arguments.output.quiet && !arguments.output.json {
        for warning in config.warnings() {
            anstream::eprintln!("{} {warning}", crate::style::Styled(crate::style::CAUTION, "warning:"));
        }
    }
    let cache = arguments.cache_dir.clone().or_else(|| cache::default_folder(&environment));
    // npm doesn't install the project into itself.
    let is_project = |argument: &String| std::path::absolute(argument).is_ok_and(|path| path == project.path());
    let mut changes = changes;
    changes.add.retain(|argument| !is_project(argument));
    let meant = super::context::workspaces_meant(&project, &arguments.workspaces)?.unwrap_or_default();
    let changes = Changes {
        save_prefix: settings.saving.prefix.clone(),
        workspaces: meant.into_iter().map(|workspace| workspace.name).collect(),
        include_root: arguments.workspaces.include_workspace_root,
        ..changes
    };
    let (node_version, activity) = (arguments.node_version.clone(), Arc::clone(activity));
    Ok(Lock { project, settings, changes, node_version, cache, activity, is_last: false })
}

/// The block that `npm_config_save_dev` and its like say additions go to.
fn save_type(config: &Config) -> Option<SaveType> {
    let kinds = [
        ("save-prod", SaveType::Prod),
        ("save-dev", SaveType::Dev),
        ("save-optional", SaveType::Optional),
        ("save-peer", SaveType::Peer),
    ];
    kinds.into_iter().find(|(key, _)| config.flag(key, false)).map(|(_, kind)| kind)
}

/// Logs and counts what the resolution decides.
pub(super) fn count(activity: &Arc<Activity>) -> impl FnMut(Event) + use<> {
    let counts = Arc::clone(activity);
    move |event| {
        trace::event(&event);
        match event {
            Event::Placed { .. } => counts.placed.add(1),
            Event::Removed { .. } => counts.placed.subtract_one(),
            _ => {}
        }
    }
}

/// Comes to pass with the first Ctrl-C after the call. The second one doesn't wait for anything.
pub(super) fn interruption() -> impl Future<Output = ()> {
    // Before any work begins: until then a Ctrl-C would end the process on the spot.
    let interrupts = interrupts();
    async move {
        let Ok(mut interrupts) = interrupts else {
            // There are no signals to be had here: the command can't be interrupted this way.
            return std::future::pending().await;
        };
        interrupts.recv().await;
        tokio::spawn(async move {
            interrupts.recv().await;
            std::process::exit(INTERRUPTED.into())
        });
    }
}

#[cfg(unix)]
fn interrupts() -> std::io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn interrupts() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

pub(super) fn exit_code(error: &LockError) -> u8 {
    match error {
        LockError::Interrupted => INTERRUPTED,
        LockError::Config(ConfigError::Invalid { origin: Origin::CommandLine, .. }) => CALLED_WRONGLY,
        LockError::Config(_) | LockError::Project(_) | LockError::Resolve { .. } => FAILED,
    }
}

fn report_success(locked: &Locked, activity: &Activity, output: &OutputArguments) {
    if output.json {
        return super::say(&machine::success(locked, activity));
    }
    if !output.quiet {
        super::say(&success::sentence(locked));
        anstream::eprint!("{}", success::warnings(&locked.outcome.warnings, report::terminal_width()));
    }
    if output.timings {
        anstream::eprint!("{}", success::timings(&locked.phases, activity));
    }
}

pub(super) fn report_failure(error: &LockError, known: &Known, output: &OutputArguments) {
    if output.json {
        return super::say(&machine::failure(Some("lock"), error));
    }
    anstream::eprint!("{}", failure::render(error, known.circumstances()));
}

impl Known {
    pub(super) fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            folder: self.project.as_ref().map(ProjectFolder::path),
            configuration: self.configuration.as_ref().map(|(config, settings)| (config, settings)),
            width: report::terminal_width(),
        }
    }
}
