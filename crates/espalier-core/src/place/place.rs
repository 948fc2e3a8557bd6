//! Places a package and its peers in the tree (`place-dep.js`).

use std::rc::Rc;

use super::can_place::{Answer, Question};
use super::deepest_target;
use super::notes::Notes;
use crate::collation;
use crate::decision::{Decision, Demand, Placed, Verdict};
use crate::names::Name;
use crate::options::InstallStrategy;
use crate::order;
use crate::tree::{EdgeId, NewNode, NodeId, Tree};

/// The settings of placement.
pub struct PlacementRules {
    /// `--force`.
    pub force: bool,
    /// `--strict-peer-deps`.
    pub strict_peer_deps: bool,
    /// `--prefer-dedupe`.
    pub prefer_dedupe: bool,
    /// `--install-strategy`.
    pub strategy: InstallStrategy,
    /// Whether peer dependencies are installed.
    pub with_peers: bool,
}

/// A placement and its results beside the tree.
pub struct Placer<'a> {
    /// The tree.
    pub tree: &'a mut Tree,
    /// The settings.
    pub rules: PlacementRules,
    /// Names that are updated everywhere.
    pub update_names: &'a [Name],
    /// Tolerated conflicts: the edge, and the package that was meant for it.
    pub accepted_conflicts: Vec<(EdgeId, NodeId)>,
    /// The paths of removed packages.
    pub removed: Vec<Rc<str>>,
    /// A candidate that another one has displaced from its virtual root ([`Answer::displaced`]).
    pub displaced: Option<NodeId>,
    /// The decisions, if somebody wants to see them.
    pub notes: Option<Notes>,
}

/// The result for a package and its peers.
pub struct Effects {
    /// The edge that the package was placed for.
    pub edge: EdgeId,
    /// The placed node. `None` if the present one stays.
    pub placed: Option<NodeId>,
    /// The verdict of the folder.
    pub verdict: Verdict,
    /// Nodes whose dependencies have to be looked at again.
    pub reevaluate: Vec<NodeId>,
    /// The results for the peers.
    pub peers: Vec<Effects>,
}

/// A package that no folder accepts.
#[derive(Debug)]
pub struct Unplaceable {
    /// The edge that needs it.
    pub edge: EdgeId,
    /// The package.
    pub dep: NodeId,
    /// The peer that no folder accepts, if it is one: the package, its edge, and the folder that
    /// refused it.
    pub refused_peer: Option<(NodeId, EdgeId, NodeId)>,
}

/// A placement under way, and the placement of its dependent if it is a peer.
struct Frame<'p> {
    dep: NodeId,
    edge: EdgeId,
    explicit: bool,
    parent: Option<&'p Frame<'p>>,
    /// The question that had the best answer.
    chosen: Option<Rc<Question>>,
}

impl<'p> Frame<'p> {
    fn top(&self) -> &Frame<'p> {
        self.parent.map_or(self, Frame::top)
    }

    fn start(&self, tree: &Tree) -> NodeId {
        let from = match self.parent {
            // A peer has to be at least as high as its dependent.
            Some(parent) => parent.start(tree),
            None => tree[self.edge].from.expect("an edge that is being placed has a dependent"),
        };
        deepest_target(tree, from, tree[self.edge].name)
    }
}

impl Placer<'_> {
    /// Places a candidate for an edge.
    pub fn place(&mut self, dep: NodeId, edge: EdgeId, explicit: bool) -> Result<Effects, Unplaceable> {
        self.place_frame(Frame { dep, edge, explicit, parent: None, chosen: None }, self.update_names)
    }

    fn place_frame(&mut self, mut frame: Frame<'_>, update_names: &[Name]) -> Result<Effects, Unplaceable> {
        let Frame { dep, edge, explicit, .. } = frame;
        let removed_before = self.removed.len();
        let mut placement =
            Effects { edge, placed: None, verdict: Verdict::Keep, reevaluate: Vec::new(), peers: Vec::new() };
        let tree = &*self.tree;
        let wanted = explicit || update_names.contains(&tree[edge].name);
        if tree[edge].to.is_some() && tree.is_valid(edge) && !wanted {
            self.note(&frame, removed_before, |_| Placed::Met);
            return Ok(placement);
        }

        let found = self.find_target(&frame);
        if !matches!(found, Ok(Some(_))) {
            self.note(&frame, removed_before, |_| Placed::Refused);
        }
        let Some((question, answer)) = found? else {
            self.accept_conflict(edge, dep);
            return Ok(placement);
        };
        let target = question.target;
        frame.chosen = Some(question);
        placement.verdict = answer.verdict_for_self;
        let verdict = if answer.verdict == Verdict::Conflict { answer.verdict_for_self } else { answer.verdict };
        if verdict == Verdict::Keep {
            if self.tree[edge].kind.is_peer() && !self.tree.is_valid(edge) {
                self.accept_conflict(edge, dep);
            }
            // After an update, a copy below may be superfluous.
            self.prune_dedupable(target, true, explicit);
            self.note(&frame, removed_before, |tree| Placed::Kept { location: tree.location(target) });
            return Ok(placement);
        }
        if let Some(same) = self.cycle(target, dep) {
            let link = self.tree.add_link(
                NewNode {
                    parent: Some(target),
                    ..NewNode::of(self.tree[same].manifest.clone(), self.rules.with_peers)
                },
                Some(same),
            );
            placement.placed = Some(link);
            self.note(&frame, removed_before, |tree| Placed::Linked { location: tree.location(link) });
            return Ok(placement);
        }

        // A candidate from the tree itself can be inside the package that is being replaced, and be
        // removed with it.
        let candidates = self.tree[dep].parent;
        let placed = self.copy(dep);
        placement.placed = Some(placed);
        let old = self.tree.child(target, self.tree[edge].name);
        match old {
            Some(old) => placement.reevaluate = self.replace(placed, old, dep),
            None => self.tree.set_parent(placed, Some(target)),
        }
        if self.tree[edge].kind.is_peer() && !self.tree.satisfied_by(edge, placed) {
            self.accept_conflict(edge, dep);
        }
        self.dedupe_around(placed, edge, target, explicit);
        self.note(&frame, removed_before, |tree| Placed::New {
            location: tree.location(placed),
            replaced: old.map(|old| tree.package(old).version.as_deref().unwrap_or_default().to_owned()),
        });
        self.place_peers(&frame, candidates, placed, &mut placement)?;
        Ok(placement)
    }

    /// Walks up from the dependent to the highest folder that accepts the package with its peers,
    /// or at least the package alone. `None` if no folder does, and that is tolerated.
    fn find_target(&mut self, frame: &Frame<'_>) -> Result<Option<(Rc<Question>, Answer)>, Unplaceable> {
        let tree = &*self.tree;
        let name = tree[frame.edge].name;
        let mut with_peers = None;
        let mut by_itself = None;
        for target in tree.ancestry(frame.start(tree)) {
            let is_peer_here = tree.edge(target, name).is_some_and(|edge| tree[edge].kind.is_peer());
            if !tree.is_top(target) && is_peer_here {
                continue;
            }
            let parent = frame.parent.and_then(|parent| parent.chosen.clone());
            let question =
                Question::new(tree, (frame.dep, frame.edge), target, parent, self.rules.prefer_dedupe, frame.explicit);
            let answer = question.answer(tree);
            self.displaced = answer.displaced.or(self.displaced);
            if let Some(notes) = &mut self.notes {
                notes.tried(tree, target, &answer);
            }
            let conflict = answer.verdict == Verdict::Conflict;
            if answer.verdict_for_self != Verdict::Conflict {
                by_itself = Some((question.clone(), answer.clone()));
            }
            if conflict {
                break;
            }
            with_peers = Some((question, answer));
            let high_enough = match self.rules.strategy {
                InstallStrategy::Hoisted => false,
                InstallStrategy::Nested => true,
                InstallStrategy::Shallow => {
                    tree.resolve_parent(target).is_some_and(|parent| tree.is_project_root(parent))
                }
            };
            if tree[frame.dep].failure.is_some() || high_enough {
                break;
            }
        }
        if with_peers.is_none() && !self.rules.force && (self.rules.strict_peer_deps || self.is_own(frame.top())) {
            let refused_peer = by_itself.and_then(|(_, answer)| answer.refused_peer);
            let top = frame.top();
            let (edge, dep) = (top.edge, top.dep);
            let own = (frame.dep, frame.edge, frame.start(tree));
            let refused_peer = refused_peer.or_else(|| frame.parent.is_some().then_some(own));
            return Err(Unplaceable { edge, dep, refused_peer });
        }
        Ok(with_peers.or(by_itself))
    }

    /// Whether the placement is for the project itself or one of its workspaces.
    fn is_own(&self, frame: &Frame<'_>) -> bool {
        let tree = &*self.tree;
        let Some(node) = tree[frame.edge].from else { return false };
        let from_own = |edge: EdgeId| tree[edge].from.is_some_and(|from| tree.is_own(from));
        if tree.is_own(node) {
            return true;
        }
        if !tree[frame.edge].kind.is_peer() {
            return false;
        }
        // A peer of a package that was placed earlier, perhaps for the project.
        let edges = &tree[node].edges_in;
        edges.iter().any(|&edge| !tree[edge].kind.is_peer() && from_own(edge))
            || (edges.iter().any(|&edge| tree[edge].kind.is_peer())
                && tree.peer_entry_sets(node).keys().any(|&edge| from_own(edge)))
    }

    /// A node at or above the target that is the same package. Nesting would never end, so the new
    /// one becomes a link to it.
    fn cycle(&self, target: NodeId, dep: NodeId) -> Option<NodeId> {
        let tree = &*self.tree;
        tree.ancestry(target).find(|&node| tree.matches(node, dep) && !tree.is_top(node))
    }

    /// Copies a candidate, because the candidate stays in its virtual root.
    fn copy(&mut self, dep: NodeId) -> NodeId {
        let node = &self.tree[dep];
        let new = NewNode {
            name: Some(node.name),
            resolved: node.resolved.clone(),
            integrity: node.integrity.clone(),
            rule: node.rule,
            failure: node.failure.clone(),
            realpath: node.realpath.clone().filter(|_| node.is_link),
            ..NewNode::of(node.manifest.clone(), self.rules.with_peers)
        };
        let extension = node.extension.clone();
        let copy = match (node.is_link, node.target) {
            (true, target) => self.tree.add_link(new, target),
            (false, _) => self.tree.add(new),
        };
        self.tree[copy].extension = extension;
        copy
    }

    /// Replaces a node and removes what only the old one needed. Returns the nodes whose
    /// dependencies are no longer met.
    fn replace(&mut self, placed: NodeId, old: NodeId, dep: NodeId) -> Vec<NodeId> {
        let target = self.tree[old].parent;
        let tree = &*self.tree;
        let mut old_deps: Vec<NodeId> = Vec::new();
        for &id in &tree[old].edges_out {
            let edge = &tree[id];
            if let Some(to) = edge.to.filter(|_| tree.edge(placed, edge.name).is_none()) {
                old_deps.extend(tree.gather(&[to], |edge| tree[edge].to != Some(to)));
            }
        }
        // The new node can break peer sets beside the old one. Sets that aren't the project's own
        // are removed and placed again; the others keep the conflict.
        let mut broken_sets: Vec<NodeId> = Vec::new();
        let mut conflicts: Vec<EdgeId> = Vec::new();
        for &id in &tree[old].edges_in {
            let edge = &tree[id];
            let Some(from) = edge.from else { continue };
            let beside = tree[from].parent == target && edge.kind.is_peer() && !edge.peer_conflicted;
            if !beside || tree.satisfied_by(id, placed) {
                continue;
            }
            for &entry in tree.peer_entry_sets(from).keys() {
                let (Some(entry_from), Some(entry_node)) = (tree[entry].from, tree[entry].to) else { continue };
                if Some(entry_node) != target && !tree.is_own(entry_from) {
                    broken_sets.extend(tree.gather(&[entry_node], |edge| {
                        tree[edge].to != Some(entry_node) && !tree[edge].peer_conflicted
                    }));
                } else {
                    conflicts.push(id);
                }
            }
        }
        for edge in conflicts {
            self.accept_conflict(edge, dep);
        }

        self.note_removed(old);
        self.tree.replace(placed, old);
        self.prune_for_replacement(placed, &old_deps);
        let mut reevaluate = Vec::new();
        for node in broken_sets {
            reevaluate.extend(self.tree[node].edges_in.iter().filter_map(|&edge| self.tree[edge].from));
            self.remove(node);
        }
        reevaluate
    }

    /// Removes what only the replaced node needed and what the new one doesn't accept.
    fn prune_for_replacement(&mut self, node: NodeId, old_deps: &[NodeId]) {
        let tree = &*self.tree;
        let edges = &tree[node].edges_out;
        let mut invalid: Vec<NodeId> =
            edges.iter().filter(|&&edge| !tree.is_valid(edge)).filter_map(|&edge| tree[edge].to).collect();
        for &dep in old_deps {
            invalid.extend(tree.gather(&[dep], |edge| tree[edge].to != Some(dep) && tree.is_valid(edge)));
        }
        let junk = tree.gather(&invalid, |edge| {
            tree[edge].from != Some(node) && tree[edge].to != Some(node) && tree.is_valid(edge)
        });
        for node in junk {
            self.remove(node);
        }
    }

    /// Removes copies that the new node makes superfluous.
    fn dedupe_around(&mut self, placed: NodeId, edge: EdgeId, target: NodeId, explicit: bool) {
        if let Some(other) = self.tree[edge].to.filter(|&to| to != placed && self.tree.is_valid(edge)) {
            self.prune_dedupable(other, false, explicit);
        }
        let root = self.tree[target].root;
        for node in self.tree.named(self.tree[edge].name) {
            let inside = self.tree[node].root == root && self.tree.is_descendant_of(node, target);
            if !inside || self.tree.is_top(node) {
                continue;
            }
            self.prune_dedupable(node, false, explicit);
            if self.tree[node].root == root {
                for child in self.tree.children(node) {
                    self.prune_dedupable(child, false, explicit);
                }
            }
        }
    }

    /// Removes a node if its dependents accept the one further up. Otherwise looks below it.
    fn prune_dedupable(&mut self, node: NodeId, descend: bool, explicit: bool) {
        if self.tree.can_dedupe(node, self.rules.prefer_dedupe, explicit) {
            let tree = &*self.tree;
            let set = tree.gather(&[node], |edge| tree[edge].to != Some(node) && tree.is_valid(edge));
            for node in set {
                self.remove(node);
            }
            return;
        }
        if !descend {
            return;
        }
        for child in self.sorted(self.tree.children(node)) {
            self.prune_dedupable(child, true, explicit);
        }
        for project in self.sorted(self.tree[node].fs_children.clone()) {
            for child in self.sorted(self.tree.children(project)) {
                self.prune_dedupable(child, true, explicit);
            }
        }
    }

    fn sorted(&self, mut nodes: Vec<NodeId>) -> Vec<NodeId> {
        let path = |node: NodeId| self.tree[node].path.as_deref().unwrap_or_default();
        order::sort_by(&mut nodes, |&a, &b| collation::compare(path(a), path(b)));
        nodes
    }

    /// Places the unmet peers of a placed node, from the candidate's virtual root.
    fn place_peers(
        &mut self,
        frame: &Frame<'_>,
        candidates: Option<NodeId>,
        placed: NodeId,
        placement: &mut Effects,
    ) -> Result<(), Unplaceable> {
        for edge in self.tree[placed].edges_out.snapshot() {
            let tree = &*self.tree;
            if tree.is_valid(edge) || !tree[edge].kind.is_peer() || tree[edge].peer_conflicted {
                continue;
            }
            if candidates.is_none() {
                self.displaced = Some(frame.dep);
            }
            // An optional peer may be missing, and a conflicting one doesn't satisfy the edge. Both
            // stay as they are.
            let peer = candidates.and_then(|root| tree.child(root, tree[edge].name));
            let Some(peer) = peer.filter(|&peer| tree.satisfied_by(edge, peer)) else {
                continue;
            };
            let peer_frame = Frame { dep: peer, edge, explicit: frame.explicit, parent: Some(frame), chosen: None };
            placement.peers.push(self.place_frame(peer_frame, &[])?);
        }
        Ok(())
    }

    fn accept_conflict(&mut self, edge: EdgeId, dep: NodeId) {
        self.tree[edge].peer_conflicted = true;
        self.accepted_conflicts.push((edge, dep));
    }

    fn remove(&mut self, node: NodeId) {
        self.note_removed(node);
        self.tree.set_root(node, None);
    }

    /// Records a decision. Packages removed since `removed_before` belong to it.
    fn note(&mut self, frame: &Frame<'_>, removed_before: usize, result: impl FnOnce(&Tree) -> Placed) {
        let Some(notes) = &mut self.notes else { return };
        notes.decided(Decision {
            demand: Demand::of(self.tree, frame.edge),
            version: self.tree.package(frame.dep).version.as_deref().map(str::to_owned),
            as_peer: frame.parent.is_some(),
            tried: Vec::new(),
            result: result(self.tree),
            removed: self.removed[removed_before..].iter().map(ToString::to_string).collect(),
        });
    }

    fn note_removed(&mut self, node: NodeId) {
        if self.tree[node].root == self.tree.root {
            self.removed.extend(self.tree[node].path.clone());
        }
    }
}
