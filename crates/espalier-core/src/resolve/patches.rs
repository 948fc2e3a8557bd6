//! `patchedDependencies`: finds the packages that the root's patches apply to
//! (`patched-dependencies.js`).
//!
//! This module records them in the lock with the hash of the patch. The installer applies them.

use serde_json::{Map, Value};
use std::rc::Rc;

use super::explain::name_and_version;
use super::finish::Ending;
use crate::error::ResolveError;
use crate::integrity;
use crate::json;
use crate::paths;
use crate::refusal::Refusal;
use crate::request::{Answer, Request};
use crate::semver::{Range, Version};
use crate::tree::NodeId;

/// The key `name`, `name@range` or `name@version`, and the patch's path.
struct Selector {
    key: String,
    name: String,
    spec: Option<String>,
    path: String,
}

impl Selector {
    fn range(&self) -> Option<Range> {
        let spec = self.spec.as_deref()?;
        Version::parse(spec).is_none().then(|| Range::parse_loose(spec)).flatten()
    }
}

impl Ending {
    /// Finds the patched packages and records the patches. Returns the keys of patches for removed
    /// packages.
    pub(super) async fn resolve_patches(&mut self) -> Result<Vec<String>, ResolveError> {
        let root = self.tree.root;
        let declared = self
            .facts
            .root_file
            .value
            .get("patchedDependencies")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let selectors: Vec<Selector> = json::entries(&declared).into_iter().filter_map(selector).collect();
        let mut used = vec![false; selectors.len()];
        for node in self.tree.inventory(root) {
            if node == root {
                continue;
            }
            if self.tree.is_workspace(node) {
                self.refuse_patches_of_workspace(node)?;
                continue;
            }
            let Some(index) = self.patch_for(&selectors, node)? else {
                self.tree[node].patch = None;
                continue;
            };
            let selector = &selectors[index];
            let tree = &self.tree;
            if tree[node].edges_in.iter().any(|&edge| !tree.spec(edge).is_registry()) {
                let (name, version) = name_and_version(&self.tree, node);
                return Err(Refusal::PatchOfOther { name, version, key: selector.key.clone() }.into());
            }
            let integrity = self.patch_integrity(&selector.path).await?;
            let patch = [("path", selector.path.clone()), ("integrity", integrity)];
            let patch: Map<String, Value> =
                patch.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
            self.tree[node].patch = Some(Rc::new(patch));
            used[index] = true;
        }
        let unused: Vec<&Selector> =
            selectors.iter().zip(&used).filter(|(_, used)| !**used).map(|(selector, _)| selector).collect();
        self.settle_unused(&unused)
    }

    fn refuse_patches_of_workspace(&self, node: NodeId) -> Result<(), ResolveError> {
        if !self.tree.package(node).has_patches {
            return Ok(());
        }
        let name = self.tree.text(self.tree[node].name).to_owned();
        Err(Refusal::PatchInWorkspace { name }.into())
    }

    /// The selector for a node: the exact version, otherwise the narrowest range, otherwise the
    /// name alone.
    fn patch_for(&self, selectors: &[Selector], node: NodeId) -> Result<Option<usize>, ResolveError> {
        let name = self.tree.text(self.tree[node].name);
        let named: Vec<(usize, &Selector)> =
            selectors.iter().enumerate().filter(|(_, selector)| selector.name == name).collect();
        let Some(version) = self.tree.package(node).semver.as_ref().filter(|_| !named.is_empty()) else {
            return Ok(None);
        };
        let exact = |selector: &Selector| {
            selector.spec.as_deref().and_then(Version::parse).is_some_and(|exact| exact.compare(version).is_eq())
        };
        if let Some((index, _)) = named.iter().find(|(_, selector)| exact(selector)) {
            return Ok(Some(*index));
        }
        let mut best: Option<(usize, Range)> = None;
        for (index, selector) in &named {
            let Some(range) = selector.range().filter(|range| range.satisfied_by(version)) else { continue };
            best = match best {
                None => Some((*index, range)),
                Some((_, best)) if range.is_subset_of(&best) => Some((*index, range)),
                Some((best_index, best)) if best.is_subset_of(&range) => Some((best_index, best)),
                Some((other, _)) => {
                    return Err(Refusal::AmbiguousPatch {
                        name: name.to_owned(),
                        version: version.to_string(),
                        first: selectors[other].key.clone(),
                        second: selector.key.clone(),
                    }
                    .into());
                }
            };
        }
        let by_name = || named.iter().find(|(_, selector)| selector.spec.is_none()).map(|(index, _)| *index);
        Ok(best.map(|(index, _)| index).or_else(by_name))
    }

    async fn patch_integrity(&mut self, path: &str) -> Result<String, ResolveError> {
        let inside = self.tree.relative(&self.tree.absolute(path));
        if inside.is_empty() || inside.starts_with("..") {
            return Err(Refusal::PatchOutside { path: path.to_owned() }.into());
        }
        match self.sources.answer(&Request::File { path: paths::normalize(&inside) }).await {
            Ok(Answer::File(Some(bytes))) => Ok(integrity::sha512(&bytes)),
            _ => Err(Refusal::PatchNotFound { path: path.to_owned() }.into()),
        }
    }

    /// Reports an unused patch as an error, unless its package was just removed. The patch is then
    /// removed, too.
    fn settle_unused(&self, unused: &[&Selector]) -> Result<Vec<String>, ResolveError> {
        let (removed, left): (Vec<&Selector>, Vec<&Selector>) =
            unused.iter().partition(|selector| self.wishes.changes.remove.contains(&selector.name));
        let orphaned = removed.iter().map(|selector| selector.key.clone()).collect();
        if left.is_empty() || self.sources.options.allow_unused_patches {
            return Ok(orphaned);
        }
        let patches = left.iter().map(|selector| format!("{} ({})", selector.key, selector.path)).collect();
        Err(Refusal::UnusedPatches { patches }.into())
    }
}

fn selector((key, path): (&String, &Value)) -> Option<Selector> {
    let at = key.char_indices().skip(1).find(|&(_, character)| character == '@').map(|(at, _)| at);
    Some(Selector {
        key: key.clone(),
        name: key[..at.unwrap_or(key.len())].to_owned(),
        spec: at.map(|at| key[at + 1..].to_owned()),
        path: path.as_str()?.to_owned(),
    })
}
