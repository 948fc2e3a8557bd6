//! Moves nodes into a tree, inside it, out of it, and in place of one another.
//!
//! These are npm's setters for `root`, `parent` and `target` with all of their effects. A node goes
//! where its path says, the previous node there is removed, and edges that lead across trees are
//! looked up again.

use super::{NodeId, Tree};
use crate::names::Name;
use crate::paths;
use std::rc::Rc;

impl Tree {
    /// Puts a node into the `node_modules` of another, or removes it from its tree.
    pub fn set_parent(&mut self, node: NodeId, parent: Option<NodeId>) {
        let Some(parent) = parent else {
            if self[node].parent.is_some() {
                self.set_root(node, None);
            }
            return;
        };
        let parent = self.target(parent);
        if node == parent || self[node].parent == Some(parent) {
            return;
        }
        let new_path = self.child_path(parent, self[node].name);
        let moved = self[node].path.as_ref() != Some(&new_path);
        self.leave_parents(node);
        if moved && self.is_new(node) {
            self[node].path = Some(new_path.clone());
            if !self[node].is_link {
                self[node].realpath = Some(new_path);
            }
        } else if moved {
            self.change_path(node, &new_path);
        }
        let root = self[parent].root;
        self.set_root(node, Some(root));
    }

    /// Whether a node was never in a tree, so that nothing refers to its path.
    fn is_new(&self, node: NodeId) -> bool {
        let node = &self[node];
        node.path.is_none()
            && node.inventory.is_none()
            && node.children.is_empty()
            && node.fs_children.is_empty()
            && node.links_in.is_empty()
    }

    /// The path of a child, which need not exist.
    pub fn child_path(&self, parent: NodeId, name: Name) -> Rc<str> {
        let name = self.text(name);
        match self[parent].path.as_deref().unwrap_or_default() {
            "" => ["node_modules/", name].concat().into(),
            path => [path, "/node_modules/", name].concat().into(),
        }
    }

    /// Whether this is the path of such a child.
    pub(super) fn is_child_path(&self, path: &str, parent: NodeId, name: Name) -> bool {
        let above = path.strip_suffix(self.text(name)).and_then(|path| path.strip_suffix("node_modules/"));
        above.is_some_and(|above| match self[parent].path.as_deref().unwrap_or_default() {
            "" => above.is_empty(),
            folder => above.strip_suffix('/') == Some(folder),
        })
    }

    fn leave_parents(&mut self, node: NodeId) {
        if let Some(parent) = self[node].parent.take() {
            self.remove_child(parent, self[node].name);
        }
        self.leave_fs_parent(node);
    }

    fn leave_fs_parent(&mut self, node: NodeId) {
        if let Some(fs_parent) = self[node].fs_parent.take() {
            self[fs_parent].fs_children.retain(|&child| child != node);
        }
    }

    fn remove_child(&mut self, parent: NodeId, name: Name) {
        let key = name.fold();
        self[parent].children.shift_remove(&key);
    }

    fn insert_child(&mut self, parent: NodeId, node: NodeId) {
        let key = self[node].name.fold();
        let children = &mut self[parent].children;
        children.shift_remove(&key);
        children.insert(key, node);
    }

    /// Changes the path of a node and of everything in its folder.
    fn change_path(&mut self, node: NodeId, path: &Rc<str>) {
        self.delist(node);
        let old = self[node].path.replace(path.clone());
        if !self[node].is_link {
            self[node].realpath = Some(path.clone());
            for link in self[node].links_in.clone() {
                self.delist(link);
                self[link].realpath = Some(path.clone());
                self.enlist(link);
            }
        }
        for child in self[node].fs_children.clone() {
            let inside = self[child].path.as_deref().zip(old.as_deref());
            let inside = inside.map(|(child, old)| paths::relative(&self.absolute(old), &self.absolute(child)));
            self.change_path(child, &paths::join(path, &inside.unwrap_or_default()).into());
        }
        for child in self.children(node) {
            let path = self.child_path(node, self[child].name);
            self.change_path(child, &path);
        }
        self.enlist(node);
    }

    /// Moves a node into the tree of `root`, to the place that its path says. `None` moves it into
    /// a tree of its own.
    pub fn set_root(&mut self, node: NodeId, root: Option<NodeId>) {
        let mut root = root.unwrap_or(node);
        while root != node && self[root].root != root {
            root = self[root].root;
        }
        self.delist(node);
        if self[node].path.is_none() || self[root].path.is_none() {
            self[node].root = root;
            return;
        }

        let was_link_to = self.detach_from_tree(node, root);
        if root == node {
            self.enlist(node);
        } else {
            let path = self[node].path.clone().expect("checked above");
            if let Some(current) = self.at_path(root, &path) {
                self.set_root(current, None);
            }
            self[node].root = root;
            self.enlist(node);
            self.find_parent(node, root, &path);
            let inventory = self.inventory_mut(root);
            inventory.tops.retain(|&top| top != node);
            if self[node].parent.is_none() {
                self.inventory_mut(root).tops.push(node);
            }
            self.adopt_tops(node, root);
            self.connect_links(node, root);
        }

        self.reload_across(node, root);
        self.bring_family(node, root);
        if let Some(target) = was_link_to
            && self[node].is_link
            && self[node].target.is_none()
            && root != node
        {
            self.set_root(target, Some(root));
        }
    }

    /// Makes a node a root of its own during the move. Returns the target of a link.
    fn detach_from_tree(&mut self, node: NodeId, root: NodeId) -> Option<NodeId> {
        self[node].root = node;
        for link in std::mem::take(&mut self[node].links_in) {
            self[link].target = None;
        }
        let target = self[node].target.take();
        if let Some(target) = target {
            self[target].links_in.retain(|&link| link != node);
            if self[target].root == node {
                self.delist(target);
            }
        }
        if let Some(parent) = self[node].parent
            && self[parent].root != root
        {
            self.remove_child(parent, self[node].name);
            self[node].parent = None;
        }
        if let Some(fs_parent) = self[node].fs_parent
            && self[fs_parent].root != root
        {
            self.leave_fs_parent(node);
        }
        target
    }

    /// Finds the node whose folder contains a node, by path.
    fn find_parent(&mut self, node: NodeId, root: NodeId, path: &str) {
        let mut above = path;
        while !above.is_empty() && !above.ends_with("..") {
            above = paths::parent(above);
            let Some(parent) = self.at_path(root, above).filter(|&parent| !self[parent].is_link) else {
                continue;
            };
            let name = self[node].name;
            if self.is_child_path(path, parent, name) {
                if let Some(old) = self.child(parent, name).filter(|&old| old != node) {
                    self.set_root(old, None);
                }
                if let Some(former) = self[node].parent {
                    self.remove_child(former, name);
                    self.reload_named(former, name);
                }
                self.insert_child(parent, node);
                self[node].parent = Some(parent);
                // A link has no target yet. The edges to it are looked up when it has one.
                if !self[node].is_link {
                    self.reload_named(parent, name);
                }
            } else {
                self.leave_fs_parent(node);
                self[parent].fs_children.push(node);
                self[node].fs_parent = Some(parent);
            }
            return;
        }
    }

    /// Makes a node the parent of earlier nodes in its folder.
    fn adopt_tops(&mut self, node: NodeId, root: NodeId) {
        if self.tops(root).is_empty() {
            return;
        }
        let own = self.absolute(self[node].path.as_deref().unwrap_or_default());
        for child in self.tops(root).to_vec() {
            // Moving one of these nodes can move others with it.
            if child == node || self[child].parent.is_some() || self[child].root != root {
                continue;
            }
            let child_path = self[child].path.clone().unwrap_or_default();
            let is_child = self.is_child_path(&child_path, node, self[child].name);
            let folder = paths::parent(&self.absolute(&child_path)).to_owned();
            let is_fs_child = folder.starts_with(&own)
                && self[child].fs_parent.is_none_or(|current| {
                    let current_path = self.absolute(self[current].path.as_deref().unwrap_or_default());
                    current == node || paths::parent(&own).starts_with(&current_path)
                });
            if !is_child && !is_fs_child {
                continue;
            }
            if self[node].is_link {
                self.set_root(child, None);
                continue;
            }
            self.leave_fs_parent(child);
            if is_child {
                self.insert_child(node, child);
                self[child].parent = Some(node);
                self.inventory_mut(root).tops.retain(|&top| top != child);
            } else {
                self[node].fs_children.push(child);
                self[child].fs_parent = Some(node);
            }
        }
    }

    /// Connects a link with its target, or a target with the links to it.
    fn connect_links(&mut self, node: NodeId, root: NodeId) {
        if !self[node].is_link && !self.has_links(root) {
            return;
        }
        let Some(realpath) = self[node].realpath.clone() else { return };
        for other in self.with_realpath(root, &realpath) {
            if other == node {
                continue;
            }
            if self[node].is_link {
                let target = self.target(other);
                self[node].target = Some(target);
                self[node].manifest = self[target].manifest.clone();
                self[target].links_in.push(node);
                if let Some(parent) = self[node].parent {
                    self.reload_named(parent, self[node].name);
                }
                return;
            }
            if self[other].is_link {
                self[other].target = Some(node);
                self[other].manifest = self[node].manifest.clone();
                if !self[node].links_in.contains(&other) {
                    self[node].links_in.push(other);
                }
                if let Some(parent) = self[other].parent {
                    self.reload_named(parent, self[other].name);
                }
            }
        }
    }

    /// Looks up the edges that lead into or out of another tree.
    fn reload_across(&mut self, node: NodeId, root: NodeId) {
        for edge in self[node].edges_in.clone() {
            if self[edge].from.is_some_and(|from| self[from].root != root) {
                self.reload(edge, false);
            }
        }
        for edge in self[node].edges_out.snapshot() {
            if self[edge].to.is_none_or(|to| self[to].root != root) {
                self.reload(edge, false);
            }
        }
    }

    /// Moves everything in the node's folders along with it.
    fn bring_family(&mut self, node: NodeId, root: NodeId) {
        let mut family = self[node].fs_children.clone();
        family.extend(self[node].children.values());
        if self[node].inventory.is_some() {
            for member in self.inventory(node) {
                if member != node && !family.contains(&member) {
                    family.push(member);
                }
            }
        }
        family.retain(|&member| self[member].root != root);
        for &member in &family {
            self.delist(member);
            self[member].parent = None;
            self.remove_child(node, self[member].name);
            self[member].fs_parent = None;
            self[node].fs_children.retain(|&child| child != member);
            for link in std::mem::take(&mut self[member].links_in) {
                self[link].target = None;
            }
        }
        for member in family {
            if self[member].root != root {
                self.set_root(member, Some(root));
            }
        }
    }

    /// Sets the target of a link (`set target`).
    pub(super) fn set_target(&mut self, link: NodeId, target: NodeId) {
        if self[link].target == Some(target) {
            return;
        }
        let root = self[link].root;
        if self[link].path.is_none() {
            // This link isn't placed yet.
            if self[target].path.is_some() {
                self[link].realpath = self[target].path.clone();
            }
            self.set_root(target, Some(root));
            self[link].target = Some(target);
            self[target].links_in.push(link);
            self[link].manifest = self[target].manifest.clone();
            return;
        }
        self.delist(link);
        self[link].manifest = self[target].manifest.clone();
        self[link].realpath = self[target].path.clone();
        self.enlist(link);
        self.set_root(target, Some(root));
    }

    /// Replaces a node, which is removed. Its children stay where they are.
    pub fn replace(&mut self, node: NodeId, old: NodeId) {
        self.delist(node);
        let own_name = self[node].name;
        match self[old].parent.filter(|&parent| self.child(parent, own_name) == Some(old)) {
            // The names can differ in case. The new one's case is kept.
            Some(parent) => self[node].path = Some(self.child_path(parent, own_name)),
            None => {
                self[node].path = self[old].path.clone();
                self[node].name = self[old].name;
            }
        }
        if !self[node].is_link {
            self[node].realpath = self[node].path.clone();
        }
        self.enlist(node);
        if !self[node].is_link {
            for child in self.children(old) {
                self.set_parent(child, Some(node));
            }
            if let Some(target) = self[old].target {
                self.set_root(target, None);
            }
        }
        if self[old].root != old {
            let root = self[old].root;
            self.set_root(node, Some(root));
        }
    }
}
