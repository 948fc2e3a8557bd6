//! Proposes changes to the project's package.json files that might resolve a conflict of peers,
//! according to the packuments.
//! [`crate::remedy::Search`] tries them.

use std::rc::Rc;
use std::sync::Arc;

use super::search::Search;
use crate::error::{ConflictSide, PeerConflict, Requirer, ResolveError};
use crate::manifest::Manifest;
use crate::names::Name;
use crate::proposal::Proposal;
use crate::semver::Version;
use crate::spec::{Spec, SpecKind};
use crate::tree::EdgeKind;

impl Search {
    /// The error for a conflict, with proposals. They need the packuments of the project's own
    /// dependencies, which an exact spec or a lockfile makes unnecessary otherwise.
    pub(super) async fn with_proposals(&mut self, conflict: Arc<PeerConflict>) -> ResolveError {
        let any = self.sources.vocabulary.specs.intern("*");
        for side in [&conflict.wanted, &conflict.current] {
            let Some((asker, key)) = direct(side, &conflict.name) else { continue };
            let (package, target, _) = self.target(&key, &asker.spec);
            if target.is_registry() {
                // Without its packument, a package has no other versions.
                let _ = self.sources.chosen(package, &any).await;
            }
        }
        let proposals = self.proposals(&conflict);
        ResolveError::PeerConflict(Arc::new(PeerConflict { proposals, ..Arc::unwrap_or_clone(conflict) }))
    }

    /// Changes that might resolve a conflict, the most promising first.
    fn proposals(&mut self, conflict: &PeerConflict) -> Vec<Proposal> {
        let PeerConflict { name, current, wanted, .. } = conflict;
        let mut proposals = Vec::new();
        for (side, other) in [(wanted, current), (current, wanted)] {
            proposals.extend(self.other_ranges(name, side, other));
        }
        proposals.extend(self.exception(name, current, wanted));
        for side in [wanted, current] {
            let dependency = direct(side, name);
            proposals.extend(dependency.map(|(asker, name)| {
                let folder = asker.location.clone();
                Proposal::Remove { folder, block: block(asker.kind), name }
            }));
        }
        let mut distinct: Vec<Proposal> = Vec::new();
        for change in proposals {
            if !distinct.contains(&change) {
                distinct.push(change);
            }
        }
        distinct
    }

    /// Other ranges for the project's own dependency that leads to one side, so that it is
    /// compatible with the other side.
    fn other_ranges(&mut self, name: &str, side: &ConflictSide, other: &ConflictSide) -> Vec<Proposal> {
        let Some((asker, dependency)) = direct(side, name) else { return Vec::new() };
        let found = match own_chain(side) {
            // The project itself is the dependent: use the spec of the other side.
            [_] => self.best(&dependency, &asker.spec, |version, _| {
                crate::semver::satisfies(&version.to_string(), &other.spec, true)
            }),
            // A direct dependency is the dependent: use a version of it that agrees.
            [_, _] => {
                let wanted = self.sources.vocabulary.names.find(name);
                let mut agreeing = |also_silent: bool| {
                    self.best(&dependency, &asker.spec, |_, manifest| {
                        wanted.map_or(also_silent, |name| agrees(manifest, name, other).unwrap_or(also_silent))
                    })
                };
                // A version that doesn't mention the other package is often older than it.
                let found = agreeing(false);
                if found.is_empty() { agreeing(true) } else { found }
            }
            _ => self.best(&dependency, &asker.spec, |_, _| true),
        };
        let change = |to: String| Proposal::Range {
            folder: asker.location.clone(),
            block: block(asker.kind),
            name: dependency.clone(),
            from: asker.spec.clone(),
            to,
        };
        found.into_iter().filter(|to| *to != asker.spec).map(change).collect()
    }

    /// The ranges of suitable versions: the newest of all, and the newest of the major version
    /// below it.
    fn best(&mut self, key: &str, asked: &str, will_do: impl Fn(&Version, &Manifest) -> bool) -> Vec<String> {
        let (package, target, prefix) = self.target(key, asked);
        if !target.is_registry() {
            return Vec::new();
        }
        let present = self.chosen_version(package, &target);
        let mut found: Vec<Version> = Vec::new();
        for (version, manifest) in self.sources.catalog.releases(package) {
            let known = found.iter().any(|other| other.major == version.major);
            let sound = manifest.deprecated().is_none() && Some(&version) != present.as_ref();
            if !known && sound && will_do(&version, &manifest) {
                found.push(version);
                if found.len() == 2 {
                    break;
                }
            }
        }
        found.iter().map(|version| format!("{prefix}^{version}")).collect()
    }

    /// The package and spec that a dependency leads to, and the prefix that makes it an alias.
    fn target(&self, key: &str, asked: &str) -> (Name, Rc<Spec>, String) {
        let vocabulary = &self.sources.vocabulary;
        let spec = vocabulary.specs.intern(asked);
        match &spec.kind {
            SpecKind::Alias { name, spec } => (vocabulary.names.intern(name), spec.clone(), format!("npm:{name}@")),
            _ => (vocabulary.names.intern(key), spec, String::new()),
        }
    }

    fn chosen_version(&mut self, package: Name, spec: &Rc<Spec>) -> Option<Version> {
        self.sources.catalog.choose(package, spec)?.ok()?.semver.clone()
    }

    /// An override of the peer for its dependent, with the version in the tree.
    fn exception(&self, name: &str, current: &ConflictSide, wanted: &ConflictSide) -> Option<Proposal> {
        let [_, .., parent] = own_chain(wanted) else { return None };
        let root = self.tree.root;
        let direct = self.sources.vocabulary.names.find(name).and_then(|name| self.tree.edge(root, name));
        let direct = direct.is_some_and(|edge| self.tree[edge].kind != EdgeKind::Workspace);
        let spec = if direct { format!("${name}") } else { current.version.clone()? };
        Some(Proposal::Override { parent: parent.name.clone(), name: name.to_owned(), spec })
    }
}

/// The chain of dependents, from the project's package or a workspace downwards.
fn own_chain(side: &ConflictSide) -> &[Requirer] {
    match side.chain.as_slice() {
        [root, chain @ ..] if root.kind == EdgeKind::Workspace => chain,
        chain => chain,
    }
}

/// The project's own dependency that a side begins with: the dependent, and the key in its
/// package.json.
fn direct<'a>(side: &'a ConflictSide, name: &str) -> Option<(&'a Requirer, String)> {
    let chain = own_chain(side);
    let asker = chain.first().filter(|asker| chain.len() < side.chain.len() || asker.location.is_empty())?;
    Some((asker, chain.get(1).map_or(name, |next| &next.name).to_owned()))
}

/// Whether a version accepts the other side's version. `None` if it doesn't depend on it.
fn agrees(manifest: &Manifest, name: Name, other: &ConflictSide) -> Option<bool> {
    let blocks = [&manifest.peer_dependencies, &manifest.dependencies];
    let asked = blocks.into_iter().flatten().find(|(asked, _)| *asked == name);
    asked.map(|(_, spec)| match (&other.version, spec.range()) {
        (Some(version), Some(_)) => crate::semver::satisfies(version, &spec.raw, true),
        (None, Some(range)) => {
            crate::semver::Range::parse_loose(&other.spec).is_none_or(|other| range.intersects(&other))
        }
        (_, None) => true,
    })
}

fn block(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Dev => "devDependencies",
        EdgeKind::Optional => "optionalDependencies",
        EdgeKind::Peer | EdgeKind::PeerOptional => "peerDependencies",
        EdgeKind::Prod | EdgeKind::Workspace => "dependencies",
    }
}
