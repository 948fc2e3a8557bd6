//! The dependency tree: nodes in folders and edges between them, in one arena.
//!
//! A node's `children` are in its `node_modules`. Its `fs_children` are projects in folders below
//! it (workspaces, link targets). As in Node, a name is looked up in the children and then in those
//! of the parent. Every node belongs to one root: the project, a *virtual root* in which candidates
//! are assembled, or itself after its removal.
//!
//! This module keeps paths, edges in both directions, links with their targets, and override rules
//! consistent when nodes move. It doesn't decide where a package goes. The rules are those of npm's
//! `node.js`, `edge.js`, `link.js` and `inventory.js`. The iteration order of sets is part of them,
//! because npm's result depends on it.

mod bundles;
mod dep_sets;
mod edges;
mod edges_out;
mod flags;
mod inventory;
mod moves;
mod queries;
mod rules;
mod validity;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::Cell;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use crate::error::ResolveError;
use crate::hosted::HostedGit;
use crate::manifest::Manifest;
use crate::names::{FoldedName, Name};
use crate::overrides::{Overrides, RuleId};
use crate::paths;
use crate::spec::{Spec, local_path, split_argument};
use crate::vocabulary::Vocabulary;

pub use crate::edge_kind::EdgeKind;
pub use edges::EdgeState;
pub use edges_out::EdgesOut;
pub use flags::Flags;
use inventory::Inventory;

/// The number of a node in the arena. It counts from one, so that an `Option` takes no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(NonZeroU32);

/// The number of an edge in the arena. It counts from one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeId(NonZeroU32);

/// The number of the next node or edge in an arena of this length.
fn next_number(length: usize) -> NonZeroU32 {
    let number = u32::try_from(length).ok().and_then(|length| NonZeroU32::MIN.checked_add(length));
    number.expect("fewer than four billion nodes and edges")
}

fn index_of(number: NonZeroU32) -> usize {
    number.get() as usize - 1
}

/// Children by name, without regard to case, in the order of their addition.
pub type Children = IndexMap<FoldedName, NodeId, FxBuildHasher>;

/// The workspaces of a root: names and folders, in order.
pub type Workspaces = Vec<(Name, Rc<str>)>;

/// A package in a folder, or a link to one. It has the fields of npm's `Node`, because npm's rules
/// read all of them.
pub struct Node {
    /// The folder's name.
    pub name: Name,
    /// The package's manifest. For a link, that of its target.
    pub manifest: Rc<Manifest>,
    /// Its path. `None` until it has been placed.
    pub path: Option<Rc<str>>,
    /// The target path of a link. Otherwise the same as `path`.
    pub realpath: Option<Rc<str>>,
    /// The source of the package. That of a link is computed.
    pub resolved: Option<Rc<str>>,
    /// The integrity of its tarball.
    pub integrity: Option<Rc<str>>,
    /// The root of its tree, which can be the node itself.
    pub root: NodeId,
    /// The node whose `node_modules` contains it.
    pub parent: Option<NodeId>,
    /// The node whose folder contains it outside of `node_modules`.
    pub fs_parent: Option<NodeId>,
    /// The nodes in its `node_modules`.
    pub children: Children,
    /// The nodes elsewhere in its folder.
    pub fs_children: Vec<NodeId>,
    /// Its dependencies, in npm's order.
    pub edges_out: EdgesOut,
    /// The dependencies that it meets, in the order of their addition.
    pub edges_in: Vec<EdgeId>,
    /// The links to it.
    pub links_in: Vec<NodeId>,
    /// Whether it is a link.
    pub is_link: bool,
    /// The target of a link.
    pub target: Option<NodeId>,
    /// The node that a virtual root, or the target of a link in one, represents.
    pub source: Option<NodeId>,
    /// The override rule that it is under.
    pub rule: Option<RuleId>,
    /// The workspaces of the project's root.
    pub workspaces: Option<Rc<Workspaces>>,
    /// What needs it.
    pub flags: Flags,
    /// Why it failed to load.
    pub failure: Option<Rc<ResolveError>>,
    /// It is in the lock, but isn't installed here.
    pub inert: bool,
    /// The changes of `packageExtensions` to its manifest, in the lock's format.
    pub extension: Option<Rc<Map<String, Value>>>,
    /// The patch for its files, in the lock's format.
    pub patch: Option<Rc<Map<String, Value>>>,
    /// Whether its peer dependencies are installed.
    with_peers: bool,
    /// Edges for its dependencies are still to be added.
    lacks_edges: bool,
    /// The number of its last entry into its root's inventory. 0 if it isn't there.
    sequence: u32,
    /// The nodes of a root's tree.
    inventory: Option<Box<Inventory>>,
}

/// A dependency of a node, and the node that meets it.
pub struct Edge {
    /// The dependent. `None` once the edge has been replaced or dropped.
    pub from: Option<NodeId>,
    /// The node that the name leads to, valid or not.
    pub to: Option<NodeId>,
    /// The requested name.
    pub name: Name,
    /// The requested spec, before overrides.
    pub raw_spec: Rc<Spec>,
    /// The kind of dependency.
    pub kind: EdgeKind,
    /// An alternative spec (`acceptDependencies`).
    pub accept: Option<Rc<Spec>>,
    /// The override rule that it is under.
    pub rule: Option<RuleId>,
    /// A conflict of peers was tolerated, so any node meets it.
    pub peer_conflicted: bool,
    /// A cache. npm computes an edge's validity at its first use and keeps it until the edge is
    /// reloaded.
    state: Cell<Option<EdgeState>>,
}

/// The input of a new node: those fields of a [`Node`] that are known before it is in the tree.
/// [`NewNode::of`] fills in what follows from the manifest.
pub struct NewNode {
    /// The folder's name. By default, the last component of the path, or the package's name.
    pub name: Option<Name>,
    /// The package.
    pub manifest: Rc<Manifest>,
    /// A fixed path, for roots and link targets.
    pub path: Option<Rc<str>>,
    /// The target path of a link.
    pub realpath: Option<Rc<str>>,
    /// The node whose `node_modules` it goes into.
    pub parent: Option<NodeId>,
    /// The root of the tree that it is added to, by its path.
    pub root: Option<NodeId>,
    /// The node that it represents.
    pub source: Option<NodeId>,
    /// The override rule that it is under.
    pub rule: Option<RuleId>,
    /// Why it failed to load.
    pub failure: Option<Rc<ResolveError>>,
    /// Its source, if it isn't that of the manifest.
    pub resolved: Option<Rc<str>>,
    /// Its integrity, if it isn't that of the manifest.
    pub integrity: Option<Rc<str>>,
    /// Whether its peer dependencies are installed.
    pub with_peers: bool,
    /// The initial flags.
    pub flags: Flags,
}

impl NewNode {
    /// A node for a package, to be completed.
    pub fn of(manifest: Rc<Manifest>, with_peers: bool) -> Self {
        Self {
            name: None,
            manifest,
            path: None,
            realpath: None,
            parent: None,
            root: None,
            source: None,
            rule: None,
            failure: None,
            resolved: None,
            integrity: None,
            with_peers,
            flags: Flags::ALL,
        }
    }
}

/// The initial room of an arena. Natively, memory that is never touched costs nothing, and a large
/// arena isn't moved while it grows. Elsewhere, it would count.
const ROOM_FOR_NODES: usize = if cfg!(target_family = "wasm") { 0 } else { 1 << 16 };
const ROOM_FOR_EDGES: usize = 8 * ROOM_FOR_NODES;

/// The arena of nodes and edges.
pub struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    next_sequence: u32,
    /// The project's root.
    pub root: NodeId,
    /// The names and specs that nodes and edges refer to.
    vocabulary: Rc<Vocabulary>,
    /// The root's override rules.
    overrides: Rc<Overrides>,
    /// The absolute folder of the project.
    pub project: Rc<str>,
    /// `--install-links`: folders are copied instead of linked.
    pub install_links: bool,
    /// The first override whose key is not a range, although moving an edge required comparing it
    /// with one. npm fails there.
    pub incomparable_override: Option<RuleId>,
    /// The first edge whose spec, or whose alternative, isn't a string, and what it is. npm fails
    /// there, too.
    pub without_string: Option<(EdgeId, Rc<Spec>)>,
    /// The last large manifest whose dependencies were loaded, and whether their names are
    /// distinct.
    last_large: Option<(Rc<Manifest>, bool)>,
}

impl Index<NodeId> for Tree {
    type Output = Node;
    fn index(&self, id: NodeId) -> &Node {
        self.nodes.get(index_of(id.0)).unwrap_or_else(|| of_another_tree())
    }
}

impl IndexMut<NodeId> for Tree {
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes.get_mut(index_of(id.0)).unwrap_or_else(|| of_another_tree())
    }
}

impl Index<EdgeId> for Tree {
    type Output = Edge;
    fn index(&self, id: EdgeId) -> &Edge {
        self.edges.get(index_of(id.0)).unwrap_or_else(|| of_another_tree())
    }
}

impl IndexMut<EdgeId> for Tree {
    fn index_mut(&mut self, id: EdgeId) -> &mut Edge {
        self.edges.get_mut(index_of(id.0)).unwrap_or_else(|| of_another_tree())
    }
}

/// Reports a number that no node or edge has. An index into the arena would report the caller's
/// place in the source, of which there are 700, and these places weigh 19 KB in wasm.
#[cold]
fn of_another_tree() -> ! {
    panic!("a node or edge of another tree")
}

impl Tree {
    /// A tree with only the project's root.
    pub fn new(
        manifest: Rc<Manifest>,
        project: Rc<str>,
        vocabulary: Rc<Vocabulary>,
        overrides: Rc<Overrides>,
        with_peers: bool,
        install_links: bool,
    ) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(ROOM_FOR_NODES),
            edges: Vec::with_capacity(ROOM_FOR_EDGES),
            next_sequence: 0,
            root: NodeId(NonZeroU32::MIN),
            vocabulary,
            overrides,
            project,
            install_links,
            incomparable_override: None,
            without_string: None,
            last_large: None,
        };
        let rule = manifest.overrides.is_some().then_some(Overrides::ROOT);
        let folder = tree.project.clone();
        let name = tree.vocabulary.names.intern(paths::name_from_folder(&folder));
        tree.add(NewNode {
            name: Some(name),
            path: Some("".into()),
            rule,
            flags: Flags::NONE,
            ..NewNode::of(manifest, with_peers)
        });
        tree
    }

    /// Adds a node, with edges for its dependencies.
    pub fn add(&mut self, new: NewNode) -> NodeId {
        let id = self.push(new, false);
        self.load_dependencies(id);
        id
    }

    /// Adds a node without edges. [`Self::complete_edges`] adds them.
    pub fn add_without_edges(&mut self, new: NewNode) -> NodeId {
        let id = self.push(new, false);
        self[id].lacks_edges = true;
        id
    }

    /// Adds a link. Without a target, a new node is created for the target folder.
    pub fn add_link(&mut self, new: NewNode, target: Option<NodeId>) -> NodeId {
        let realpath = target.map_or_else(|| new.realpath.clone(), |target| self[target].path.clone());
        let realpath = realpath.or_else(|| new.realpath.clone()).expect("a link leads somewhere");
        let (manifest, with_peers, flags) = (new.manifest.clone(), new.with_peers, new.flags);
        let (name, rule) = (new.name, new.rule);
        let root = new.root.or_else(|| new.parent.or(target).map(|near| self[near].root));
        let id = self.push(NewNode { realpath: Some(realpath.clone()), root, ..new }, true);
        let root = self[id].root;
        let target = match target {
            Some(target) => target,
            None if self[root].path.as_ref() == Some(&realpath) => root,
            None => self.add(NewNode {
                name,
                path: Some(realpath),
                root: Some(root),
                rule,
                flags,
                ..NewNode::of(manifest, with_peers)
            }),
        };
        self.set_target(id, target);
        id
    }

    fn push(&mut self, new: NewNode, is_link: bool) -> NodeId {
        let id = NodeId(next_number(self.nodes.len()));
        let name = new.name.unwrap_or_else(|| {
            let of_folder;
            let name = match (new.path.as_deref(), new.manifest.name.as_deref()) {
                (None, Some(name)) => paths::name_from_folder(name),
                (path, _) => {
                    of_folder = self.folder_name(path.or(new.realpath.as_deref()).unwrap_or_default());
                    &of_folder
                }
            };
            self.vocabulary.names.intern(name)
        });
        let manifest = new.source.map_or_else(|| new.manifest.clone(), |source| self[source].manifest.clone());
        self.nodes.push(Node {
            name,
            resolved: new.resolved.or_else(|| manifest.resolved.clone()),
            integrity: new.integrity.or_else(|| manifest.integrity.clone()),
            manifest,
            realpath: if is_link { new.realpath } else { new.path.clone() },
            path: new.path,
            root: id,
            parent: None,
            fs_parent: None,
            children: Children::default(),
            fs_children: Vec::new(),
            edges_out: EdgesOut::default(),
            edges_in: Vec::new(),
            links_in: Vec::new(),
            is_link,
            target: None,
            source: new.source,
            rule: new.rule,
            workspaces: None,
            flags: new.flags,
            failure: new.failure,
            inert: false,
            extension: None,
            patch: None,
            with_peers: new.with_peers,
            lacks_edges: false,
            sequence: 0,
            inventory: None,
        });
        match new.parent {
            Some(parent) => self.set_parent(id, Some(parent)),
            None => self.set_root(id, new.root),
        }
        id
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.vocabulary.names.text(name)
    }

    /// The root's override rules.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// The absolute path of a node.
    pub fn absolute(&self, path: &str) -> String {
        paths::join(&self.project, path)
    }

    /// npm's name for the package in a folder. Above the project, it is part of the project's own
    /// path.
    pub fn folder_name<'a>(&self, path: &'a str) -> Cow<'a, str> {
        // Most paths begin with it, which is faster to see.
        if path.starts_with("node_modules/") || path.contains("node_modules/") {
            return paths::name_from_folder(path).into();
        }
        paths::name_from_folder(&self.absolute(path)).to_owned().into()
    }

    /// The `resolved` of a lockfile's entry in the form of the tree, which has absolute `file:`
    /// paths and one form of each repository (`consistent-resolve.js`).
    pub fn absolute_resolved(&self, resolved: &str) -> Rc<str> {
        if HostedGit::is_plainly_not(resolved) {
            return resolved.into();
        }
        if let Some(path) = resolved.strip_prefix("file:") {
            return format!("file:{}", self.absolute(path)).into();
        }
        let text = match split_argument(resolved) {
            (Some(_), text) if text == "*" => return resolved.into(),
            // npm takes it for an absolute path. In a lockfile without hosts, it is an address on
            // the registry.
            _ if resolved.starts_with('/') => return resolved.into(),
            (_, text) => text,
        };
        if let Some(hosted) = HostedGit::parse(&text) {
            return hosted.resolved().into();
        }
        match local_path(&text) {
            Some(path) => format!("file:{}", path.resolve(&self.project)).into(),
            None => text.into(),
        }
    }

    /// A path relative to the project, as in the tree.
    pub fn relative(&self, absolute: &str) -> String {
        paths::relative(&self.project, absolute)
    }
}
