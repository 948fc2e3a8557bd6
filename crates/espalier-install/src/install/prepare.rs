//! Everything that is decided before anything changes: the target state, the plan, and the checks
//! of both.

use std::cell::RefCell;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use espalier_core::{EdgeKind, Graph};
use espalier_package::noted::Noted;
use espalier_package::trust::{Refusal, World};
use rustc_hash::{FxHashMap, FxHashSet};

use super::early::Early;
use super::scripts::Scripts;
use super::selection::{self, Selection, Touched};
use super::{Install, InstallError, patches};
use crate::ground::{Footing, Ground};
use crate::installed::{Installed, Source};
use crate::lock::{LockError, Resolved};
use crate::plan::inspect::Inspection;
use crate::plan::layout::{Layout, Origin, Package, lies_in_node_modules, outermost, split};
use crate::plan::{Plan, bins};
use crate::reify::{Hold, ReifyError};
use crate::retired::TEMPORARY_STORE;
use crate::scripts::identity::Subject;
use crate::scripts::lifecycle::install_scripts;
use crate::scripts::policy::Verdict;
use crate::store::{Store, StoreError, StoredPackage};

/// An installation that has not changed anything yet.
pub struct Prepared {
    /// The target state.
    pub layout: Layout,
    /// The changes that lead to it.
    pub plan: Plan,
    /// The locations of packages and links that stay, and whose scripts run all the same.
    pub scripted: FxHashSet<String>,
    /// The texts of patches, by the location of the package.
    pub patches: FxHashMap<String, String>,
    /// The locations of optional packages that are left out, with the reasons.
    pub left_out: Vec<(String, String)>,
    /// The store.
    pub store: Arc<Store>,
    /// A message about the store.
    pub note: Option<String>,
    /// The lock on the project's folder.
    pub hold: Option<Hold>,
}

impl Install {
    /// Decides everything, and locks the project unless nothing can change.
    pub(super) async fn prepare(
        &self,
        resolved: &Resolved,
        early: Early,
        interruption: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Prepared, InstallError> {
        let project = self.lock.project.path();
        let graph = &resolved.outcome.graph;
        let selection = self.selection(graph);
        let is_selected = |location: &str| selection.has(location);
        let mut layout = Layout::new(&resolved.outcome, self.lock.settings.options.omit, &is_selected)?;
        let ground = Ground::new(project);
        check_workspaces(project, &ground, &layout)?;
        if !self.bin_links {
            layout.packages.values_mut().for_each(|package| package.bins.clear());
        }
        self.check_reviewed(&layout, graph)?;
        if self.clean {
            // Packages outside the selection go, too.
            selection.narrow(&mut layout, None);
        }
        let is_needed = layout.packages.keys().any(|location| lies_in_node_modules(location));
        let is_there = project.join("node_modules").exists();
        let hold = if !self.dry_run && (is_needed || is_there) {
            tokio::select! {
                hold = Hold::of(project, &self.scripts.above) => hold?,
                () = interruption => return Err(ReifyError::Interrupted.into()),
            }
        } else {
            None
        };
        let (store, note) = match &early.store {
            Some(store) => (Arc::clone(store), None),
            None => {
                let (store, note) = open_store(&self.store, project)?;
                (Arc::new(store.counted_by(&self.lock.activity)), note)
            }
        };
        let installed = early.installed(&self.lock.project).await;
        let workspaces = workspaces(graph);
        let mut plan = self.plan(&ground, &layout, &workspaces, &store, installed.as_ref());
        let touched = Touched::by(&plan);
        if !self.clean {
            selection.limit(&mut plan);
        }
        selection.narrow(&mut layout, Some(&touched).filter(|_| !self.clean));
        if self.lock.settings.options.prune && self.without_workspaces {
            selection::remove_workspaces(&mut plan, &mut layout, graph, project);
        }
        let mut left_out = self.left_out_as_unknown(&plan, &layout, resolved)?;
        let refused = self.check_trust(&plan, &layout, resolved)?;
        plan.place.retain(|placement| refused.iter().all(|refusal| refusal.location != placement.location));
        left_out.extend(refused.into_iter().map(|refusal| (refusal.location, refusal.message)));
        let scripted = self.scripted(&layout, &selection);
        let patches = patches::read(project, &layout, &plan)?;
        Ok(Prepared { layout, plan, scripted, patches, left_out, store, note, hold })
    }

    /// The selected part of the tree.
    fn selection(&self, graph: &Graph) -> Selection {
        if !self.is_partial() {
            return Selection::default();
        }
        // npm's `ci` has emptied `node_modules` when it looks for what is installed.
        let installed = || Installed::load(&self.lock.project, Source::NodeModules).ok();
        let installed = if self.clean { None } else { installed() };
        let installed = installed.as_ref().map(|installed| &installed.graph);
        let changes = &self.lock.changes;
        if self.without_workspaces {
            return Selection::of(graph, installed, &[], true);
        }
        Selection::of(graph, installed, &changes.workspaces, changes.include_root)
    }

    /// Whether only a part of the tree is installed.
    pub(super) fn is_partial(&self) -> bool {
        self.without_workspaces || !self.lock.changes.workspaces.is_empty()
    }

    /// Handles missing packages without a known source. An optional one is left out; any other is
    /// an error.
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

    /// The packages and links whose scripts run although they are in place. npm's `ci` installs
    /// everything anew. Every installation runs the scripts of the project's own links
    /// (`[_build]` of `reify.js`).
    fn scripted(&self, layout: &Layout, selection: &Selection) -> FxHashSet<String> {
        let Scripts { gate, .. } = &self.scripts;
        if gate.ignore_scripts {
            return FxHashSet::default();
        }
        let has_gyp = |location: &str| {
            (gate.allow_all || !gate.policy.is_empty())
                && self.lock.project.path().join(location).join("binding.gyp").is_file()
        };
        let is_scripted = |location: &str, package: &Package| match package.link() {
            Some(target) => self.clean || split(location).0 == "node_modules" || !target.starts_with(".."),
            None => self.clean && (package.has_install_script || has_gyp(location)),
        };
        let packages = layout.packages.iter().filter(|(location, _)| selection.has(location));
        let scripted = packages.filter(|(location, package)| is_scripted(location, package));
        scripted.map(|(location, _)| location.clone()).collect()
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

    /// Compares the target state with the disk.
    fn plan(
        &self,
        ground: &Ground,
        layout: &Layout,
        workspaces: &[String],
        store: &Store,
        installed: Option<&Noted>,
    ) -> Plan {
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
            ground,
            layout,
            bins: &bins,
            installed,
            clean: self.clean,
            workspaces,
            partial: self.is_partial(),
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

/// The folders of all workspaces.
fn workspaces(graph: &Graph) -> Vec<String> {
    let links = graph.edges_of(0).iter().filter(|edge| edge.kind == EdgeKind::Workspace).filter_map(|edge| edge.to);
    links.filter_map(|link| graph.nodes[link as usize].link.clone()).collect()
}

/// Opens the store. If it can't be written to, opens one for this installation alone and returns a
/// message about it.
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

/// Checks that the workspaces that get packages are inside the project, with links resolved.
fn check_workspaces(project: &Path, ground: &Ground, layout: &Layout) -> Result<(), InstallError> {
    // What exists already is left alone, wherever it is.
    let installed = layout.packages.iter().filter(|(_, package)| package.origin != Origin::Folder);
    let folders = installed.filter_map(|(location, _)| outermost(location)).collect::<FxHashSet<&str>>();
    for folder in folders {
        let (workspace, _) = split(folder);
        if ground.at(workspace) == Footing::Foreign {
            return Err(InstallError::Outside(project.join(workspace)));
        }
    }
    Ok(())
}
