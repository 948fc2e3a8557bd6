//! What the user asks to change, as the search sees it.

use rustc_hash::FxHashSet;

use crate::changes::{Changes, Update};
use crate::names::Name;
use crate::tree::{EdgeId, Tree};

/// What the user asks to change.
pub(super) struct Wishes {
    pub(super) changes: Changes,
    /// Edges that were asked for by name.
    pub(super) explicit: FxHashSet<EdgeId>,
    /// Names that are to be updated.
    pub(super) update_names: Vec<Name>,
}

impl Wishes {
    pub(super) fn new(changes: Changes) -> Self {
        Self { changes, explicit: FxHashSet::default(), update_names: Vec::new() }
    }

    /// Whether the tree is asked to change: there may be no duplicates to take out.
    pub(super) fn mutate(&self) -> bool {
        self.changes.any() && (self.changes.update != Update::Duplicates || !self.update_names.is_empty())
    }

    /// Whether an edge is to be resolved again, even if it is met.
    pub(super) fn name(&self, tree: &Tree, edge: EdgeId) -> bool {
        self.update_names.contains(&tree[edge].name) || self.explicit.contains(&edge)
    }
}
