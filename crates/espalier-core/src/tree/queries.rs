//! Queries about nodes, which change nothing (`node.js`).

use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::rc::Rc;

use super::{NodeId, Tree};
use crate::manifest::Manifest;
use crate::names::{FoldedName, Name};
use crate::paths;

impl Tree {
    /// A node's manifest. For a link, that of its target.
    pub fn package(&self, node: NodeId) -> &Rc<Manifest> {
        &self[self.target(node)].manifest
    }

    /// The path of a node relative to the project. Empty for the root and for unplaced nodes.
    pub fn location(&self, node: NodeId) -> String {
        self[node].path.as_deref().unwrap_or_default().to_owned()
    }

    /// The target of a link. Any other node is its own target.
    pub fn target(&self, node: NodeId) -> NodeId {
        if self[node].is_link { self[node].target.unwrap_or(node) } else { node }
    }

    /// The child with this name.
    pub fn child(&self, node: NodeId, name: Name) -> Option<NodeId> {
        self[node].children.get(&name.fold()).copied()
    }

    /// The children, in their order.
    pub fn children(&self, node: NodeId) -> Vec<NodeId> {
        self[node].children.values().copied().collect()
    }

    /// The node where a name is looked up next.
    pub fn resolve_parent(&self, node: NodeId) -> Option<NodeId> {
        self[node].parent.or(self[node].fs_parent)
    }

    /// The node itself and the nodes where names are looked up above it, nearest first.
    pub fn ancestry(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(node), |&node| self.resolve_parent(node))
    }

    /// The node that a name leads to from this node.
    pub fn resolve(&self, node: NodeId, name: Name) -> Option<NodeId> {
        let key = name.fold();
        self.ancestry(node).find_map(|node| self.child_folded(node, key))
    }

    fn child_folded(&self, node: NodeId, key: FoldedName) -> Option<NodeId> {
        self[node].children.get(&key).copied()
    }

    /// Whether a node is another one, or somewhere in its folder.
    pub fn is_descendant_of(&self, node: NodeId, ancestor: NodeId) -> bool {
        self.ancestry(node).any(|other| other == ancestor)
    }

    /// Whether a node is a project of its own: the root, a workspace or a link's target.
    pub fn is_top(&self, node: NodeId) -> bool {
        self[node].parent.is_none()
    }

    /// The number of `node_modules` above.
    pub fn depth(&self, node: NodeId) -> usize {
        std::iter::successors(self[node].parent, |&node| self[node].parent).count()
    }

    /// Whether a node is the root of its tree. Virtual roots are, too.
    pub fn is_project_root(&self, node: NodeId) -> bool {
        self[node].root == node
    }

    /// Whether a node is one of its root's workspaces, or a link to one.
    pub fn is_workspace(&self, node: NodeId) -> bool {
        if self.is_project_root(node) {
            return false;
        }
        let root = self[node].root;
        if self[root].workspaces.is_none() {
            return false;
        }
        let name = self.package(node).name.as_deref().and_then(|name| self.vocabulary.names.find(name));
        name.and_then(|name| self.edge(root, name)).is_some_and(|edge| {
            let to = self[edge].to;
            self[edge].kind == super::EdgeKind::Workspace && to.is_some_and(|to| to == node || self.target(to) == node)
        })
    }

    /// Whether a node is the root or a workspace, which the user owns.
    pub fn is_own(&self, node: NodeId) -> bool {
        self.is_project_root(node) || self.is_workspace(node)
    }

    /// The source of a node. For a link, the path to its target.
    pub fn resolved(&self, node: NodeId) -> Option<Cow<'_, str>> {
        let entry = &self[node];
        if !entry.is_link {
            return entry.resolved.as_deref().map(Cow::Borrowed);
        }
        let (path, realpath) = (entry.path.as_deref()?, entry.realpath.as_deref()?);
        let folder = self.absolute(paths::parent(path));
        Some(Cow::Owned(format!("file:{}", paths::relative(&folder, &self.absolute(realpath)))))
    }

    /// Whether two nodes are the same package.
    pub fn matches(&self, node: NodeId, other: NodeId) -> bool {
        if node == other {
            return true;
        }
        if self[node].name != self[other].name {
            return false;
        }
        if self[node].is_link {
            return self[other].is_link && self.matches(self.target(node), self.target(other));
        }
        if self.is_project_root(node) && self.is_project_root(other) {
            return self[node].path == self[other].path;
        }
        if let (Some(one), Some(two)) = (&self[node].integrity, &self[other].integrity) {
            return one == two;
        }
        if let (Some(one), Some(two)) = (self.resolved(node), self.resolved(other)) {
            return one == two;
        }
        let (one, two) = (self.package(node), self.package(other));
        one.name.is_some() && one.name == two.name && one.version.is_some() && one.version == two.version
    }

    /// Whether `new` can replace `current`: every dependent accepts it, except for those that would
    /// be removed, and for the peers beside it in `replaced_peers`, which are replaced, too.
    pub fn can_replace(&self, new: NodeId, current: NodeId, replaced_peers: &[FoldedName]) -> bool {
        if self[new].name != self[current].name || self.package(new).name != self.package(current).name {
            return false;
        }
        if !self[current].edges_out.is_empty() && self[new].rule != self[current].rule {
            return false;
        }
        // Nodes that only this node's dependencies need are removed with it, so they needn't accept
        // it.
        let mut own: Option<FxHashSet<NodeId>> = None;
        self[current].edges_in.iter().all(|&id| {
            let edge = &self[id];
            let Some(from) = edge.from else { return true };
            let replaced = !self.is_top(current)
                && self[from].parent == self[current].parent
                && edge.kind.is_peer()
                && replaced_peers.contains(&self[from].name.fold());
            replaced
                || self.satisfied_by(id, new)
                || own
                    .get_or_insert_with(|| {
                        let set = self.gather(&[current], |edge| self[edge].to != Some(current) && self.is_valid(edge));
                        set.into_iter().collect()
                    })
                    .contains(&from)
        })
    }

    /// Whether a node is superfluous, because its dependents accept the one further up.
    pub fn can_dedupe(&self, node: NodeId, prefer_dedupe: bool, explicit: bool) -> bool {
        if self.in_dependency_bundle(node) {
            return false;
        }
        let Some(above) = self.resolve_parent(node).and_then(|parent| self.resolve_parent(parent)) else {
            return false;
        };
        if self[node].edges_in.is_empty() {
            return true;
        }
        let Some(other) = self.resolve(above, self[node].name) else {
            return false;
        };
        if self.matches(other, node) {
            return true;
        }
        if !self.can_replace(other, node, &[]) {
            return false;
        }
        let order = self.package(other).semver.as_ref().partial_cmp(&self.package(node).semver.as_ref());
        prefer_dedupe
            || order == Some(std::cmp::Ordering::Equal)
            || (!self.is_overridden(node) && order == Some(std::cmp::Ordering::Greater))
            || explicit
    }

    /// Whether an override chose this version.
    pub fn is_overridden(&self, node: NodeId) -> bool {
        let name = self[node].name;
        let about_this = |rule: crate::overrides::RuleId| self.overrides.rule(rule).name == Some(name);
        let version = self.package(node).version.as_deref().unwrap_or_default();
        self[node].rule.is_some_and(about_this)
            && self[node].edges_in.iter().any(|&edge| {
                let edge = &self[edge];
                let from_rule = edge.from.and_then(|from| self[from].rule);
                edge.rule.is_some_and(|rule| {
                    about_this(rule) && *self.overrides.rule(rule).value.raw == *version && Some(rule) != from_rule
                })
            })
    }
}
