//! Carries out a plan (`reify.js`): moves away, fetches, places and links.
//!
//! Everything before [`Built::commit`] can be undone, and a failure that isn't optional undoes it.
//! The hidden lockfile is removed first and written last, so an interrupted installation never
//! looks complete. The caller decides which scripts run between [`Reify::build`] and
//! [`Built::commit`].

pub(crate) mod commands;
mod fetch;
mod flights;
mod hold;
mod journal;
mod place;
mod ready;
mod replaced;
pub mod shims;
mod task;

use std::fs;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use espalier_core::{FetchFailure, Graph, Outcome, PackageLock};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::activity::Activity;
use crate::blocking;
use crate::plan::layout::{Layout, Origin, Package, lies_in_node_modules};
use crate::plan::optional::optional_set;
use crate::plan::{Placement, PlacementKind, Plan, Source, bins};
use crate::project::HIDDEN_LOCKFILE;
use crate::store::StoreError;
use commands::Outdated;
pub use fetch::Origins;
pub use flights::{Flights, ObtainError};
pub use hold::Hold;
use journal::Journal;
use place::Linker;
pub use place::PlaceError;
use ready::Ready;
use replaced::symlink;
use task::{Fetched, Job, Shared, run};

/// The number of further threads that place stored packages. More of them were not faster on any
/// disk.
const HELPERS: usize = 1;

/// The maximum number of clones, folders and files that are packed and unpacked at once.
const WORKSHOP: usize = 16;

/// An installation to be carried out. It has a field for each thing that the installer passes on.
#[derive(Debug)]
pub struct Reify<'a> {
    /// The project's folder.
    pub project: &'a Path,
    /// The resolved tree.
    pub outcome: &'a Outcome,
    /// The target state.
    pub layout: Layout,
    /// The steps to it.
    pub plan: Plan,
    /// The sources of packages.
    pub origins: Origins,
    /// The counts of the run.
    pub activity: Arc<Activity>,
    /// The mode of commands.
    pub executable_mode: u32,
    /// The patches of placed packages, by location.
    pub patches: FxHashMap<String, String>,
    /// Whether the lockfile is written.
    pub is_lock_saved: bool,
    /// Optional packages that can't or may not be installed, with the reasons.
    pub left_out: Vec<(String, String)>,
    /// The lock on the project.
    pub hold: Option<Hold>,
}

/// An installation whose files are all in place.
#[derive(Debug)]
pub struct Built<'a> {
    project: PathBuf,
    lockfile: &'a PackageLock,
    is_lock_saved: bool,
    layout: Layout,
    journal: Arc<Journal>,
    noted: Option<Noted>,
    _hold: Option<Hold>,
    /// What has happened so far.
    pub report: Report,
}

/// A hidden lockfile that was removed.
#[derive(Debug)]
struct Noted {
    path: PathBuf,
    content: Vec<u8>,
    time: Option<SystemTime>,
}

impl Noted {
    fn read(path: PathBuf) -> Option<Self> {
        let content = fs::read(&path).ok()?;
        let time = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
        Some(Self { path, content, time })
    }

    /// Writes it again, with this modification time. Without the hidden lockfile, the next
    /// installation only takes longer.
    fn put_back(&self, time: SystemTime) {
        let written = fs::write(&self.path, &self.content);
        let _ = written.and_then(|()| fs::File::options().write(true).open(&self.path)?.set_modified(time));
    }
}

/// The result of an installation.
#[derive(Debug, Default)]
pub struct Report {
    /// New packages, with their versions.
    pub added: Vec<PlacedPackage>,
    /// Packages that replaced others.
    pub changed: Vec<PlacedPackage>,
    /// Removed paths, relative to the project.
    pub removed: Vec<String>,
    /// Repaired packages, with the first difference of each.
    pub repaired: Vec<(String, String)>,
    /// The number of packages that stayed as they were.
    pub kept: usize,
    /// Optional packages that couldn't be installed, with the reasons.
    pub left_out: Vec<(String, String)>,
    /// The number of packages whose scripts ran.
    pub scripts_run: usize,
    /// New packages with install scripts that didn't run, in the order in which they would run.
    pub with_scripts: Vec<PlacedPackage>,
    /// New packages whose version is deprecated, with the message.
    pub deprecated: Vec<(PlacedPackage, String)>,
    /// Why files were copied, if they were.
    pub copied_because: Option<&'static str>,
}

/// An installed package.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PlacedPackage {
    /// Its location.
    pub location: String,
    /// Its own name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
}

/// Why an installation failed.
#[derive(Debug, thiserror::Error)]
pub enum ReifyError {
    /// A package can't be fetched.
    #[error("{failure}")]
    Fetch {
        /// Its name.
        name: String,
        /// Its version.
        version: Option<String>,
        /// The location that it was meant for.
        location: String,
        /// The reason.
        failure: Box<FetchFailure>,
    },
    /// The store can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file can't be written.
    #[error("{0}")]
    Place(PlaceError),
    /// The project's folders can't be changed.
    #[error("cannot change {}: {source}", path.display())]
    Disk {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process keeps changing the project.
    #[error("another installation has been using {} for 15 minutes; wait for it or end it", .path.display())]
    Busy {
        /// The path.
        path: PathBuf,
    },
    /// A script of an installation starts another one of the same project, which would wait for its
    /// own end.
    #[error("a script of the installation that is using {} started this one", .path.display())]
    Nested {
        /// The path.
        path: PathBuf,
    },
    /// The user interrupted it.
    #[error("interrupted; node_modules is unchanged")]
    Interrupted,
}

impl<'a> Reify<'a> {
    /// Does everything but the commit. After an error, everything is as it was before.
    pub async fn build(mut self, interruption: impl Future<Output = ()>) -> Result<Built<'a>, ReifyError> {
        // The thread that looks at stored files is free when packages are placed.
        self.origins.store.end_checks();
        let noted = Noted::read(self.project.join(HIDDEN_LOCKFILE));
        let journal = Arc::new(Journal::new(self.project));
        let result = self.build_with(&journal, interruption).await;
        match result {
            Ok(report) => Ok(Built {
                project: self.project.to_owned(),
                lockfile: &self.outcome.lockfile,
                is_lock_saved: self.is_lock_saved,
                layout: self.layout,
                journal,
                noted,
                _hold: self.hold.take(),
                report,
            }),
            Err(error) => {
                let is_restored = journal.roll_back();
                if let Some(noted) = noted.filter(|_| is_restored) {
                    noted.put_back(SystemTime::now());
                }
                Err(error)
            }
        }
    }

    async fn build_with(
        &mut self,
        journal: &Arc<Journal>,
        interruption: impl Future<Output = ()>,
    ) -> Result<Report, ReifyError> {
        let disk = |path: &str| {
            let path = self.project.join(path);
            move |source| ReifyError::Disk { path, source }
        };
        match fs::remove_file(self.project.join(HIDDEN_LOCKFILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(disk(HIDDEN_LOCKFILE)(error)),
            _ => {}
        }
        let swept = std::mem::take(&mut self.plan.swept);
        let mut outdated = Outdated::with(self.project, &self.plan.retire, &self.layout, swept);
        outdated.begin(&self.plan.bins, journal).map_err(disk("node_modules/.bin"))?;
        for retirement in &self.plan.retire {
            journal.retire(&retirement.path).map_err(disk(&retirement.path))?;
        }
        let shared = Arc::new(self.shared(journal));
        self.activity.to_install.add(self.plan.place.len() as u64);
        let mut left_out = self.place_all(&shared, interruption).await?;
        left_out.append(&mut self.left_out);
        self.place_missing_bundled(&shared, &mut left_out).await?;
        outdated.extend(self.leave_out(&left_out, journal)?);
        for link in &self.plan.links {
            make_link(self.project, &link.location, &link.text, journal).map_err(disk(&link.location))?;
        }
        let bins = bins::links(&self.layout);
        commands::link_all(self.project, &bins, &outdated, self.executable_mode, journal)
            .map_err(disk("node_modules/.bin"))?;
        self.origins.store.flush();
        Ok(self.report(&shared, left_out))
    }

    fn shared(&mut self, journal: &Arc<Journal>) -> Shared {
        let mut executables: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for bin in &self.plan.bins {
            executables.entry(bin.package.clone()).or_default().push(bin.file.clone());
        }
        Shared {
            project: self.project.to_owned(),
            origins: self.origins.clone(),
            journal: Arc::clone(journal),
            linker: Linker::default(),
            executables,
            executable_mode: self.executable_mode,
            patches: std::mem::take(&mut self.patches),
            compiled: Mutex::default(),
            workshop: Semaphore::new(WORKSHOP),
            activity: Arc::clone(&self.activity),
        }
    }

    /// Fetches and places everything. Returns the optional packages that couldn't be installed.
    async fn place_all(
        &mut self,
        shared: &Arc<Shared>,
        interruption: impl Future<Output = ()>,
    ) -> Result<Vec<(String, String)>, ReifyError> {
        let mut interruption = pin!(interruption);
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let (ready, others): (Vec<Job>, Vec<Job>) =
            self.jobs().into_iter().partition(|job| job.source.stored.is_some());
        let ready = Ready::new(ready);
        for _ in 0..HELPERS.min(ready.len().saturating_sub(1)) {
            let (ready, shared, stopped) = (Arc::clone(&ready), Arc::clone(shared), stopped.clone());
            let help = blocking::beside(move || ready.place(&shared, &stopped));
            tasks.spawn(async move { Finished::Helper(blocking::result(help).await) });
        }
        let fetching = |jobs: Vec<Job>| {
            let jobs = jobs.into_iter().map(|job| run(Arc::clone(shared), job, stopped.clone()));
            until_failure(jobs.collect())
        };
        if !others.is_empty() {
            tasks.spawn(fetching(others));
        }
        let mut left_out = Vec::new();
        let mut failed = None;
        loop {
            // This thread places packages, too. It would only wait otherwise, and a new thread may
            // have to wait for a processor.
            let next = if failed.is_none() { ready.next() } else { None };
            let is_placing = next.is_some();
            if let Some(left) = next.and_then(|job| ready.place_one(job, shared)) {
                tasks.spawn(fetching(vec![left]));
            }
            let finished = tokio::select! {
                // An interruption counts even if everything has been placed by now.
                biased;
                () = &mut interruption, if failed.is_none() => {
                    failed = Some(ReifyError::Interrupted);
                    let _ = stop.send(true);
                    continue;
                }
                finished = tasks.join_next() => finished,
                () = std::future::ready(()), if is_placing => continue,
            };
            let Some(finished) = finished else {
                if is_placing {
                    continue;
                }
                break;
            };
            let (placements, error) =
                match finished.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())) {
                    Finished::Helper(left) => {
                        tasks.spawn(fetching(left));
                        continue;
                    }
                    Finished::Jobs => continue,
                    Finished::Failed { placements, error, others } => {
                        tasks.spawn(until_failure(others));
                        (placements, error)
                    }
                };
            let is_optional = |placement: &Placement| self.layout.packages[&placement.location].optional;
            if failed.is_none() && placements.iter().all(is_optional) && matches!(error, ReifyError::Fetch { .. }) {
                left_out.extend(placements.into_iter().map(|placement| (placement.location, error.to_string())));
            } else if failed.is_none() {
                failed = Some(error);
                // Tasks under way end by themselves. Nothing may write while everything is undone.
                let _ = stop.send(true);
            }
        }
        failed.map_or(Ok(left_out), Err)
    }

    fn jobs(&mut self) -> Vec<Job> {
        let sources = std::mem::take(&mut self.plan.sources);
        let mut jobs: Vec<Job> = sources.into_iter().map(|source| Job { source, placements: Vec::new() }).collect();
        for placement in &self.plan.place {
            jobs[placement.source].placements.push(placement.clone());
        }
        jobs.retain(|job| !job.placements.is_empty());
        jobs
    }

    /// Places packages that the lock calls bundled, but that their bundle lacks. They come from the
    /// address that the lock gives for them.
    async fn place_missing_bundled(
        &self,
        shared: &Arc<Shared>,
        left_out: &mut Vec<(String, String)>,
    ) -> Result<(), ReifyError> {
        for (location, package) in &self.layout.packages {
            let Origin::Bundle { resolved, integrity } = &package.origin else { continue };
            let is_there = fs::symlink_metadata(self.project.join(location)).is_ok_and(|found| found.is_dir());
            if is_there || left_out.iter().any(|(above, _)| location.starts_with(&format!("{above}/"))) {
                continue;
            }
            // Nobody was asked whether they may come from anywhere but their registry.
            let registry = &self.origins.registry;
            let resolved =
                resolved.as_ref().filter(|resolved| registry.is_of_registry(resolved, &package.package_name));
            let Some(resolved) = resolved.cloned() else {
                left_out.push((location.clone(), "it is not in the bundle that the lockfile says it is in".into()));
                continue;
            };
            let source = Source {
                name: package.package_name.clone(),
                version: package.version.clone(),
                resolved,
                integrity: integrity.as_deref().and_then(|text| text.parse().ok()),
                stored: None,
            };
            let placement = Placement { location: location.clone(), source: 0, kind: PlacementKind::Added };
            let (_stop, stopped) = watch::channel(false);
            let (_, result) = run(Arc::clone(shared), Job { source, placements: vec![placement] }, stopped).await;
            result?;
        }
        Ok(())
    }

    /// Removes what can't be installed, with everything that only it needed. Returns the commands
    /// that it had.
    fn leave_out(&mut self, failed: &[(String, String)], journal: &Journal) -> Result<Vec<String>, ReifyError> {
        if failed.is_empty() {
            return Ok(Vec::new());
        }
        let sets = failed.iter().flat_map(|(location, _)| optional_set(&self.outcome.graph, location));
        let set: Vec<String> = sets.filter(|location| lies_in_node_modules(location)).collect();
        for location in &set {
            let path = self.project.join(location);
            journal.retire(location).map_err(|source| ReifyError::Disk { path, source })?;
        }
        Ok(without(&mut self.layout, set))
    }

    fn report(&self, shared: &Shared, left_out: Vec<(String, String)>) -> Report {
        let copied_because = shared.linker.fallback();
        let mut report = Report { kept: self.plan.kept, left_out, copied_because, ..Report::default() };
        let compiled = shared.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let changes: FxHashMap<&str, &Placement> =
            self.plan.place.iter().map(|placement| (placement.location.as_str(), placement)).collect();
        let is_new_link = |location: &str, package: &Package| {
            package.is_link() && self.plan.links.iter().any(|link| link.location == location)
        };
        let is_brought = |package: &Package| matches!(package.origin, Origin::Bundle { .. });
        let placement = |location: &str, package: &Package| {
            let bundler = location.rfind("/node_modules/").map(|at| &location[..at]);
            let placed = if is_brought(package) { bundler } else { Some(location) };
            placed.and_then(|placed| changes.get(placed).copied())
        };
        let is_reported = |location: &str, package: &Package| {
            is_new_link(location, package) || placement(location, package).is_some()
        };
        for (location, package) in self.layout.some_in_building_order(is_reported) {
            let installed = || PlacedPackage {
                location: location.to_owned(),
                name: package.package_name.clone(),
                version: package.version.clone(),
            };
            if is_new_link(location, package) {
                report.added.push(installed());
            }
            let Some(placement) = placement(location, package) else { continue };
            match &placement.kind {
                PlacementKind::Added => report.added.push(installed()),
                PlacementKind::Changed { .. } => report.changed.push(installed()),
                PlacementKind::Repaired(reason) => report.repaired.push((location.to_owned(), reason.clone())),
            }
            let is_changed = is_brought(package) || package.patch.is_some();
            let has_gyp = || {
                compiled.contains(location) || is_changed && self.project.join(location).join("binding.gyp").is_file()
            };
            if package.has_install_script || has_gyp() {
                report.with_scripts.push(installed());
            }
            if let Some(message) = &package.deprecated {
                report.deprecated.push((installed(), message.clone()));
            }
        }
        let is_package = |path: &str| !path.rsplit('/').next().unwrap_or_default().starts_with('.');
        let removed = self.plan.retire.iter().filter(|retirement| retirement.removed && is_package(&retirement.path));
        let removed = removed.filter(|retirement| lies_in_node_modules(&retirement.path));
        report.removed = removed.map(|retirement| retirement.path.clone()).collect();
        report
    }
}

/// How a task ended.
enum Finished {
    /// All its jobs were done.
    Jobs,
    /// One of its jobs failed, and the others go on.
    Failed { placements: Vec<Placement>, error: ReifyError, others: JoinSet<Fetched> },
    /// A helper with packages in the store. It couldn't place these.
    Helper(Vec<Job>),
}

/// Waits for jobs until one fails. The thread that waits for the whole installation is not woken for
/// each of them.
async fn until_failure(mut jobs: JoinSet<Fetched>) -> Finished {
    while let Some(joined) = jobs.join_next().await {
        let (placements, result) = joined.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        if let Err(error) = result {
            return Finished::Failed { placements, error, others: jobs };
        }
    }
    Finished::Jobs
}

/// Removes packages from a layout. Returns the commands that are lost.
fn without(layout: &mut Layout, set: Vec<String>) -> Vec<String> {
    let before = bins::links(layout);
    layout.leave_out(set);
    let after = bins::links(layout);
    let after: FxHashSet<&str> = after.iter().map(|bin| bin.location.as_str()).collect();
    before.into_iter().map(|bin| bin.location).filter(|location| !after.contains(location.as_str())).collect()
}

fn make_link(project: &Path, location: &str, text: &str, journal: &Journal) -> io::Result<()> {
    journal.making(location)?;
    symlink(Path::new(text), &project.join(location))
}

impl Built<'_> {
    /// Removes what was replaced and writes the hidden lockfile. This completes the installation.
    pub fn commit(self) -> Result<Report, ReifyError> {
        self.journal.finish();
        let path = self.project.join(HIDDEN_LOCKFILE);
        if self.project.join("node_modules").is_dir() {
            let is_installed = |location: &str| self.layout.packages.contains_key(location);
            let written = write_whole(&path, &self.lockfile.hidden(self.is_lock_saved, &is_installed));
            written.map_err(|source| ReifyError::Disk { path, source })?;
        }
        Ok(self.report)
    }

    /// Removes an optional package with its optional set, because its script failed.
    pub fn leave_out(&mut self, graph: &Graph, location: &str, reason: String) {
        let set: Vec<String> =
            optional_set(graph, location).into_iter().filter(|location| lies_in_node_modules(location)).collect();
        for location in &set {
            // If it can't be moved away now, the next installation finds it.
            let _ = self.journal.retire(location);
        }
        self.report.added.retain(|package| !set.contains(&package.location));
        self.report.left_out.push((location.to_owned(), reason));
        for command in without(&mut self.layout, set) {
            let _ = commands::unlink(&command, &self.journal);
        }
    }

    /// Restores the previous state. Scripts may have changed packages that stayed where they are, so
    /// the hidden lockfile is older than `node_modules` then, and nothing trusts it (as in npm).
    pub fn roll_back(self) {
        let is_restored = self.journal.roll_back();
        if let Some(noted) = self.noted.filter(|_| is_restored)
            && let Some(time) = noted.time
        {
            noted.put_back(time);
        }
    }
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".package-lock-");
    crate::project::readable_as_usual(&mut builder);
    let mut file = builder.tempfile_in(folder)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    // It has to be as new as the folder, which changed when the file appeared.
    file.persist(path)?.set_modified(SystemTime::now())
}
