//! Builds candidates: the package that a spec asks for, as a node in a virtual root.

use rustc_hash::FxHashSet;
use std::rc::Rc;

use super::edge_checks::{check_edge, check_spec};
use super::explain::chain;
use super::search::Search;
use crate::address::without_credentials;
use crate::catalog::Choice;
use crate::decision::Origin;
use crate::error::ResolveError;
use crate::names::Name;
use crate::options::Allow;
use crate::refusal::Refusal;
use crate::spec::{Spec, SpecKind};
use crate::tree::{EdgeId, EdgeKind, NewNode, NodeId};

/// The maximum depth of peers. Versions whose peers require ever other versions have no end, not
/// even in npm. Peer sets of real packages are some dozens deep.
const DEEPEST_PEERS: usize = 300;
/// The maximum number of peers, because a branching set may end too late. The largest sets of real
/// packages have some thousands.
const MOST_PEERS: usize = 20_000;

/// A peer set that is being gathered: the candidate for an edge, its peers, and theirs.
pub(super) struct PeerSet {
    /// The nodes that are certainly needed. The others come from optional peers only.
    pub(super) required: FxHashSet<NodeId>,
    /// How many candidates are being built for each other.
    depth: usize,
    /// How many candidates were built.
    size: usize,
}

impl Search {
    /// The candidate for a problem edge of a node: an existing node of its virtual root, a node of
    /// the tree that satisfies an optional peer, or a new node.
    pub(super) async fn candidate(&mut self, node: NodeId, edge: EdgeId) -> Result<NodeId, ResolveError> {
        let (name, kind) = (self.tree[edge].name, self.tree[edge].kind);
        if kind.is_peer() {
            let virtual_root = self.virtual_root(node, true);
            self.tree.complete_edges(virtual_root);
        } else if self.is_linked_to(node, name) {
            // Its copy in the virtual root is a candidate.
            self.virtual_root(node, true);
        }
        if let Some((known, virtual_root)) = self.known_candidate(node, name)
            && self.tree.satisfied_by(edge, known)
        {
            self.report_gathered(edge, known, virtual_root, Origin::PeerSet);
            return Ok(known);
        }
        if kind == EdgeKind::PeerOptional && !self.wishes.name(&self.tree, edge) {
            let tree = &self.tree;
            let start = tree.resolve_parent(node).unwrap_or(node);
            if let Some(found) = self.find_below(start, edge) {
                let virtual_root = self.virtual_root(node, true);
                self.report_gathered(edge, found, virtual_root, Origin::Tree);
                return Ok(found);
            }
        }
        let parent = kind.is_peer().then(|| self.virtual_root(node, true));
        let mut set = PeerSet { required: std::iter::once(node).collect(), depth: 0, size: 0 };
        self.build_candidate(edge, parent, None, &mut set).await
    }

    /// Whether the child of a node with this name is the target of a link beside it.
    fn is_linked_to(&self, node: NodeId, name: Name) -> bool {
        let tree = &self.tree;
        let links = tree.child(node, name).map_or(&[][..], |child| &tree[child].links_in);
        links.iter().any(|&link| tree[link].parent == Some(node))
    }

    /// The candidate with this name in the latest virtual root of a node, if it meets the edge
    /// there. Also returns the virtual root.
    fn known_candidate(&mut self, node: NodeId, name: Name) -> Option<(NodeId, NodeId)> {
        let virtual_root = *self.virtual_roots.get(&node)?;
        self.tree.child(virtual_root, name)?;
        self.tree.complete_edge(virtual_root, name);
        let known = self.tree.edge(virtual_root, name).filter(|&known| self.tree.is_valid(known))?;
        Some((self.tree[known].to?, virtual_root))
    }

    /// Builds the candidate for an edge, with its peers. `second` is another edge of the same name,
    /// which should be met as well if possible.
    pub(super) async fn build_candidate(
        &mut self,
        edge: EdgeId,
        parent: Option<NodeId>,
        second: Option<EdgeId>,
        set: &mut PeerSet,
    ) -> Result<NodeId, ResolveError> {
        let owner = |search: &Self, edge: EdgeId| search.tree[edge].from.expect("a live edge has a dependent");
        let from = owner(self, edge);
        let parent = match parent {
            Some(parent) => parent,
            None => self.virtual_root(from, false),
        };
        let first = self.build_node(edge, parent).await?;
        // npm needs the spec of the second edge, whether or not the first candidate meets it.
        second.map_or(Ok(()), |second| check_edge(&self.tree, second))?;
        let other = match second.filter(|&second| !self.tree.is_valid(second)) {
            Some(second) => Some(self.build_node(second, parent).await?),
            None => None,
        };
        // The candidate for the second edge is better if the first edge accepts it.
        let node = other.filter(|_| self.tree.is_valid(edge)).unwrap_or(first);
        self.tree.set_parent(node, Some(parent));

        let needed = |search: &Self, edge: EdgeId| {
            set.required.contains(&owner(search, edge)) && search.tree[edge].kind != EdgeKind::PeerOptional
        };
        if needed(self, edge) || second.is_some_and(|second| needed(self, second)) {
            set.required.insert(node);
        }
        set.depth += 1;
        set.size += 1;
        if set.depth > DEEPEST_PEERS || set.size > MOST_PEERS {
            return Err(self.endless_peers(edge));
        }
        self.load_peer_set(node, set).await?;
        set.depth -= 1;
        Ok(node)
    }

    fn endless_peers(&self, edge: EdgeId) -> ResolveError {
        let name = self.tree.text(self.tree[edge].name).to_owned();
        ResolveError::from(Refusal::EndlessPeers { name }).asked_by(&|| chain(&self.tree, edge))
    }

    /// Builds the node for an edge's spec in a virtual root. A package that can't be fetched
    /// becomes a node with the failure.
    async fn build_node(&mut self, edge: EdgeId, parent: NodeId) -> Result<NodeId, ResolveError> {
        check_edge(&self.tree, edge)?;
        let name = self.tree[edge].name;
        let spec = self.tree.spec(edge).clone();
        check_spec(&self.tree, edge, &spec)?;
        let workspace = self.workspace_edge(name);
        if let Err(error) = self.check_allowed(edge, &spec) {
            return Ok(self.failure_node(edge, parent, &error));
        }
        if let SpecKind::Directory(path) = &spec.kind
            && self.is_linked(edge, parent, workspace.is_some())
        {
            // npm resolves the path of a link from the dependent's folder, even if an override
            // contains the path.
            let from = self.tree[edge].from.and_then(|from| self.tree[from].path.clone()).unwrap_or_default();
            let path = path.resolve(&self.tree.absolute(&from));
            let path: Rc<str> = self.tree.relative(&path).into();
            self.tree.complete_edges(parent);
            let link = self.link(edge, parent, path).await;
            self.report_gathered(edge, link, parent, Origin::Link);
            return Ok(link);
        }
        if let Some(existing) = workspace.and_then(|edge| self.tree[edge].to)
            && self.tree.is_workspace(existing)
            && self.tree.satisfied_by(edge, existing)
        {
            self.tree.complete_edges(parent);
            self.report_gathered(edge, existing, parent, Origin::Workspace);
            return Ok(existing);
        }
        match self.fetch_manifest(edge, &spec).await {
            Ok(manifest) => {
                self.report_picked(edge, &spec, &manifest);
                let (manifest, applied) = self.extensions.apply(manifest, &self.sources.vocabulary)?;
                let with_peers = self.sources.with_peers();
                if with_peers && !manifest.peer_dependencies.is_empty() {
                    self.tree.complete_edges(parent);
                } else {
                    self.tree.complete_edge(parent, name);
                }
                let node =
                    self.tree.add_candidate(parent, NewNode { name: Some(name), ..NewNode::of(manifest, with_peers) });
                self.tree[node].extension = applied;
                self.report_gathered(edge, node, parent, Origin::Fetched);
                Ok(node)
            }
            Err(error) => Ok(self.failure_node(edge, parent, &error)),
        }
    }

    /// Builds a node for a package that could not be fetched.
    fn failure_node(&mut self, edge: EdgeId, parent: NodeId, error: &ResolveError) -> NodeId {
        let failure = Some(Rc::new(error.clone().asked_by(&|| chain(&self.tree, edge))));
        let with_peers = self.sources.with_peers();
        let name = Some(self.tree[edge].name);
        self.tree.complete_edges(parent);
        let node = NewNode { name, parent: Some(parent), failure, ..NewNode::of(Rc::default(), with_peers) };
        let node = self.tree.add(node);
        self.report_gathered(edge, node, parent, Origin::Failed);
        node
    }

    /// Checks the permission for git and tarballs by URL, which npm 12 refuses by default
    /// (`#checkAllow`).
    fn check_allowed(&self, edge: EdgeId, spec: &Spec) -> Result<(), ResolveError> {
        let options = &self.sources.options;
        let (allow, code, what, setting) = match &spec.kind {
            SpecKind::Git(_) => (options.allow_git, "EALLOWGIT", "git repositories", "allow-git"),
            SpecKind::Remote(_) => (options.allow_remote, "EALLOWREMOTE", "tarballs by URL", "allow-remote"),
            SpecKind::File(_) => (options.allow_file, "EALLOWFILE", "tarballs on disk", "allow-file"),
            SpecKind::Directory(_) => (options.allow_directory, "EALLOWDIRECTORY", "folders", "allow-directory"),
            _ => return Ok(()),
        };
        let is_own = self.tree[edge].from.is_some_and(|from| self.tree.is_own(from));
        if allow == Allow::All || (allow == Allow::Root && is_own) {
            return Ok(());
        }
        let (name, spec) = (self.tree.text(self.tree[edge].name).to_owned(), without_credentials(&spec.raw));
        let only_root = allow == Allow::Root;
        Err(Refusal::NotAllowed { name, code, setting, source_kind: what, spec, only_root, is_own }.into())
    }

    /// The root's workspace edge with this name.
    fn workspace_edge(&self, name: Name) -> Option<EdgeId> {
        let root = self.tree.root;
        let workspaces = self.tree[root].workspaces.as_ref()?;
        workspaces.iter().any(|&(workspace, _)| workspace == name).then(|| self.tree.edge(root, name)).flatten()
    }

    /// Whether a folder is linked and not packed. Workspaces and folders inside the project always
    /// are.
    fn is_linked(&self, edge: EdgeId, parent: NodeId, workspace: bool) -> bool {
        let tree = &self.tree;
        let unpacked = tree[parent].resolved.as_deref().is_some_and(|resolved| resolved.starts_with("file:"));
        if self.sources.options.install_links && unpacked {
            return false;
        }
        let raw: &Spec = &tree[edge].raw_spec;
        let inside = raw.raw.strip_prefix("file:").filter(|path| path.starts_with("./") || path.starts_with("../"));
        let inside = inside.is_some_and(|path| {
            let base = tree.absolute(tree[parent].realpath.as_deref().unwrap_or_default());
            let target = crate::paths::join(&base, path);
            target == *tree.project || target.starts_with(&format!("{}/", tree.project))
        });
        workspace || inside || !self.sources.options.install_links
    }

    /// Builds a link to a folder, whose manifest may be missing.
    async fn link(&mut self, edge: EdgeId, parent: NodeId, path: Rc<str>) -> NodeId {
        let manifest = self.sources.read_folder(&path).await.unwrap_or_default();
        let with_peers = self.sources.with_peers();
        let link = self.tree.add_link(
            NewNode {
                name: Some(self.tree[edge].name),
                parent: Some(parent),
                realpath: Some(path),
                ..NewNode::of(manifest, with_peers)
            },
            None,
        );
        self.links.push(link);
        link
    }

    /// Gets the manifest for an edge's spec.
    pub(super) async fn fetch_manifest(&mut self, edge: EdgeId, spec: &Rc<Spec>) -> Choice {
        let name = self.tree[edge].name;
        if let Some(entry) = self.yarn_entry(name, spec) {
            return self.manifest_from_yarn(name, spec, &entry).await;
        }
        if let Some(known) = self.yarn.manifests.get(&(name, spec.raw.clone())) {
            return known.clone();
        }
        let base = match spec.kind {
            SpecKind::File(_) | SpecKind::Directory(_) => {
                self.copied_from(edge, spec).unwrap_or_else(|| self.tree.origin(edge))
            }
            // An address is absolute.
            _ => String::new(),
        };
        self.sources.manifest_for(name, spec, &base).await
    }

    /// The original folder of a package that was copied and not linked. Its own `file:`
    /// dependencies are relative to it (`isTransitiveFileDep` of `build-ideal-tree.js`).
    fn copied_from(&self, edge: EdgeId, spec: &Spec) -> Option<String> {
        let from = self.tree[edge].from.filter(|&from| !self.tree[from].is_link)?;
        let is_folder = self.sources.options.install_links && matches!(spec.kind, SpecKind::Directory(_));
        let resolved = self.tree[from].resolved.as_deref().filter(|_| is_folder)?;
        resolved.strip_prefix("file:").map(str::to_owned)
    }
}
