//! Bundles: packages in the tarball of another package, which a lock lists.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::explain::chain_to_node;
use super::sources::Sources;
use crate::error::ResolveError;
use crate::json;
use crate::manifest::Manifest;
use crate::order;
use crate::tree::{NewNode, NodeId, Tree};

/// Reads the tarball of a package with bundled packages and adds those to its `node_modules`.
pub(super) async fn unpack(sources: &mut Sources, tree: &mut Tree, node: NodeId) -> Result<(), ResolveError> {
    let entry = &tree[node];
    let has_bundle = node != tree.root && !entry.manifest.bundled.is_empty() && !entry.inert;
    let Some(url) = entry.resolved.clone().filter(|_| has_bundle) else {
        return Ok(());
    };
    let integrity = entry.integrity.clone();
    let listing = sources.tarball(&url, integrity.as_deref()).await.map_err(|failure| ResolveError::Fetch {
        name: tree.text(tree[node].name).to_owned(),
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
    let mut nodes: FxHashMap<Rc<str>, NodeId> = FxHashMap::default();
    nodes.insert(Rc::default(), node);
    for (folder, text) in folders {
        let (above, name) = split_last(folder);
        let (Some(&parent), Ok(value)) = (nodes.get(above), json::parse(folder, text)) else {
            continue;
        };
        let mut manifest = Manifest::from_value(&value, &sources.vocabulary);
        manifest.list_bins_among(&listing.files, folder);
        let name = sources.vocabulary.names.intern(name);
        let with_peers = sources.with_peers();
        let new = NewNode { name: Some(name), parent: Some(parent), ..NewNode::of(Rc::new(manifest), with_peers) };
        nodes.insert(folder.into(), tree.add(new));
    }
    // npm does this for everything that it reads from disk. Packages that the lock needs already
    // stay needed.
    tree.calculate_flags_below(node);
    Ok(())
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
