//! The changes that the user asks for, as the search needs them.

use rustc_hash::FxHashSet;

use crate::changes::{Changes, Update};
use crate::names::Name;
use crate::tree::{EdgeId, Tree};

/// The changes that the user asks for.
pub(super) struct Wishes {
    pub(super) changes: Changes,
    /// Edges that the user named.
    pub(super) explicit: FxHashSet<EdgeId>,
    /// Names to update.
    pub(super) update_names: Vec<Name>,
}

impl Wishes {
    pub(super) fn new(changes: Changes) -> Self {
        Self { changes, explicit: FxHashSet::default(), update_names: Vec::new() }
    }

    /// Whether the tree is to be changed. There may be no duplicates to remove.
    pub(super) fn mutate(&self) -> bool {
        self.changes.any() && (self.changes.update != Update::Duplicates || !self.update_names.is_empty())
    }

    /// Whether an edge is resolved again, even if it is met.
    pub(super) fn name(&self, tree: &Tree, edge: EdgeId) -> bool {
        self.update_names.contains(&tree[edge].name) || self.explicit.contains(&edge)
    }
}
