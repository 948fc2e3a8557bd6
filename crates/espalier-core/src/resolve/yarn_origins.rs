//! Takes the sources of installed packages from a yarn.lock (`addEdge` of `shrinkwrap.js`).

use std::rc::Rc;

use crate::lockfile::yarn::{Entry, YarnLock};
use crate::tree::{NodeId, Tree};

/// The URL at npm's registry. npm writes it instead of that of yarn's mirror.
fn without_mirror(url: &str, default_registry_host: &str) -> String {
    match split_url(url).filter(|(host, _)| is_mirror(host)) {
        Some((_, path)) => format!("https://{default_registry_host}/{path}"),
        None => url.to_owned(),
    }
}

/// Completes installed packages without a source by yarn.lock.
pub(super) fn decorate(tree: &mut Tree, lock: &YarnLock, default_registry_host: &str) {
    for node in tree.inventory(tree.root) {
        let Some(entry) = entry_of_installed(tree, lock, node) else { continue };
        if tree[node].integrity.is_none() {
            tree[node].integrity = entry.integrity.as_deref().map(Rc::from);
        }
        if tree[node].resolved.is_none() {
            let resolved = entry.resolved.as_deref().map(|resolved| without_mirror(resolved, default_registry_host));
            tree[node].resolved = resolved.map(|resolved| tree.absolute_resolved(&resolved));
        }
    }
}

fn entry_of_installed(tree: &Tree, lock: &YarnLock, node: NodeId) -> Option<Entry> {
    let known = &tree[node];
    if known.is_link || (known.resolved.is_some() && known.integrity.is_some()) {
        return None;
    }
    let name = tree.text(known.name);
    let differs = |own: Option<&str>, other: Option<&str>| own.zip(other).is_some_and(|(own, other)| own != other);
    let valid = known.edges_in.iter().filter(|&&edge| tree.is_valid(edge));
    let mut entries = valid.filter_map(|&edge| lock.get(&format!("{name}@{}", tree.spec(edge).raw)));
    let entry = entries.find(|entry| {
        !differs(tree.package(node).version.as_deref(), entry.version.as_deref())
            && !differs(known.integrity.as_deref(), entry.integrity.as_deref())
            && !differs(known.resolved.as_deref(), entry.resolved.as_deref())
    })?;
    Some(entry.clone())
}

/// The host and path of an http URL.
pub(super) fn split_url(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    rest.split_once('/')
}

/// Whether a host is yarn's mirror of npm's registry.
pub(super) fn is_mirror(host: &str) -> bool {
    host.starts_with("registry.yarn")
}
