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
mod report;
mod requests;
mod start;
mod virtual_roots;
pub mod workspaces;
mod yarn;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde_json::{Map, Value};
use std::rc::Rc;

use crate::catalog::{Catalog, Choice};
use crate::changes::{Changes, Update};
use crate::collation;
use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::extensions::PackageExtensions;
use crate::json;
use crate::lockfile::DEFAULT_VERSION;
use crate::lockfile::yarn::YarnLock;
use crate::names::Name;
use crate::options::{Options, Project};
use crate::order;
use crate::overrides::Overrides;
use crate::place::{Effects, Notes, Placer, Verdict};
use crate::proposal::Proposal;
use crate::refusal::Refusal;
use crate::request::Event;
use crate::resolution::{Outcome, Warning};
use crate::tree::{EdgeId, EdgeKind, NodeId, Tree};
use crate::vocabulary::Vocabulary;
pub use inspect::inspect;
use queue::Queue;
use requests::Edited;

/// How often one location may be looked at. Locations are looked at again when a package there is replaced, which
/// sound projects see a few times.
const MOST_VISITS: u32 = 1000;

/// A resolution under way.
///
/// It has more than ten fields because its phases run one after the other over the same tree, each with its own: the lock is read
/// before anything is asked for, what is asked for before the search begins, and gathering is a part of the search.
pub struct Builder {
    tree: Tree,
    options: Options,
    exchange: Rc<Exchange>,
    catalog: Catalog,
    root_file: RootFile,
    lock: LockFacts,
    yarn: Yarn,
    asked: Asked,
    search: Search,
    gathering: Gathering,
    /// What is tried out in package.json files of workspaces.
    trial: Vec<Proposal>,
    /// The root's repairs of other packages.
    extensions: PackageExtensions,
    /// Keys of `patchedDependencies` for what was removed.
    orphaned_patches: Vec<String>,
    /// Whether nothing will be resolved, so that packages are of no use.
    only_reading: bool,
    /// What was found in `node_modules` without a note of where it came from, and its place there.
    on_disk: FxHashMap<NodeId, Rc<str>>,
    warnings: Vec<Warning>,
}

/// The root's package.json.
struct RootFile {
    text: String,
    /// The same, read.
    value: Value,
}

/// What is remembered of the lockfile that the resolution started from.
struct LockFacts {
    /// Whether there was one, and so perhaps things that nobody needs any more.
    existed: bool,
    /// Whether it was of version 1.
    is_old: bool,
    /// The version that npm writes in its place.
    version: u64,
    /// What else stands at the top of it.
    values: Map<String, Value>,
    /// The hash of the extensions that it was made with.
    extensions_hash: Option<String>,
}

/// A yarn.lock as a source of versions.
struct Yarn {
    lock: Option<YarnLock>,
    /// The manifests that it led to, by name and spec.
    manifests: FxHashMap<(Name, Rc<str>), Choice>,
}

/// What the user asks to change.
struct Asked {
    changes: Changes,
    /// Edges that were asked for by name.
    explicit: FxHashSet<EdgeId>,
    /// Names that are to be updated.
    update_names: Vec<Name>,
    /// The projects whose dependencies that changes.
    edited: Vec<Edited>,
}

/// The search for a tree in which every dependency is met.
#[derive(Default)]
struct Search {
    queue: Queue,
    /// Nodes whose dependencies were looked at.
    seen: FxHashSet<NodeId>,
    /// How often each location was looked at.
    visits: FxHashMap<Rc<str>, u32>,
    /// Links that were made or met, whose targets may have to be looked at.
    links: Vec<NodeId>,
    /// Placed nodes that could not be loaded.
    load_failures: IndexSet<NodeId, FxBuildHasher>,
    /// Whether anything was placed, or will be.
    changed: bool,
}

/// The gathering of candidates.
#[derive(Default)]
struct Gathering {
    /// The latest virtual root of each node: npm gathers later candidates where the earlier ones stand.
    virtual_roots: FxHashMap<NodeId, NodeId>,
    /// How many candidates are being built on behalf of each other.
    depth: usize,
    /// How many were built for the present edge.
    count: usize,
}

/// Resolves a project.
pub async fn resolve(project: Project, options: Options, exchange: Rc<Exchange>) -> Result<Outcome, ResolveError> {
    let format = json::format_of(&project.manifest);
    let mut builder = Builder::new(&project, options, exchange.clone())?;
    builder.check_dev_engines(&project)?;
    builder.check_changes()?;
    builder.list_root_bins().await;
    builder.map_workspaces().await?;
    builder.start(&project).await?;
    builder.load_extensions(&project)?;
    builder.inflate().await;
    builder.apply_changes().await?;
    builder.foresee();
    builder.check_root_overrides()?;
    builder.check_overrides_into(&builder.tree.inventory(builder.tree.root))?;
    let root = builder.tree.root;
    builder.search.queue.push(&builder.tree, root);
    builder.build().await?;
    let outcome = builder.finish(&format).await;
    exchange.leave(Box::new(builder));
    outcome
}

impl Builder {
    fn new(project: &Project, options: Options, exchange: Rc<Exchange>) -> Result<Self, ResolveError> {
        let mut words = Vocabulary::default();
        let root_manifest = json::parse("package.json", &project.manifest)?;
        let manifest = words.manifest(&root_manifest);
        if let Some(overrides) = &manifest.overrides {
            words.overrides = Overrides::parse(overrides, &mut words.names, &mut words.specs)?;
        }
        let path = if project.path.is_empty() { format!("/{}", project.folder_name) } else { project.path.clone() };
        let with_peers = !options.legacy_peer_deps;
        let catalog = Catalog::new(&options, words.overrides.have_references());
        // Where everything is updated, npm doesn't read it.
        let yarn_text = project.yarn_lock.as_deref().filter(|_| options.package_lock && !project.changes.updates_all());
        let tree = Tree::new(Rc::new(manifest), path.into(), words, with_peers, options.install_links);
        Ok(Self {
            tree,
            options,
            exchange,
            catalog,
            root_file: RootFile { text: project.manifest.clone(), value: root_manifest },
            lock: LockFacts {
                existed: false,
                is_old: false,
                version: DEFAULT_VERSION,
                values: Map::new(),
                extensions_hash: None,
            },
            yarn: Yarn {
                lock: yarn_text.map(YarnLock::parse).filter(|lock| !lock.is_empty()),
                manifests: FxHashMap::default(),
            },
            asked: Asked {
                changes: project.changes.clone(),
                explicit: FxHashSet::default(),
                update_names: Vec::new(),
                edited: Vec::new(),
            },
            search: Search::default(),
            gathering: Gathering::default(),
            trial: project.trial.clone(),
            extensions: PackageExtensions::default(),
            orphaned_patches: Vec::new(),
            only_reading: false,
            on_disk: FxHashMap::default(),
            warnings: Vec::new(),
        })
    }

    /// The root's manifest was read before anything could be asked for.
    async fn list_root_bins(&mut self) {
        let root = self.tree.root;
        if self.tree[root].manifest.bin_folder.is_some() {
            let mut manifest = (*self.tree[root].manifest).clone();
            self.list_bins(&mut manifest, "").await;
            self.tree[root].manifest = Rc::new(manifest);
        }
    }

    /// Asks ahead for what will be needed: everything, or what a lock doesn't have.
    fn foresee(&mut self) {
        let root = self.tree.root;
        if !self.lock.existed {
            let manifest = self.tree[root].manifest.clone();
            self.catalog.foresee_dependencies(&mut self.tree.words, &self.exchange, &manifest);
        }
        for node in self.search.queue.nodes().chain([root]).collect::<Vec<_>>() {
            for edge in self.problem_edges(node) {
                let (name, spec) = (self.tree[edge].name, self.tree.spec(edge));
                self.catalog.foresee(&mut self.tree.words, &self.exchange, name, &spec);
            }
        }
    }

    /// An override may not contradict what the root itself asks for.
    fn check_root_overrides(&self) -> Result<(), ResolveError> {
        let tree = &self.tree;
        for &id in &tree[tree.root].edges_out {
            let (edge, spec) = (&tree[id], tree.spec(id));
            if spec.raw != edge.raw_spec.raw && !spec.raw.starts_with('$') {
                let (name, spec) = (tree.words.names.text(edge.name).to_owned(), edge.raw_spec.raw.to_string());
                return Err(Refusal::OverriddenDependency { name, spec }.into());
            }
        }
        self.check_overrides_of(tree[tree.root].edges_out.iter().copied())
    }

    /// npm stops where it first comes upon an override that it can't compare, or needs the spec of an edge whose override refers
    /// to nothing.
    fn check_overrides_of(&self, edges: impl IntoIterator<Item = EdgeId>) -> Result<(), ResolveError> {
        if let Some(key) = &self.tree.incomparable_override {
            return Err(Refusal::IncomparableOverride { key: key.to_string() }.into());
        }
        if !self.tree.words.overrides.have_references() {
            return Ok(());
        }
        match edges.into_iter().find_map(|edge| self.tree.dangling_reference(edge)) {
            None => Ok(()),
            Some(reference) => Err(Refusal::DanglingReference { reference: reference.to_owned() }.into()),
        }
    }

    /// The same for the edges that lead to these nodes.
    fn check_overrides_into(&self, nodes: &[NodeId]) -> Result<(), ResolveError> {
        self.check_overrides_of(nodes.iter().flat_map(|&node| &self.tree[node].edges_in).copied())
    }

    /// The same for the edges out of a node that lead anywhere.
    fn check_overrides_met_by(&self, node: NodeId) -> Result<(), ResolveError> {
        let edges = self.tree[node].edges_out.iter().copied();
        self.check_overrides_of(edges.filter(|&edge| self.tree[edge].to.is_some()))
    }

    async fn build(&mut self) -> Result<(), ResolveError> {
        loop {
            while let Some(node) = self.search.queue.pop() {
                self.step(node).await?;
            }
            self.queue_link_targets();
            if self.search.queue.is_empty() {
                return Ok(());
            }
        }
    }

    /// Demands can chase each other round in circles: one placement upsets another, which upsets the first again. npm goes
    /// on for ever then.
    fn count_visit(&mut self, node: NodeId) -> Result<(), ResolveError> {
        let Some(path) = self.tree[node].path.clone() else { return Ok(()) };
        let visits = self.search.visits.entry(path).or_default();
        *visits += 1;
        if *visits <= MOST_VISITS {
            return Ok(());
        }
        let (name, version) = self.name_and_version(node);
        Err(self.refused(Refusal::Unsettled { name, version }, node))
    }

    /// Looks at one node: gathers candidates for its problem edges, then places them.
    async fn step(&mut self, node: NodeId) -> Result<(), ResolveError> {
        if self.tree[node].root != self.tree.root || !self.search.seen.insert(node) {
            return Ok(());
        }
        self.count_visit(node)?;
        if self.options.complete {
            self.unpack_bundle(node).await?;
        }
        for (edge, dep) in self.gather(node).await? {
            let placement = self.place(edge, dep)?;
            self.settle(&placement)?;
        }
        for &edge in &self.tree[node].edges_out {
            if let Some(to) = self.tree[edge].to.filter(|&to| self.tree[to].is_link)
                && !self.search.links.contains(&to)
            {
                self.search.links.push(to);
            }
        }
        Ok(())
    }

    /// The candidates for a node's problem edges, in the order of their names.
    async fn gather(&mut self, node: NodeId) -> Result<Vec<(EdgeId, NodeId)>, ResolveError> {
        let mut candidates = Vec::new();
        let problems = self.problem_edges(node);
        let tree = &self.tree;
        let used = |&edge: &EdgeId| tree[edge].to.is_some() || problems.contains(&edge);
        self.check_overrides_of(tree[node].edges_out.iter().copied().filter(used))?;
        self.report_visit(node, &problems);
        for edge in problems {
            if self.tree[edge].peer_conflicted {
                continue;
            }
            let dep = self.candidate(node, edge).await?;
            candidates.push((edge, dep));
        }
        let tree = &self.tree;
        let name = |edge: EdgeId| tree.words.names.text(tree[edge].name);
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
                Some(to) if self.search.load_failures.contains(&to) => false,
                None => edge.kind != EdgeKind::PeerOptional || self.asked.explicit.contains(&id),
                Some(_) if !tree.is_valid(id) => {
                    edge.kind != EdgeKind::PeerOptional || self.options.save || self.mutates()
                }
                Some(to) if tree.is_workspace(to) => false,
                Some(_) => self.asked.update_names.contains(&edge.name) || self.asked.explicit.contains(&id),
            }
        };
        tree[node].edges_out.iter().copied().filter(|&edge| is_problem(edge)).collect()
    }

    fn place(&mut self, edge: EdgeId, dep: NodeId) -> Result<Effects, ResolveError> {
        let mut placer = Placer {
            tree: &mut self.tree,
            force: self.options.force,
            strict_peer_deps: self.options.strict_peer_deps,
            prefer_dedupe: self.options.prefer_dedupe || self.asked.changes.update == Update::Duplicates,
            strategy: self.options.install_strategy,
            with_peers: !self.options.legacy_peer_deps,
            update_names: &self.asked.update_names,
            accepted_conflicts: Vec::new(),
            removed: Vec::new(),
            displaced: None,
            notes: self.options.decisions.then(Notes::default),
        };
        let result = placer.place(dep, edge, self.asked.explicit.contains(&edge));
        let Placer { accepted_conflicts: conflicts, removed, displaced, notes, .. } = placer;
        for decision in notes.map(|notes| notes.decisions).into_iter().flatten() {
            self.exchange.report(Event::Decided(Box::new(decision)));
        }
        for location in removed {
            self.exchange.report(Event::Removed { location: location.to_string() });
        }
        for (edge, dep) in conflicts {
            self.warn_of_conflict(edge, dep);
        }
        if let Some(displaced) = displaced {
            let name = self.tree.words.names.text(self.tree[displaced].name).to_owned();
            let chain = || explain::chain(&self.tree, edge);
            return Err(ResolveError::from(Refusal::DisplacedPeer { name }).asked_by(chain));
        }
        result.map_err(|unplaceable| self.explain_unplaceable(&unplaceable))
    }

    /// Queues what a placement has brought or upset.
    fn settle(&mut self, placement: &Effects) -> Result<(), ResolveError> {
        if let Some(placed) = placement.placed {
            self.check_overrides_into(&[placed])?;
            self.check_overrides_met_by(placed)?;
            if self.tree[placed].failure.is_some() {
                self.search.load_failures.insert(placed);
            }
            self.search.changed = true;
            self.report_placed(placed, placement.edge);
            for edge in self.tree[placed].edges_in.clone() {
                let Some(from) = self.tree[edge].from else { continue };
                let upset = edge != placement.edge && !self.tree[edge].peer_conflicted && !self.tree.is_valid(edge);
                // Where nothing is to be saved, what was looked at already stays as it is, unless it was replaced.
                let again = self.options.save
                    || self.mutates()
                    || placement.verdict == Verdict::Replace
                    || !self.search.seen.contains(&from);
                if upset && again && placement.verdict != Verdict::Conflict {
                    self.search.seen.remove(&from);
                    self.search.queue.push(&self.tree, from);
                }
            }
            if placement.verdict != Verdict::Conflict {
                self.search.queue.push(&self.tree, placed);
                for &node in &placement.reevaluate {
                    self.search.seen.remove(&node);
                    self.search.queue.push(&self.tree, node);
                }
            }
        }
        if placement.placed.is_none() {
            self.report_kept(placement.edge);
        }
        placement.peers.iter().try_for_each(|peer| self.settle(peer))
    }

    /// Queues the targets of links that lie in the project.
    fn queue_link_targets(&mut self) {
        for link in std::mem::take(&mut self.search.links) {
            let tree = &self.tree;
            let Some(target) = tree[link].target.filter(|_| tree[link].root == tree.root) else {
                continue;
            };
            let inside = tree.is_descendant_of(target, tree.root) && tree.resolve_parent(target).is_some();
            if !inside || self.search.seen.contains(&target) {
                continue;
            }
            // A rule reaches what is behind the link before its dependencies are resolved.
            let rule = tree[link].rule;
            self.tree.rule_added(target, rule);
            self.search.queue.push(&self.tree, target);
        }
    }
}
