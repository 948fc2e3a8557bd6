//! The packuments of registries so far, and predictions of what will be needed next.
//!
//! The choice of a version for a name and spec never changes, so it is made once. When a packument
//! arrives, the catalog makes the same choice for every spec that asked for it, which shows what to
//! fetch ahead of the resolution. Prefetching may fetch too much. It never changes an answer.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::decision::Versions;
use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::manifest::Manifest;
use crate::names::{Name, Names};
use crate::options::{Options, Reporting, is_excepted};
use crate::order;
use crate::overrides::Overrides;
use crate::packument::Packument;
use crate::pick::{Engine, NoPick, Picker};
use crate::refusal::Refusal;
use crate::request::{Answer, Event, FetchFailure, FetchFailureKind, Reason, Request, Urgency};
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
    full_documents: bool,
    reports_choices: bool,
    packuments: FxHashMap<Name, Result<Arc<Packument>, FetchFailure>>,
    manifests: Manifests,
    /// The choices so far, by package and spec.
    choices: FxHashMap<(Name, Rc<str>), Choice>,
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
    /// Specs that wait for a packument.
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
            full_documents: before.is_some() || dev_dependencies,
            reports_choices: options.reporting >= Reporting::Choices,
            packuments: FxHashMap::default(),
            manifests: Manifests { dev_dependencies, known: FxHashMap::default() },
            choices: FxHashMap::default(),
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
        Request::Packument { name: self.vocabulary.names.text(package).to_owned(), full: self.full_documents }
    }

    /// Takes in the packuments that have arrived, and requests what they make likely.
    pub fn absorb(&mut self, exchange: &Exchange) {
        while let Some((name, reply)) = exchange.next_packument() {
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
            for spec in self.foresight.awaited.remove(&package).unwrap_or_default() {
                self.look_ahead(exchange, package, &spec);
            }
        }
    }

    /// Requests a dependency ahead, and its dependencies in turn.
    pub fn foresee(&mut self, exchange: &Exchange, name: Name, spec: &Rc<Spec>) {
        let (package, spec) = registry_target(&self.vocabulary.names, name, spec);
        if !spec.is_registry() || !self.foresight.foreseen.insert((package, spec.raw.clone())) {
            return;
        }
        if self.packuments.contains_key(&package) {
            self.look_ahead(exchange, package, &spec);
        } else if let Some(specs) = self.foresight.awaited.get_mut(&package) {
            specs.push(spec);
        } else {
            exchange.want(&self.packument_request(package), Urgency::Speculative);
            self.foresight.awaited.insert(package, vec![spec]);
        }
    }

    fn look_ahead(&mut self, exchange: &Exchange, package: Name, spec: &Rc<Spec>) {
        let Some(Ok(manifest)) = self.choose(package, spec) else { return };
        // Manifests are kept, so an address stands for one of them.
        if !self.foresight.looked_at.insert(Rc::as_ptr(&manifest)) {
            return;
        }
        if manifest.abbreviated
            && !self.foresight.tree_only
            && let Some(version) = &manifest.version
        {
            let request = Request::VersionDocument {
                name: self.vocabulary.names.text(package).to_owned(),
                version: version.to_string(),
                integrity: manifest.integrity.as_deref().map(str::to_owned),
            };
            exchange.want(&request, Urgency::Speculative);
        }
        self.foresee_dependencies(exchange, &manifest);
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

    /// The manifest for a package and a registry spec. `None` until the packument has arrived.
    pub fn choose(&mut self, package: Name, spec: &Rc<Spec>) -> Option<Choice> {
        let key = (package, spec.raw.clone());
        if let Some(choice) = self.choices.get(&key) {
            return Some(choice.clone());
        }
        let packument = self.packuments.get(&package)?.clone();
        let name = self.vocabulary.names.text(package).to_owned();
        let choice = match packument {
            Err(failure) => Err(Rc::new(ResolveError::Fetch { name, failure, chain: Vec::new() })),
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
