//! The end of a resolution: flags, packages for other platforms, and the lockfile.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use super::edge_checks::{check_all_met, check_saved};
use super::explain::{chain_to_node, describe, name_and_version, refused};
use super::outline;
use super::search::{Findings, Settled};
use super::sources::Sources;
use super::start::Facts;
use super::wishes::Wishes;
use crate::error::ResolveError;
use crate::exchange::Ticket;
use crate::extensions::PackageExtensions;
use crate::graph::Graph;
use crate::json::Format;
use crate::lockfile;
use crate::manifest::Manifest;
use crate::names::Name;
use crate::outcome::{Outcome, Statistics};
use crate::pick::Engine;
use crate::platform;
use crate::refusal::Refusal;
use crate::request::{Answer, Event, Urgency};
use crate::tree::{NodeId, Tree};

/// The state of the end.
pub(super) struct Ending {
    pub(super) sources: Sources,
    pub(super) tree: Tree,
    pub(super) wishes: Wishes,
    pub(super) extensions: PackageExtensions,
    findings: Findings,
    pub(super) facts: Facts,
}

impl Ending {
    pub(super) fn new(settled: Settled, facts: Facts) -> Self {
        let Settled { sources, tree, wishes, extensions, findings } = settled;
        Self { sources, tree, wishes, extensions, findings, facts }
    }

    /// Settles which packages the tree has, and waits for the documents of their versions.
    pub(super) async fn complete(&mut self) -> Result<(), ResolveError> {
        self.settle_flags();
        self.prune_failed()?;
        self.sources.exchange.report(Event::Settled { packages: self.tree.members(self.tree.root).count() - 1 });
        if !self.sources.options.tree_only {
            // Abbreviated packuments don't state the C library of a package.
            self.complete_manifests().await?;
        }
        Ok(())
    }

    /// Checks the packages and writes the lockfile.
    pub(super) async fn finish(&mut self, format: &Format) -> Result<Outcome, ResolveError> {
        self.check_engines_and_platforms()?;
        let orphaned_patches = self.resolve_patches().await?;
        self.warn_of_misplaced_extensions();
        if !self.sources.options.complete {
            self.unpack_installed_bundles().await?;
        }
        if !self.sources.options.complete && !self.sources.options.tree_only {
            self.remove_damaged();
        }
        self.warn_of_deprecations();
        let changed_manifests = self.save_changes(&orphaned_patches).await?;

        let entries = lockfile::entries(&self.tree);
        let target = lockfile::Target {
            version: self.sources.options.lockfile_version.unwrap_or(self.facts.lock.version),
            others: &self.facts.lock.values,
            extensions_hash: self.extensions.hash.as_deref(),
            omit_resolved: self.sources.options.omit_registry_resolved,
        };
        let lockfile = lockfile::PackageLock::new(&self.tree, &entries, &target, format);
        if !self.sources.options.tree_only {
            check_all_met(&self.tree)?;
        }
        let updated = self.wishes.changes.updates_all() || !self.wishes.update_names.is_empty();
        let is_saved = self.sources.options.save || updated;
        if is_saved && self.sources.options.package_lock && target.version <= 3 {
            check_saved(&self.tree)?;
        }
        let yarn_lock = self.facts.had_yarn_lock.then(|| lockfile::yarn::document(&self.tree)).flatten();
        let mut graph = Graph::default();
        if self.sources.options.graph || !self.sources.options.complete {
            graph = outline::graph(&self.tree, &entries);
            graph.extensions_hash.clone_from(&self.extensions.hash);
        }
        let mut unknown_origins = Vec::new();
        if !self.sources.options.complete && !self.sources.options.tree_only {
            unknown_origins = self.find_origins(&mut graph, &entries).await?;
        }
        Ok(Outcome {
            lockfile,
            is_saved,
            yarn_lock,
            changed_manifests,
            statistics: Statistics {
                packages: entries.len() - 1,
                packuments: self.sources.catalog.packument_count,
                version_documents: self.sources.exchange.document_count(),
            },
            graph,
            unknown_origins,
            warnings: self.sources.exchange.take_warnings(),
        })
    }

    /// Computes the flags and removes packages of the lock that nothing needs any more.
    fn settle_flags(&mut self) {
        if self.facts.lock.existed && self.findings.changed {
            self.tree.reset_flags();
        }
        if !self.facts.lock.existed || self.findings.changed {
            self.tree.calculate_flags(true);
        }
        // Without a lockfile, npm trusts what it finds in `node_modules` until something changes
        // (`#fixDepFlags` of `build-ideal-tree.js`).
        let is_suspect = self.sources.options.package_lock || self.findings.changed;
        if self.facts.lock.existed && is_suspect || self.sources.options.prune {
            for node in self.tree.inventory(self.tree.root) {
                if self.tree[node].flags.extraneous {
                    self.tree.set_parent(node, None);
                }
            }
        }
    }

    /// Removes entries of a damaged lock with neither a version nor an address, which can't be
    /// installed. npm warns about them (`#extractOrLink` of `reify.js`), and the next installation
    /// finds them missing.
    fn remove_damaged(&mut self) {
        for node in self.tree.inventory(self.tree.root) {
            let data = &self.tree[node];
            let is_package = data.parent.is_some() && !data.is_link && !data.inert;
            let is_known = data.resolved.is_some() || data.manifest.version.is_some();
            let is_on_disk = |node: NodeId| self.facts.on_disk.values().any(|&other| other == node);
            if !is_package || is_known || self.tree.in_bundle(node) || is_on_disk(node) {
                continue;
            }
            let location = data.path.as_deref().unwrap_or_default().to_owned();
            let message =
                format!("{location} is left out, because the lockfile does not contain it. Install again to add it");
            self.sources.warn("damaged", message, &location);
            self.tree.set_parent(node, None);
        }
    }

    /// Reports a failed load as an error, unless only optional dependencies need the package.
    fn prune_failed(&mut self) -> Result<(), ResolveError> {
        for node in std::mem::take(&mut self.findings.load_failures) {
            if !self.tree[node].flags.optional {
                let failure = self.tree[node].failure.clone();
                return Err(failure.as_deref().cloned().expect("a node among the failures has failed"));
            }
            self.warn_of_failed_fetch(node);
            self.make_inert(node);
        }
        Ok(())
    }

    /// Warns of a failed fetch of an optional package. If the registry doesn't have the package,
    /// npm leaves it out silently. After any other failure, the next run may write another lock, so
    /// the reader has to know.
    fn warn_of_failed_fetch(&self, node: NodeId) {
        let data = &self.tree[node];
        let Some(ResolveError::Fetch { name, failure, .. }) = data.failure.as_deref() else { return };
        if !failure.kind.is_absence() {
            let message =
                format!("the optional package {name} is left out, because it could not be fetched: {failure}");
            let location = data.path.as_deref().unwrap_or_default().to_owned();
            self.sources.warn(failure.kind.code(), message, &location);
        }
    }

    fn make_inert(&mut self, node: NodeId) {
        for member in self.tree.optional_set(node) {
            self.tree[member].inert = true;
        }
    }

    /// Checks whether packages support this Node and platform. Optional ones that don't stay in the
    /// lock, but inert.
    fn check_engines_and_platforms(&mut self) -> Result<(), ResolveError> {
        for node in self.tree.inventory(self.tree.root) {
            let manifest = self.tree.package(node).clone();
            let suits_node = self.sources.catalog.suits_engine(&manifest, Engine::Node);
            let suits_npm = self.sources.catalog.suits_engine(&manifest, Engine::Npm);
            if self.tree[node].flags.optional {
                let suits = suits_node && suits_npm && platform::suits(&manifest, &self.sources.options.platform);
                if !suits && !self.tree[node].inert {
                    self.make_inert(node);
                }
                continue;
            }
            if self.is_omitted(node) {
                continue;
            }
            let has_dev_engines = node == self.tree.root && manifest.dev_engines;
            // --force concerns Node, but not npm (`npm-install-checks`).
            if !((suits_node || self.sources.options.force) && suits_npm) && !has_dev_engines {
                self.refuse_engine(node, &manifest)?;
            }
            let platform = self.sources.options.host.as_ref().unwrap_or(&self.sources.options.platform);
            if !platform::suits(&manifest, platform) && !self.sources.options.force {
                let (name, version) = name_and_version(&self.tree, node);
                let refusal = Refusal::Platform { name, version, platform: platform.clone() };
                return Err(refused(&self.tree, refusal, node));
            }
        }
        Ok(())
    }

    /// Whether a node isn't installed (`shouldOmit` of `node.js`).
    fn is_omitted(&self, node: NodeId) -> bool {
        let tree = &self.tree;
        let top = std::iter::successors(Some(node), |&node| tree[node].parent).last().unwrap_or(node);
        let (flags, omit) = (tree[node].flags, self.sources.options.omit);
        let omitted = (flags.peer && omit.peer)
            || (flags.dev && omit.dev)
            || (flags.optional && omit.optional)
            || (flags.dev_optional && omit.optional && omit.dev);
        omitted && tree.is_own(top)
    }

    fn refuse_engine(&mut self, node: NodeId, manifest: &Manifest) -> Result<(), ResolveError> {
        let wanted = |engine: &str| manifest.engine(engine).map(|range| format!("{engine} {range}"));
        let wanted: Vec<String> = ["node", "npm"].into_iter().filter_map(wanted).collect();
        let (name, version) = name_and_version(&self.tree, node);
        let refusal = Refusal::Engine {
            name,
            version,
            wanted: wanted.join(" and "),
            node: self.sources.options.node_version.clone(),
            npm: self.sources.options.npm_version.clone(),
        };
        if self.sources.options.engine_strict {
            return Err(refused(&self.tree, refusal, node));
        }
        let location = self.tree[node].path.as_deref().unwrap_or_default().to_owned();
        self.sources.warn(refusal.code(), refusal.to_string(), &location);
        Ok(())
    }

    /// Gets the fields that abbreviated packuments lack, for everything that is written into the
    /// lock.
    async fn complete_manifests(&mut self) -> Result<(), ResolveError> {
        let nodes = self.tree.inventory(self.tree.root).into_iter();
        let incomplete = nodes.filter(|&node| self.tree[node].manifest.abbreviated);
        let want = |node: NodeId| self.sources.want_document(&self.tree[node].manifest);
        let wanted: Vec<(NodeId, Ticket)> = incomplete.map(|node| (node, want(node))).collect();
        // Copies of a package in several folders share a manifest. The key contains its address, so
        // the manifest has to stay alive. The name is in it because the wasm has such a map already.
        let mut completed: FxHashMap<(Name, usize), Rc<Manifest>> = FxHashMap::default();
        let mut alive = Vec::new();
        for (node, ticket) in wanted {
            let manifest = self.tree[node].manifest.clone();
            let key = (self.tree[node].name, Rc::as_ptr(&manifest).addr());
            if let Some(complete) = completed.get(&key) {
                self.tree[node].manifest = complete.clone();
                continue;
            }
            let failed = |tree: &Tree, failure| ResolveError::Fetch {
                name: describe(tree, node),
                failure,
                chain: chain_to_node(tree, node),
            };
            self.sources.wait_for(ticket).await;
            let reply = self.sources.exchange.answer(ticket).expect("it has arrived");
            let complete = match &*reply {
                Ok(Answer::VersionDocument(text)) => manifest.completed(text, &self.sources.vocabulary),
                Ok(_) => continue,
                Err(failure) => return Err(failed(&self.tree, failure.clone())),
            };
            if let Ok(complete) = complete {
                let complete = self.extensions.apply(Rc::new(complete), &self.sources.vocabulary)?.0;
                completed.insert(key, complete.clone());
                alive.push(manifest);
                self.tree[node].manifest = complete;
            }
        }
        Ok(())
    }

    /// Finds the tarballs of packages whose lock entry states none, by asking the registry for the
    /// version (`#extractOrLink` of `reify.js`). Returns the packages without a known source, if
    /// that is permitted.
    async fn find_origins(
        &mut self,
        graph: &mut Graph,
        entries: &[(Rc<str>, NodeId)],
    ) -> Result<Vec<(String, ResolveError)>, ResolveError> {
        let (mut missing, mut unknown) = (Vec::new(), Vec::new());
        for (index, &(_, node)) in entries.iter().enumerate() {
            let place = &mut graph.nodes[index];
            let is_package = place.target.is_none() && self.tree[node].parent.is_some();
            // The package on disk is the wanted one, so npm leaves it alone.
            place.on_disk = self.facts.on_disk.get(&*place.location) == Some(&node);
            if !is_package || place.resolved.is_some() || place.brought || place.inert || place.on_disk {
                continue;
            }
            let Some(version) = place.version.clone() else { continue };
            let name = place.package_name.clone().unwrap_or_else(|| place.name.clone());
            let (package, spec) =
                (self.sources.vocabulary.names.intern(&name), self.sources.vocabulary.specs.intern(&version));
            // All are requested before the first is awaited, because the whole lock may consist of
            // versions only.
            self.sources.exchange.want(&self.sources.catalog.request(package, &spec), Urgency::Demanded);
            missing.push((index, package, spec));
        }
        for (index, package, spec) in missing {
            let place = &mut graph.nodes[index];
            match self.sources.chosen(package, &spec).await {
                Ok(manifest) => {
                    place.resolved = manifest.resolved.as_deref().map(str::to_owned);
                    place.integrity = place.integrity.take().or(manifest.integrity.as_deref().map(str::to_owned));
                }
                Err(error) if self.sources.options.origins_may_be_unknown => {
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
                let message = format!("{}: {message}", describe(&self.tree, node));
                self.sources.warn("deprecated", message, &location);
            }
        }
    }
}
