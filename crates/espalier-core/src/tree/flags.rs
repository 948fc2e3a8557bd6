//! The flags of the lockfile, which say what needs a node (`calc-dep-flags.js`).
//!
//! All flags are set first. Walking from the root then clears them until nothing changes: a node
//! that is reached without a dev edge isn't `dev`, and so on.

use super::{NodeId, Tree, index_of};

/// A node's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// Nothing needs it.
    pub extraneous: bool,
    /// Only dev dependencies need it.
    pub dev: bool,
    /// Only optional dependencies need it.
    pub optional: bool,
    /// Dev and optional dependencies need it, on different paths, and nothing else does.
    pub dev_optional: bool,
    /// Only peers need it.
    pub peer: bool,
}

impl Flags {
    /// The flags before the walk.
    pub const ALL: Self = Self { extraneous: true, dev: true, optional: true, dev_optional: true, peer: true };
    /// The flags of the root.
    pub const NONE: Self = Self { extraneous: false, dev: false, optional: false, dev_optional: false, peer: false };
}

impl Tree {
    /// Sets all flags of all nodes.
    pub fn reset_flags(&mut self) {
        for node in self.inventory(self.root) {
            self[node].flags = Flags::ALL;
        }
    }

    /// Computes the flags, starting from the root. `reset_root` clears those of the root first.
    pub fn calculate_flags(&mut self, reset_root: bool) {
        let root = self.root;
        if reset_root {
            self[root].flags = Flags::NONE;
        }
        self.calculate_flags_below(root);
    }

    /// Computes the flags of the nodes that a node needs from its own.
    pub fn calculate_flags_below(&mut self, root: NodeId) {
        let mut seen = vec![false; self.nodes.len()];
        let mut visited = Vec::new();
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[index_of(node.0)], true) {
                visited.push(node);
            }
            self.keep_ancestors(node);
            if self[node].is_link {
                if let Some(target) = self[node].target
                    && (self.pass_flags_through(node, target) || !seen[index_of(target.0)])
                {
                    stack.push(target);
                }
                continue;
            }
            for index in 0..self[node].edges_out.len() {
                let edge = &self[self[node].edges_out[index]];
                if let Some(to) = edge.to
                    && self.pass_flags(node, to, edge.kind)
                {
                    stack.push(to);
                }
            }
        }
        for node in visited {
            let flags = &mut self[node].flags;
            if node != root && (flags.dev || flags.optional) {
                flags.dev_optional = false;
            }
        }
    }

    /// The nodes that contain a needed node are needed, too.
    fn keep_ancestors(&mut self, node: NodeId) {
        if self[node].flags.extraneous {
            return;
        }
        let mut above = self.resolve_parent(node);
        while let Some(ancestor) = above.filter(|&ancestor| self[ancestor].flags.extraneous) {
            self[ancestor].flags.extraneous = false;
            above = self.resolve_parent(ancestor);
        }
    }

    fn pass_flags_through(&mut self, link: NodeId, target: NodeId) -> bool {
        let from = self[link].flags;
        let old = self[target].flags;
        let new = Flags {
            extraneous: old.extraneous && from.extraneous,
            dev: old.dev && from.dev,
            optional: old.optional && from.optional,
            dev_optional: old.dev_optional && from.dev_optional,
            peer: old.peer && from.peer,
        };
        self[target].flags = new;
        new != old
    }

    fn pass_flags(&mut self, node: NodeId, to: NodeId, kind: super::EdgeKind) -> bool {
        let from = self[node].flags;
        let (peer, optional, dev) = (kind.is_peer(), kind.is_optional(), kind == super::EdgeKind::Dev);
        let old = self[to].flags;
        let mut new = old;
        // Only optional peers leave their targets extraneous.
        let optional_peer = peer && optional;
        if !from.extraneous && !optional_peer {
            new.extraneous = false;
        }
        if !from.dev && !dev {
            new.dev = false;
        }
        if !from.optional && !optional {
            new.optional = false;
        }
        // It isn't cleared below dev or optional nodes, because that would hide an overlap further
        // down.
        if !from.dev_optional && !from.dev && !from.optional && !dev && !optional {
            new.dev_optional = false;
        }
        if !from.peer && !peer {
            new.peer = false;
        }
        self[to].flags = new;
        new != old
    }
}
