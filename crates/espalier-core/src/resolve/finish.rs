//! The end of a resolution: who needs what, what can't be installed here, and the lockfile.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::{Builder, outline};
use crate::dev_engines;
use crate::error::ResolveError;
use crate::fetch_failure::FetchFailureKind;
use crate::graph::Graph;
use crate::json::{self, Format};
use crate::lockfile;
use crate::manifest::Manifest;
use crate::options::Project;
use crate::pick::Engine;
use crate::platform;
use crate::refusal::Refusal;
use crate::request::{Answer, Event, Request, Urgency};
use crate::resolution::{Outcome, Statistics, Warning};
use crate::tree::NodeId;

impl Builder {
    pub(super) async fn finish(&mut self, format: &Format) -> Result<Outcome, ResolveError> {
        self.settle_flags();
        self.prune_failed()?;
        self.exchange.report(Event::Settled { packages: self.tree.inventory(self.tree.root).len() - 1 });
        if !self.options.tree_only {
            // Abbreviated packuments don't say for which C library a package is.
            self.complete_manifests().await?;
        }
        self.check_engines_and_platforms()?;
        self.resolve_patches().await?;
        self.warn_of_misplaced_extensions();
        if !self.options.complete {
            self.unpack_installed_bundles().await?;
        }
        if !self.options.complete && !self.options.tree_only {
            self.remove_damaged();
        }
        self.warn_of_deprecations();
        let changed_manifests = self.save_changes().await?;

        let entries = lockfile::entries(&self.tree);
        let target = lockfile::Target {
            version: self.version_to_write(),
            others: &self.lock.values,
            extensions_hash: self.extensions.hash.as_deref(),
            omit_resolved: self.options.omit_registry_resolved,
        };
        let lockfile = lockfile::PackageLock::new(&self.tree, &entries, &target, format);
        if !self.options.tree_only {
            self.check_overrides_into(&self.tree.inventory(self.tree.root))?;
        }
        let yarn_lock = self.yarn.lock.as_ref().and_then(|_| lockfile::yarn::document(&self.tree));
        let mut graph = outline::graph(&self.tree, &entries);
        graph.extensions_hash.clone_from(&self.extensions.hash);
        let mut unknown_origins = Vec::new();
        if !self.options.complete && !self.options.tree_only {
            unknown_origins = self.find_origins(&mut graph, &entries).await?;
        }
        let updated = self.asked.changes.updates_all() || !self.asked.update_names.is_empty();
        Ok(Outcome {
            lockfile,
            is_saved: self.options.save || updated,
            yarn_lock,
            changed_manifests,
            statistics: Statistics {
                packages: graph.nodes.len() - 1,
                packuments: self.catalog.packument_count,
                version_documents: self.catalog.document_count,
            },
            graph,
            unknown_origins,
            warnings: std::mem::take(&mut self.warnings),
        })
    }

    /// Works out who needs what; what was in the lock and isn't needed any more goes.
    fn settle_flags(&mut self) {
        if self.lock.existed && self.search.changed {
            self.tree.reset_flags();
        }
        if !self.lock.existed || self.search.changed {
            self.tree.calculate_flags(true);
        }
        if self.lock.existed {
            for node in self.tree.inventory(self.tree.root) {
                if self.tree[node].flags.extraneous {
                    self.tree.set_parent(node, None);
                }
            }
        }
    }

    /// An entry of a damaged lock that says neither a version nor an address can't be installed: npm lets go of it and
    /// says so (`#extractOrLink` of `reify.js`). The next installation finds it missing.
    fn remove_damaged(&mut self) {
        for node in self.tree.inventory(self.tree.root) {
            let data = &self.tree[node];
            let is_package = data.parent.is_some() && !data.is_link && !data.inert;
            let is_known = data.resolved.is_some() || data.manifest.version.is_some();
            if !is_package || is_known || self.tree.in_bundle(node) || self.on_disk.contains_key(&node) {
                continue;
            }
            let location = data.path.as_deref().unwrap_or_default().to_owned();
            let message =
                format!("the lockfile says nothing about {location}: it is left out. Install again to get it");
            self.warnings.push(Warning { code: "damaged", message, location });
            self.tree.set_parent(node, None);
        }
    }

    /// What failed to load is an error, unless only optional dependencies want it.
    fn prune_failed(&mut self) -> Result<(), ResolveError> {
        for node in std::mem::take(&mut self.search.load_failures) {
            if !self.tree[node].flags.optional {
                let failure = self.tree[node].failure.clone();
                return Err(failure.as_deref().cloned().expect("a node among the failures has failed"));
            }
            self.warn_of_failed_fetch(node);
            self.make_inert(node);
        }
        Ok(())
    }

    /// A package that the registry does not have is left out as npm leaves it out, without a word. If the fetch failed
    /// for another reason, the next run may write another lock, so the reader has to know.
    fn warn_of_failed_fetch(&mut self, node: NodeId) {
        let data = &self.tree[node];
        let Some(ResolveError::Fetch { name, failure, .. }) = data.failure.as_deref() else { return };
        if failure.kind != FetchFailureKind::NotFound {
            let message =
                format!("the optional package {name} is left out, because it could not be fetched: {failure}");
            let location = data.path.as_deref().unwrap_or_default().to_owned();
            self.warnings.push(Warning { code: failure.kind.code(), message, location });
        }
    }

    fn make_inert(&mut self, node: NodeId) {
        for member in self.tree.optional_set(node) {
            self.tree[member].inert = true;
        }
    }

    /// Packages that don't suit this Node or platform: optional ones stay in the lock, but inert.
    fn check_engines_and_platforms(&mut self) -> Result<(), ResolveError> {
        for node in self.tree.inventory(self.tree.root) {
            let manifest = self.tree.package(node).clone();
            let suits_node = self.catalog.suits_engine(&manifest, Engine::Node);
            let suits_npm = self.catalog.suits_engine(&manifest, Engine::Npm);
            if self.tree[node].flags.optional {
                let suits = suits_node && suits_npm && platform::suits(&manifest, &self.options.platform);
                if !suits && !self.tree[node].inert {
                    self.make_inert(node);
                }
                continue;
            }
            if self.is_omitted(node) {
                continue;
            }
            let has_dev_engines = node == self.tree.root && manifest.dev_engines;
            // --force is about Node, not about npm (`npm-install-checks`).
            if !((suits_node || self.options.force) && suits_npm) && !has_dev_engines {
                self.refuse_engine(node, &manifest)?;
            }
            let platform = self.options.host.as_ref().unwrap_or(&self.options.platform);
            if !platform::suits(&manifest, platform) && !self.options.force {
                let (name, version) = self.name_and_version(node);
                let refusal = Refusal::Platform { name, version, platform: platform.clone() };
                return Err(self.refused(refusal, node));
            }
        }
        Ok(())
    }

    /// Whether a node won't be installed (`shouldOmit` of `node.js`).
    fn is_omitted(&self, node: NodeId) -> bool {
        let tree = &self.tree;
        let top = std::iter::successors(Some(node), |&node| tree[node].parent).last().unwrap_or(node);
        let (flags, omit) = (tree[node].flags, self.options.omit);
        let omitted = (flags.peer && omit.peer)
            || (flags.dev && omit.dev)
            || (flags.optional && omit.optional)
            || (flags.dev_optional && omit.optional && omit.dev);
        omitted && tree.is_own(top)
    }

    /// Whether the project's own `devEngines` suit; npm looks before it does anything else.
    pub(super) fn check_dev_engines(&mut self, project: &Project) -> Result<(), ResolveError> {
        let manifest = json::parse("package.json", &project.manifest)?;
        let Some(wanted) = manifest.get("devEngines") else { return Ok(()) };
        let refused = |reason| Refusal::DevEngines { reason };
        for found in dev_engines::check(wanted, &self.options).map_err(refused)? {
            if found.is_error && !self.options.force {
                return Err(refused(found.message).into());
            }
            self.warnings.push(Warning { code: "EBADDEVENGINES", message: found.message, location: String::new() });
        }
        Ok(())
    }

    fn refuse_engine(&mut self, node: NodeId, manifest: &Manifest) -> Result<(), ResolveError> {
        let wanted = |engine: &str| manifest.engine(engine).map(|range| format!("{engine} {range}"));
        let wanted: Vec<String> = ["node", "npm"].into_iter().filter_map(wanted).collect();
        let (name, version) = self.name_and_version(node);
        let refusal = Refusal::Engine {
            name,
            version,
            wanted: wanted.join(" and "),
            node: self.options.node_version.clone(),
            npm: self.options.npm_version.clone(),
        };
        if self.options.engine_strict {
            return Err(self.refused(refusal, node));
        }
        let location = self.tree[node].path.as_deref().unwrap_or_default().to_owned();
        self.warnings.push(Warning { code: refusal.code(), message: refusal.to_string(), location });
        Ok(())
    }

    /// A refusal that is about a node, with who asked for it.
    pub(super) fn refused(&self, refusal: Refusal, node: NodeId) -> ResolveError {
        ResolveError::from(refusal).asked_by(|| self.chain_to_node(node))
    }

    pub(super) fn name_and_version(&self, node: NodeId) -> (String, Option<String>) {
        (self.name_of(node).to_owned(), self.tree.package(node).version.as_deref().map(str::to_owned))
    }

    pub(super) fn describe(&self, node: NodeId) -> String {
        match self.name_and_version(node) {
            (name, Some(version)) => format!("{name}@{version}"),
            (name, None) => name,
        }
    }

    /// Gets what abbreviated packuments left out, for everything that is written into the lock.
    async fn complete_manifests(&mut self) -> Result<(), ResolveError> {
        let request = |manifest: &Manifest| Request::VersionDocument {
            name: manifest.name.as_deref().unwrap_or_default().to_owned(),
            version: manifest.version.as_deref().unwrap_or_default().to_owned(),
            integrity: manifest.integrity.as_deref().map(str::to_owned),
        };
        let nodes: Vec<NodeId> = self.tree.inventory(self.tree.root);
        let incomplete: Vec<NodeId> = nodes.into_iter().filter(|&node| self.tree[node].manifest.abbreviated).collect();
        for &node in &incomplete {
            self.exchange.want(&request(&self.tree[node].manifest), Urgency::Demanded);
        }
        // Copies of a package in several folders share a manifest, which is kept here so that its address stays its own.
        let mut completed: FxHashMap<*const Manifest, (Rc<Manifest>, Rc<Manifest>)> = FxHashMap::default();
        for node in incomplete {
            let manifest = self.tree[node].manifest.clone();
            if let Some((_, complete)) = completed.get(&Rc::as_ptr(&manifest)) {
                self.tree[node].manifest = complete.clone();
                continue;
            }
            let failed = |builder: &Self, failure| ResolveError::Fetch {
                name: builder.describe(node),
                failure,
                chain: builder.chain_to_node(node),
            };
            let text = match self.answer(&request(&manifest)).await {
                Ok(Answer::VersionDocument(text)) => text,
                Ok(_) => continue,
                Err(failure) => return Err(failed(self, failure)),
            };
            if let Ok(mut complete) =
                Manifest::from_registry(&text, false, &mut self.tree.words.names, &mut self.tree.words.specs)
            {
                // Where it comes from stays as the packument said.
                complete.resolved.clone_from(&manifest.resolved);
                complete.integrity.clone_from(&manifest.integrity);
                // The rest of a version is as it was published, but this is said later, and taken back.
                complete.set_field("deprecated", manifest.field("deprecated").cloned().unwrap_or_default());
                let complete = self.extended(Rc::new(complete))?.0;
                completed.insert(Rc::as_ptr(&manifest), (manifest, complete.clone()));
                self.tree[node].manifest = complete;
            }
        }
        Ok(())
    }

    /// Says of packages that are to be installed where they are, where the lock doesn't: npm asks the registry for that version
    /// (`#extractOrLink` of `reify.js`). Returns those of which it can't be said, if that is allowed.
    async fn find_origins(
        &mut self,
        graph: &mut Graph,
        entries: &[(String, NodeId)],
    ) -> Result<Vec<(String, ResolveError)>, ResolveError> {
        let (mut missing, mut unknown) = (Vec::new(), Vec::new());
        for (index, &(_, node)) in entries.iter().enumerate() {
            let place = &mut graph.nodes[index];
            let is_package = place.target.is_none() && self.tree[node].parent.is_some();
            // npm sees no difference between what it wants and what is there, and leaves it.
            place.on_disk = self.on_disk.get(&node).is_some_and(|path| **path == *place.location);
            if !is_package || place.resolved.is_some() || place.brought || place.inert || place.on_disk {
                continue;
            }
            let Some(version) = place.version.clone() else { continue };
            let name = place.package_name.clone().unwrap_or_else(|| place.name.clone());
            let (package, spec) = (self.tree.words.names.intern(&name), self.tree.words.specs.intern(&version));
            // All are asked for before the first is waited for: a whole lock may say nothing but versions.
            self.exchange.want(&self.catalog.packument_request(&self.tree.words.names, package), Urgency::Demanded);
            missing.push((index, package, spec));
        }
        for (index, package, spec) in missing {
            let place = &mut graph.nodes[index];
            match self.chosen(package, &spec).await {
                Ok(manifest) => {
                    place.resolved = manifest.resolved.as_deref().map(str::to_owned);
                    place.integrity = place.integrity.take().or(manifest.integrity.as_deref().map(str::to_owned));
                }
                Err(error) if self.options.origins_may_be_unknown => {
                    unknown.push((place.location.clone(), (*error).clone()));
                }
                Err(_) if place.optional => place.inert = true,
                Err(error) => return Err((*error).clone()),
            }
        }
        Ok(unknown)
    }

    fn warn_of_deprecations(&mut self) {
        for node in self.tree.inventory(self.tree.root) {
            if let Some(message) = self.tree[node].manifest.deprecated().filter(|_| !self.tree[node].is_link) {
                let location = self.tree[node].path.as_deref().unwrap_or_default().to_owned();
                let message = format!("{}: {message}", self.describe(node));
                self.warnings.push(Warning { code: "deprecated", message, location });
            }
        }
    }
}
