//! `lock`: resolves a project and writes its lockfile, and touches nothing else.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use espalier_core::{Changes, Event, Options, Outcome, Project, Resolution, ResolveError, Update};

use crate::activity::Activity;
use crate::cache::Cache;
use crate::config::ConfigError;
use crate::config::registries;
use crate::config::settings::Settings;
use crate::driver::{self, Ended, Sources};
use crate::host;
use crate::project::{Lockfile, ProjectError, ProjectFolder, Written};
use crate::registry::Registry;

/// What to lock, and with which settings.
#[derive(Debug)]
pub struct Lock {
    /// The project.
    pub project: ProjectFolder,
    /// Its settings.
    pub settings: Settings,
    /// What to change in it.
    pub changes: Changes,
    /// The Node version to resolve for; the one on the `PATH` where it isn't given.
    pub node_version: Option<String>,
    /// Where to keep what was fetched; nothing is kept without it.
    pub cache: Option<PathBuf>,
    /// What goes on, for whoever wants to show it.
    pub activity: Arc<Activity>,
}

/// A lockfile that is up to date.
#[derive(Debug)]
pub struct Locked {
    /// What was resolved.
    pub outcome: Outcome,
    /// Where the lockfile is.
    pub path: PathBuf,
    /// What became of it.
    pub written: Written,
    /// From the first file read to the last byte written.
    pub elapsed: Duration,
    /// Where that time went, beside what the activity counts.
    pub phases: Phases,
}

/// The parts of a run, one after the other. Between the first and the last, waiting takes turns with the resolution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// Until the resolution began: reading files, asking Node for its version.
    pub starting: Duration,
    /// The resolution standing still for an answer.
    pub waiting: Duration,
    /// From the resolution's end: writing the lockfile and what is left of the cache.
    pub finishing: Duration,
}

/// Why the lockfile is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The project's files can't be read or written.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// There is no tree.
    #[error("{error}")]
    Resolve {
        /// Why.
        #[source]
        error: Box<ResolveError>,
        /// What was to be resolved: errors in its files are shown in their text.
        project: Box<Project>,
    },
    /// Someone stopped it.
    #[error("interrupted; the lockfile was not touched")]
    Interrupted,
}

impl Lock {
    /// Runs it. `observe` sees what the resolution decides, and `interruption` ends it when it comes to pass.
    pub async fn run(
        self,
        observe: impl FnMut(Event),
        interruption: impl Future<Output = ()>,
    ) -> Result<Locked, LockError> {
        let start = Instant::now();
        let lockfile = self.project.lockfile()?;
        let project = Project { changes: self.changes.clone(), ..self.project.read(&lockfile)? };
        let cache = self.cache.as_deref().map(|folder| Arc::new(Cache::at(folder)));
        let registry = Registry::new(&self.settings, cache.clone(), Arc::clone(&self.activity))?;
        let resolution = Resolution::new(project.clone(), self.options().await);
        let saves = Saves::of(&self);
        let sources = Sources { registry, project: self.project };
        let concurrency = self.settings.network.concurrency;
        let starting = start.elapsed();
        let (ended, waiting) =
            driver::run(resolution, &sources, concurrency, &self.activity, observe, interruption).await;
        let end = Instant::now();
        let result = match ended {
            Ended::Finished(finished) => finished
                .map_err(|error| LockError::Resolve { error: Box::new(error), project: Box::new(project) })
                .and_then(|outcome| Ok((saves.write(&lockfile, &outcome)?, outcome))),
            Ended::Interrupted => Err(LockError::Interrupted),
        };
        if let Some(cache) = cache {
            // Also after a failure: what was fetched is good for the next attempt.
            cache.flush();
        }
        let (written, outcome) = result?;
        let phases = Phases { starting, waiting, finishing: end.elapsed() };
        Ok(Locked { outcome, path: lockfile.path().to_owned(), written, elapsed: start.elapsed(), phases })
    }

    async fn options(&self) -> Options {
        let tree = &self.settings.tree;
        let node = host::find_on_path("node");
        let mut platform = host::platform(node.as_deref());
        // A C library belongs to a platform: that of this machine says nothing about another one.
        if tree.os.as_ref().is_some_and(|os| *os != platform.os) {
            platform.libc = None;
        }
        platform.os = tree.os.clone().unwrap_or(platform.os);
        platform.cpu = tree.cpu.clone().unwrap_or(platform.cpu);
        platform.libc = tree.libc.clone().or(platform.libc);
        let mut options = Options {
            platform,
            legacy_peer_deps: tree.legacy_peer_deps,
            strict_peer_deps: tree.strict_peer_deps,
            force: tree.force,
            prefer_dedupe: tree.prefer_dedupe,
            install_links: tree.install_links,
            engine_strict: tree.engine_strict,
            before: tree.before,
            default_tag: tree.tag.clone(),
            allow_git: tree.allow_git,
            allow_remote: tree.allow_remote,
            allow_file: tree.allow_file,
            allow_directory: tree.allow_directory,
            before_exclude: tree.before_exclude.clone(),
            allow_unused_patches: tree.allow_unused_patches,
            ignore_extension: tree.ignore_extension,
            lockfile_version: tree.lockfile_version,
            package_lock: tree.package_lock,
            // `npm update` changes the lock only, unless it is told otherwise.
            save: tree.save.unwrap_or(self.changes.update == Update::None),
            default_registry_host: registries::default_host(),
            ..Options::default()
        };
        let known = match &self.node_version {
            Some(version) => Some(version.clone()),
            None => host::node_version().await,
        };
        options.node_version = known.unwrap_or(options.node_version);
        options
    }
}

/// What of an outcome reaches the disk.
struct Saves {
    project: ProjectFolder,
    lockfile: bool,
}

impl Saves {
    fn of(lock: &Lock) -> Self {
        // With `--no-save` npm leaves all files alone, but for an update, which is about the lock.
        let saved = lock.settings.tree.save.unwrap_or(true) || lock.changes.update != Update::None;
        Self { project: lock.project.clone(), lockfile: saved && lock.settings.tree.package_lock }
    }

    /// Writes package.json before the lock: should it be cut off between the two, the next run completes the lock.
    fn write(&self, lockfile: &Lockfile, outcome: &Outcome) -> Result<Written, ProjectError> {
        for changed in &outcome.changed_manifests {
            self.project.write_manifest(&changed.folder, &changed.text)?;
        }
        if !self.lockfile {
            return Ok(Written::Unchanged);
        }
        if let Some(text) = &outcome.yarn_lock {
            self.project.write_yarn_lock(text)?;
        }
        lockfile.write(&outcome.lockfile)
    }
}
