//! Building the ideal tree (`build-ideal-tree.js`).
//!
//! Nodes whose dependencies are missing or wrong stand in a queue, the shallowest first. A step takes one of
//! them and, for each of its problem edges, gathers a candidate in a virtual root ([`candidates`]); then it
//! places the candidates in the order of their names ([`crate::place`]); what was placed, and whatever that
//! has upset, joins the queue. When the queue is empty, links to folders inside the project are followed;
//! when there are none left, the tree stands, and [`finish`] says who needs what.
//!
//! It is written as one asynchronous function, so that it can wait in the middle of gathering a set of peers.
//! It never learns when an answer came, and so the tree can't depend on it.

mod bundle;
mod candidates;
mod explain;
mod extensions;
mod fetch;
mod finish;
mod inflate;
mod inspect;
mod installed;
mod locked;
mod outline;
mod patches;
mod peer_sets;
mod proposals;
mod queue;
mod requests;
mod start;
mod virtual_roots;
mod workspaces;
mod yarn;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde_json::{Map, Value};
use std::rc::Rc;

use crate::catalog::{Catalog, Choice, registry_target};
use crate::changes::{Changes, Update};
use crate::collation;
use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::extensions::PackageExtensions;
use crate::json;
use crate::lockfile::DEFAULT_VERSION;
use crate::lockfile::yarn::YarnLock;
use crate::manifest::Manifest;
use crate::names::{Name, Names};
use crate::options::{Options, Project};
use crate::order;
use crate::overrides::Overrides;
use crate::place::{Placement, Placer, Verdict};
use crate::platform;
use crate::remedy::Change;
use crate::request::{Event, PlacedTarball};
use crate::resolution::{Outcome, Warning};
use crate::spec::{Spec, Specs};
use crate::tree::{EdgeId, EdgeKind, NodeId, Tree};
pub use inspect::inspect;
use queue::Queue;
use requests::Edited;

/// How often one location may be looked at. Locations are looked at again when a package there is replaced, which
/// sound projects see a few times.
const MOST_VISITS: u32 = 1000;

/// A resolution under way.
pub struct Builder {
    tree: Tree,
    options: Options,
    exchange: Rc<Exchange>,
    catalog: Catalog,
    queue: Queue,
    /// Nodes whose dependencies were looked at.
    seen: FxHashSet<NodeId>,
    /// The latest virtual root of each node: npm gathers later candidates where the earlier ones stand.
    virtual_roots: FxHashMap<NodeId, NodeId>,
    /// How many candidates are being built on behalf of each other.
    peer_depth: usize,
    /// How many were built for the present edge.
    peer_count: usize,
    /// Placed nodes that could not be loaded.
    load_failures: IndexSet<NodeId, FxBuildHasher>,
    /// How often each location was looked at.
    visits: FxHashMap<Rc<str>, u32>,
    /// Links that were made or met, whose targets may have to be looked at.
    links: Vec<NodeId>,
    /// Edges that the user asked for by name.
    explicit: FxHashSet<EdgeId>,
    /// Names that the user asked to update.
    update_names: Vec<Name>,
    /// What the user asks to change.
    changes: Changes,
    trial: Vec<Change>,
    /// The projects whose dependencies that changes.
    edited: Vec<Edited>,
    /// The text of the root's package.json.
    manifest_text: String,
    /// The same, read.
    root_manifest: Value,
    /// The root's repairs of other packages.
    extensions: PackageExtensions,
    /// The hash of those that the lock was made with.
    locked_extensions: Option<String>,
    /// Keys of `patchedDependencies` for what was removed.
    orphaned_patches: Vec<String>,
    /// A yarn.lock.
    yarn_lock: Option<YarnLock>,
    /// The manifests that it led to, by name and spec.
    yarn_manifests: FxHashMap<(Name, Rc<str>), Choice>,
    /// Whether there was a lockfile, and so perhaps things that nobody needs any more.
    started_from_lock: bool,
    /// Whether that lockfile was of version 1.
    lock_is_old: bool,
    /// The version that npm writes in the place of that lockfile.
    lock_version: u64,
    /// What else stands at the top of it.
    lock_values: Map<String, Value>,
    /// Whether anything was placed, or will be.
    changed: bool,
    /// Whether nothing will be resolved, so that packages are of no use.
    only_reading: bool,
    /// What was found in `node_modules` without a note of where it came from, and its place there.
    on_disk: FxHashMap<NodeId, Rc<str>>,
    warnings: Vec<Warning>,
}

/// Resolves a project.
pub async fn resolve(project: Project, options: Options, exchange: Rc<Exchange>) -> Result<Outcome, ResolveError> {
    let format = json::format_of(&project.manifest);
    let mut builder = Builder::new(&project, options, exchange.clone())?;
    builder.check_dev_engines(&project)?;
    builder.check_changes()?;
    builder.map_workspaces().await?;
    builder.start(&project).await?;
    builder.load_extensions(&project)?;
    builder.inflate().await;
    builder.apply_changes().await?;
    builder.foresee();
    builder.check_root_overrides()?;
    let root = builder.tree.root;
    builder.queue.push(&builder.tree, root);
    builder.build().await?;
    let outcome = builder.finish(&format).await;
    exchange.leave(Box::new(builder));
    outcome
}

impl Builder {
    fn new(project: &Project, options: Options, exchange: Rc<Exchange>) -> Result<Self, ResolveError> {
        let (mut names, mut specs) = (Names::default(), Specs::default());
        let root_manifest = json::parse("package.json", &project.manifest)?;
        let manifest = Manifest::from_value(&root_manifest, &mut names, &mut specs);
        let overrides = match &manifest.overrides {
            Some(overrides) => Overrides::parse(overrides, &mut names, &mut specs).map_err(|error| {
                ResolveError::Refused { code: error.code, message: error.message, chain: Vec::new() }
            })?,
            None => Overrides::default(),
        };
        let path = if project.path.is_empty() { format!("/{}", project.folder_name) } else { project.path.clone() };
        let with_peers = !options.legacy_peer_deps;
        let catalog = Catalog::new(&options, overrides.have_references());
        // Where everything is updated, npm doesn't read it.
        let yarn_text = project.yarn_lock.as_deref().filter(|_| options.package_lock && !project.changes.updates_all());
        let tree =
            Tree::new(Rc::new(manifest), path.into(), names, specs, overrides, with_peers, options.install_links);
        Ok(Self {
            tree,
            options,
            exchange,
            catalog,
            queue: Queue::default(),
            seen: FxHashSet::default(),
            virtual_roots: FxHashMap::default(),
            peer_depth: 0,
            peer_count: 0,
            load_failures: IndexSet::default(),
            visits: FxHashMap::default(),
            links: Vec::new(),
            explicit: FxHashSet::default(),
            update_names: Vec::new(),
            yarn_lock: yarn_text.map(YarnLock::parse).filter(|lock| !lock.is_empty()),
            yarn_manifests: FxHashMap::default(),
            changes: project.changes.clone(),
            trial: project.trial.clone(),
            edited: Vec::new(),
            manifest_text: project.manifest.clone(),
            root_manifest,
            extensions: PackageExtensions::default(),
            locked_extensions: None,
            orphaned_patches: Vec::new(),
            started_from_lock: false,
            lock_is_old: false,
            lock_version: DEFAULT_VERSION,
            lock_values: Map::new(),
            changed: false,
            only_reading: false,
            on_disk: FxHashMap::default(),
            warnings: Vec::new(),
        })
    }

    /// Asks ahead for what will be needed: everything, or what a lock doesn't have.
    fn foresee(&mut self) {
        let root = self.tree.root;
        if !self.started_from_lock {
            let manifest = self.tree[root].manifest.clone();
            self.catalog.foresee_dependencies(&mut self.tree, &self.exchange, &manifest);
        }
        for node in self.queue.nodes().chain([root]).collect::<Vec<_>>() {
            for edge in self.problem_edges(node) {
                let (name, spec) = (self.tree[edge].name, self.tree.spec(edge));
                self.catalog.foresee(&mut self.tree, &self.exchange, name, &spec);
            }
        }
    }

    /// An override may not contradict what the root itself asks for.
    fn check_root_overrides(&self) -> Result<(), ResolveError> {
        let tree = &self.tree;
        for &id in &tree[tree.root].edges_out {
            let (edge, spec) = (&tree[id], tree.spec(id));
            if spec.raw != edge.raw_spec.raw && !spec.raw.starts_with('$') {
                let name = tree.names.text(edge.name);
                return Err(ResolveError::Refused {
                    code: "EOVERRIDE",
                    message: format!(
                        "the override for {name}@{} conflicts with the direct dependency on it",
                        edge.raw_spec.raw
                    ),
                    chain: Vec::new(),
                });
            }
        }
        self.check_references()
    }

    /// npm stops where it first comes upon an override that refers to nothing, or that it can't compare.
    fn check_references(&self) -> Result<(), ResolveError> {
        if let Some(key) = self.tree.overrides.incomparable() {
            return Err(ResolveError::Refused {
                code: "EOVERRIDE",
                message: format!(
                    "the override for {key} can't be compared with the ranges that are asked for: name a range"
                ),
                chain: Vec::new(),
            });
        }
        match self.tree.dangling_reference.get() {
            None => Ok(()),
            Some(reference) => Err(ResolveError::Refused {
                code: "EOVERRIDE",
                message: format!(
                    "unable to resolve the reference {reference} in overrides: the root has no such dependency"
                ),
                chain: Vec::new(),
            }),
        }
    }

    async fn build(&mut self) -> Result<(), ResolveError> {
        loop {
            while let Some(node) = self.queue.pop() {
                self.step(node).await?;
            }
            self.queue_link_targets();
            if self.queue.is_empty() {
                return Ok(());
            }
        }
    }

    /// Demands can chase each other round in circles: one placement upsets another, which upsets the first again. npm goes
    /// on for ever then.
    fn count_visit(&mut self, node: NodeId) -> Result<(), ResolveError> {
        let Some(path) = self.tree[node].path.clone() else { return Ok(()) };
        let visits = self.visits.entry(path).or_default();
        *visits += 1;
        if *visits <= MOST_VISITS {
            return Ok(());
        }
        Err(ResolveError::Refused {
            code: "ELOOP",
            message: format!(
                "the dependencies can't be settled: whatever is placed for {} upsets what was placed before. An override, or \
                 another version of it, may end that",
                self.describe(node)
            ),
            chain: self.chain_to_node(node),
        })
    }

    /// Looks at one node: gathers candidates for its problem edges, then places them.
    async fn step(&mut self, node: NodeId) -> Result<(), ResolveError> {
        if self.tree[node].root != self.tree.root || !self.seen.insert(node) {
            return Ok(());
        }
        self.count_visit(node)?;
        if self.options.complete {
            self.unpack_bundle(node).await?;
        }
        for (edge, dep) in self.gather(node).await? {
            let placement = self.place(edge, dep)?;
            self.settle(&placement);
        }
        for &edge in &self.tree[node].edges_out {
            if let Some(to) = self.tree[edge].to.filter(|&to| self.tree[to].is_link)
                && !self.links.contains(&to)
            {
                self.links.push(to);
            }
        }
        self.check_references()
    }

    /// The candidates for a node's problem edges, in the order of their names.
    async fn gather(&mut self, node: NodeId) -> Result<Vec<(EdgeId, NodeId)>, ResolveError> {
        let mut candidates = Vec::new();
        for edge in self.problem_edges(node) {
            if self.tree[edge].peer_conflicted {
                continue;
            }
            let dep = self.candidate(node, edge).await?;
            candidates.push((edge, dep));
        }
        let tree = &self.tree;
        let name = |edge: EdgeId| tree.names.text(tree[edge].name);
        order::sort_by(&mut candidates, |&(a, _), &(b, _)| collation::compare(name(a), name(b)));
        Ok(candidates)
    }

    /// The edges of a node that need something done, in its order.
    fn problem_edges(&self, node: NodeId) -> Vec<EdgeId> {
        let tree = &self.tree;
        let bundled: &[Name] = if tree.is_own(node) { &[] } else { &tree[node].manifest.bundled };
        let is_problem = |id: EdgeId| {
            let edge = &tree[id];
            if bundled.contains(&edge.name) {
                return false;
            }
            match edge.to {
                Some(to) if self.load_failures.contains(&to) => false,
                None => edge.kind != EdgeKind::PeerOptional || self.explicit.contains(&id),
                Some(_) if !tree.is_valid(id) => {
                    edge.kind != EdgeKind::PeerOptional || self.options.save || self.mutates()
                }
                Some(to) if tree.is_workspace(to) => false,
                Some(_) => self.update_names.contains(&edge.name) || self.explicit.contains(&id),
            }
        };
        tree[node].edges_out.iter().copied().filter(|&edge| is_problem(edge)).collect()
    }

    fn place(&mut self, edge: EdgeId, dep: NodeId) -> Result<Placement, ResolveError> {
        let mut placer = Placer {
            tree: &mut self.tree,
            force: self.options.force,
            strict_peer_deps: self.options.strict_peer_deps,
            prefer_dedupe: self.options.prefer_dedupe || self.changes.update == Update::Duplicates,
            strategy: self.options.install_strategy,
            with_peers: !self.options.legacy_peer_deps,
            update_names: &self.update_names,
            accepted_conflicts: Vec::new(),
            removed: Vec::new(),
        };
        let result = placer.place(dep, edge, self.explicit.contains(&edge));
        let (conflicts, removed) = (placer.accepted_conflicts, placer.removed);
        for location in removed {
            self.exchange.report(Event::Removed { location: location.to_string() });
        }
        for (edge, dep) in conflicts {
            self.warn_of_conflict(edge, dep);
        }
        if let Some(displaced) = self.tree.displaced_candidate.get() {
            let name = self.tree.names.text(self.tree[displaced].name);
            return Err(ResolveError::Refused {
                code: "ERESOLVE",
                message: format!(
                    "{name} was displaced by a peer that wants another version of it, and npm stumbles here"
                ),
                chain: explain::chain(&self.tree, edge),
            });
        }
        result.map_err(|unplaceable| self.explain_unplaceable(&unplaceable))
    }

    /// Queues what a placement has brought or upset.
    fn settle(&mut self, placement: &Placement) {
        if let Some(placed) = placement.placed {
            if self.tree[placed].failure.is_some() {
                self.load_failures.insert(placed);
            }
            self.changed = true;
            self.report_placed(placed, placement.edge);
            for edge in self.tree[placed].edges_in.clone() {
                let Some(from) = self.tree[edge].from else { continue };
                let upset = edge != placement.edge && !self.tree[edge].peer_conflicted && !self.tree.is_valid(edge);
                // Where nothing is to be saved, what was looked at already stays as it is, unless it was replaced.
                let again = self.options.save
                    || self.mutates()
                    || placement.verdict == Verdict::Replace
                    || !self.seen.contains(&from);
                if upset && again && placement.verdict != Verdict::Conflict {
                    self.seen.remove(&from);
                    self.queue.push(&self.tree, from);
                }
            }
            if placement.verdict != Verdict::Conflict {
                self.queue.push(&self.tree, placed);
                for &node in &placement.reevaluate {
                    self.seen.remove(&node);
                    self.queue.push(&self.tree, node);
                }
            }
        }
        if placement.placed.is_none() {
            self.report_kept(placement.edge);
        }
        for peer in &placement.peers {
            self.settle(peer);
        }
    }

    fn path_of_dependent(&self, edge: EdgeId) -> String {
        let tree = &self.tree;
        tree[edge].from.and_then(|from| tree[from].path.as_deref()).unwrap_or_default().to_owned()
    }

    fn report_picked(&mut self, edge: EdgeId, spec: &Rc<Spec>, manifest: &Manifest) {
        let Some(version) = manifest.version.as_deref() else { return };
        let name = self.tree[edge].name;
        let (package, target) = registry_target(&mut self.tree.names, name, spec);
        let Some(reason) = self.catalog.reason(&self.tree, package, &target, version) else { return };
        let from = self.tree[edge].from;
        self.exchange.report(Event::Picked {
            name: self.tree.names.text(package).to_owned(),
            spec: spec.raw.to_string(),
            version: version.to_owned(),
            reason,
            by: from.map(|from| self.name_of(from).to_owned()).unwrap_or_default(),
            from: from.and_then(|from| self.tree[from].path.as_deref()).map(str::to_owned),
        });
    }

    /// The package's own name, or that of its folder.
    fn name_of(&self, node: NodeId) -> &str {
        self.tree.package(node).name.as_deref().unwrap_or_else(|| self.tree.names.text(self.tree[node].name))
    }

    fn report_kept(&self, edge: EdgeId) {
        let tree = &self.tree;
        let Some(kept) = tree[edge].to.filter(|_| tree.is_valid(edge)) else { return };
        self.exchange.report(Event::Kept {
            location: tree[kept].path.as_deref().unwrap_or_default().to_owned(),
            version: tree.package(kept).version.as_deref().unwrap_or_default().to_owned(),
            name: tree.names.text(tree[edge].name).to_owned(),
            spec: tree.spec(edge).raw.to_string(),
            kind: tree[edge].kind.as_str(),
            from: self.path_of_dependent(edge),
        });
    }

    fn report_placed(&self, placed: NodeId, edge: EdgeId) {
        let tree = &self.tree;
        self.exchange.report(Event::Placed {
            location: tree[placed].path.as_deref().unwrap_or_default().to_owned(),
            name: tree.names.text(tree[placed].name).to_owned(),
            version: tree.package(placed).version.as_deref().unwrap_or_default().to_owned(),
            kind: tree[edge].kind.as_str(),
            spec: tree.spec(edge).raw.to_string(),
            from: self.path_of_dependent(edge),
            tarball: self.tarball_of(placed),
        });
    }

    fn tarball_of(&self, placed: NodeId) -> Option<PlacedTarball> {
        let (node, manifest) = (&self.tree[placed], self.tree.package(placed));
        let resolved = node.resolved.as_deref().filter(|_| platform::suits(manifest, &self.options.platform))?;
        let name = manifest.name.as_deref().unwrap_or(self.tree.names.text(node.name));
        let integrity = node.integrity.as_deref().map(str::to_owned);
        Some(PlacedTarball { name: name.to_owned(), resolved: resolved.to_owned(), integrity })
    }

    /// Queues the targets of links that lie in the project.
    fn queue_link_targets(&mut self) {
        for link in std::mem::take(&mut self.links) {
            let tree = &self.tree;
            let Some(target) = tree[link].target.filter(|_| tree[link].root == tree.root) else {
                continue;
            };
            let inside = tree.is_descendant_of(target, tree.root) && tree.resolve_parent(target).is_some();
            if !inside || self.seen.contains(&target) {
                continue;
            }
            // A rule reaches what is behind the link before its dependencies are resolved.
            let rule = tree[link].rule;
            self.tree.rule_added(target, rule);
            self.queue.push(&self.tree, target);
        }
    }
}
