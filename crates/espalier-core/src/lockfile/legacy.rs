//! The nested `dependencies` of lockfile version 2, which npm keeps writing if it finds them
//! (`#buildLegacyLockfile`).

use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::rc::Rc;

use crate::collation;
use crate::paths;
use crate::spec::{Spec, SpecKind};
use crate::tree::{EdgeId, NodeId, Tree};

/// The `dependencies` of the root, if it has any.
pub fn dependencies(tree: &Tree, omit_resolved: bool) -> Option<Value> {
    below(tree, tree.root, &[], omit_resolved)
}

/// The content of a node's `node_modules`. Folders that links have led through are left out.
fn below(tree: &Tree, node: NodeId, above: &[Rc<str>], omit_resolved: bool) -> Option<Value> {
    let realpath = |node: NodeId| tree[node].realpath.clone().unwrap_or_default();
    let mut path = above.to_vec();
    path.push(realpath(node));
    let children = tree.children(tree.target(node)).into_iter().filter(|&child| !above.contains(&realpath(child)));
    let entries: Map<String, Value> = children
        .map(|child| (tree.text(tree[child].name).to_owned(), entry(tree, child, &path, omit_resolved)))
        .collect();
    (!entries.is_empty()).then_some(Value::Object(entries))
}

fn entry(tree: &Tree, node: NodeId, path: &[Rc<str>], omit_resolved: bool) -> Value {
    let data = &tree[node];
    let edge = requested(tree, node);
    let spec = edge.map(|edge| tree.spec(edge).clone());
    let kind = spec.as_deref().map(|spec| &spec.kind);
    let resolved = data.resolved.as_deref().filter(|_| !data.is_link);
    let is_git = resolved.is_some_and(|resolved| resolved.starts_with("git"));
    let is_file = resolved.is_some_and(|resolved| resolved.starts_with("file:"));
    let own_name = tree.package(node).name.as_deref();
    let version = tree.package(node).version.as_deref();

    let mut entry = Map::new();
    let locked = match kind {
        _ if data.is_link => Some(format!("file:{}", data.realpath.as_deref().unwrap_or_default())),
        Some(SpecKind::Remote(url)) => Some(url.to_string()),
        Some(SpecKind::File(path)) => {
            let from = edge.and_then(|edge| tree[edge].from);
            let from = from.and_then(|from| tree[from].realpath.as_deref()).unwrap_or_default();
            Some(path.saved(&tree.absolute(from)))
        }
        // Without a dependent, the origin decides.
        None if resolved.is_some_and(|resolved| !is_git && !is_file && resolved.contains("://")) => {
            resolved.map(str::to_owned)
        }
        _ if is_git => {
            if let Some(spec) = &spec {
                entry.insert("from".into(), format!("{}@{}", tree.text(data.name), spec.raw).into());
            }
            resolved.map(str::to_owned)
        }
        _ => match (own_name.filter(|own| *own != tree.text(data.name)), version) {
            (Some(own), version) => Some(format!("npm:{own}@{}", version.unwrap_or_default())),
            (None, version) => version.map(str::to_owned),
        },
    };
    if let Some(locked) = locked {
        entry.insert("version".into(), locked.into());
    }
    if tree.in_dependency_bundle(node) {
        entry.insert("bundled".into(), true.into());
    }
    let from_registry = spec.as_deref().is_some_and(Spec::is_registry);
    if let Some(resolved) = resolved.filter(|_| from_registry && !is_git && !is_file && !omit_resolved) {
        entry.insert("resolved".into(), resolved.into());
    }
    if let Some(integrity) = data.integrity.as_deref() {
        entry.insert("integrity".into(), integrity.into());
    }
    let flags = data.flags;
    let named = |set: bool| set && !flags.extraneous && !data.is_link;
    for (key, set) in [
        ("extraneous", flags.extraneous),
        ("peer", named(flags.peer)),
        ("devOptional", named(flags.dev_optional && !flags.dev && !flags.optional)),
        ("dev", named(flags.dev)),
        ("optional", named(flags.optional)),
    ] {
        if set {
            entry.insert(key.into(), true.into());
        }
    }
    let target = tree.target(node);
    if !tree[target].edges_out.is_empty() {
        entry.insert("requires".into(), requires(tree, node, target));
    }
    if let Some(dependencies) = below(tree, node, path, omit_resolved) {
        entry.insert("dependencies".into(), dependencies);
    }
    Value::Object(entry)
}

/// The edge of the shallowest dependent.
fn requested(tree: &Tree, node: NodeId) -> Option<EdgeId> {
    let location = |edge: EdgeId| {
        let from = tree[edge].from.and_then(|from| tree[from].path.as_deref()).unwrap_or_default();
        (from.matches("node_modules").count(), from.rsplit("node_modules").next().unwrap_or_default())
    };
    let shallower = |a: EdgeId, b: EdgeId| -> Ordering {
        let ((depth_a, path_a), (depth_b, path_b)) = (location(a), location(b));
        depth_a.cmp(&depth_b).then_with(|| collation::compare(path_a, path_b))
    };
    let valid = tree[node].edges_in.iter().copied().filter(|&edge| tree.is_valid(edge));
    valid.min_by(|&a, &b| shallower(a, b))
}

/// The `requires` of a node. npm leaves peers out, because old versions of npm can't handle them.
fn requires(tree: &Tree, node: NodeId, target: NodeId) -> Value {
    let edges = tree[target].edges_out.iter().filter(|&&edge| !tree[edge].kind.is_peer());
    let base = tree.absolute(tree[node].realpath.as_deref().unwrap_or_default());
    let entries = edges.map(|&edge| {
        let spec = tree.spec(edge);
        let text = match spec.raw.strip_prefix("file:") {
            Some(path) => format!("file:{}", paths::relative(&base, &paths::join(&base, path))),
            None => spec.raw.to_string(),
        };
        (tree.text(tree[edge].name).to_owned(), text.into())
    });
    Value::Object(entries.collect())
}
