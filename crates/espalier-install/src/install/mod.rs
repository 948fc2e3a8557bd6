//! `ci` and `install`: resolve a project, plan the changes on disk, and carry them out.
//!
//! `ci` requires a matching lockfile, changes neither it nor package.json, and checks every
//! installed file. `install` starts from the lockfile, trusts the hidden lockfile, and writes the
//! lockfile at the end.

mod ahead;
mod early;
mod outcome;
mod patches;
mod prepare;
pub mod scripts;
mod selection;
mod unchanged;

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use espalier_core::{Event, Graph, LockfileText, ParsedLock};
use espalier_package::agreement;
pub use espalier_package::trust::{Refusal, Trust};
use rustc_hash::FxHashSet;

use crate::git::Repository;
use crate::lock::{Lock, LockError, Resolved, Started};
use crate::packing::prepare::{Installer, Preparing};
use crate::plan::Plan;
use crate::plan::layout::resolved_in_lockfile;
use crate::project::{HIDDEN_LOCKFILE, ProjectError, Written};
use crate::reify::{Built, Flights, Origins, Reify, ReifyError, Report};
use crate::retired::TEMPORARY_STORE;
use crate::scripts::lifecycle::PROJECT_EVENTS;
use crate::store::Store;
use ahead::{Ahead, Reading};
use early::Early;
pub use outcome::{Done, InstallError, Phases};
use prepare::Prepared;
use scripts::{ScriptFailure, Scripts};
use unchanged::Unchanged;

/// What to install, and how. It has a field for each setting that concerns installations only.
#[derive(Debug)]
pub struct Install {
    /// The project, its settings, and the changes to it.
    pub lock: Lock,
    /// The folder of the store.
    pub store: PathBuf,
    /// Whether this is `ci`.
    pub clean: bool,
    /// Whether to stop before anything changes.
    pub dry_run: bool,
    /// The permitted sources of packages.
    pub trust: Trust,
    /// How scripts run.
    pub scripts: Scripts,
    /// Whether the project's own scripts run.
    pub project_scripts: bool,
    /// `--workspaces=false`: installs only what the project itself needs.
    pub without_workspaces: bool,
    /// `bin-links`: whether to link the commands of packages.
    pub bin_links: bool,
    /// The installer for the dependencies of git packages that are prepared.
    pub installer: Option<Installer>,
}

impl Install {
    /// Runs the installation. `observe` receives the events of the resolution. When `interruption`
    /// completes, the run ends.
    pub async fn run(
        self,
        mut observe: impl FnMut(Event),
        interruption: impl Future<Output = ()>,
    ) -> Result<Done, InstallError> {
        let mut interruption = pin!(interruption);
        // This script may prepare what the installation needs, so it runs before anything is read.
        self.project_event("preinstall").await?;
        let start = Instant::now();
        let unchanged = Unchanged::of(&self).await;
        if let Some(found) = unchanged.as_ref().and_then(|unchanged| unchanged.find(&self)) {
            self.later_project_events().await?;
            let lockfile = self.lock.project.path().join("package-lock.json");
            return Ok(Done {
                warnings: found.warnings,
                lockfile: Some((lockfile, Written::Unchanged)),
                report: Report { kept: found.kept, ..Report::default() },
                plan: None,
                note: None,
                elapsed: start.elapsed(),
                phases: Phases::default(),
            });
        }
        let started = self.lock.start()?;
        let lockfile = started.lockfile.shared();
        if self.clean && lockfile.is_none() {
            return Err(InstallError::NoLockfile);
        }
        let flights = Arc::<Flights>::default();
        let mut ahead = self.meanwhile(&started, &flights);
        // Only `ci` compares the tree with the lockfile.
        let frozen = lockfile.as_ref().filter(|_| self.clean);
        let frozen = frozen.map(|lockfile| self.parsed(lockfile).ok_or(InstallError::BrokenLockfile)).transpose()?;
        let installed = (!self.clean).then(|| self.installed_meanwhile());
        let mut placed = Vec::new();
        let registry = started.registry.clone();
        let observe = |event: Event| {
            if let Event::Placed { location, .. } = &event {
                placed.push(location.clone());
            }
            if let Some(ahead) = &mut ahead {
                ahead.observe(&registry, &event);
            }
            observe(event);
        };
        let resolving = self.lock.resolve(started, false, !self.clean, observe, interruption.as_mut());
        let resolved = Box::pin(resolving).await?;
        resolved.note(&self.lock.project);
        let compared = async {
            if let Some(lockfile) = frozen {
                let graph = &resolved.outcome.graph;
                let mut differences = agreement::disagreements(lockfile, graph, &placed);
                let declared = self.lock.project.declared(self.lock.settings.extension_file.as_deref());
                differences.extend(agreement::unloaded(graph));
                differences.extend(agreement::stale(lockfile, &declared, graph));
                if !differences.is_empty() {
                    return Err(InstallError::Disagreement { differences });
                }
            }
            Ok(match &mut ahead {
                Some(ahead) => ahead.settle().await,
                None => None,
            })
        };
        // This waits until the store is open, for as long as another process locks its index.
        let store = tokio::select! {
            biased;
            store = compared => store?,
            () = interruption.as_mut() => return Err(ReifyError::Interrupted.into()),
        };
        let early = Early { store, installed };
        Box::pin(self.apply(resolved, flights, early, unchanged.as_ref(), interruption)).await
    }

    /// What a lockfile says, which isn't parsed twice.
    fn parsed<'a>(&self, lockfile: &'a LockfileText) -> Option<&'a ParsedLock<'static>> {
        lockfile.parsed(&self.lock.project.path_as_text())
    }

    /// Starts the work of another thread during the resolution: opening the store, and downloading
    /// the packages of the lockfile if nothing is installed.
    fn meanwhile(&self, started: &Started, flights: &Arc<Flights>) -> Option<Ahead> {
        if self.dry_run || started.registry.is_offline() {
            return None;
        }
        let opening = self.opening(started, flights);
        let is_new = || !self.lock.project.path().join(HIDDEN_LOCKFILE).exists();
        Some(match started.lockfile.shared().filter(|_| is_new()) {
            Some(lockfile) => {
                let project = self.lock.project.path_as_text();
                Ahead::reading(opening, Reading { lockfile, project, host: self.lock.presumed_host() })
            }
            None => Ahead::new(opening),
        })
    }

    /// Opens the store. One that can't be used is reported later.
    fn opening(&self, started: &Started, flights: &Arc<Flights>) -> impl FnOnce() -> Option<Origins> + use<> {
        let (registry, flights) = (started.registry.clone(), Arc::clone(flights));
        let (project, folder) = (self.lock.project.path().to_owned(), self.store.clone());
        let activity = Arc::clone(&self.lock.activity);
        move || {
            let store = Arc::new(Store::open(&folder).ok()?.counted_by(&activity));
            Some(Origins { registry, project, store, preparing: Arc::default(), flights })
        }
    }

    /// Carries out what a resolution decided.
    async fn apply(
        self,
        mut resolved: Resolved,
        flights: Arc<Flights>,
        early: Early,
        unchanged: Option<&Unchanged>,
        interruption: impl Future<Output = ()>,
    ) -> Result<Done, InstallError> {
        let (mut phases, start) = (Phases { resolution: resolved.phases, ..Phases::default() }, Instant::now());
        let mut interruption = pin!(interruption);
        let prepared = self.prepare(&resolved, early, interruption.as_mut()).await?;
        phases.planning = start.elapsed();
        let Prepared { layout, plan, mut scripted, patches, left_out, store, note, hold } = prepared;
        if self.dry_run {
            return Ok(Done {
                warnings: resolved.outcome.warnings,
                lockfile: None,
                report: Report::default(),
                plan: Some(plan),
                note,
                elapsed: resolved.start.elapsed(),
                phases,
            });
        }
        resolved.outcome.lockfile.remove(&layout.unlisted);
        let is_nothing_to_do = plan.is_empty() && left_out.is_empty() && note.is_none();
        scripted.extend(plan.links.iter().map(|link| link.location.clone()));
        let project = self.lock.project.path();
        let origins = Origins {
            registry: resolved.registry.clone(),
            project: project.to_owned(),
            store: Arc::clone(&store),
            preparing: Arc::new(self.preparing(&resolved.outcome.graph, &plan)),
            flights,
        };
        let reify = Reify {
            project,
            outcome: &resolved.outcome,
            layout,
            plan,
            origins,
            activity: Arc::clone(&self.lock.activity),
            executable_mode: store.executable_mode(),
            patches,
            is_lock_saved: !self.clean && self.lock.is_saved(&resolved),
            left_out,
            hold,
        };
        let built = self.build(reify, &scripted, interruption, &mut phases).await?;
        let finishing = Instant::now();
        if self.lock.is_last {
            store.end_for_good();
        }
        drop(store);
        let (lockfile, report) = self.finish(built, &resolved, note.is_some())?;
        let warnings = resolved.outcome.warnings;
        // This precedes the project's own scripts, because they may change what was found.
        let is_nothing_to_do = is_nothing_to_do && report.scripts_run == 0;
        if let (Some(unchanged), true, Some((_, Written::Unchanged))) = (unchanged, is_nothing_to_do, &lockfile) {
            unchanged.note(&self, &resolved.reads, report.kept, &warnings);
        }
        self.later_project_events().await?;
        if self.lock.is_last {
            std::mem::forget((resolved.outcome.graph, resolved.outcome.lockfile));
        }
        phases.finishing = finishing.elapsed();
        Ok(Done { warnings, lockfile, report, plan: None, note, elapsed: resolved.start.elapsed(), phases })
    }

    /// Writes the lockfiles and makes the installation final. `is_store_temporary` says whether the
    /// store goes with it.
    fn finish(
        &self,
        built: Built<'_>,
        resolved: &Resolved,
        is_store_temporary: bool,
    ) -> Result<(Option<(PathBuf, Written)>, Report), InstallError> {
        let writing = &self.lock.activity.writing;
        let lockfile = match writing.time(|| self.save(resolved)) {
            Ok(lockfile) => lockfile,
            Err(error) => {
                built.roll_back();
                return Err(LockError::from(error).into());
            }
        };
        if is_store_temporary {
            // If it can't be removed now, the next installation removes it.
            let _ = std::fs::remove_dir_all(self.lock.project.path().join(TEMPORARY_STORE));
        }
        Ok((lockfile, writing.time(|| built.commit())?))
    }

    /// Places everything and runs the install scripts of dependencies.
    async fn build<'a>(
        &self,
        reify: Reify<'a>,
        scripted: &FxHashSet<String>,
        interruption: impl Future<Output = ()>,
        phases: &mut Phases,
    ) -> Result<Built<'a>, InstallError> {
        let graph = &reify.outcome.graph;
        let start = Instant::now();
        let mut interruption = pin!(interruption);
        let mut built = reify.build(interruption.as_mut()).await?;
        phases.placing = start.elapsed();
        // A script that runs in the background may take no notice of an interruption.
        let ran = tokio::select! {
            ran = self.run_scripts(graph, &mut built, scripted) => ran.map_err(InstallError::from),
            () = interruption => Err(ReifyError::Interrupted.into()),
        };
        phases.scripts = start.elapsed().saturating_sub(phases.placing);
        match ran {
            Ok(()) => Ok(built),
            Err(error) => {
                built.roll_back();
                Err(error)
            }
        }
    }

    /// Runs the project's own scripts that follow an installation.
    async fn later_project_events(&self) -> Result<(), ScriptFailure> {
        for event in PROJECT_EVENTS.into_iter().filter(|event| *event != "preinstall") {
            self.project_event(event).await?;
        }
        Ok(())
    }

    /// Writes the lockfiles. `ci` leaves package-lock.json as it is.
    fn save(&self, resolved: &Resolved) -> Result<Option<(PathBuf, Written)>, ProjectError> {
        if self.clean {
            return self.lock.save_yarn_lock(resolved).map(|()| None);
        }
        let written = self.lock.save(resolved)?;
        Ok(Some((resolved.lockfile.path().to_owned(), written)))
    }

    /// Runs one of the project's own scripts, unless the command installs single packages.
    async fn project_event(&self, event: &str) -> Result<(), ScriptFailure> {
        if !self.project_scripts || self.dry_run || self.lock.changes.any() {
            return Ok(());
        }
        self.scripts.of_project(self.lock.project.path(), event).await
    }

    /// Runs the approved scripts of new packages and of those at `scripted`. An optional package
    /// whose script fails is left out.
    async fn run_scripts(
        &self,
        graph: &Graph,
        built: &mut Built<'_>,
        scripted: &FxHashSet<String>,
    ) -> Result<(), ScriptFailure> {
        let project = self.lock.project.path();
        let is_new = |location: &str| {
            scripted.contains(location) || built.report.with_scripts.iter().any(|package| package.location == location)
        };
        let ran = self.scripts.of_dependencies(graph, project, is_new).await?;
        built.report.with_scripts.retain(|package| !ran.locations.contains(&package.location));
        built.report.scripts_run = ran.locations.len();
        for (location, reason) in ran.left_out {
            built.leave_out(graph, &location, reason);
        }
        Ok(())
    }

    /// The preparation of folders before they are packed. Only approved packages are prepared.
    fn preparing(&self, graph: &Graph, plan: &Plan) -> Preparing {
        let project = self.lock.project.path();
        let placed: FxHashSet<&str> = plan.place.iter().map(|placement| placement.location.as_str()).collect();
        let is_packed = |resolved: &str| resolved.starts_with("file:") || Repository::of(resolved).is_some();
        let nodes = graph.nodes.iter().enumerate().filter(|(_, node)| placed.contains(node.location.as_str()));
        let packed = nodes.filter_map(|(index, node)| {
            let resolved = resolved_in_lockfile(node, graph).filter(|resolved| is_packed(resolved))?;
            self.scripts.gate.allows(graph, index, project).then_some(resolved)
        });
        Preparing {
            allowed: packed.collect::<FxHashSet<String>>(),
            environment: self.scripts.environment.clone(),
            foreground: self.scripts.foreground,
            installer: self.installer.clone(),
        }
    }
}
