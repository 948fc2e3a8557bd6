//! `espalier lock`.

use std::process::ExitCode;
use std::sync::Arc;

use espalier_core::manifest_edit::SaveType;
use espalier_core::{Changes, Event, Update};
use espalier_install::activity::Activity;
use espalier_install::cache;
use espalier_install::config::Config;
use espalier_install::lock::{Lock, LockError, Locked};

use super::complaint::Complaint;
use super::context::Context;
use super::exit::INTERRUPTED;
use super::measured;
use crate::arguments::{LockArguments, OutputArguments, PackageArguments};
use crate::progress::Progress;
use crate::report::failure::Circumstances;
use crate::report::{self, machine, success};
use crate::trace;

/// The changes of `lock` and `add`.
pub fn additions(arguments: &PackageArguments) -> Changes {
    Changes { add: arguments.packages.clone(), ..places(arguments) }
}

/// The changes of `remove`.
pub fn removals(arguments: &PackageArguments) -> Changes {
    Changes { remove: arguments.packages.clone(), ..places(arguments) }
}

/// The changes of `update`, which applies to everything if no names are given.
pub fn updates(arguments: &PackageArguments) -> Changes {
    let names = arguments.packages.clone();
    let update = if names.is_empty() { Update::All } else { Update::Names(names) };
    Changes { update, ..places(arguments) }
}

fn places(arguments: &PackageArguments) -> Changes {
    Changes { save_type: arguments.kind(), save_bundle: arguments.save_bundle, ..Changes::default() }
}

/// Runs the command.
pub fn run(arguments: &LockArguments, changes: Changes) -> ExitCode {
    match context(arguments, &changes, "lock") {
        Ok(context) => run_in(&context, arguments, changes),
        Err(complaint) => complaint.report_as("lock", Circumstances::unknown(), arguments.output.json),
    }
}

/// Runs the command in a project that was found.
pub(super) fn run_in(context: &Context, arguments: &LockArguments, changes: Changes) -> ExitCode {
    let activity = Arc::<Activity>::default();
    let result = lock(context, arguments, changes, &activity);
    measured::write_trace(&arguments.output.measuring, &activity);
    match result {
        Ok(locked) => {
            report_success(&locked, &activity, &arguments.output);
            // The process ends now. Taking a large tree apart takes time.
            std::mem::forget(locked);
            ExitCode::SUCCESS
        }
        Err(error) => Complaint::from(error).report_as("lock", context.circumstances(), arguments.output.json),
    }
}

fn lock(
    context: &Context,
    arguments: &LockArguments,
    changes: Changes,
    activity: &Arc<Activity>,
) -> Result<Locked, LockError> {
    let lock = Lock { is_last: true, with_graph: false, ..of(context, arguments, changes, activity)? };
    let is_shown = context.config.flag("progress", true);
    let _progress =
        (is_shown && !arguments.output.quiet && !arguments.output.json).then(|| Progress::start(Arc::clone(activity)));
    // Fetching has a thread of its own, and the resolution runs on this one. Another thread for the
    // little work beside it would cost a small resolution a tenth of its processor time.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let observe = count(activity);
    let result = runtime.block_on(async { lock.run(observe, interruption()).await });
    // The remaining answers are of no use.
    runtime.shutdown_background();
    result
}

/// The project to change. Adding packages creates one if there is none, as in npm.
pub(super) fn context(arguments: &LockArguments, changes: &Changes, command: &str) -> Result<Context, Complaint> {
    let LockArguments { project, workspaces, .. } = arguments;
    if changes.add.is_empty() {
        Context::new(project, workspaces, command)
    } else {
        Context::created(project, workspaces, command)
    }
}

/// What to resolve, from the settings and the arguments. Prints the warnings of the settings.
pub(super) fn of(
    context: &Context,
    arguments: &LockArguments,
    changes: Changes,
    activity: &Arc<Activity>,
) -> Result<Lock, LockError> {
    let Context { project, config, settings, environment } = context;
    measured::start(&arguments.output.measuring, activity);
    if arguments.output.json {
        activity.measure();
    }
    if !arguments.output.quiet && !arguments.output.json {
        for warning in config.warnings() {
            anstream::eprintln!("{} {warning}", crate::style::Styled(crate::style::CAUTION, "warning:"));
        }
    }
    // npm doesn't install the project into itself. An empty argument is the current folder.
    let is_project = |argument: &String| {
        let folder = if argument.is_empty() { "." } else { argument };
        std::path::absolute(folder).is_ok_and(|path| path == project.path())
    };
    let selected = context.workspaces(&arguments.workspaces)?.unwrap_or_default();
    let changes = Changes {
        add: changes.add.into_iter().filter(|argument| !is_project(argument)).collect(),
        save_type: changes.save_type.or_else(|| save_type(config)),
        save_bundle: changes.save_bundle || config.flag("save-bundle", false),
        save_prefix: settings.saving.prefix.clone(),
        workspaces: selected.into_iter().map(|workspace| workspace.name).collect(),
        include_root: arguments.workspaces.include_workspace_root,
        ..changes
    };
    Ok(Lock {
        project: project.clone(),
        settings: settings.clone(),
        changes,
        node_version: arguments.node_version.clone(),
        cache: arguments.cache_dir.clone().or_else(|| cache::default_folder(environment)),
        activity: Arc::clone(activity),
        is_last: false,
        with_graph: true,
    })
}

/// The block that settings such as `npm_config_save_dev` save additions to.
fn save_type(config: &Config) -> Option<SaveType> {
    let kinds = [
        ("save-prod", SaveType::Prod),
        ("save-dev", SaveType::Dev),
        ("save-optional", SaveType::Optional),
        ("save-peer", SaveType::Peer),
    ];
    kinds.into_iter().find(|(key, _)| config.flag(key, false)).map(|(_, kind)| kind)
}

/// Logs and counts the events of the resolution.
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

/// Completes at the first Ctrl-C after the call. The second one ends the process at once.
pub(super) fn interruption() -> impl Future<Output = ()> {
    // The handler is installed before any work begins, because Ctrl-C would end the process
    // otherwise.
    let interrupts = interrupts();
    async move {
        let Ok(mut interrupts) = interrupts else {
            // There are no signals, so the command can't be interrupted.
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

fn report_success(locked: &Locked, activity: &Activity, output: &OutputArguments) {
    if output.json {
        return super::say(&machine::success(locked, activity));
    }
    if !output.quiet {
        super::say(&success::sentence(locked));
        anstream::eprint!("{}", success::warnings(&locked.outcome.warnings, report::terminal_width()));
    }
    if output.measuring.timings {
        anstream::eprint!("{}", success::timings(&locked.phases, activity));
    }
}
