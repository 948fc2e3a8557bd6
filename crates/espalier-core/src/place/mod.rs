//! npm's placement of packages.
//!
//! A candidate is in a virtual root together with its peers. [`can_place`] decides whether a folder
//! accepts it, and changes nothing. [`place`] walks up from the dependent, puts the candidate into
//! the highest folder that accepts it, and then places its peers.

mod can_place;
mod notes;
#[expect(clippy::module_inception, reason = "npm's two questions are can-place and place")]
mod place;

pub use notes::Notes;
pub use place::{Effects, PlacementRules, Placer, Unplaceable};

use crate::names::Name;
use crate::tree::{NodeId, Tree};

/// The deepest folder for a package that a dependent needs: the dependent's own, unless the package
/// is a peer (`deepest-nesting-target.js`).
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
