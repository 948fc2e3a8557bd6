//! `lock`: resolves a project and writes its lockfile, and touches nothing else.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use espalier_core::remedy::Search;
use espalier_core::{Event, Options, Outcome, Project, Remedy, Resolution, ResolveError};

use crate::activity::Activity;
use crate::cache::Cache;
use crate::config::ConfigError;
use crate::config::settings::Settings;
use crate::driver::{self, Ended, Sources};
use crate::host;
use crate::project::{ProjectError, ProjectFolder, Written};
use crate::registry::Registry;
use crate::remedies;

/// What to lock, and with which settings.
#[derive(Debug)]
pub struct Lock {
    /// The project.
    pub project: ProjectFolder,
    /// Its settings.
    pub settings: Settings,
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
        /// What would resolve it, each of them tried; the smallest first, then npm's flags.
        remedies: Vec<Remedy>,
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
        let project = self.project.read(&lockfile)?;
        let cache = self.cache.as_deref().map(|folder| Arc::new(Cache::at(folder)));
        let registry = Registry::new(&self.settings, cache.clone(), Arc::clone(&self.activity))?;
        let options = self.options().await;
        let resolution = Resolution::new(project.clone(), options.clone());
        let sources = Sources::new(registry, self.project);
        let concurrency = self.settings.network.concurrency;
        let starting = start.elapsed();
        let mut interruption = pin!(interruption);
        let (ended, waiting) =
            driver::run(resolution, &sources, concurrency, &self.activity, observe, interruption.as_mut()).await;
        let end = Instant::now();
        let result = match ended {
            Ended::Finished(finished) => match *finished {
                Ok(outcome) => {
                    lockfile.write(&outcome.lockfile).map(|written| (written, outcome)).map_err(LockError::from)
                }
                Err(error) => {
                    let search = Search::new(project.clone(), options, &error);
                    let remedies =
                        remedies::search(search, &sources, concurrency, &self.activity, interruption.as_mut()).await;
                    Err(LockError::Resolve { error: Box::new(error), project: Box::new(project), remedies })
                }
            },
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
        let host = host::platform(node.as_deref());
        let mut platform = host.clone();
        // A C library belongs to a platform: that of this machine says nothing about another one.
        if tree.os.as_ref().is_some_and(|os| *os != platform.os) {
            platform.libc = None;
        }
        platform.os = tree.os.clone().unwrap_or(platform.os);
        platform.cpu = tree.cpu.clone().unwrap_or(platform.cpu);
        platform.libc = tree.libc.clone().or(platform.libc);
        let mut options = Options {
            platform,
            host: Some(host),
            legacy_peer_deps: tree.legacy_peer_deps,
            strict_peer_deps: tree.strict_peer_deps,
            force: tree.force,
            prefer_dedupe: tree.prefer_dedupe,
            install_strategy: tree.install_strategy,
            install_links: tree.install_links,
            engine_strict: tree.engine_strict,
            before: tree.before,
            default_tag: tree.tag.clone(),
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
