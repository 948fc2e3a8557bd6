//! Installs a program that `exec` should run and that is not installed yet. The program gets a
//! separate folder of the cache, which is an ordinary project.
//!
//! Fetching code to run it is a decision, so the user is asked, if there is a terminal. Install
//! scripts don't run unless the user's own settings allow them; the settings of the current project
//! can't.

use std::fs;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use espalier_core::Changes;
use espalier_core::spec::{SpecKind, Specs};
use espalier_install::activity::Activity;
use espalier_install::cache::{self, Cache};
use espalier_install::config::settings::Freshness;
use espalier_install::install::scripts::Scripts;
use espalier_install::install::{Done, Install};
use espalier_install::lock::{Lock, LockError};
use espalier_install::programs::{self, package_of};
use espalier_install::project::ProjectFolder;
use espalier_install::registry::Registry;
use espalier_install::scripts::package::ScriptPackage;
use espalier_install::scripts::policy::Policy;
use espalier_install::store;

use super::super::complaint::Complaint;
use super::super::context::{Context, choosing};
use super::super::lock::{count, interruption};
use super::super::measured::Measured;
use super::refused;
use crate::arguments::scripts::ExecArguments;
use crate::progress::Progress;
use crate::report::{counted, success};
use crate::style::{CAUTION, Styled, quiet, strong};

/// The fetched packages.
pub(super) struct Fetched {
    /// The folder with their programs.
    pub programs: PathBuf,
    /// The manifest of the package, if there is only one.
    pub manifest: Option<ScriptPackage>,
}

/// Makes sure that these packages are in the folder of the request.
pub(super) fn fetch(
    context: &Context,
    arguments: &ExecArguments,
    packages: &[String],
    missing: &[String],
    measured: &mut Measured<'_>,
) -> Result<Fetched, Complaint> {
    let cache = cache::default_folder(&context.environment).ok_or_else(no_cache)?;
    let folder = programs::folder(&cache, packages);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads can be started");
    let activity = Arc::clone(&measured.activity);
    let ask = || runtime.block_on(outdated(context, &cache, &folder, missing, &activity));
    let wanted = measured.phase("asking", "the registry for the current version", ask)?;
    if !wanted.is_empty() {
        confirm(context, &wanted)?;
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        let install = installation(context, &folder, &cache, wanted, &activity)?;
        let progress = Progress::start(Arc::clone(&activity));
        let done = runtime.block_on(async { install.run(count(&activity), interruption()).await });
        drop(progress);
        let done = done?;
        measured.add(success::installation_phases(&done.phases, &activity));
        remark(&done);
    }
    runtime.shutdown_background();
    let modules = folder.join("node_modules");
    let only = if packages.len() == 1 { only_dependency(&folder) } else { None };
    let manifest = only.and_then(|name| ScriptPackage::read(&modules.join(name)).ok());
    if arguments.program.is_empty() || manifest.is_some() || packages.len() > 1 {
        return Ok(Fetched { programs: modules.join(".bin"), manifest });
    }
    Err(Complaint::own("ENOBIN", format!("{} cannot be installed on this platform", packages.join(", ")), ""))
}

/// Those of the packages whose version in the folder isn't the registry's current one.
async fn outdated(
    context: &Context,
    cache: &Path,
    folder: &Path,
    missing: &[String],
    activity: &Arc<Activity>,
) -> Result<Vec<String>, Complaint> {
    let mut settings = context.settings.clone();
    if settings.freshness == Freshness::Normal {
        // A program by its name is the current version.
        settings.freshness = Freshness::Revalidate;
    }
    let cache = Arc::new(Cache::at(cache));
    let registry = Registry::new(&settings, Some(Arc::clone(&cache)), Arc::clone(activity)).map_err(LockError::from)?;
    let options = choosing(&settings).await;
    let specs = Specs::default();
    let mut wanted = Vec::new();
    for package in missing {
        let (name, spec) = specs.argument(package).map_err(|refusal| refused(refusal.code, &refusal.message))?;
        let (Some(name), true) = (name, spec.is_registry()) else {
            wanted.push(package.clone());
            continue;
        };
        let (name, spec) = package_of(name, &spec);
        let present = ScriptPackage::read(&folder.join("node_modules").join(name)).ok();
        let present = present.as_ref().and_then(ScriptPackage::version);
        if let (SpecKind::Version { version, .. }, Some(present)) = (&spec.kind, present)
            && version.to_string() == present
        {
            continue;
        }
        let version = programs::version(&registry, &options, name, spec).await;
        let version =
            version.map_err(|error| LockError::Resolve { error, project: Box::default(), remedies: Vec::new() })?;
        if present != Some(version.as_str()) {
            wanted.push(format!("{name}@{version}"));
        }
    }
    cache.flush();
    Ok(wanted)
}

/// Asks the user, if there is a terminal. `--yes` and `--no` answer in advance.
fn confirm(context: &Context, wanted: &[String]) -> Result<(), Complaint> {
    let (config, environment) = (&context.config, &context.environment);
    if let Some(origin) = config.origin("yes") {
        let reason = format!("`yes` is set to false by {origin}. `--yes` allows it once.");
        return if config.flag("yes", false) { Ok(()) } else { Err(canceled(wanted, &reason)) };
    }
    let in_ci =
        ["CI", "CONTINUOUS_INTEGRATION", "BUILD_NUMBER"].iter().any(|name| environment.variable(name).is_some());
    let list = wanted.join(", ");
    if in_ci || !std::io::stdin().is_terminal() {
        let verb = if wanted.len() == 1 { "is" } else { "are" };
        anstream::eprintln!("{} {list} {verb} not installed here and will be fetched.", Styled(CAUTION, "warning:"));
        return Ok(());
    }
    anstream::eprint!("{} will be fetched and run. Continue? {} ", strong(list), quiet("(Y/n)"));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let answer = answer.trim();
    if read.is_ok_and(|bytes| bytes > 0) && (answer.is_empty() || answer.starts_with(['y', 'Y'])) {
        return Ok(());
    }
    Err(canceled(wanted, "You were asked, and declined. `--yes` allows it without a question."))
}

fn installation(
    context: &Context,
    folder: &Path,
    cache: &Path,
    add: Vec<String>,
    activity: &Arc<Activity>,
) -> Result<Install, Complaint> {
    let Context { config, environment, .. } = context;
    let project = ProjectFolder::without_manifest(folder).map_err(LockError::from)?;
    let mut settings = context.settings.clone();
    // The surrounding project's settings about its lock don't apply to this project.
    settings.saving.save = Some(true);
    settings.options.package_lock = true;
    settings.options.lockfile_version = None;
    let changes = Changes { add, save_prefix: settings.saving.prefix.clone(), ..Changes::default() };
    let scripts = Scripts::with(Policy::of_user(config), config, environment, &project, "exec", true);
    let store = store::default_folder(environment, Some(cache)).unwrap_or_else(|| cache.join("store"));
    let lock = Lock {
        is_last: false,
        with_graph: true,
        project,
        settings,
        changes,
        node_version: None,
        cache: Some(cache.to_owned()),
        activity: Arc::clone(activity),
    };
    let trust = lock.settings.trust();
    Ok(Install {
        lock,
        store,
        clean: false,
        dry_run: false,
        trust,
        scripts,
        project_scripts: false,
        without_workspaces: false,
        // A package without commands can't be run.
        bin_links: true,
        installer: None,
    })
}

/// Prints warnings before the program starts.
fn remark(done: &Done) {
    let blocked = &done.report.with_scripts;
    if !blocked.is_empty() {
        let verb = if blocked.len() == 1 { "has" } else { "have" };
        let names: Vec<&str> = blocked.iter().map(|package| package.name.as_str()).collect();
        anstream::eprintln!(
            "{} {} {verb} install scripts that were not run: {}. `allow-scripts` in your own .npmrc allows them.",
            Styled(CAUTION, "warning:"),
            counted(blocked.len(), "package"),
            success::listed(&names)
        );
    }
}

/// The name of the only package in a folder.
fn only_dependency(folder: &Path) -> Option<String> {
    let manifest = ScriptPackage::read(folder).ok()?;
    let dependencies = manifest.field("dependencies")?.as_object()?;
    dependencies.keys().next().filter(|_| dependencies.len() == 1).cloned()
}

fn canceled(wanted: &[String], reason: &str) -> Complaint {
    let (list, verb) = (wanted.join(", "), if wanted.len() == 1 { "is" } else { "are" });
    let add = strong(format!("espalier add -D {}", wanted.join(" ")));
    let details = format!("  {reason}\n\n  To add {list} to the project:\n\n    {add}\n");
    Complaint::own("ECANCELED", format!("{list} {verb} not installed, and fetching is not allowed"), details)
}

fn no_cache() -> Complaint {
    let details = "  Name a folder with ESPALIER_CACHE_DIR.\n";
    Complaint::own("ENOCACHE", "the cache folder for fetched programs is unknown", details)
}

fn unwritable(folder: &Path, error: &std::io::Error) -> Complaint {
    let headline = format!("cannot make {}: {error}", folder.display());
    Complaint::own("EWRITE", headline, "  Check the permissions, or name another folder with ESPALIER_CACHE_DIR.\n")
}
