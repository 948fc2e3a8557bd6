//! Completes the packages of an old lockfile with facts from the registry
//! (`#inflateAncientLockfile` of `build-ideal-tree.js`).

use std::rc::Rc;

use super::start::Start;
use crate::catalog::{Choice, registry_target};
use crate::integrity;
use crate::manifest::Manifest;
use crate::request::Urgency;
use crate::spec::{Spec, SpecKind};
use crate::tree::{Flags, NodeId};

impl Start {
    /// Gives every package of a version 1 lock its registry manifest. If that fails, the facts in
    /// the lock are used.
    pub(super) async fn inflate(&mut self) {
        if !self.facts.lock.is_old {
            return;
        }
        // npm asks for abbreviated packuments here, and writes no more into the lock than they have.
        self.sources.catalog.use_only_abbreviated();
        let mut specs: Vec<(NodeId, Rc<Spec>)> = Vec::new();
        for node in self.tree.inventory(self.tree.root) {
            let installed = self.tree[node].path.as_deref().is_some_and(|path| path.starts_with("node_modules"));
            // The target of a link was read from its folder.
            if installed && !self.tree[node].is_link {
                specs.extend(self.locked_spec(node).map(|spec| (node, spec)));
            }
        }
        for (node, spec) in &specs {
            if spec.is_registry() {
                let name = self.tree[*node].name;
                let (package, _) = registry_target(&self.sources.vocabulary.names, name, spec);
                self.sources.exchange.want(&self.sources.catalog.packument_request(package), Urgency::Demanded);
            }
        }
        for (node, spec) in specs {
            match self.locked_manifest(node, &spec).await {
                Ok(manifest) if self.fits(node, &manifest) => self.tree.set_manifest(node, manifest),
                _ => self.warn_of_unknown(node),
            }
        }
        self.tree.reset_flags();
        let root = self.tree.root;
        self.tree[root].flags = Flags::NONE;
        self.tree.calculate_flags(true);
    }

    fn locked_spec(&mut self, node: NodeId) -> Option<Rc<Spec>> {
        let version = self.tree.package(node).version.clone();
        let resolved = self.tree[node].resolved.clone();
        let by_address = resolved.filter(|resolved| version.is_none() || resolved.starts_with("file:"));
        let text = by_address.or(version).unwrap_or_else(|| "*".into());
        let spec = self.sources.vocabulary.specs.intern(&text);
        (!matches!(spec.kind, SpecKind::Invalid(_))).then_some(spec)
    }

    async fn locked_manifest(&mut self, node: NodeId, spec: &Rc<Spec>) -> Choice {
        let name = self.tree[node].name;
        let base = self.tree.project.to_string();
        let manifest = self.sources.manifest_for(name, spec, &base).await?;
        if !manifest.abbreviated {
            return Ok(manifest);
        }
        // npm asks for the abbreviated document here and adds nothing to it.
        let mut manifest = (*manifest).clone();
        manifest.abbreviated = false;
        Ok(Rc::new(manifest))
    }

    /// Whether a manifest belongs to the tarball in the lock.
    fn fits(&self, node: NodeId, manifest: &Manifest) -> bool {
        match (self.tree[node].integrity.as_deref(), manifest.integrity.as_deref()) {
            (Some(locked), Some(published)) => integrity::are_compatible(locked, published),
            _ => true,
        }
    }

    fn warn_of_unknown(&self, node: NodeId) {
        let location = self.tree[node].path.as_deref().unwrap_or_default().to_owned();
        let name = self.tree.text(self.tree[node].name).to_owned();
        let message = format!("could not fetch the manifest of {name}, which the old package-lock.json lacks");
        self.sources.warn("old-lockfile", message, &location);
    }
}
