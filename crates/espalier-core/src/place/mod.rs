//! Where a package goes: npm's placement.
//!
//! A candidate stands in a virtual root together with its peers. [`can_place`] asks, for one folder, whether
//! it may go there, and changes nothing. [`place`] walks up from the dependent, asks at each folder, puts the
//! candidate into the highest that will have it, and then does the same with its peers.

mod can_place;
mod notes;
#[expect(clippy::module_inception, reason = "npm's two questions are can-place and place")]
mod place;

pub use notes::Notes;
pub use place::{Effects, PlacementRules, Placer, Unplaceable};

use crate::names::Name;
use crate::tree::{NodeId, Tree};

/// The deepest folder that a package of a name may be placed in for a dependent: its own, unless the
/// dependent has it as a peer (`deepest-nesting-target.js`).
fn deepest_target(tree: &Tree, dependent: NodeId, name: Name) -> NodeId {
    let mut last = dependent;
    for target in tree.ancestry(dependent) {
        last = target;
        let is_peer = tree.edge(target, name).is_some_and(|edge| tree[edge].kind.is_peer());
        if tree.is_project_root(target) || tree.resolve_parent(target).is_none() || !is_peer {
            break;
        }
    }
    last
}
