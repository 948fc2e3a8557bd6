//! Bundles: packages in the tarball of another package, which a lock lists.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::explain::chain_to_node;
use super::finish::Ending;
use super::sources::Sources;
use crate::error::ResolveError;
use crate::json;
use crate::order;
use crate::tree::{EdgeId, NewNode, NodeId, Tree};

/// Reads the tarball of a package with bundled packages and adds those to its `node_modules`.
pub(super) async fn unpack(sources: &mut Sources, tree: &mut Tree, node: NodeId) -> Result<(), ResolveError> {
    let entry = &tree[node];
    let has_bundle = node != tree.root && !entry.manifest.bundled.is_empty() && !entry.inert;
    let Some(url) = entry.resolved.clone().filter(|_| has_bundle) else {
        return Ok(());
    };
    let integrity = entry.integrity.clone();
    let listing =
        sources.tarball(&mut tree.words, &url, integrity.as_deref()).await.map_err(|failure| ResolveError::Fetch {
            name: tree.words.names.text(tree[node].name).to_owned(),
            failure,
            chain: chain_to_node(tree, node),
        })?;

    let mut folders: Vec<(&str, &str)> = listing
        .manifests
        .iter()
        .filter_map(|(path, text)| Some((path.strip_suffix("/package.json")?, text.as_str())))
        .filter(|(folder, _)| is_package_folder(folder))
        .collect();
    order::sort_by(&mut folders, Ord::cmp);
    let mut nodes: FxHashMap<&str, NodeId> = std::iter::once(("", node)).collect();
    for (folder, text) in folders {
        let (above, name) = split_last(folder);
        let (Some(&parent), Ok(value)) = (nodes.get(above), json::parse(folder, text)) else {
            continue;
        };
        let mut manifest = tree.words.manifest(&value);
        manifest.list_bins_among(&listing.files, folder);
        let name = tree.words.names.intern(name);
        let with_peers = sources.with_peers();
        let new = NewNode { name: Some(name), parent: Some(parent), ..NewNode::of(Rc::new(manifest), with_peers) };
        nodes.insert(folder, tree.add(new));
    }
    // npm does this for everything that it reads from disk. Packages that the lock needs already stay needed.
    tree.calculate_flags_below(node);
    Ok(())
}

impl Ending {
    /// Opens the bundles of all packages to install, once the tree is complete (`[_loadBundlesAndUpdateTrees]`).
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
            // A lockfile lists the content of a bundle that was opened before. Only old lockfiles also state another source,
            // which npm drops once it has seen the bundle.
            let children = data.children.values().map(|&child| &self.tree[child]);
            let shown: Vec<_> = children.filter(|child| data.manifest.bundled.contains(&child.name)).collect();
            let is_open = !shown.is_empty() && shown.iter().all(|child| child.resolved.is_none());
            if data.root == self.tree.root && data.resolved.is_some() && !is_open {
                unpack(&mut self.sources, &mut self.tree, node).await?;
            }
        }
        if !bundlers.is_empty() {
            self.prune_shadowed(&bundlers);
            self.tree.reset_flags();
            self.tree.calculate_flags(true);
        }
        Ok(())
    }

    /// Removes packages that were needed only by packages whose bundle now contains them (`#pruneBundledMetadeps`).
    fn prune_shadowed(&mut self, bundlers: &[NodeId]) {
        let tree = &self.tree;
        let mut shadowed: IndexSet<NodeId> = IndexSet::new();
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

/// Whether a path consists of `node_modules/<name>` only, without hidden folders.
fn is_package_folder(folder: &str) -> bool {
    let mut rest = folder;
    while let Some(inside) = rest.strip_prefix("node_modules/") {
        let depth = if inside.starts_with('@') { 2 } else { 1 };
        let end = inside.match_indices('/').nth(depth - 1).map_or(inside.len(), |(at, _)| at);
        let name = &inside[..end];
        if name.is_empty() || name.starts_with('.') || (depth == 2 && !name.contains('/')) {
            return false;
        }
        if end == inside.len() {
            return true;
        }
        rest = &inside[end + 1..];
    }
    false
}

/// The folder of the package above, and the name in its `node_modules`.
fn split_last(folder: &str) -> (&str, &str) {
    match folder.rfind("node_modules/") {
        Some(at) => (folder[..at].trim_end_matches('/'), &folder[at + "node_modules/".len()..]),
        None => ("", folder),
    }
}
