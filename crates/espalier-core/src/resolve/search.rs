//! The search: nodes with missing or invalid dependencies are in a queue, the shallowest first.
//!
//! A step takes a node and gathers a candidate for each of its problem edges in a virtual root
//! (`candidates.rs`). Then it places the candidates in the order of their names ([`crate::place`]).
//! The placed nodes join the queue, and so do the nodes whose dependencies changed. When the queue
//! is empty, links to folders inside the project are followed. When there are none left, every
//! dependency is met.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::rc::Rc;

use super::bundle;
use super::edge_checks::{check_needed, check_placed};
use super::explain::{self, name_and_version};
use super::queue::Queue;
use super::sources::Sources;
use super::start::Prepared;
use super::wishes::Wishes;
use crate::catalog::Choice;
use crate::changes::Update;
use crate::collation;
use crate::decision::Verdict;
use crate::error::ResolveError;
use crate::extensions::PackageExtensions;
use crate::lockfile::yarn::YarnLock;
use crate::names::Name;
use crate::options::Reporting;
use crate::order;
use crate::place::{Effects, Notes, PlacementRules, Placer};
use crate::refusal::Refusal;
use crate::request::Event;
use crate::tree::{EdgeId, EdgeKind, NodeId, Tree};

/// The maximum number of visits to a location. A location is visited again when its package is
/// replaced, which happens a few times in sound projects.
const MOST_VISITS: u32 = 1000;

/// The search for a tree in which every dependency is met.
pub(super) struct Search {
    pub(super) sources: Sources,
    pub(super) tree: Tree,
    pub(super) wishes: Wishes,
    /// The root's corrections to other packages.
    pub(super) extensions: PackageExtensions,
    pub(super) yarn: Yarn,
    queue: Queue,
    visits: Visits,
    /// Links that were added or used, whose targets may have to be looked at.
    pub(super) links: Vec<NodeId>,
    /// The latest virtual root of each node. npm gathers later candidates beside the earlier ones.
    pub(super) virtual_roots: FxHashMap<NodeId, NodeId>,
    findings: Findings,
}

/// A yarn.lock as a source of versions.
pub(super) struct Yarn {
    pub(super) lock: Option<YarnLock>,
    /// The manifests that it led to, by name and spec.
    pub(super) manifests: FxHashMap<(Name, Rc<str>), Choice>,
}

/// The visits so far.
#[derive(Default)]
struct Visits {
    /// The nodes that were visited.
    seen: FxHashSet<NodeId>,
    /// The number of visits to each location.
    counts: FxHashMap<Rc<str>, u32>,
}

/// The results of the search beside the tree.
#[derive(Default)]
pub(super) struct Findings {
    /// Placed nodes that could not be loaded.
    pub(super) load_failures: IndexSet<NodeId, FxBuildHasher>,
    /// Whether anything was placed, or was to be.
    pub(super) changed: bool,
}

/// A tree in which every dependency is met, as far as possible.
pub(super) struct Settled {
    pub(super) sources: Sources,
    pub(super) tree: Tree,
    pub(super) wishes: Wishes,
    pub(super) extensions: PackageExtensions,
    pub(super) findings: Findings,
}

impl Search {
    pub(super) fn new(prepared: Prepared) -> Self {
        let Prepared { sources, tree, queue, wishes, extensions, yarn_lock, from_nothing } = prepared;
        let changed = wishes.mutate();
        let mut search = Self {
            sources,
            tree,
            wishes,
            extensions,
            yarn: Yarn { lock: yarn_lock, manifests: FxHashMap::default() },
            queue,
            visits: Visits::default(),
            links: Vec::new(),
            virtual_roots: FxHashMap::default(),
            findings: Findings { changed, ..Findings::default() },
        };
        search.foresee(from_nothing);
        search.queue.push(&search.tree, search.tree.root);
        search
    }

    /// Requests what will be needed: everything, or what a lock lacks.
    fn foresee(&mut self, everything: bool) {
        let root = self.tree.root;
        if everything {
            let manifest = self.tree[root].manifest.clone();
            self.sources.foresee_dependencies(&manifest);
        }
        for node in self.queue.nodes().chain([root]).collect::<Vec<_>>() {
            for edge in self.problem_edges(node) {
                let (name, spec) = (self.tree[edge].name, self.tree.spec(edge).clone());
                self.sources.foresee(name, &spec);
            }
        }
    }

    /// Searches to the end. A conflict that ends the search gets proposals.
    pub(super) async fn run(mut self) -> Result<Settled, ResolveError> {
        match self.search().await {
            Ok(()) => {}
            Err(ResolveError::PeerConflict(conflict)) => return Err(self.with_proposals(conflict).await),
            Err(error) => return Err(error),
        }
        let Self { sources, tree, wishes, extensions, findings, .. } = self;
        Ok(Settled { sources, tree, wishes, extensions, findings })
    }

    async fn search(&mut self) -> Result<(), ResolveError> {
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

    /// Counts the visits to a location. Placements can undo each other in circles, and npm then
    /// never ends.
    fn count_visit(&mut self, node: NodeId) -> Result<(), ResolveError> {
        let Some(path) = self.tree[node].path.clone() else { return Ok(()) };
        let visits = self.visits.counts.entry(path).or_default();
        *visits += 1;
        if *visits <= MOST_VISITS {
            return Ok(());
        }
        let (name, version) = name_and_version(&self.tree, node);
        Err(explain::refused(&self.tree, Refusal::Unsettled { name, version }, node))
    }

    /// Visits a node: gathers candidates for its problem edges, then places them.
    async fn step(&mut self, node: NodeId) -> Result<(), ResolveError> {
        if self.tree[node].root != self.tree.root || !self.visits.seen.insert(node) {
            return Ok(());
        }
        self.count_visit(node)?;
        if self.sources.options.complete {
            bundle::unpack(&mut self.sources, &mut self.tree, node).await?;
        }
        for (edge, dep) in self.gather(node).await? {
            let placement = self.place(edge, dep)?;
            self.settle(&placement)?;
        }
        for &edge in &self.tree[node].edges_out {
            if let Some(to) = self.tree[edge].to.filter(|&to| self.tree[to].is_link)
                && !self.links.contains(&to)
            {
                self.links.push(to);
            }
        }
        Ok(())
    }

    /// The candidates for a node's problem edges, in the order of their names.
    async fn gather(&mut self, node: NodeId) -> Result<Vec<(EdgeId, NodeId)>, ResolveError> {
        let mut candidates = Vec::new();
        let problems = self.problem_edges(node);
        let tree = &self.tree;
        check_needed(tree, node, &|edge| tree[edge].to.is_some() || problems.contains(&edge))?;
        self.report_visit(node, &problems);
        for edge in problems {
            if self.tree[edge].peer_conflicted {
                continue;
            }
            let dep = self.candidate(node, edge).await?;
            candidates.push((edge, dep));
        }
        let tree = &self.tree;
        let name = |edge: EdgeId| tree.text(tree[edge].name);
        order::sort_by(&mut candidates, |&(a, _), &(b, _)| collation::compare(name(a), name(b)));
        Ok(candidates)
    }

    /// The edges of a node that have to be resolved, in its order.
    fn problem_edges(&self, node: NodeId) -> Vec<EdgeId> {
        let tree = &self.tree;
        let bundled: &[Name] = if tree.is_own(node) { &[] } else { &tree[node].manifest.bundled };
        let is_problem = |id: EdgeId| {
            let edge = &tree[id];
            if bundled.contains(&edge.name) {
                return false;
            }
            match edge.to {
                Some(to) if self.findings.load_failures.contains(&to) => false,
                None => edge.kind != EdgeKind::PeerOptional || self.wishes.explicit.contains(&id),
                Some(_) if !tree.is_valid(id) => {
                    edge.kind != EdgeKind::PeerOptional || self.sources.options.save || self.wishes.mutate()
                }
                Some(to) if tree.is_workspace(to) => false,
                Some(_) => self.wishes.name(tree, id),
            }
        };
        tree[node].edges_out.iter().copied().filter(|&edge| is_problem(edge)).collect()
    }

    fn place(&mut self, edge: EdgeId, dep: NodeId) -> Result<Effects, ResolveError> {
        let options = &self.sources.options;
        let mut placer = Placer {
            tree: &mut self.tree,
            rules: PlacementRules {
                force: options.force,
                strict_peer_deps: options.strict_peer_deps,
                prefer_dedupe: options.prefer_dedupe || self.wishes.changes.update == Update::Duplicates,
                strategy: options.install_strategy,
                with_peers: !options.legacy_peer_deps,
            },
            update_names: &self.wishes.update_names,
            accepted_conflicts: Vec::new(),
            removed: Vec::new(),
            displaced: None,
            notes: (options.reporting == Reporting::Decisions).then(Notes::default),
        };
        let result = placer.place(dep, edge, self.wishes.explicit.contains(&edge));
        let Placer { accepted_conflicts: conflicts, removed, displaced, notes, .. } = placer;
        for decision in notes.map(|notes| notes.decisions).into_iter().flatten() {
            self.sources.exchange.report(Event::Decided(Box::new(decision)));
        }
        for location in removed {
            self.sources.exchange.report(Event::Removed { location: location.to_string() });
        }
        for (edge, dep) in conflicts {
            self.warn_of_conflict(edge, dep);
        }
        if let Some(displaced) = displaced {
            let name = self.tree.text(self.tree[displaced].name).to_owned();
            let chain = || explain::chain(&self.tree, edge);
            return Err(ResolveError::from(Refusal::DisplacedPeer { name }).asked_by(&chain));
        }
        result.map_err(|unplaceable| self.explain_unplaceable(&unplaceable))
    }

    /// Queues the nodes that a placement has added or affected.
    fn settle(&mut self, placement: &Effects) -> Result<(), ResolveError> {
        if let Some(placed) = placement.placed {
            check_placed(&self.tree, placed)?;
            if self.tree[placed].failure.is_some() {
                self.findings.load_failures.insert(placed);
            }
            self.findings.changed = true;
            self.report_placed(placed, placement.edge);
            for edge in self.tree[placed].edges_in.clone() {
                let Some(from) = self.tree[edge].from else { continue };
                let upset = edge != placement.edge && !self.tree[edge].peer_conflicted && !self.tree.is_valid(edge);
                // If nothing is to be saved, visited nodes stay as they are, unless they were
                // replaced.
                let again = self.sources.options.save
                    || self.wishes.mutate()
                    || placement.verdict == Verdict::Replace
                    || !self.visits.seen.contains(&from);
                if upset && again && placement.verdict != Verdict::Conflict {
                    self.visits.seen.remove(&from);
                    self.queue.push(&self.tree, from);
                }
            }
            if placement.verdict != Verdict::Conflict {
                self.queue.push(&self.tree, placed);
                for &node in &placement.reevaluate {
                    self.visits.seen.remove(&node);
                    self.queue.push(&self.tree, node);
                }
            }
        }
        if placement.placed.is_none() {
            self.report_kept(placement.edge);
        }
        placement.peers.iter().try_for_each(|peer| self.settle(peer))
    }

    /// Queues the targets of links that are inside the project.
    fn queue_link_targets(&mut self) {
        for link in std::mem::take(&mut self.links) {
            let tree = &self.tree;
            let Some(target) = tree[link].target.filter(|_| tree[link].root == tree.root) else {
                continue;
            };
            let inside = tree.is_descendant_of(target, tree.root) && tree.resolve_parent(target).is_some();
            if !inside || self.visits.seen.contains(&target) {
                continue;
            }
            // A rule has to reach the target of a link before its dependencies are resolved.
            let rule = tree[link].rule;
            self.tree.rule_added(target, rule);
            self.queue.push(&self.tree, target);
        }
    }
}
