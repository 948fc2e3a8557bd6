//! The packuments of registries so far, the manifests of exact versions, and predictions of what will
//! be needed next.
//!
//! The choice of a version for a name and spec never changes, so it is made once. When a packument or
//! manifest arrives, the catalog makes the same choice for every spec that asked for it, which shows
//! what to fetch ahead of the resolution. Prefetching may fetch too much. It never changes an answer.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::decision::Versions;
use crate::error::ResolveError;
use crate::exchange::{Exchange, Reply};
use crate::manifest::Manifest;
use crate::names::{Name, Names};
use crate::options::{Options, RegistryAddresses, Reporting, is_excepted};
use crate::order;
use crate::overrides::Overrides;
use crate::packument::Packument;
use crate::pick::{Engine, NoPick, Picker};
use crate::pins;
use crate::refusal::Refusal;
use crate::request::{Answer, Event, FetchFailure, FetchFailureKind, PackumentForm, Reason, Request, Urgency};
use crate::semver::Version;
use crate::spec::{Spec, SpecKind};
use crate::vocabulary::Vocabulary;

/// A chosen manifest, or the reason why there is none.
pub type Choice = Result<Rc<Manifest>, Rc<ResolveError>>;

/// Packuments and chosen manifests.
pub struct Catalog {
    vocabulary: Rc<Vocabulary>,
    overrides: Rc<Overrides>,
    pickers: Pickers,
    form: PackumentForm,
    /// The addresses of the registries, if the documents of exact versions take the place of
    /// packuments.
    registries: Option<Arc<RegistryAddresses>>,
    reports_choices: bool,
    packuments: FxHashMap<Name, Result<Arc<Packument>, FetchFailure>>,
    manifests: Manifests,
    /// The choices so far, by package and spec. The spec of a version's document is the version.
    choices: FxHashMap<(Name, Rc<str>), Choice>,
    /// Exact versions whose documents don't count, so that the packument has to be asked.
    without_document: FxHashSet<(Name, Rc<str>)>,
    foresight: Foresight,
    /// The number of packuments that have arrived.
    pub packument_count: usize,
}

/// The pickers of versions.
struct Pickers {
    usual: Picker,
    /// The picker without `before`, for packages that are exempt from it.
    timeless: Picker,
    before_exclude: Vec<String>,
}

/// Parsed manifests.
struct Manifests {
    dev_dependencies: bool,
    /// By package and index of the version.
    known: FxHashMap<(Name, usize), Rc<Manifest>>,
}

/// The state of prefetching.
struct Foresight {
    with_peers: bool,
    tree_only: bool,
    /// Specs that wait for a packument or manifest.
    awaited: FxHashMap<Name, Vec<Rc<Spec>>>,
    foreseen: FxHashSet<(Name, Rc<str>)>,
    /// The manifests whose dependencies were requested ahead.
    looked_at: FxHashSet<*const Manifest>,
    /// The project's own dependencies.
    given: FxHashSet<Name>,
}

impl Catalog {
    /// An empty catalog.
    ///
    /// If overrides have references, the `devDependencies` of registry packages are parsed, too. npm
    /// looks there for the target of a reference, although abbreviated packuments lack them
    /// (`edge.js`).
    pub fn new(options: &Options, vocabulary: Rc<Vocabulary>, overrides: Rc<Overrides>) -> Self {
        let dev_dependencies = overrides.have_references();
        let Options { node_version, npm_version, before, default_tag, .. } = options;
        Self {
            vocabulary,
            overrides,
            pickers: Pickers {
                usual: Picker::new(node_version, npm_version, *before, default_tag),
                timeless: Picker::new(node_version, npm_version, None, default_tag),
                before_exclude: options.before_exclude.clone(),
            },
            form: if before.is_some() || dev_dependencies { PackumentForm::Full } else { PackumentForm::Any },
            // Only packuments have times, and the other versions for the report of a decision. Few
            // projects need `devDependencies`, so manifests of exact versions are read without them.
            registries: options
                .registries
                .clone()
                .filter(|_| before.is_none() && !dev_dependencies && options.reporting < Reporting::Decisions),
            reports_choices: options.reporting >= Reporting::Choices,
            packuments: FxHashMap::default(),
            manifests: Manifests { dev_dependencies, known: FxHashMap::default() },
            choices: FxHashMap::default(),
            without_document: FxHashSet::default(),
            foresight: Foresight {
                with_peers: !options.legacy_peer_deps,
                tree_only: options.tree_only,
                awaited: FxHashMap::default(),
                foreseen: FxHashSet::default(),
                looked_at: FxHashSet::default(),
                given: FxHashSet::default(),
            },
            packument_count: 0,
        }
    }

    /// The request for a package's packument.
    pub fn packument_request(&self, package: Name) -> Request {
        Request::Packument { name: self.vocabulary.names.text(package).to_owned(), form: self.form }
    }

    /// The request that leads to the choice for a spec.
    pub fn request(&self, package: Name, spec: &Spec) -> Request {
        match self.pinned(package, spec) {
            Some(version) => {
                Request::Manifest { name: self.vocabulary.names.text(package).to_owned(), version: version.to_string() }
            }
            None => self.packument_request(package),
        }
    }

    /// Makes all choices by packuments. Nothing may have been chosen before.
    pub fn use_only_packuments(&mut self) {
        self.registries = None;
    }

    /// Makes all choices by abbreviated packuments, unless full ones are needed. Nothing may have been
    /// chosen before.
    pub fn use_only_abbreviated(&mut self) {
        self.use_only_packuments();
        if self.form == PackumentForm::Any {
            self.form = PackumentForm::Abbreviated;
        }
    }

    /// The version that a spec names, unless the packument has to be asked for it.
    fn pinned(&self, package: Name, spec: &Spec) -> Option<Rc<str>> {
        let key = (package, pins::exact(spec).filter(|_| self.registries.is_some())?);
        (!self.without_document.contains(&key)).then_some(key.1)
    }

    /// Takes in the documents that have arrived, and requests what they make likely.
    pub fn absorb(&mut self, exchange: &Exchange) {
        while let Some((request, reply)) = exchange.next_for_tree() {
            match request {
                Request::Packument { name, .. } => self.absorb_packument(exchange, name, reply),
                Request::Manifest { name, version } => self.absorb_manifest(exchange, &name, &version, reply),
                _ => {}
            }
        }
    }

    fn absorb_packument(&mut self, exchange: &Exchange, name: String, reply: Reply) {
        let package = self.vocabulary.names.intern(&name);
        let packument = match reply {
            Ok(Answer::Packument(packument)) => Ok(packument),
            Ok(_) => Err(mismatched(&name)),
            Err(failure) => Err(failure),
        };
        if let Ok(packument) = &packument {
            self.packument_count += 1;
            if self.reports_choices {
                exchange.report(Event::Fetched { name, versions: packument.len() });
            }
        }
        self.packuments.insert(package, packument);
        self.go_on(exchange, package);
    }

    fn absorb_manifest(&mut self, exchange: &Exchange, name: &str, version: &str, reply: Reply) {
        let package = self.vocabulary.names.intern(name);
        let key = (package, version.into());
        let choice = match reply {
            Ok(Answer::VersionDocument(text)) => Manifest::from_registry(&text, false, &self.vocabulary)
                .ok()
                .filter(|manifest| {
                    let registries = self.registries.as_deref();
                    registries.is_some_and(|registries| pins::counts(manifest, name, version, registries))
                })
                .map(|manifest| Ok(Rc::new(manifest))),
            Ok(_) => None,
            Err(failure) => Some(Err(unfetched(name, failure))),
        };
        match choice {
            Some(choice) => drop(self.choices.insert(key, choice)),
            None => drop(self.without_document.insert(key)),
        }
        self.go_on(exchange, package);
    }

    /// Looks again at the specs that waited for a document of a package.
    fn go_on(&mut self, exchange: &Exchange, package: Name) {
        for spec in self.foresight.awaited.remove(&package).unwrap_or_default() {
            self.await_choice(exchange, package, &spec);
        }
    }

    /// Requests a dependency ahead, and its dependencies in turn.
    pub fn foresee(&mut self, exchange: &Exchange, name: Name, spec: &Rc<Spec>) {
        let (package, spec) = registry_target(&self.vocabulary.names, name, spec);
        if !spec.is_registry() || !self.foresight.foreseen.insert((package, spec.raw.clone())) {
            return;
        }
        self.await_choice(exchange, package, &spec);
    }

    /// Looks at the choice for a spec, once it can be made.
    fn await_choice(&mut self, exchange: &Exchange, package: Name, spec: &Rc<Spec>) {
        match self.choose(package, spec) {
            Some(Ok(manifest)) => return self.look_ahead(exchange, package, &manifest),
            Some(Err(_)) => return,
            None => {}
        }
        let waiting = self.foresight.awaited.entry(package).or_default();
        // All ranges wait for the same packument.
        let is_asked = !pins::is_exact(spec) && waiting.iter().any(|other| !pins::is_exact(other));
        waiting.push(spec.clone());
        if !is_asked {
            exchange.want(&self.request(package, spec), Urgency::Speculative);
        }
    }

    fn look_ahead(&mut self, exchange: &Exchange, package: Name, manifest: &Rc<Manifest>) {
        // Manifests are kept, so an address stands for one of them.
        if !self.foresight.looked_at.insert(Rc::as_ptr(manifest)) {
            return;
        }
        let version = manifest.version.clone().unwrap_or_default();
        // The same document may have been requested for an exact spec.
        let is_requested = self.registries.is_some()
            && self.foresight.foreseen.contains(&(package, version))
            && !exchange.is_without_document(&pins::request(manifest));
        if manifest.abbreviated && !self.foresight.tree_only && !is_requested {
            exchange.want(&pins::completion(manifest), Urgency::Speculative);
        }
        self.foresee_dependencies(exchange, manifest);
    }

    /// Requests the dependencies of a package ahead.
    pub fn foresee_dependencies(&mut self, exchange: &Exchange, manifest: &Manifest) {
        // A registry package is only looked at here.
        let is_own = manifest.resolved.is_none();
        let dev: &[_] = if is_own { &manifest.dev_dependencies } else { &[] };
        let all = manifest.dependencies.iter().chain(&manifest.optional_dependencies).chain(dev);
        if is_own {
            self.foresight.given.extend(all.clone().map(|(name, _)| *name));
        }
        let peers = manifest.peer_dependencies.iter().filter(|(name, _)| !manifest.optional_peers.contains(name));
        // The project's own dependency becomes the peer, even if there are newer versions.
        let peers =
            peers.filter(|(name, _)| self.foresight.with_peers && (is_own || !self.foresight.given.contains(name)));
        let peers = peers.cloned().collect::<Vec<_>>();
        for (name, spec) in all.chain(&peers) {
            if manifest.bundled.contains(name) {
                continue;
            }
            let spec = self.overridden(*name, spec);
            self.foresee(exchange, *name, &spec);
        }
    }

    /// Predicts the spec that an override makes of this one.
    fn overridden(&self, name: Name, spec: &Rc<Spec>) -> Rc<Spec> {
        let overrides = &self.overrides;
        if overrides.is_empty() {
            return spec.clone();
        }
        let rule = overrides.rule(overrides.for_edge(Overrides::ROOT, name, spec).rule);
        let applies = rule.name == Some(name) && !rule.value.raw.starts_with('$') && &*rule.value.raw != "*";
        if applies { rule.value.clone() } else { spec.clone() }
    }

    /// The manifest for a package and a registry spec. `None` until the packument, or the manifest
    /// of an exact version, has arrived.
    pub fn choose(&mut self, package: Name, spec: &Rc<Spec>) -> Option<Choice> {
        let key = (package, spec.raw.clone());
        if let Some(choice) = self.choices.get(&key) {
            return Some(choice.clone());
        }
        if let Some(version) = self.pinned(package, spec) {
            return self.choices.get(&(package, version)).cloned();
        }
        let packument = self.packuments.get(&package)?.clone();
        let name = self.vocabulary.names.text(package).to_owned();
        let choice = match packument {
            Err(failure) => Err(unfetched(&name, failure)),
            Ok(packument) => match self.picked(package, &packument, spec) {
                Ok(index) => self.manifest(package, &packument, index),
                Err(NoPick::NoVersions) => Err(refused(Refusal::NoVersions { name })),
                Err(NoPick::NoMatch) => Err(Rc::new(ResolveError::NoMatchingVersion {
                    name,
                    spec: spec.raw.to_string(),
                    chain: Vec::new(),
                    nearest: Picker::nearest(&packument, spec),
                })),
            },
        };
        self.choices.insert(key, choice.clone());
        Some(choice)
    }

    /// The reason why a version of a registry package was chosen for a spec.
    pub fn reason(&mut self, package: Name, spec: &Spec, version: &str) -> Option<Reason> {
        if self.pinned(package, spec).is_some() {
            return Some(Reason::Exact);
        }
        let packument = self.packuments.get(&package)?.as_ref().ok()?.clone();
        Some(self.pickers.of(self.vocabulary.names.text(package)).reason(&packument, spec, version))
    }

    /// The versions that were available when one was chosen for a spec.
    pub fn versions(&mut self, package: Name, spec: &Spec, chosen: &str) -> Option<Versions> {
        let packument = self.packuments.get(&package)?.as_ref().ok()?.clone();
        Some(self.pickers.of(self.vocabulary.names.text(package)).versions(&packument, spec, chosen))
    }

    /// The index of the version for a spec.
    fn picked(&mut self, package: Name, packument: &Packument, spec: &Rc<Spec>) -> Result<usize, NoPick> {
        let Self { vocabulary, pickers, manifests, .. } = self;
        let picker = pickers.of(vocabulary.names.text(package));
        picker.pick_and_read(packument, spec, &mut |index| manifests.read(vocabulary, package, packument, index).ok())
    }

    fn manifest(&mut self, package: Name, packument: &Packument, index: usize) -> Choice {
        let manifest = self.manifests.read(&self.vocabulary, package, packument, index).map_err(|error| {
            let (name, version) = (self.vocabulary.names.text(package).to_owned(), packument.version(index).to_owned());
            refused(Refusal::UnreadableManifest { name, version, reason: error.to_string() })
        })?;
        if manifest.version.is_none() {
            return Err(refused(Refusal::IncompleteManifest { name: self.vocabulary.names.text(package).to_owned() }));
        }
        Ok(manifest)
    }

    /// The releases of a package whose packument has arrived, the newest first.
    pub fn releases(&mut self, package: Name) -> impl Iterator<Item = (Version, Rc<Manifest>)> {
        let packument = self.packuments.get(&package).and_then(|packument| packument.as_ref().ok()).cloned();
        let mut releases: Vec<(Version, usize)> = packument
            .iter()
            .flat_map(|packument| {
                let versions = packument.semver().iter().enumerate();
                versions.filter_map(|(index, version)| {
                    Some((version.clone().filter(|version| !version.is_prerelease())?, index))
                })
            })
            .collect();
        order::sort_by(&mut releases, Ord::cmp);
        releases.into_iter().rev().filter_map(move |(version, index)| {
            let manifest = self.manifest(package, packument.as_ref()?, index).ok()?;
            Some((version, manifest))
        })
    }

    /// Whether a package supports this Node or npm.
    pub fn suits_engine(&mut self, manifest: &Manifest, engine: Engine) -> bool {
        manifest.field("engines").is_none_or(|engines| self.pickers.usual.suits_engine(engines, engine))
    }
}

impl Manifests {
    fn read(
        &mut self,
        vocabulary: &Vocabulary,
        package: Name,
        packument: &Packument,
        index: usize,
    ) -> Result<Rc<Manifest>, serde_json::Error> {
        if let Some(manifest) = self.known.get(&(package, index)) {
            return Ok(manifest.clone());
        }
        let text = packument.manifest(index);
        let mut manifest = Manifest::from_registry(text, packument.is_abbreviated(index), vocabulary)?;
        if self.dev_dependencies {
            manifest.read_dev_dependencies(text, vocabulary)?;
        }
        let manifest = Rc::new(manifest);
        self.known.insert((package, index), manifest.clone());
        Ok(manifest)
    }
}

impl Pickers {
    fn of(&mut self, package: &str) -> &mut Picker {
        if is_excepted(&self.before_exclude, package) { &mut self.timeless } else { &mut self.usual }
    }
}

/// The package and spec to ask the registry for. For an alias, those of its target.
pub fn registry_target(names: &Names, name: Name, spec: &Rc<Spec>) -> (Name, Rc<Spec>) {
    match &spec.kind {
        SpecKind::Alias { name, spec } => (names.intern(name), spec.clone()),
        _ => (name, spec.clone()),
    }
}

/// The error for a document that could not be fetched.
fn unfetched(name: &str, failure: FetchFailure) -> Rc<ResolveError> {
    Rc::new(ResolveError::Fetch { name: name.to_owned(), failure, chain: Vec::new() })
}

fn refused(refusal: Refusal) -> Rc<ResolveError> {
    Rc::new(refusal.into())
}

fn mismatched(name: &str) -> FetchFailure {
    FetchFailure {
        kind: FetchFailureKind::Invalid,
        message: format!("the answer for {name} is not a packument"),
        url: String::new(),
    }
}
