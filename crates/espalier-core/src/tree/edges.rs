//! Edges: their creation from a manifest, their targets, and their validity (`edge.js`).

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::{Edge, EdgeId, EdgeKind, NewNode, NodeId, Tree, next_number};
use crate::manifest::{Dependency, Manifest};
use crate::names::Name;
use crate::order;
use crate::overrides::{Governing, RuleId};
use crate::spec::Spec;

/// npm's states of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeState {
    /// The edge is met.
    Valid,
    /// No package of that name can be reached.
    Missing,
    /// The package that the name leads to doesn't satisfy the spec.
    Invalid,
    /// A peer is in its dependent's own `node_modules`.
    PeerLocal,
    /// The edge has been replaced.
    Detached,
}

impl EdgeState {
    /// All states.
    #[cfg(feature = "summaries")]
    pub const ALL: [Self; 5] = [Self::Valid, Self::Missing, Self::Invalid, Self::PeerLocal, Self::Detached];

    /// npm's name of the error. `None` if there is none.
    pub fn error(self) -> Option<&'static str> {
        match self {
            Self::Valid => None,
            Self::Missing => Some("MISSING"),
            Self::Invalid => Some("INVALID"),
            Self::PeerLocal => Some("PEER LOCAL"),
            Self::Detached => Some("DETACHED"),
        }
    }
}

impl Tree {
    /// Replaces a node's manifest and its edges.
    pub fn set_manifest(&mut self, node: NodeId, manifest: Rc<Manifest>) {
        for edge in self[node].edges_out.snapshot() {
            self.detach(edge);
        }
        self[node].manifest = manifest;
        self.load_workspaces(node);
        self.load_dependencies(node);
        for edge in self[node].edges_in.clone() {
            self.reload(edge, true);
        }
    }

    /// Gives the root its workspaces.
    pub fn set_workspaces(&mut self, node: NodeId, workspaces: super::Workspaces) {
        self[node].workspaces = Some(Rc::new(workspaces));
        self.load_workspaces(node);
        self.load_dependencies(node);
    }

    /// Adds the edges that a virtual root and the candidates in it lack.
    pub fn complete_edges(&mut self, root: NodeId) {
        if !self[root].lacks_edges {
            return;
        }
        for node in std::iter::once(root).chain(self.children(root)) {
            if std::mem::take(&mut self[node].lacks_edges) {
                self.load_dependencies(node);
            }
        }
    }

    /// Adds the edge with a name to a virtual root, if it lacks that edge.
    pub fn complete_edge(&mut self, root: NodeId, name: Name) {
        if self[root].lacks_edges && self.edge(root, name).is_none() {
            self.load_dependencies_named(root, Some(name));
        }
    }

    /// Adds a candidate without peers to a virtual root. While the root lacks edges, those of the
    /// candidate have no effect, except that overrides follow them.
    pub fn add_candidate(&mut self, root: NodeId, new: NewNode) -> NodeId {
        let new = NewNode { parent: Some(root), ..new };
        let (lacks_edges, has_rules) = (self[root].lacks_edges, self[root].rule.is_some());
        if lacks_edges && !has_rules { self.add_without_edges(new) } else { self.add(new) }
    }

    fn load_workspaces(&mut self, node: NodeId) {
        let Some(workspaces) = self[node].workspaces.clone() else { return };
        for (name, path) in workspaces.iter() {
            let spec = format!("file:{}", self.absolute(path));
            let spec = self.vocabulary.spec(*name, &spec);
            self.replace_edge(node, *name, EdgeKind::Workspace);
            self.add_edge(node, *name, spec, EdgeKind::Workspace, None);
        }
    }

    /// Creates the edges of a node's manifest. The order decides the kind of a name: a later edge
    /// replaces an earlier one, but never a workspace.
    pub(super) fn load_dependencies(&mut self, node: NodeId) {
        self.load_dependencies_named(node, None);
    }

    /// The same, for all dependencies or only for those with this name.
    fn load_dependencies_named(&mut self, node: NodeId, only: Option<Name>) {
        if self[node].is_link {
            return;
        }
        let manifest = self[node].manifest.clone();
        let is_project = |node: NodeId| self[node].parent.is_none() && self[node].path.is_some();
        let has_dev_dependencies = is_project(node) && self[node].source.is_none_or(is_project);
        let with_peers = self[node].with_peers;
        let replaces = !self[node].edges_out.is_empty() || !self.names_are_distinct(&manifest);
        let only = only.map(Name::fold);
        let Manifest { peer_dependencies, optional_peers, dependencies, optional_dependencies, .. } = &*manifest;
        let mut load = |dependencies: &mut dyn Iterator<Item = &Dependency>, kind| {
            for (name, spec) in dependencies {
                let is_meant = only.is_none_or(|only| name.fold() == only);
                if !is_meant || (replaces && !self.replace_edge(node, *name, kind)) {
                    continue;
                }
                let accept = manifest.accept_dependencies.iter().find(|(accepted, _)| accepted == name);
                self.add_edge(node, *name, spec.clone(), kind, accept.map(|(_, spec)| spec.clone()));
            }
        };
        if with_peers {
            let optional = |(name, _): &&Dependency| optional_peers.contains(name);
            load(&mut peer_dependencies.iter().filter(|peer| !optional(peer)), EdgeKind::Peer);
            load(&mut peer_dependencies.iter().filter(optional), EdgeKind::PeerOptional);
        }
        load(&mut dependencies.iter(), EdgeKind::Prod);
        load(&mut optional_dependencies.iter(), EdgeKind::Optional);
        if has_dev_dependencies {
            load(&mut manifest.dev_dependencies.iter(), EdgeKind::Dev);
        }
    }

    /// Whether no two dependencies of a manifest have the same name. A project's manifest is loaded
    /// for each of its direct dependencies, so the verdict on the last large one is kept.
    fn names_are_distinct(&mut self, manifest: &Rc<Manifest>) -> bool {
        const LARGE: usize = 16;
        let blocks = [
            &manifest.peer_dependencies,
            &manifest.dependencies,
            &manifest.optional_dependencies,
            &manifest.dev_dependencies,
        ];
        if blocks.iter().map(|block| block.len()).sum::<usize>() < LARGE {
            // To look for a former edge of the name takes less.
            return false;
        }
        if let Some((_, verdict)) = self.last_large.as_ref().filter(|(known, _)| Rc::ptr_eq(known, manifest)) {
            return *verdict;
        }
        let mut seen = FxHashSet::default();
        let verdict = blocks.into_iter().flatten().all(|(name, _)| seen.insert(name.fold()));
        self.last_large = Some((manifest.clone(), verdict));
        verdict
    }

    /// Drops the edge with a name, if there is one that an edge of this kind may replace. Returns
    /// whether there is none then.
    fn replace_edge(&mut self, from: NodeId, name: Name, kind: EdgeKind) -> bool {
        let Some(former) = self.edge(from, name) else { return true };
        if self[former].kind == EdgeKind::Workspace && kind != EdgeKind::Workspace {
            return false;
        }
        self.detach(former);
        true
    }

    /// Adds an edge. There is none with its name.
    fn add_edge(&mut self, from: NodeId, name: Name, spec: Rc<Spec>, kind: EdgeKind, accept: Option<Rc<Spec>>) {
        let folded = name.fold();
        let id = EdgeId(next_number(self.edges.len()));
        let rule = self[from].rule.map(|rule| self.overrides.for_edge(rule, name, &spec));
        let rule = rule.map(|found| self.noted(found));
        if let Some(unread) = accept.iter().chain([&spec]).find(|spec| spec.is_no_string()) {
            self.without_string.get_or_insert_with(|| (id, unread.clone()));
        }
        self.edges.push(Edge {
            from: Some(from),
            to: None,
            name,
            raw_spec: spec,
            kind,
            accept,
            rule,
            peer_conflicted: false,
            state: std::cell::Cell::new(None),
        });
        self[from].edges_out.push(folded, id);
        self.index_edge(id);
        if let Some(to) = self.resolve(from, name) {
            self[id].to = Some(to);
            self.add_edge_in(to, id);
        }
    }

    /// The rule that was found for an edge. Records the point at which npm would fail.
    pub(super) fn noted(&mut self, Governing { rule, incomparable }: Governing) -> RuleId {
        if incomparable.is_some() && self.incomparable_override.is_none() {
            self.incomparable_override = incomparable;
        }
        rule
    }

    fn detach(&mut self, edge: EdgeId) {
        if let Some(to) = self[edge].to.take() {
            self.remove_edge_in(to, edge);
        }
        self.unindex_edge(edge);
        if let Some(from) = self[edge].from.take() {
            self[from].edges_out.remove(edge);
        }
        self[edge].state.set(Some(EdgeState::Detached));
    }

    /// A node's dependency with this name.
    pub fn edge(&self, node: NodeId, name: Name) -> Option<EdgeId> {
        self[node].edges_out.named(name.fold())
    }

    /// Looks up the target of an edge again. `hard` also drops its cached validity.
    pub(super) fn reload(&mut self, id: EdgeId, hard: bool) {
        let Some(from) = self[id].from else { return };
        let mut changed_rule = None;
        match self[from].rule {
            Some(rule) => {
                let edge = &self[id];
                let (former, found) = (edge.rule, self.overrides.for_edge(rule, edge.name, &edge.raw_spec));
                let new = self.noted(found);
                if former != Some(new) {
                    changed_rule = Some((former, new));
                    self[id].rule = Some(new);
                }
            }
            None => self[id].rule = None,
        }
        let to = self.resolve(from, self[id].name);
        if to != self[id].to {
            if let Some(former) = self[id].to {
                self.remove_edge_in(former, id);
            }
            self[id].to = to;
            self[id].state.set(None);
            if let Some(to) = to {
                self.add_edge_in(to, id);
            }
        } else if hard {
            self[id].state.set(None);
        } else if let (Some((old, new)), Some(to)) = (changed_rule, to) {
            self.rule_removed(to, old);
            self.rule_added(to, Some(new));
        }
    }

    /// Looks up the edges with a name in a node's folder again, after a node with that name was
    /// added or removed.
    pub(super) fn reload_named(&mut self, node: NodeId, name: Name) {
        for edge in self.dependents_below(node, name) {
            if self.is_stale(edge, node, name) {
                self.reload(edge, true);
            }
        }
    }

    /// Whether an edge leads to the child of a folder with this name, or no longer to where its own
    /// name leads.
    fn is_stale(&self, id: EdgeId, folder: NodeId, child: Name) -> bool {
        let Edge { from: Some(from), to, name, .. } = self[id] else {
            return false;
        };
        // npm compares with `/node_modules/x` in the root's own folder, where no node is.
        let has_path = self[folder].path.as_deref().is_some_and(|path| !path.is_empty());
        let leads_there = |to: NodeId| {
            has_path && self[to].path.as_deref().is_some_and(|path| self.is_child_path(path, folder, child))
        };
        to.is_some_and(leads_there) || self.resolve(from, name) != to
    }

    /// The edges with a name in a node's folder, in the order of a walk through it. In the
    /// project's tree, walking would take most of a resolution's time, so an index finds them.
    fn dependents_below(&self, node: NodeId, name: Name) -> Vec<EdgeId> {
        if self[node].root != self.root {
            let mut edges = Vec::new();
            self.walk_dependents(node, name, &mut edges);
            return edges;
        }
        let stale = |&edge: &EdgeId| {
            let Some(from) = self[edge].from else { return false };
            // Whether it leads to the start's child is decided when its turn comes.
            let moved = self[edge].to.is_some_and(|to| self[to].parent == Some(node));
            self.is_descendant_of(from, node) && (moved || self.resolve(from, self[edge].name) != self[edge].to)
        };
        let mut edges: Vec<EdgeId> = self.dependents(name).iter().copied().filter(stale).collect();
        if edges.len() > 1 {
            order::sort_by_key(&mut edges, |&edge| self.position(self[edge].from.unwrap_or(node)));
        }
        edges
    }

    fn walk_dependents(&self, node: NodeId, name: Name, edges: &mut Vec<EdgeId>) {
        edges.extend(self.edge(node, name));
        for &below in self[node].children.values().chain(&self[node].fs_children) {
            self.walk_dependents(below, name, edges);
        }
    }

    /// The position of a node in a walk: for each folder on the way down, children precede
    /// projects.
    fn position(&self, node: NodeId) -> Vec<(bool, usize)> {
        let mut position: Vec<(bool, usize)> = self
            .ancestry(node)
            .filter_map(|node| match (self[node].parent, self[node].fs_parent) {
                (Some(parent), _) => self[parent].children.get_index_of(&self[node].name.fold()).map(|at| (false, at)),
                (None, Some(parent)) => {
                    self[parent].fs_children.iter().position(|&child| child == node).map(|at| (true, at))
                }
                (None, None) => None,
            })
            .collect();
        position.reverse();
        position
    }

    fn remove_edge_in(&mut self, node: NodeId, edge: EdgeId) {
        if let Some(position) = self[node].edges_in.iter().position(|&other| other == edge) {
            self[node].edges_in.remove(position);
        }
        if self[edge].rule.is_some() {
            self.rule_removed(node, self[edge].rule);
        }
    }

    fn add_edge_in(&mut self, node: NodeId, edge: EdgeId) {
        let rule = self[edge].rule;
        if self[node].rule.is_none() || self[node].rule != rule {
            self.rule_added(node, rule);
        }
        self[node].edges_in.push(edge);
    }

    /// The effective spec: that of an override, if one applies.
    pub fn spec(&self, edge: EdgeId) -> &Rc<Spec> {
        let edge = &self[edge];
        let Some(rule) = edge.rule.map(|rule| self.overrides.rule(rule)) else {
            return &edge.raw_spec;
        };
        if rule.name != Some(edge.name) || matches!(&*rule.value.raw, "*" | "") {
            return &edge.raw_spec;
        }
        match rule.value.raw.strip_prefix('$') {
            None => &rule.value,
            Some(reference) => self.referred(edge, reference).unwrap_or(&edge.raw_spec),
        }
    }

    /// The reference of an edge's override to a dependency that doesn't exist. npm fails when it
    /// needs the spec of such an edge.
    pub fn dangling_reference(&self, edge: EdgeId) -> Option<&str> {
        let edge = &self[edge];
        let rule = self.overrides.rule(edge.rule?);
        let reference = rule.value.raw.strip_prefix('$').filter(|_| rule.name == Some(edge.name))?;
        self.referred(edge, reference).is_none().then_some(&*rule.value.raw)
    }

    /// Whether every dependent of a node asks a registry for it (`isRegistryDependency` of
    /// `node.js`).
    pub fn is_from_registry(&self, node: NodeId) -> bool {
        let edges = &self[node].edges_in;
        !edges.is_empty() && edges.iter().all(|&edge| self.spec(edge).is_registry())
    }

    /// The spec that `$name` refers to: the root's, otherwise the dependent's own. An empty spec
    /// counts as absent.
    fn referred(&self, edge: &Edge, reference: &str) -> Option<&Rc<Spec>> {
        let reference = self.vocabulary.names.find(reference)?;
        let from = edge.from?;
        let near = self[from].source.unwrap_or(from);
        let root = self[near].root;
        [root, from].into_iter().find_map(|node| {
            let manifest = &self[node].manifest;
            let blocks = [
                &manifest.dev_dependencies,
                &manifest.optional_dependencies,
                &manifest.dependencies,
                &manifest.peer_dependencies,
            ];
            let mut specs = blocks.into_iter().flatten();
            specs.find(|(name, spec)| *name == reference && !spec.raw.is_empty()).map(|(_, spec)| spec)
        })
    }

    /// Whether an edge is met, and if not, why.
    pub fn state(&self, id: EdgeId) -> EdgeState {
        let edge = &self[id];
        if let Some(state) = edge.state.get() {
            return state;
        }
        let state = match (edge.from, edge.to) {
            // npm doesn't cache this state, so that it notices nodes that are added later.
            (_, None) if edge.kind.is_optional() => return EdgeState::Valid,
            (_, None) | (None, _) => EdgeState::Missing,
            (Some(from), Some(to)) => {
                if edge.kind.is_peer() && self[to].parent == Some(from) && !self.is_top(from) {
                    EdgeState::PeerLocal
                } else if !self.satisfied_by(id, to) || self.rules_conflict(edge, to) {
                    EdgeState::Invalid
                } else {
                    EdgeState::Valid
                }
            }
        };
        edge.state.set(Some(state));
        state
    }

    /// Whether an edge is met or may stay unmet.
    pub fn is_valid(&self, edge: EdgeId) -> bool {
        self.state(edge) == EdgeState::Valid
    }

    fn rules_conflict(&self, edge: &Edge, to: NodeId) -> bool {
        match (edge.rule, self[to].rule) {
            (Some(one), Some(other)) => {
                !self[to].edges_out.is_empty() && self.overrides.more_specific(one, other).is_none()
            }
            _ => false,
        }
    }

    /// Whether a node would meet an edge.
    pub fn satisfied_by(&self, id: EdgeId, node: NodeId) -> bool {
        let edge = &self[id];
        if self[node].name != edge.name || edge.from.is_none() {
            return false;
        }
        // Overrides don't apply to bundled packages.
        if self.in_dependency_bundle(node) {
            return self.accepts(id, node, &edge.raw_spec);
        }
        let Some(rule) = edge.rule.map(|rule| self.overrides.rule(rule)).filter(|rule| rule.name.is_some()) else {
            return self.accepts(id, node, self.spec(id));
        };
        // A node that satisfies the original spec is fine, too, unless the rule is for exactly that
        // version.
        self.accepts(id, node, self.spec(id))
            || (self.accepts(id, node, &edge.raw_spec) && !self.accepts(id, node, &rule.key_spec))
    }
}
