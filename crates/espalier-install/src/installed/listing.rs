//! The tree of dependencies that `npm ls` lists, from the root down. Each package is expanded once
//! (`ls.js`).
//!
//! The walk is breadth first. The first time it reaches a package, it lists its dependencies; after
//! that, the package is deduped. This module doesn't print.

use std::collections::{HashMap, HashSet, VecDeque};

use espalier_core::EdgeKind;
use espalier_core::collation;
use espalier_core::graph::GraphEdge;
use espalier_core::semver;
use espalier_core::spec::{SpecKind, Specs, split_argument};
use indexmap::IndexSet;

use super::Installed;

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `all`: lists everything, not just the root's dependencies.
    pub all: bool,
    /// `depth`: the maximum depth.
    pub depth: Option<usize>,
    /// `omit`: the kinds of the root's dependencies that are left out: `dev`, `optional`, `peer`.
    pub omit: Vec<String>,
    /// `link`: lists only links of the root.
    pub links_only: bool,
    /// Names or `name@range`: lists only these packages and the way to them.
    pub packages: Vec<String>,
    /// The locations of the selected workspaces; empty for all.
    pub workspaces: Vec<String>,
    /// `--no-workspaces`: leaves workspaces out.
    pub without_workspaces: bool,
    /// `include-workspace-root`: includes the root beside selected workspaces.
    pub with_root: bool,
}

/// A line of the listing. It has a field for each fact that npm prints.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// The line above, that is, the dependent's.
    pub parent: Option<usize>,
    /// The node; absent if the dependency is missing.
    pub node: Option<u32>,
    /// The requested name.
    pub name: String,
    /// `name@version`, or `name@spec` of a missing dependency.
    pub id: String,
    /// The requested spec, if npm prints it.
    pub required: Option<String>,
    /// The dependent of a missing dependency, as `name@version`.
    pub missing: Option<String>,
    /// Whether the dependency is optional.
    pub optional: bool,
    /// The specs that it doesn't satisfy.
    pub invalid: Option<String>,
    /// Whether the package is listed before.
    pub deduped: bool,
    /// Whether nothing depends on it.
    pub extraneous: bool,
    /// Whether it is listed, because it matches or leads to a match.
    pub included: bool,
    /// Whether it matches the requested names.
    pub matched: bool,
    /// Its problems.
    pub problems: Vec<Problem>,
    depth: usize,
}

/// A problem of the installed tree. Its text is npm's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Problem {
    /// A dependency is missing.
    #[error("missing: {id}, required by {by}")]
    Missing {
        /// The requested name and spec.
        id: String,
        /// The dependent, as `name@version`.
        by: String,
    },
    /// A package doesn't satisfy a dependent.
    #[error("invalid: {id} {path}")]
    Invalid {
        /// Its name and version.
        id: String,
        /// Its path.
        path: String,
    },
    /// Nobody needs a package.
    #[error("extraneous: {id} {path}")]
    Extraneous {
        /// Its name and version.
        id: String,
        /// Its path.
        path: String,
    },
}

/// All lines. The root's is the first, and each line follows the one above it.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The lines.
    pub items: Vec<Item>,
    /// The problems of all listed packages, each once.
    pub problems: Vec<Problem>,
    /// The listed folders in the order of the walk, which npm prints with `--parseable`.
    pub folders: Vec<usize>,
    /// The lines below each line.
    below: Vec<Vec<usize>>,
}

impl Listing {
    /// Whether there is a problem beside extraneous packages.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| !matches!(problem, Problem::Extraneous { .. }))
    }

    /// Whether nothing matches.
    pub fn is_empty(&self) -> bool {
        !self.items[0].included
    }

    /// The listed lines below a line, in order.
    pub fn below(&self, item: usize) -> &[usize] {
        &self.below[item]
    }
}

impl Installed {
    /// Lists the tree.
    pub fn list(&self, selection: &Selection) -> Listing {
        let mut walk = Walk {
            tree: self,
            selection,
            limit: if selection.all || !selection.packages.is_empty() {
                selection.depth.unwrap_or(usize::MAX)
            } else {
                selection.depth.unwrap_or(0)
            },
            invalid: HashMap::new(),
            seen: HashSet::from([0]),
            missing_before: false,
            problems: IndexSet::new(),
            extraneous: self.extraneous_by_parent(),
            items: Vec::new(),
        };
        walk.run();
        let folders = (0..walk.items.len()).filter(|&index| {
            let item = &walk.items[index];
            item.node.is_some() && !item.deduped && (item.matched || selection.packages.is_empty())
        });
        let mut below = vec![Vec::new(); walk.items.len()];
        for (index, item) in walk.items.iter().enumerate().filter(|(_, item)| item.included) {
            if let Some(parent) = item.parent {
                below[parent].push(index);
            }
        }
        Listing { folders: folders.collect(), below, problems: walk.problems.into_iter().collect(), items: walk.items }
    }
}

impl Installed {
    fn extraneous_by_parent(&self) -> HashMap<u32, Vec<u32>> {
        let mut found: HashMap<u32, Vec<u32>> = HashMap::new();
        for (node, index) in self.graph.nodes.iter().zip(0..).filter(|(node, _)| node.extraneous) {
            if let Some(parent) = node.parent {
                found.entry(parent).or_default().push(index);
            }
        }
        found
    }
}

struct Walk<'a> {
    tree: &'a Installed,
    selection: &'a Selection,
    limit: usize,
    /// The specs that a node doesn't satisfy, as far as the walk has found them.
    invalid: HashMap<u32, String>,
    seen: HashSet<u32>,
    missing_before: bool,
    problems: IndexSet<Problem>,
    /// Extraneous packages, by the node whose folder they are in.
    extraneous: HashMap<u32, Vec<u32>>,
    items: Vec<Item>,
}

impl Walk<'_> {
    fn run(&mut self) {
        let root = Item {
            node: Some(0),
            name: self.tree.graph.nodes[0].name.clone(),
            id: self.tree.id(0),
            included: self.selection.packages.is_empty(),
            ..Item::default()
        };
        let mut queue = VecDeque::from([root]);
        while let Some(mut item) = queue.pop_front() {
            let index = self.items.len();
            self.judge(&mut item);
            self.items.push(item);
            if self.items[index].included {
                self.include_ancestors(index);
            }
            queue.extend(self.children(index));
        }
    }

    /// Judges a package when the walk reaches it, as npm does. By then, other dependents may have
    /// found it invalid, too.
    fn judge(&mut self, item: &mut Item) {
        if let Some(node) = item.node.filter(|_| !item.deduped) {
            item.invalid = self.invalid.get(&node).cloned();
        }
        if let Some(by) = item.missing.as_ref().filter(|_| !item.optional) {
            item.problems.push(Problem::Missing { id: item.id.clone(), by: by.clone() });
        }
        let path = item.node.map(|node| self.tree.path_of(node)).unwrap_or_default();
        if item.invalid.is_some() {
            item.problems.push(Problem::Invalid { id: item.id.clone(), path: path.clone() });
        }
        if item.extraneous {
            item.problems.push(Problem::Extraneous { id: item.id.clone(), path: path.clone() });
        }
        // npm doesn't report problems of packages that are only on the way.
        if !item.included {
            item.problems.clear();
        }
        self.problems.extend(item.problems.iter().cloned());
    }

    fn include_ancestors(&mut self, index: usize) {
        let mut above = self.items[index].parent;
        while let Some(ancestor) = above {
            self.items[ancestor].included = true;
            above = self.items[ancestor].parent;
        }
    }

    fn children(&mut self, index: usize) -> Vec<Item> {
        let item = &self.items[index];
        let Some(node) = item.node.filter(|_| !item.deduped) else { return Vec::new() };
        // A dependency of a workspace counts as a direct one.
        let depth = if self.tree.graph.nodes[node as usize].workspace { 0 } else { item.depth };
        if depth > self.limit {
            return Vec::new();
        }
        let target = self.tree.target(node);
        let tree = self.tree;
        let is_listed = |edge: &&GraphEdge| self.is_selected(edge) && (depth > 0 || self.is_of_kind(edge));
        let edges: Vec<&GraphEdge> = tree.graph.edges_of(target).iter().filter(is_listed).collect();
        let mut children = Vec::new();
        let mut listed = HashSet::new();
        for edge in edges {
            children.push(self.child(edge));
            listed.extend(edge.to);
        }
        for &other in self.extraneous.get(&target).into_iter().flatten().filter(|other| !listed.contains(other)) {
            let name = tree.graph.nodes[other as usize].name.clone();
            children.push(Item { node: Some(other), name, id: tree.id(other), ..Item::default() });
        }
        children.sort_by(|a, b| collation::compare(&a.id, &b.id));
        for child in &mut children {
            child.parent = Some(index);
            child.depth = depth + 1;
            self.place(child);
        }
        children
    }

    fn child(&mut self, edge: &GraphEdge) -> Item {
        let optional = edge.kind.is_optional();
        let required = Some(if edge.spec.is_empty() { "*" } else { &edge.spec }.to_owned());
        let Some(to) = edge.to else {
            let id = format!("{}@{}", edge.name, edge.spec);
            let missing = Some(self.tree.id(edge.from));
            return Item { name: edge.name.clone(), id, required, missing, optional, ..Item::default() };
        };
        if edge.error.is_some_and(|error| error != "MISSING") {
            let spec = serde_json::Value::from(required.as_deref().unwrap_or_default());
            let from = &self.tree.graph.nodes[edge.from as usize].location;
            let from = if from.is_empty() { "the root project" } else { from };
            let reason = format!("{spec} from {from}");
            self.invalid.entry(to).and_modify(|all| *all = format!("{all}, {reason}")).or_insert(reason);
        }
        Item {
            node: Some(to),
            name: self.tree.graph.nodes[to as usize].name.clone(),
            id: self.tree.id(to),
            required,
            optional,
            ..Item::default()
        }
    }

    /// Sets what depends on the order of the walk.
    fn place(&mut self, child: &mut Item) {
        match child.node {
            Some(node) => {
                child.matched = self.is_asked_for(node);
                child.included = child.matched;
                if self.seen.insert(node) {
                    child.extraneous = self.tree.graph.nodes[node as usize].extraneous;
                } else {
                    child.deduped = true;
                    child.invalid = self.invalid.get(&node).cloned();
                }
            }
            None => {
                child.included = self.selection.packages.is_empty();
                // npm keeps missing dependencies under one key, so it loses the spec of all but the
                // first.
                if std::mem::replace(&mut self.missing_before, true) {
                    child.required = None;
                }
            }
        }
    }

    fn is_asked_for(&self, node: u32) -> bool {
        let packages = &self.selection.packages;
        packages.is_empty() || packages.iter().any(|package| self.satisfies(node, package))
    }

    fn satisfies(&self, node: u32, asked: &str) -> bool {
        let entry = &self.tree.graph.nodes[node as usize];
        let (name, spec) = split_argument(asked);
        if name.is_some_and(|name| name != entry.name) {
            return false;
        }
        let version = entry.version.as_deref().unwrap_or_default();
        let spec = Specs::default().intern(&spec);
        match &spec.kind {
            SpecKind::Range { wanted, .. } if matches!(&**wanted, "" | "*") => true,
            SpecKind::Range { wanted, .. } => semver::satisfies(version, wanted, true),
            SpecKind::Version { .. } => semver::satisfies(version, &spec.raw, true),
            SpecKind::Alias { name, spec } => {
                self.tree.package_name(node) == &**name && semver::satisfies(version, &spec.raw, true)
            }
            SpecKind::Tag(_) => entry.resolved.as_deref().is_some_and(|resolved| resolved.starts_with("http")),
            _ => entry.resolved.as_deref().is_some_and(|resolved| resolved == &*spec.raw),
        }
    }

    /// Whether an edge of the root leads to a selected workspace.
    fn is_selected(&self, edge: &GraphEdge) -> bool {
        let to = edge.to.map(|to| &self.tree.graph.nodes[to as usize]);
        let to_workspace = to.is_some_and(|to| to.workspace);
        if self.selection.without_workspaces && edge.from == 0 && to_workspace {
            return false;
        }
        if self.selection.workspaces.is_empty() || (self.selection.with_root && to.is_some() && !to_workspace) {
            return true;
        }
        let target = edge.to.map(|to| &self.tree.graph.nodes[self.tree.target(to) as usize].location);
        edge.from != 0 || (to_workspace && target.is_some_and(|target| self.selection.workspaces.contains(target)))
    }

    fn is_of_kind(&self, edge: &GraphEdge) -> bool {
        let is = |kind: &str| match kind {
            "dev" => edge.kind == EdgeKind::Dev,
            "optional" => edge.kind.is_optional(),
            "peer" => edge.kind.is_peer(),
            _ => false,
        };
        let links = |to: u32| self.tree.graph.nodes[to as usize].target.is_some();
        !self.selection.omit.iter().any(|kind| is(kind)) && (!self.selection.links_only || edge.to.is_some_and(links))
    }
}
