//! The bundles of all packages to install, once the tree is complete.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::bundle::unpack;
use super::finish::Ending;
use crate::error::ResolveError;
use crate::order;
use crate::tree::{EdgeId, NodeId, Tree};

impl Ending {
    /// Opens the bundles of all packages to install, once the tree is complete
    /// (`[_loadBundlesAndUpdateTrees]`).
    pub(super) async fn unpack_installed_bundles(&mut self) -> Result<(), ResolveError> {
        let has_bundle = |tree: &Tree, node: NodeId| {
            let data = &tree[node];
            node != tree.root && !data.is_link && !data.inert && !data.manifest.bundled.is_empty()
        };
        let nodes = self.tree.inventory(self.tree.root);
        let mut bundlers: Vec<NodeId> = nodes.into_iter().filter(|&node| has_bundle(&self.tree, node)).collect();
        order::sort_by_key(&mut bundlers, |&node| {
            std::iter::successors(self.tree[node].parent, |&node| self.tree[node].parent).count()
        });
        for &node in &bundlers {
            let data = &self.tree[node];
            // A lockfile lists the content of a bundle that was opened before. Old lockfiles lack
            // facts about it, and also state another source or integrity, which npm drops once it
            // has seen the bundle.
            let children = data.children.values().map(|&child| &self.tree[child]);
            let shown: Vec<_> = children.filter(|child| data.manifest.bundled.contains(&child.name)).collect();
            let is_as_seen = shown.iter().all(|child| child.resolved.is_none() && child.integrity.is_none());
            let is_open = !self.facts.lock.is_old && !shown.is_empty() && is_as_seen;
            if data.root == self.tree.root && data.resolved.is_some() && !is_open {
                unpack(&mut self.sources, &mut self.tree, node).await?;
            }
        }
        // The flags of packages that were there before stay, even if only packages that the bundle
        // shadows needed them.
        self.prune_shadowed(&bundlers);
        Ok(())
    }

    /// Removes packages that were needed only by packages whose bundle now contains them
    /// (`#pruneBundledMetadeps`).
    fn prune_shadowed(&mut self, bundlers: &[NodeId]) {
        let tree = &self.tree;
        let mut shadowed: IndexSet<NodeId, FxBuildHasher> = IndexSet::default();
        for &bundler in bundlers {
            let Some(parent) = tree[bundler].parent.filter(|_| tree[bundler].root == tree.root) else { continue };
            let names = tree[bundler].children.values().map(|&child| tree[child].name);
            shadowed.extend(names.filter_map(|name| tree.resolve(parent, name)));
        }
        let mut next = 0;
        while let Some(&node) = shadowed.get_index(next) {
            shadowed.extend(tree[node].edges_out.iter().filter_map(|&edge| tree[edge].to));
            next += 1;
        }
        loop {
            let outside = |edge: &EdgeId| tree[*edge].from.is_none_or(|from| !shadowed.contains(&from));
            let needed = shadowed.iter().copied().find(|&node| tree[node].edges_in.iter().any(outside));
            let Some(needed) = needed.or_else(|| shadowed.contains(&tree.root).then_some(tree.root)) else { break };
            shadowed.shift_remove(&needed);
        }
        for node in shadowed {
            self.tree.set_parent(node, None);
        }
    }
}
