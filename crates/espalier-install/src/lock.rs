//! `lock` resolves a project and writes its lockfile. It changes nothing else.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use espalier_core::remedy::Search;
use espalier_core::spec::{SpecKind, Specs};
use espalier_core::{
    Changes, Event, Options, Outcome, Platform, Project, Remedy, Reporting, Resolution, ResolveError, Update,
};

use crate::activity::Activity;
use crate::blocking;
use crate::cache::{Cache, Settling};
use crate::config::ConfigError;
use crate::config::settings::Settings;
use crate::driver::reads::Reads;
use crate::driver::{self, Ended, Sources};
use crate::host;
use crate::presumed::{self, NodeVersion};
use crate::project::{Lockfile, ProjectError, ProjectFolder, Written};
use crate::recall::Recall;
use crate::registry::Registry;
use crate::remedies;

/// What to lock, and with which settings.
#[derive(Debug)]
pub struct Lock {
    /// The project.
    pub project: ProjectFolder,
    /// Its settings.
    pub settings: Settings,
    /// What to change in it.
    pub changes: Changes,
    /// The Node version to resolve for. Without one, that of the `node` on the `PATH`.
    pub node_version: Option<String>,
    /// The folder of the cache. Without one, nothing is cached.
    pub cache: Option<PathBuf>,
    /// The counts of the run, for a progress line.
    pub activity: Arc<Activity>,
    /// Whether the process ends afterwards, so that nobody needs to free memory.
    pub is_last: bool,
    /// Whether somebody reads the graph of the outcome. [`Self::run`] doesn't.
    pub with_graph: bool,
}

/// A lockfile that is up to date.
#[derive(Debug)]
pub struct Locked {
    /// The outcome of the resolution.
    pub outcome: Outcome,
    /// Where the lockfile is.
    pub path: PathBuf,
    /// What happened to the file.
    pub written: Written,
    /// The time from the first file read to the last byte written.
    pub elapsed: Duration,
    /// The parts of that time, beside those that the activity counts.
    pub phases: Phases,
}

/// A resolution that is about to begin.
#[derive(Debug)]
pub(crate) struct Started {
    /// The lockfile on disk.
    pub lockfile: Lockfile,
    pub registry: Registry,
    pub cache: Option<Arc<Cache>>,
    start: Instant,
}

/// A tree that isn't written yet.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub outcome: Outcome,
    /// The lockfile on disk.
    pub lockfile: Lockfile,
    pub registry: Registry,
    pub start: Instant,
    pub phases: Phases,
    /// The documents that the resolution was told.
    pub reads: Arc<Reads>,
    /// Where to keep the outcome for a later run.
    pub recall: Option<Recall>,
    /// The writing of the rest of the cache, which continues in the background.
    pub settling: Option<Settling>,
    /// The connections, over which tarballs may still arrive.
    _sources: Sources,
}

impl Resolved {
    /// Keeps the outcome for a later run. Blocks.
    pub fn note(&self, project: &ProjectFolder) {
        if let Some(recall) = &self.recall {
            recall.note(project, &self.reads, &self.outcome);
        }
    }

    /// Keeps the outcome for a later run, while this thread does something else.
    pub fn note_beside<T>(&self, project: &ProjectFolder, work: impl FnOnce() -> T) -> T {
        if self.recall.is_none() {
            return work();
        }
        thread::scope(|scope| {
            let noting = thread::Builder::new().name("noting".to_owned()).spawn_scoped(scope, || self.note(project));
            let result = work();
            if noting.is_err() {
                self.note(project);
            }
            result
        })
    }
}

/// The parts of a run. Between the first and the last, waiting takes turns with the resolution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// The time before the resolution: reading files, asking Node for its version.
    pub starting: Duration,
    /// The time that the resolution waited for answers.
    pub waiting: Duration,
    /// The time after the resolution: writing the lockfile and the rest of the cache.
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
        /// The project. A message about an error in one of its files shows the text.
        project: Box<Project>,
        /// The changes that would resolve it, each tried: the smallest first, then npm's flags.
        remedies: Vec<Remedy>,
    },
    /// Someone stopped it.
    #[error("interrupted; the lockfile is unchanged")]
    Interrupted,
}

impl Lock {
    /// Runs the command. `observe` receives the events of the resolution. When `interruption`
    /// completes, the run ends.
    pub async fn run(
        mut self,
        observe: impl FnMut(Event),
        interruption: impl Future<Output = ()>,
    ) -> Result<Locked, LockError> {
        // `package-lock-only` is the stronger of the two (npm's definitions).
        self.settings.options.package_lock = true;
        let resolved = self.resolve(self.start()?, true, true, observe, interruption).await?;
        let end = Instant::now();
        let written = self.activity.writing.time(|| resolved.note_beside(&self.project, || self.save(&resolved)))?;
        drop(resolved.settling);
        let finishing = resolved.phases.finishing + end.elapsed();
        Ok(Locked {
            path: resolved.lockfile.path().to_owned(),
            written,
            elapsed: resolved.start.elapsed(),
            phases: Phases { finishing, ..resolved.phases },
            outcome: resolved.outcome,
        })
    }

    /// Whether [`Self::save`] writes package-lock.json.
    pub(crate) fn is_saved(&self, resolved: &Resolved) -> bool {
        resolved.outcome.is_saved && self.settings.options.package_lock
    }

    /// Writes a changed package.json and the lockfiles. package.json comes first: if the process is
    /// killed between the two, the next run completes the lock.
    pub(crate) fn save(&self, resolved: &Resolved) -> Result<Written, ProjectError> {
        for changed in &resolved.outcome.changed_manifests {
            self.project.write_manifest(&changed.folder, &changed.text)?;
        }
        self.save_yarn_lock(resolved)?;
        if !self.is_saved(resolved) {
            return Ok(Written::Unchanged);
        }
        if self.settings.saving.format_package_lock {
            return resolved.lockfile.write(resolved.outcome.lockfile.text());
        }
        resolved.lockfile.write(&without_lines(resolved.outcome.lockfile.text()))
    }

    /// Writes the yarn.lock, if there is one. npm does so with whichever lock it writes, and it
    /// always writes the hidden one (`save` of `shrinkwrap.js`).
    pub(crate) fn save_yarn_lock(&self, resolved: &Resolved) -> Result<(), ProjectError> {
        match &resolved.outcome.yarn_lock {
            Some(text) => self.project.write_yarn_lock(text),
            None => Ok(()),
        }
    }

    /// The changes, with the real paths of added folders, as npm saves them
    /// (`build-ideal-tree.js`).
    fn followed_changes(&self) -> Changes {
        let mut changes = self.changes.clone();
        let specs = Specs::at_home(self.settings.options.home.as_deref());
        for argument in &mut changes.add {
            if let Ok((name, spec)) = specs.argument(argument)
                && let SpecKind::Directory(path) = &spec.kind
                && let Some(folder) = self.project.follow(&path.resolve(&self.project.path().to_string_lossy()))
            {
                let name = name.map(|name| format!("{name}@")).unwrap_or_default();
                *argument = format!("{name}file:{folder}");
            }
        }
        changes
    }

    /// Reads the lockfile and gets ready to ask registries.
    pub(crate) fn start(&self) -> Result<Started, LockError> {
        let start = Instant::now();
        let lockfile = self.project.lockfile()?;
        let cache = self.cache.as_deref().map(|folder| Arc::new(Cache::at(folder)));
        let registry = Registry::new(&self.settings, cache.clone(), Arc::clone(&self.activity))?;
        Ok(Started { lockfile, registry, cache, start })
    }

    /// Resolves the project and writes nothing but the cache. `complete` is [`Options::complete`].
    /// Without `may_save`, the lock is trusted as far as possible, as in `npm ci`.
    pub(crate) async fn resolve(
        &self,
        started: Started,
        complete: bool,
        may_save: bool,
        mut observe: impl FnMut(Event),
        interruption: impl Future<Output = ()>,
    ) -> Result<Resolved, LockError> {
        let Started { lockfile, registry, cache, start } = started;
        let node = self.node_version();
        self.parse_meanwhile(&lockfile);
        let project = Project { changes: self.followed_changes(), ..self.project.read(&lockfile)? };
        let node = node.or_told().await;
        let options = self.options_for(node.presumed());
        // What `npm ci` installs was never there before.
        let origins_may_be_unknown = !complete && may_save;
        let save = options.save && may_save;
        let mut options = Options { complete, save, origins_may_be_unknown, graph: self.with_graph, ..options };
        let mut sources = self.sources(registry.clone());
        let finish = if self.is_last { Resolution::finish_for_good } else { Resolution::finish };
        let starting = start.elapsed();
        let mut interruption = pin!(interruption);
        // Events are held back until the version of Node is certain, because the run may be
        // repeated.
        let mut held = Vec::new();
        let mut is_interrupted = false;
        let mut recall = Recall::of(self.cache.as_deref(), &self.settings, &project, &options)
            .filter(|_| !registry.notes_documents());
        let known = recall.as_ref().zip(cache.as_deref()).and_then(|(recall, cache)| recall.find(cache, &self.project));
        let (mut ended, mut waiting) = if let Some((outcome, documents)) = known {
            recall = None;
            self.activity.cached_documents.add(documents as u64);
            (Ended::Finished(Box::new(Ok(outcome))), Duration::ZERO)
        } else {
            let presumed = |event| {
                held.push(event);
                if node.is_confirmed() {
                    held.drain(..).for_each(&mut observe);
                }
            };
            let stop = async {
                tokio::select! {
                    () = &mut interruption => is_interrupted = true,
                    () = node.refuted() => {}
                }
            };
            if let Some(cache) = cache.as_ref().filter(|_| project.lockfile.is_some() && may_save) {
                sources.begin_early(Arc::clone(cache));
            }
            let resolution = Resolution::new(project.clone(), options.clone());
            let run = driver::run(resolution, finish, &sources, presumed, stop);
            Box::pin(run).await
        };
        let truth = if is_interrupted { node.presumed() } else { node.truth().await };
        if truth == node.presumed() {
            held.drain(..).for_each(&mut observe);
        } else {
            recall = None;
            options.node_version = truth.unwrap_or_else(|| Options::default().node_version);
            let again = Resolution::new(project.clone(), options.clone());
            let again = driver::run(again, finish, &sources, &mut observe, interruption.as_mut());
            (ended, waiting) = Box::pin(again).await;
        }
        // Damage to a cached packument may show only while it is used. It is fetched for another
        // run.
        let damage = || cache.as_deref().map_or(0, |cache| cache.documents.found_damage());
        let mut known_damage = 0;
        while damage() > known_damage && !matches!(ended, Ended::Interrupted) {
            known_damage = damage();
            sources = self.sources(registry.clone());
            let again = Resolution::new(project.clone(), options.clone());
            let again = driver::run(again, finish, &sources, &mut observe, interruption.as_mut());
            (ended, waiting) = Box::pin(again).await;
        }
        let end = Instant::now();
        let result = match ended {
            Ended::Finished(finished) => match *finished {
                Ok(outcome) => Ok(outcome),
                Err(error) => {
                    let options = Options { reporting: Reporting::Tree, ..options };
                    let search = Search::new(project.clone(), options, &error);
                    let remedies = remedies::search(search, &sources, interruption.as_mut()).await;
                    Err(LockError::Resolve { error: Box::new(error), project: Box::new(project), remedies })
                }
            },
            Ended::Interrupted => Err(LockError::Interrupted),
        };
        // This also happens after a failure, because the next attempt can use the documents.
        let settling = cache.map(Settling::begin);
        let outcome = result?;
        let phases = Phases { starting, waiting, finishing: end.elapsed() };
        let reads = Arc::clone(&sources.reads);
        Ok(Resolved { outcome, lockfile, registry, start, phases, settling, reads, recall, _sources: sources })
    }

    /// Parses the lockfile beside other work, unless npm ignores it. That is the first thing that the
    /// resolution needs. A runtime with a single thread parses it while this one waits.
    fn parse_meanwhile(&self, lockfile: &Lockfile) {
        let is_read = self.settings.options.package_lock && !self.changes.updates_all();
        if let Some(lockfile) = lockfile.shared().filter(|_| is_read) {
            let project = self.project.path_as_text();
            drop(blocking::beside(move || lockfile.parsed(&project).is_some()));
        }
    }

    /// Sources of answers without memory of earlier ones.
    pub(crate) fn sources(&self, registry: Registry) -> Sources {
        let concurrency = self.settings.network.concurrency;
        Sources::new(registry, self.project.clone(), concurrency, Arc::clone(&self.activity))
    }

    /// This machine's platform, and the platform to resolve for.
    fn platform(&self) -> (Platform, Platform) {
        let host = host::platform(host::node_on_path());
        let target = self.settings.target.on(&host);
        (host, target)
    }

    /// The options of a resolution.
    pub(crate) async fn options(&self) -> Options {
        self.options_for(self.node_version().truth().await)
    }

    /// Finds the platform to resolve for, and the version of Node as far as it is known without
    /// starting Node.
    pub(crate) fn presumed_host(&self) -> impl FnOnce() -> (Platform, Option<String>) + use<> {
        let (target, version, cache) = (self.settings.target.clone(), self.node_version.clone(), self.cache.clone());
        move || {
            let platform = target.on(&host::platform(host::node_on_path()));
            (platform, version.or_else(|| presumed::nearby(cache.as_deref())))
        }
    }

    fn node_version(&self) -> NodeVersion {
        match &self.node_version {
            Some(version) => NodeVersion::chosen(version.clone()),
            None => NodeVersion::on_path(self.cache.as_deref()),
        }
    }

    fn options_for(&self, node_version: Option<String>) -> Options {
        let (host, platform) = self.platform();
        let save = self.settings.saving.save;
        let mut options = Options {
            platform,
            host: Some(host),
            // `npm update` changes the lock only, unless it is told otherwise.
            save: match self.changes.update {
                Update::None => save.unwrap_or(true),
                Update::All | Update::Names(_) => save.unwrap_or(false),
                Update::Duplicates => false,
            },
            ..(*self.settings.options).clone()
        };
        options.node_version = node_version.unwrap_or(options.node_version);
        options
    }
}

/// The JSON without white space between its tokens.
fn without_lines(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut in_text, mut escaped) = (false, false);
    for character in json.chars() {
        if in_text {
            in_text = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character == '"' {
            in_text = true;
        } else if character.is_whitespace() {
            continue;
        }
        compact.push(character);
    }
    compact
}

#[cfg(test)]
mod tests {
    use super::without_lines;

    #[test]
    fn only_what_is_between_texts_goes() {
        let json = "{\n  \"a b\": [1, \"c \\\" d\", \"e\\\\\"],\r\n\t\"f\": {}\n}\n";
        assert_eq!(without_lines(json), "{\"a b\":[1,\"c \\\" d\",\"e\\\\\"],\"f\":{}}");
    }
}
