//! The start: the initial tree comes from a lockfile, otherwise from the installed packages,
//! otherwise it is the root alone (`#initTree` of `build-ideal-tree.js`). The user's changes are
//! entered into it.
//!
//! The resolution then changes no more of the tree than necessary.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::rc::Rc;

use super::edge_checks::{check_all_met, check_root};
use super::edited::Edited;
use super::queue::Queue;
use super::sources::Sources;
use super::wishes::Wishes;
use super::yarn_origins;
use crate::catalog::Catalog;
use crate::changes::Update;
use crate::dev_engines;
use crate::error::ResolveError;
use crate::exchange::Exchange;
use crate::extensions::PackageExtensions;
use crate::json;
use crate::lockfile::yarn::YarnLock;
use crate::manifest::Manifest;
use crate::options::{Options, Project};
use crate::overrides::Overrides;
use crate::parsed_lock::{DEFAULT_VERSION, ParsedLock};
use crate::refusal::Refusal;
#[cfg(feature = "home")]
use crate::spec::Specs;
use crate::tree::{EdgeId, EdgeKind, NewNode, NodeId, Tree};
use crate::vocabulary::Vocabulary;

/// The state of the start.
pub(super) struct Start {
    pub(super) sources: Sources,
    pub(super) tree: Tree,
    /// Nodes with unmet dependencies.
    pub(super) queue: Queue,
    pub(super) wishes: Wishes,
    /// The root's corrections to other packages.
    pub(super) extensions: PackageExtensions,
    yarn_lock: Option<YarnLock>,
    pub(super) facts: Facts,
}

/// The input of the search.
pub(super) struct Prepared {
    pub(super) sources: Sources,
    pub(super) tree: Tree,
    pub(super) queue: Queue,
    pub(super) wishes: Wishes,
    pub(super) extensions: PackageExtensions,
    /// A source of versions, if it applies.
    pub(super) yarn_lock: Option<YarnLock>,
    /// Whether the tree is the root alone, so that everything will be needed.
    pub(super) from_nothing: bool,
}

/// Facts of the start that only the end needs.
pub(super) struct Facts {
    pub(super) root_file: RootFile,
    pub(super) lock: LockFacts,
    /// The projects whose dependencies change.
    pub(super) edited: Vec<Edited>,
    /// Packages that were found in `node_modules` without a record of their source, by path.
    pub(super) on_disk: FxHashMap<Rc<str>, NodeId>,
    /// Whether there was a yarn.lock, which npm updates.
    pub(super) had_yarn_lock: bool,
}

/// The root's package.json.
pub(super) struct RootFile {
    pub(super) text: String,
    /// Its value.
    pub(super) value: Value,
}

/// Facts about the lockfile that the resolution started from.
pub(super) struct LockFacts {
    /// Whether there was one. Then some packages may not be needed any more.
    pub(super) existed: bool,
    /// Whether it had version 1.
    pub(super) is_old: bool,
    /// The version that npm writes instead.
    pub(super) version: u64,
    /// The other values at its top.
    pub(super) values: Map<String, Value>,
    /// The hash of the extensions that it was made with.
    pub(super) extensions_hash: Option<String>,
}

/// Builds the initial tree, and collects what the search and the end need.
pub(super) async fn prepare(
    project: &Project,
    options: Options,
    exchange: Rc<Exchange>,
) -> Result<(Prepared, Facts), ResolveError> {
    let mut start = Start::new(project, options, exchange, false)?;
    start.check_dev_engines()?;
    start.check_changes()?;
    start.list_root_bins().await;
    start.map_workspaces().await?;
    start.load(project).await?;
    start.load_extensions(project)?;
    start.inflate().await;
    start.apply_changes().await?;
    start.finish()
}

impl Start {
    pub(super) fn new(
        project: &Project,
        options: Options,
        exchange: Rc<Exchange>,
        only_reading: bool,
    ) -> Result<Self, ResolveError> {
        let vocabulary = Rc::new(Vocabulary {
            #[cfg(feature = "home")]
            specs: Specs::at_home(options.home.as_deref()),
            ..Vocabulary::default()
        });
        let root_manifest = json::parse("package.json", &project.manifest)?;
        let manifest = Manifest::from_value(&root_manifest, &vocabulary);
        let overrides = match &manifest.overrides {
            Some(overrides) => Overrides::parse(overrides, &vocabulary)?,
            None => Overrides::default(),
        };
        let overrides = Rc::new(overrides);
        let path = if project.path.is_empty() { format!("/{}", project.folder_name) } else { project.path.clone() };
        let path: Rc<str> = path.into();
        let mut catalog = Catalog::new(&options, vocabulary.clone(), overrides.clone());
        // npm doesn't read it if everything is updated.
        let yarn_text = project.yarn_lock.as_deref().filter(|_| options.package_lock && !project.changes.updates_all());
        let yarn_lock = yarn_text.map(YarnLock::parse).filter(|lock| !lock.is_empty());
        if yarn_lock.is_some() && project.lockfile.is_none() {
            // Its versions are exact. Why a range led to one of them, only the packument shows.
            catalog.use_only_packuments();
        }
        let with_peers = !options.legacy_peer_deps;
        let manifest = Rc::new(manifest);
        let tree = Tree::new(manifest, path.clone(), vocabulary.clone(), overrides, with_peers, options.install_links);
        let trial = project.trial.clone();
        let sources = Sources { options, exchange, catalog, vocabulary, project: path, trial, only_reading };
        let lock = LockFacts {
            existed: false,
            is_old: false,
            version: DEFAULT_VERSION,
            values: Map::new(),
            extensions_hash: None,
        };
        Ok(Self {
            sources,
            tree,
            queue: Queue::default(),
            wishes: Wishes::new(project.changes.clone()),
            extensions: PackageExtensions::default(),
            facts: Facts {
                root_file: RootFile { text: project.manifest.clone(), value: root_manifest },
                lock,
                edited: Vec::new(),
                on_disk: FxHashMap::default(),
                had_yarn_lock: yarn_lock.is_some(),
            },
            yarn_lock,
        })
    }

    /// Checks the project's own `devEngines`, which npm does first.
    fn check_dev_engines(&self) -> Result<(), ResolveError> {
        let Some(wanted) = self.facts.root_file.value.get("devEngines") else { return Ok(()) };
        let refused = |reason| Refusal::DevEngines { reason };
        for found in dev_engines::check(wanted, &self.sources.options).map_err(refused)? {
            if found.is_error && !self.sources.options.force {
                return Err(refused(found.message).into());
            }
            self.sources.warn("EBADDEVENGINES", found.message, "");
        }
        Ok(())
    }

    /// Lists the commands of the root, whose manifest was parsed before anything could be
    /// requested.
    async fn list_root_bins(&mut self) {
        let root = self.tree.root;
        if self.tree[root].manifest.bin_folder.is_some() {
            let mut manifest = (*self.tree[root].manifest).clone();
            self.sources.list_bins(&mut manifest, "").await;
            self.tree[root].manifest = Rc::new(manifest);
        }
    }

    /// Loads the initial tree and queues every node with unmet dependencies.
    async fn load(&mut self, project: &Project) -> Result<(), ResolveError> {
        let lockfile = project.lockfile.as_ref();
        // Even a lockfile that npm ignores prevents it from starting with the installed packages
        // (`#initTree` of `build-ideal-tree.js`).
        let is_ignored = lockfile.is_some() && !self.sources.options.package_lock;
        if self.wishes.changes.updates_all() || is_ignored {
            // Even if the lock is created anew, some installed packages may have to go because
            // there was one.
            self.facts.lock.existed = lockfile.is_some();
            return Ok(());
        }
        let path = self.tree.project.clone();
        match lockfile.and_then(|lockfile| lockfile.parsed(&path)) {
            Some(lock) => {
                self.facts.lock.existed = true;
                if self.wishes.changes.update == Update::Duplicates {
                    self.name_root();
                }
                self.load_lock(lock).await?;
                self.facts.lock.version = lock.version_to_write();
                let root_entry = lock.packages.get("");
                let hash = root_entry.and_then(|entry| entry.text("packageExtensionsHash"));
                self.facts.lock.extensions_hash = hash.map(Cow::into_owned);
                self.facts.lock.is_old = lock.is_old();
                self.facts.lock.values.clone_from(&lock.others);
            }
            None => self.start_from_installed(project).await?,
        }
        // This precedes the changes, because npm also refuses conflicts that they would resolve.
        check_root(&self.tree)?;
        if self.wishes.changes.update == Update::Duplicates {
            self.wishes.update_names = self.duplicates();
        }
        self.queue_unmet();
        Ok(())
    }

    /// Names a root without a name after its folder, as npm does only for `npm dedupe`, which reads
    /// the lock twice (`#loadNode` of `load-virtual.js`).
    fn name_root(&mut self) {
        let root = self.tree.root;
        if self.tree[root].manifest.name.is_none() {
            let name = Rc::from(&*self.tree.folder_name(""));
            Rc::make_mut(&mut self.tree[root].manifest).name = Some(name);
        }
    }

    async fn start_from_installed(&mut self, project: &Project) -> Result<(), ResolveError> {
        let hidden = project.installed.hidden_lockfile.as_deref();
        let path = self.tree.project.clone();
        match hidden.and_then(|text| ParsedLock::parse(text, &path)).filter(|lock| lock.too_new().is_none()) {
            Some(lock) => self.load_lock(&lock).await?,
            None => {
                self.load_installed(&project.installed.packages).await;
                self.load_workspaces().await;
                self.load_installed(&project.installed.packages).await;
            }
        }
        let root = self.tree.root;
        if !self.tree[root].children.is_empty() {
            self.facts.lock.existed = true;
            // npm treats what is installed as a lockfile of the version that it is to write.
            self.facts.lock.is_old = self.sources.options.lockfile_version.is_some_and(|version| version < 2);
            self.tree.calculate_flags(false);
            if let Some(lock) = &self.yarn_lock {
                yarn_origins::decorate(&mut self.tree, lock, &self.sources.options.default_registry_host);
            }
        }
        Ok(())
    }

    /// Loads the folders of the workspaces. Without a lock, npm starts from the disk, so their
    /// dependencies count from the first placement on (`load-actual.js`).
    pub(super) async fn load_workspaces(&mut self) {
        let root = self.tree.root;
        let Some(workspaces) = self.tree[root].workspaces.clone() else { return };
        for (name, path) in workspaces.iter() {
            if self.tree.at_path(root, path).is_some() {
                continue;
            }
            let Some(manifest) = self.sources.read_folder(path).await else { continue };
            let version = manifest.version.clone().unwrap_or_default();
            let overridden = self.tree[root].rule.is_some();
            let rule = overridden.then(|| self.tree.overrides().for_package(*name, &version));
            let with_peers = self.sources.with_peers();
            self.tree.add(NewNode {
                path: Some(path.clone()),
                root: Some(root),
                rule,
                ..NewNode::of(manifest, with_peers)
            });
        }
    }

    /// Queues reachable nodes with unmet edges.
    fn queue_unmet(&mut self) {
        let trusts_optional_peers = !self.sources.options.save && !self.wishes.mutate();
        let mut seen = FxHashSet::default();
        let mut stack: Vec<NodeId> = vec![self.tree.root];
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let tree = &self.tree;
            let edges = &tree[node].edges_out;
            let unmet = |&edge: &EdgeId| {
                let trusted = trusts_optional_peers && tree[edge].kind == EdgeKind::PeerOptional;
                !trusted && (tree[edge].to.is_none() || !tree.is_valid(edge))
            };
            if edges.iter().any(unmet) {
                self.queue.push(tree, node);
            }
            stack.extend(edges.iter().filter_map(|&edge| tree[edge].to));
        }
    }

    fn finish(self) -> Result<(Prepared, Facts), ResolveError> {
        let Self { sources, tree, queue, wishes, extensions, yarn_lock, facts } = self;
        check_root(&tree)?;
        check_all_met(&tree)?;
        let from_nothing = !facts.lock.existed;
        let yarn_lock = yarn_lock.filter(|_| from_nothing);
        Ok((Prepared { sources, tree, queue, wishes, extensions, yarn_lock, from_nothing }, facts))
    }
}
