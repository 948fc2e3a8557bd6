//! Decides whether a package may go into a folder (`can-place-dep.js`).
//!
//! Nothing here changes the tree, because placement asks about many folders before it acts on one.
//!
//! The first rule that applies decides:
//!
//! 1. The package failed to load: it may be anywhere until it is pruned.
//! 2. The folder's own package has it as a peer and isn't a project: *conflict*.
//! 3. The folder has no package of that name: *conflict* if its own package depends on another
//!    version, or if a package below relies on one further up and doesn't accept this one.
//!    Otherwise *free*.
//! 4. The folder has the same package: *keep*, or *replace* if the user asked for it.
//! 5. The folder has no newer version, and every dependent of its version accepts this one:
//!    *replace*.
//! 6. The version in the folder satisfies the edge, and the user didn't ask for the package:
//!    *keep*.
//! 7. Duplicates are avoided, and every dependent of the newer version in the folder accepts this
//!    one: *replace*.
//! 8. The package could go deeper: *conflict*.
//! 9. The folder is the dependent's own, or the peer sets of the package in it can move deeper:
//!    *replace*.
//! 10. Otherwise: *conflict*.
//!
//! For example, the project requires `b@1` and `a`, and `a` requires `b@2`. For the candidate
//! `b@2.5.0`, the folder of `a` is *free* (3), and the project's folder is a *conflict* (8). If the
//! project required exactly `b@2.1.0`, its folder would *keep* that for `a`, too (6).
//!
//! *Free* and *replace* also require a place at or above the folder for each of the package's peers.

use std::rc::Rc;

use super::deepest_target;
use crate::decision::Verdict;
use crate::names::FoldedName;
use crate::tree::{EdgeId, NodeId, Tree};

/// The basis of a verdict: [`crate::decision::Why`] before it is put into words.
#[derive(Clone, Copy, Debug)]
pub enum Because {
    Free,
    Failed,
    PeerOfFolder,
    OtherDemand(EdgeId),
    Shadows(EdgeId),
    Same,
    Satisfies(NodeId),
    Upgrade(NodeId),
    Dedupe(NodeId),
    OwnFolder(NodeId),
    PeersMove(NodeId),
    Occupied(NodeId),
}

/// A question about a package and a folder. A question about a peer has the question about its
/// dependent as `parent`.
pub struct Question {
    pub dep: NodeId,
    pub target: NodeId,
    pub edge: EdgeId,
    pub parent: Option<Rc<Question>>,
    pub explicit: bool,
    prefer_dedupe: bool,
    peer_path: Vec<NodeId>,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict on the package and all of its peers.
    pub verdict: Verdict,
    /// The verdict on the package alone.
    pub verdict_for_self: Verdict,
    /// The first peer that found no place: the package, the edge that needs it, and the folder that
    /// refused it.
    pub refused_peer: Option<(NodeId, EdgeId, NodeId)>,
    /// The basis of the verdict on the package alone.
    pub because: Because,
    /// A candidate that another one has displaced from its virtual root. npm crashes when it looks
    /// for the candidate's peers there.
    pub displaced: Option<NodeId>,
}

impl Question {
    /// A question about a package. `parent` is the question about its dependent, if the package is
    /// a peer.
    pub fn new(
        tree: &Tree,
        (dep, edge): (NodeId, EdgeId),
        target: NodeId,
        parent: Option<Rc<Question>>,
        prefer_dedupe: bool,
        explicit: bool,
    ) -> Rc<Self> {
        // Peers are deduplicated more eagerly.
        let prefer_dedupe = prefer_dedupe || tree[edge].kind.is_peer();
        Rc::new(Self { dep, target, edge, parent, explicit, prefer_dedupe, peer_path: Vec::new() })
    }

    /// The edge that brought the whole peer set.
    fn entry_edge(&self) -> EdgeId {
        self.parent.as_ref().map_or(self.edge, |parent| parent.entry_edge())
    }

    fn deepest_target(&self, tree: &Tree) -> NodeId {
        let start = match &self.parent {
            Some(parent) => parent.deepest_target(tree),
            None => tree[self.edge].from.expect("an edge that is being placed has a dependent"),
        };
        deepest_target(tree, start, tree[self.edge].name)
    }

    /// Answers the question.
    pub fn answer(self: &Rc<Self>, tree: &Tree) -> Answer {
        let mut asking = Asking {
            question: self,
            tree,
            for_self: None,
            peers: None,
            refused_peer: None,
            because: Because::Free,
            displaced: None,
        };
        let verdict = asking.check();
        Answer {
            verdict,
            verdict_for_self: asking.for_self.unwrap_or(verdict),
            refused_peer: asking.refused_peer,
            because: asking.because,
            displaced: asking.displaced,
        }
    }
}

struct Asking<'a> {
    question: &'a Rc<Question>,
    tree: &'a Tree,
    /// The last verdict on the package alone.
    for_self: Option<Verdict>,
    /// The verdict on the peers. They are asked only once.
    peers: Option<Verdict>,
    refused_peer: Option<(NodeId, EdgeId, NodeId)>,
    because: Because,
    displaced: Option<NodeId>,
}

impl Asking<'_> {
    fn since(&mut self, because: Because, verdict: Verdict) -> Verdict {
        self.because = because;
        verdict
    }

    fn check(&mut self) -> Verdict {
        let Question { dep, target, edge, .. } = **self.question;
        let tree = self.tree;
        let name = tree[edge].name;
        let current = tree.child(target, name);
        // A package that failed to load ends the resolution or is pruned. Until then, it may be
        // anywhere.
        if tree[dep].failure.is_some() {
            return self.since(Because::Failed, if current.is_some() { Verdict::Replace } else { Verdict::Free });
        }
        if let Some(target_edge) = tree.edge(target, name) {
            // A peer can't go into its dependent's folder, unless that is a project.
            if tree[target_edge].kind.is_peer() && !tree.is_top(target) {
                return self.since(Because::PeerOfFolder, Verdict::Conflict);
            }
            if current.is_none() && target_edge != edge && !tree.satisfied_by(target_edge, dep) {
                return self.since(Because::OtherDemand(target_edge), Verdict::Conflict);
            }
        }
        match current {
            Some(current) => self.check_against(current),
            None => self.check_free(),
        }
    }

    /// Decides for a folder without a package of that name. Packages in the folder may rely on one
    /// further up.
    fn check_free(&mut self) -> Verdict {
        let Question { dep, target, edge, .. } = **self.question;
        let tree = self.tree;
        let entry_from = tree[self.question.entry_edge()].from;
        let above = if entry_from == Some(target) { None } else { tree.resolve(target, tree[edge].name) };
        if let Some(above) = above {
            let shadowed = tree[above].edges_in.iter().find(|&&edge| {
                let inside = tree[edge].from.is_some_and(|from| tree.is_descendant_of(from, target));
                inside && tree.is_valid(edge) && !tree.satisfied_by(edge, dep)
            });
            if let Some(&edge) = shadowed {
                return self.since(Because::Shadows(edge), Verdict::Conflict);
            }
        }
        self.with_peers(Verdict::Free)
    }

    /// Decides for a folder with a package of that name.
    fn check_against(&mut self, current: NodeId) -> Verdict {
        let Question { dep, target, edge, explicit, prefer_dedupe, .. } = **self.question;
        let tree = self.tree;
        let content = tree.satisfied_by(edge, current);
        // A candidate that doesn't meet its own edge was chosen while its peers were gathered.
        let overridden = || !tree.satisfied_by(edge, dep);
        if tree.matches(dep, current) && (content || overridden()) {
            return self.since(Because::Same, if explicit { Verdict::Replace } else { Verdict::Keep });
        }
        let versions = (tree.package(dep).semver.as_ref(), tree.package(current).semver.as_ref());
        let newer = matches!(versions, (Some(new), Some(old)) if new >= old);
        if newer && tree.can_replace(dep, current, &[]) {
            self.because = Because::Upgrade(current);
            let verdict = self.with_peers(Verdict::Replace);
            if verdict != Verdict::Conflict {
                return verdict;
            }
        }
        if content && (!explicit || prefer_dedupe) {
            return self.since(Because::Satisfies(current), Verdict::Keep);
        }
        if prefer_dedupe && !newer && tree.can_replace(dep, current, &[]) {
            self.because = Because::Dedupe(current);
            let verdict = self.with_peers(Verdict::Replace);
            if verdict != Verdict::Conflict {
                return verdict;
            }
        }
        self.because = Because::Occupied(current);
        // If the package can go deeper, the present one stays.
        if target != self.question.deepest_target(tree) {
            return Verdict::Conflict;
        }
        if !tree[edge].kind.is_peer() && tree[edge].from == Some(target) {
            self.because = Because::OwnFolder(current);
            return self.with_peers(Verdict::Replace);
        }
        if self.question.parent.is_none() && !tree[edge].kind.is_peer() {
            return Verdict::Conflict;
        }
        if !self.can_displace(current) {
            return Verdict::Conflict;
        }
        self.because = Because::PeersMove(current);
        self.with_peers(Verdict::Replace)
    }

    /// Whether every peer set of the present package can be replaced or go deeper.
    fn can_displace(&mut self, current: NodeId) -> bool {
        let Question { dep, target, edge, .. } = **self.question;
        let tree = self.tree;
        let candidates = tree[dep].parent;
        let candidate = |name| candidates.and_then(|root| tree.child(root, name));
        let names: Vec<FoldedName> =
            candidates.map_or_else(Vec::new, |root| tree[root].children.keys().copied().collect());

        let mut displaceable = true;
        for (entry, set) in tree.peer_entry_sets(current) {
            if entry == edge || entry == self.question.entry_edge() {
                continue;
            }
            let Some(entry_node) = tree[entry].to else { continue };
            if candidates.is_none() {
                self.displaced = Some(dep);
            }
            let replacement = candidate(tree[entry_node].name);
            if replacement.is_some_and(|replacement| tree.can_replace(replacement, entry_node, &names)) {
                continue;
            }
            if replacement.is_none() && self.can_clobber(entry_node, candidate) {
                continue;
            }
            let Some(from) = tree[entry].from else { continue };
            for peer in set {
                let deepest = deepest_target(tree, from, tree[peer].name);
                if deepest == target || tree.is_descendant_of(target, deepest) {
                    displaceable = false;
                    break;
                }
            }
        }
        displaceable
    }

    /// Whether the peers of a set without a counterpart among the candidates accept the
    /// counterparts of the others.
    fn can_clobber(&self, entry: NodeId, candidate: impl Fn(crate::names::Name) -> Option<NodeId>) -> bool {
        let tree = self.tree;
        let mut walk = vec![entry];
        let mut index = 0;
        while let Some(&peer) = walk.get(index) {
            index += 1;
            for &id in &tree[peer].edges_out {
                let edge = &tree[id];
                if !edge.kind.is_peer() || !tree.is_valid(id) {
                    continue;
                }
                match (candidate(edge.name), edge.to) {
                    (Some(replacement), _) if !tree.satisfied_by(id, replacement) => return false,
                    (None, Some(to)) if !walk.contains(&to) => walk.push(to),
                    _ => {}
                }
            }
        }
        true
    }

    /// The verdict, provided that the package's peers can be placed, too.
    fn with_peers(&mut self, verdict: Verdict) -> Verdict {
        self.for_self = Some(verdict);
        if let Some(known) = self.peers {
            return known;
        }
        let tree = self.tree;
        let mut peer_path = self.question.peer_path.clone();
        peer_path.push(self.question.dep);
        let mut conflict = false;
        for &edge in &tree[self.question.dep].edges_out {
            let Some(peer) = tree[edge].to else { continue };
            if !tree[edge].kind.is_peer() || peer_path.contains(&peer) {
                continue;
            }
            let question = Rc::new(Question {
                dep: peer,
                target: deepest_target(tree, self.question.target, tree[peer].name),
                edge,
                parent: Some(self.question.clone()),
                explicit: false,
                prefer_dedupe: true,
                peer_path: peer_path.clone(),
            });
            let answer = question.answer(tree);
            self.displaced = answer.displaced.or(self.displaced);
            if answer.verdict == Verdict::Conflict {
                conflict = true;
                let refused = answer.refused_peer.or(Some((peer, edge, question.target)));
                self.refused_peer = self.refused_peer.or(refused);
            }
        }
        let result = if conflict { Verdict::Conflict } else { verdict };
        self.peers = Some(result);
        result
    }
}
