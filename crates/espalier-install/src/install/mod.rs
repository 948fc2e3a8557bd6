//! `ci` and `install`: resolve a project, plan the changes on disk, and carry them out.
//!
//! `ci` requires a matching lockfile, changes neither it nor package.json, and checks every installed file. `install` starts from
//! the lockfile, trusts the hidden lockfile, and writes the lockfile at the end.

mod ahead;
mod patches;
pub mod scripts;
mod selection;
mod unchanged;

use std::cell::RefCell;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use espalier_core::Warning;
use espalier_core::{Event, Graph, ParsedLock};
use espalier_package::agreement;
use espalier_package::noted::Noted;
use espalier_package::patch::PatchError;
use espalier_package::trust::World;
pub use espalier_package::trust::{Refusal, Trust};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::task::JoinHandle;

use crate::git::Repository;
use crate::lock::{self, Lock, LockError, Resolved, Started};
use crate::packing::prepare::{Installer, Preparing};
use crate::plan::inspect::Inspection;
use crate::plan::layout::{Layout, LayoutError, Origin, lies_in_node_modules, resolved_in_lockfile};
use crate::plan::{Plan, bins};
use crate::project::{HIDDEN_LOCKFILE, ProjectError, Written};
use crate::reify::{Built, Flights, Hold, Origins, Reify, ReifyError, Report};
use crate::retired::TEMPORARY_STORE;
use crate::scripts::identity::Subject;
use crate::scripts::lifecycle::{PROJECT_EVENTS, install_scripts};
use crate::scripts::policy::{PolicyError, Verdict};
use crate::store::{Store, StoreError, StoredPackage};
use ahead::Ahead;
use scripts::{ScriptFailure, Scripts};
use selection::{Selection, Touched};
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

/// The result of a run. In a dry run, nothing was changed.
#[derive(Debug)]
pub struct Done {
    /// Warnings about the tree.
    pub warnings: Vec<Warning>,
    /// The lockfile and what happened to it. `ci` doesn't write it.
    pub lockfile: Option<(PathBuf, Written)>,
    /// What was done.
    pub report: Report,
    /// The plan, in a dry run.
    pub plan: Option<Plan>,
    /// A message about the store.
    pub note: Option<String>,
    /// The time from the first file read to the last byte written.
    pub elapsed: Duration,
    /// The parts of that time, beside those that the activity counts.
    pub phases: Phases,
}

/// The parts of an installation, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// The parts of the resolution.
    pub resolution: lock::Phases,
    /// Comparing the disk with the target state.
    pub planning: Duration,
    /// Moving away, fetching, unpacking and placing.
    pub placing: Duration,
    /// The install scripts of dependencies.
    pub scripts: Duration,
    /// Writing the lockfiles, and the project's own scripts.
    pub finishing: Duration,
}

/// Why an installation failed. The project is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The resolution failed.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// `ci` needs a lockfile, and there is none.
    #[error("`ci` needs a package-lock.json")]
    NoLockfile,
    /// `ci` found a lockfile that doesn't match.
    #[error("package.json and package-lock.json are not in sync")]
    Disagreement {
        /// The differences, in npm's words.
        differences: Vec<String>,
    },
    /// The lockfile can't be installed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// It names a package that must not be fetched.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Packages have unreviewed scripts, and the settings make that an error.
    #[error("{} with install scripts {} not covered by allowScripts", counted(packages.len()), if packages.len() == 1 { "is" } else { "are" })]
    Unreviewed {
        /// The packages, with their versions.
        packages: Vec<String>,
    },
    /// A package can't be patched.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// A workspace leads out of the project.
    #[error("{} is outside the project, where nothing may be installed", .0.display())]
    Outside(PathBuf),
    /// The disk or the network failed.
    #[error(transparent)]
    Reify(#[from] ReifyError),
    /// `allowScripts` can't be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A script failed.
    #[error(transparent)]
    Script(Box<ScriptFailure>),
}

fn counted(packages: usize) -> String {
    if packages == 1 { "1 package".to_owned() } else { format!("{packages} packages") }
}

impl From<ScriptFailure> for InstallError {
    fn from(failure: ScriptFailure) -> Self {
        Self::Script(Box::new(failure))
    }
}

impl From<StoreError> for InstallError {
    fn from(error: StoreError) -> Self {
        Self::Reify(ReifyError::Store(error))
    }
}

impl Install {
    /// Runs the installation. `observe` receives the events of the resolution. When `interruption` completes, the run ends.
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
        if self.clean && started.lockfile.text().is_none() {
            return Err(InstallError::NoLockfile);
        }
        let flights = Arc::<Flights>::default();
        let mut ahead = self.ahead(&started, &flights);
        let parsed = self.clean.then(|| self.parsed_meanwhile(&started));
        let mut placed = Vec::new();
        let observe = |event: Event| {
            if let Event::Placed { location, .. } = &event {
                placed.push(location.clone());
            }
            if let Some(ahead) = &mut ahead {
                ahead.observe(&event);
            }
            observe(event);
        };
        let resolving = self.lock.resolve(started, false, !self.clean, observe, interruption.as_mut());
        let resolved = Box::pin(resolving).await?;
        if let Some(ahead) = &mut ahead {
            ahead.settle().await;
        }
        if let Some(parsed) = parsed {
            let lockfile = parsed.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            let graph = &resolved.outcome.graph;
            let mut differences = agreement::disagreements(&lockfile, graph, &placed);
            let declared = self.lock.project.declared(self.lock.settings.extension_file.as_deref());
            differences.extend(agreement::stale(&lockfile, &declared, graph));
            if !differences.is_empty() {
                return Err(InstallError::Disagreement { differences });
            }
        }
        let store = ahead.as_ref().map(Ahead::store);
        Box::pin(self.apply(resolved, flights, store, unchanged.as_ref(), interruption)).await
    }

    /// Begins to download, unless nothing is to be installed. A store that can't be used is reported later.
    fn ahead(&self, started: &Started, flights: &Arc<Flights>) -> Option<Ahead> {
        let project = self.lock.project.path();
        if self.dry_run || started.registry.is_offline() {
            return None;
        }
        let mut ahead = Ahead::new(Origins {
            registry: started.registry.clone(),
            project: project.to_owned(),
            store: Arc::new(Store::open(&self.store).ok()?.counted_by(&self.lock.activity)),
            preparing: Arc::default(),
            flights: Arc::clone(flights),
        });
        let is_new = !project.join(HIDDEN_LOCKFILE).exists();
        if let Some(lockfile) = started.lockfile.text().filter(|_| is_new) {
            ahead.read(lockfile.to_owned(), self.lock.platform().1);
        }
        Some(ahead)
    }

    /// Parses the lockfile on another thread. The tree is compared with it later.
    fn parsed_meanwhile(&self, started: &Started) -> JoinHandle<ParsedLock> {
        let text = started.lockfile.text().unwrap_or_default().to_owned();
        let project = self.lock.project.path_as_text();
        tokio::task::spawn_blocking(move || ParsedLock::read(&text, &project))
    }

    async fn apply(
        self,
        resolved: Resolved,
        flights: Arc<Flights>,
        store: Option<Arc<Store>>,
        unchanged: Option<&Unchanged>,
        interruption: impl Future<Output = ()>,
    ) -> Result<Done, InstallError> {
        let (mut phases, start) = (Phases { resolution: resolved.phases, ..Phases::default() }, Instant::now());
        let project = self.lock.project.path().to_owned();
        let mut layout = Layout::new(&resolved.outcome, self.lock.settings.options.omit)?;
        check_workspaces(&project, &layout)?;
        if !self.bin_links {
            layout.packages.values_mut().for_each(|package| package.bins.clear());
        }
        let graph = &resolved.outcome.graph;
        let selection = self.selection(graph);
        self.check_reviewed(&layout, graph)?;
        if self.clean {
            // Packages outside the selection go, too.
            selection.narrow(&mut layout, None);
        }
        let is_needed = layout.packages.keys().any(|location| lies_in_node_modules(location));
        let is_there = project.join("node_modules").exists();
        let mut interruption = pin!(interruption);
        let hold = if !self.dry_run && (is_needed || is_there) {
            tokio::select! {
                hold = Hold::of(&project) => hold?,
                () = &mut interruption => return Err(ReifyError::Interrupted.into()),
            }
        } else {
            None
        };
        // This is read as late as here, because another installation may have just finished.
        let installed = if self.clean { None } else { self.lock.project.noted().map(|(noted, _)| noted) };
        let (store, note) = match store {
            Some(store) => (store, None),
            None => {
                let (store, note) = open_store(&self.store, &project)?;
                (Arc::new(store.counted_by(&self.lock.activity)), note)
            }
        };
        let mut plan = self.plan(&layout, &store, installed.as_ref());
        let touched = Touched::by(&plan);
        selection.limit(&mut plan, installed.as_ref());
        selection.narrow(&mut layout, Some(&touched).filter(|_| !self.clean));
        let mut left_out = self.left_out_as_unknown(&plan, &layout, &resolved)?;
        let refused = self.check_trust(&plan, &layout, &resolved)?;
        plan.place.retain(|placement| refused.iter().all(|refusal| refusal.location != placement.location));
        let patches = patches::read(&project, &layout, &plan)?;
        if self.dry_run {
            return Ok(Done {
                warnings: resolved.outcome.warnings,
                lockfile: None,
                report: Report::default(),
                plan: Some(plan),
                note,
                elapsed: resolved.start.elapsed(),
                phases: Phases { planning: start.elapsed(), ..phases },
            });
        }
        left_out.extend(refused.into_iter().map(|refusal| (refusal.location, refusal.message)));
        let is_nothing_to_do = plan.is_empty() && left_out.is_empty() && note.is_none();
        let links: Vec<String> = plan.links.iter().map(|link| link.location.clone()).collect();
        let origins = Origins {
            registry: resolved.registry.clone(),
            project: project.clone(),
            store: Arc::clone(&store),
            preparing: Arc::new(self.preparing(graph)),
            flights,
        };
        let reify = Reify {
            project: &project,
            outcome: &resolved.outcome,
            layout,
            plan,
            origins,
            activity: Arc::clone(&self.lock.activity),
            executable_mode: store.executable_mode(),
            patches,
            names_project: self.is_lock_read_or_written(&resolved),
            left_out,
            hold,
        };
        phases.planning = start.elapsed();
        let built = self.build(reify, &links, interruption, &mut phases).await?;
        let finishing = Instant::now();
        let writing = &self.lock.activity.writing;
        let lockfile = match writing.time(|| self.save(&resolved)) {
            Ok(lockfile) => lockfile,
            Err(error) => {
                built.roll_back();
                return Err(LockError::from(error).into());
            }
        };
        drop(store);
        let temporary = project.join(TEMPORARY_STORE);
        if note.is_some() {
            // If it can't be removed now, the next installation removes it.
            let _ = std::fs::remove_dir_all(temporary);
        }
        let report = writing.time(|| built.commit())?;
        let warnings = resolved.outcome.warnings;
        // This precedes the project's own scripts, because they may change what was found.
        if let (Some(unchanged), true, Some((_, Written::Unchanged))) = (unchanged, is_nothing_to_do, &lockfile) {
            unchanged.note(&self, &resolved.reads, report.kept, &warnings);
        }
        self.later_project_events().await?;
        phases.finishing = finishing.elapsed();
        Ok(Done { warnings, lockfile, report, plan: None, note, elapsed: resolved.start.elapsed(), phases })
    }

    /// Places everything and runs the install scripts of dependencies.
    async fn build<'a>(
        &self,
        reify: Reify<'a>,
        links: &[String],
        interruption: impl Future<Output = ()>,
        phases: &mut Phases,
    ) -> Result<Built<'a>, InstallError> {
        let graph = &reify.outcome.graph;
        let start = Instant::now();
        let mut built = reify.build(interruption).await?;
        phases.placing = start.elapsed();
        let ran = self.run_scripts(graph, &mut built, links).await;
        phases.scripts = start.elapsed().saturating_sub(phases.placing);
        match ran {
            Ok(()) => Ok(built),
            Err(failure) => {
                built.roll_back();
                Err(failure.into())
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

    /// The selected part of the tree.
    fn selection(&self, graph: &Graph) -> Selection {
        if self.without_workspaces {
            return Selection::of_project(graph);
        }
        let changes = &self.lock.changes;
        Selection::of(graph, &changes.workspaces, changes.include_root)
    }

    /// Whether npm has read or written a lockfile of the project. Only then does the hidden lockfile state the project's name.
    fn is_lock_read_or_written(&self, resolved: &Resolved) -> bool {
        let has_lock = resolved.lockfile.text().is_some_and(|text| !text.is_empty());
        self.clean || self.lock.settings.options.package_lock && (has_lock || resolved.outcome.is_saved)
    }

    /// Handles missing packages without a known source. An optional one is left out; any other is an error.
    fn left_out_as_unknown(
        &self,
        plan: &Plan,
        layout: &Layout,
        resolved: &Resolved,
    ) -> Result<Vec<(String, String)>, LockError> {
        let mut left_out = Vec::new();
        for (location, error) in &resolved.outcome.unknown_origins {
            if !plan.unknown.contains(location) {
                continue;
            }
            if !layout.packages.get(location).is_some_and(|package| package.optional) {
                let project = Box::new(self.lock.project.read(&resolved.lockfile)?);
                return Err(LockError::Resolve { error: Box::new(error.clone()), project, remedies: Vec::new() });
            }
            left_out.push((location.clone(), error.to_string()));
        }
        Ok(left_out)
    }

    /// Refuses packages that may not be fetched. Packages that are already in place stay.
    fn check_trust(&self, plan: &Plan, layout: &Layout, resolved: &Resolved) -> Result<Vec<Refusal>, Refusal> {
        let locations = plan.place.iter().map(|placement| placement.location.as_str());
        let world = World {
            is_of_registry: &|address, name| resolved.registry.is_of_registry(address, name),
            is_folder: &|path| self.lock.project.path().join(path).is_dir(),
        };
        self.trust.check(locations, layout, &resolved.outcome.graph, &world)
    }

    /// Runs one of the project's own scripts, unless the command installs single packages.
    async fn project_event(&self, event: &str) -> Result<(), ScriptFailure> {
        if !self.project_scripts || self.dry_run || self.lock.changes.any() {
            return Ok(());
        }
        self.scripts.of_project(self.lock.project.path(), event).await
    }

    /// Runs the approved scripts of new packages. An optional package whose script fails is left out.
    async fn run_scripts(&self, graph: &Graph, built: &mut Built<'_>, links: &[String]) -> Result<(), ScriptFailure> {
        let project = self.lock.project.path();
        let is_new = |location: &str| {
            links.iter().any(|link| link == location)
                || built.report.with_scripts.iter().any(|package| package.location == location)
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
    fn preparing(&self, graph: &Graph) -> Preparing {
        let project = self.lock.project.path();
        let is_packed = |resolved: &str| resolved.starts_with("file:") || Repository::of(resolved).is_some();
        let packed = graph.nodes.iter().enumerate().filter_map(|(index, node)| {
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

    /// `strict-allow-scripts`: fails if a package has unreviewed install scripts.
    fn check_reviewed(&self, layout: &Layout, graph: &Graph) -> Result<(), InstallError> {
        let gate = &self.scripts.gate;
        if !self.scripts.strict || gate.ignore_scripts || gate.allow_all {
            return Ok(());
        }
        let project = self.lock.project.path();
        let text = project.to_string_lossy();
        let mut packages = Vec::new();
        for (index, node) in graph.nodes.iter().enumerate().skip(1) {
            let Some(package) = layout.packages.get(&node.location) else { continue };
            let can_run = !node.workspace && node.target.is_none() && !node.in_bundle && !node.inert;
            let subject = Subject::of(graph, index, &text);
            let has_scripts =
                || package.has_install_script || !install_scripts(&project.join(&node.location), &subject).is_empty();
            if can_run && gate.policy.decide(&subject, &text) == Verdict::Unreviewed && has_scripts() {
                let version = node.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
                packages.push(format!("{}{version}", package.package_name));
            }
        }
        if packages.is_empty() { Ok(()) } else { Err(InstallError::Unreviewed { packages }) }
    }

    fn plan(&self, layout: &Layout, store: &Store, installed: Option<&Noted>) -> Plan {
        let project = self.lock.project.path();
        let known: RefCell<FxHashMap<String, Option<StoredPackage>>> = RefCell::default();
        let stored = |location: &str| {
            let Origin::Tarball { integrity: Some(integrity), .. } = &layout.packages.get(location)?.origin else {
                return None;
            };
            let find = || store.find_as(integrity);
            known.borrow_mut().entry(integrity.clone()).or_insert_with(find).clone()
        };
        let bins = bins::links(layout);
        let inspection = Inspection {
            project,
            layout,
            bins: &bins,
            installed,
            clean: self.clean,
            stored: &stored,
            executable_mode: store.executable_mode(),
        };
        let mut findings = inspection.run();
        if store.root().starts_with(project.join(TEMPORARY_STORE)) {
            findings.extraneous.retain(|path| path != TEMPORARY_STORE);
        }
        Plan::new(layout, &findings, bins, stored)
    }
}

/// Opens the store. If it can't be written to, opens one for this installation alone and returns a message about it.
fn open_store(folder: &Path, project: &Path) -> Result<(Store, Option<String>), StoreError> {
    match Store::open(folder) {
        Ok(store) => Ok((store, None)),
        Err(error @ StoreError::Folder { .. }) => {
            let temporary = project.join(TEMPORARY_STORE);
            let store = Store::open(&temporary).map_err(|_| error)?;
            let note =
                format!("the store in {} cannot be written to, so this installation shares no files", folder.display());
            Ok((store, Some(note)))
        }
        Err(error) => Err(error),
    }
}

/// Checks that the workspaces in the lockfile are inside the project, with links resolved.
fn check_workspaces(project: &Path, layout: &Layout) -> Result<(), InstallError> {
    let Ok(root) = project.canonicalize() else { return Ok(()) };
    for folder in layout.folders().keys() {
        let Some(workspace) = folder.split("node_modules").next().filter(|prefix| !prefix.is_empty()) else { continue };
        let path = project.join(workspace);
        if path.canonicalize().is_ok_and(|real| !real.starts_with(&root)) {
            return Err(InstallError::Outside(path));
        }
    }
    Ok(())
}
