//! The part of a tree that is installed if some workspaces are selected: the workspaces and what
//! they need (`diff.js`). The lockfile covers the whole tree.
//!
//! What they needed so far counts as well, because it may have to go. So the part is found in two
//! trees at once: the resolved tree, and the tree that is installed.

use std::collections::VecDeque;
use std::path::Path;

use espalier_core::{EdgeKind, Graph};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::layout::{Layout, lies_in_node_modules, split};
use crate::plan::{Plan, Retirement};

/// The selected part. `None` for the whole tree.
#[derive(Debug, Default)]
pub(super) struct Selection(Option<Part>);

#[derive(Debug)]
struct Part {
    /// The selected locations.
    meant: FxHashSet<String>,
    /// The locations of all installed packages.
    installed: FxHashSet<String>,
}

/// The locations that a plan writes to.
#[derive(Debug)]
pub(super) struct Touched(FxHashSet<String>);

impl Touched {
    /// The locations that this plan writes to.
    pub fn by(plan: &Plan) -> Self {
        let packages = plan.place.iter().map(|placement| &placement.location);
        Self(packages.chain(plan.links.iter().map(|link| &link.location)).cloned().collect())
    }
}

/// A tree and its nodes by location.
struct Located<'a> {
    graph: &'a Graph,
    nodes: FxHashMap<&'a str, u32>,
}

impl<'a> Located<'a> {
    fn new(graph: &'a Graph) -> Self {
        let nodes = graph.nodes.iter().zip(0..).map(|(node, index)| (node.location.as_str(), index)).collect();
        Self { graph, nodes }
    }

    fn location(&self, node: u32) -> &'a str {
        &self.graph.nodes[node as usize].location
    }

    /// The packages that meet the dependencies of a node, with or without the workspaces that it has.
    fn needs(&self, node: u32, workspaces: bool) -> impl Iterator<Item = &'a str> {
        let edges = self.graph.edges_of(node).iter();
        let edges = edges.filter(move |edge| workspaces || edge.kind != EdgeKind::Workspace);
        edges.filter_map(|edge| edge.to).map(|to| self.location(to))
    }
}

impl Selection {
    /// What the workspaces with these names need, and with `root`, what the project itself needs.
    pub fn of(graph: &Graph, installed: Option<&Graph>, workspaces: &[String], root: bool) -> Self {
        let trees: Vec<Located<'_>> = std::iter::once(graph).chain(installed).map(Located::new).collect();
        let links = workspaces.iter().map(|name| format!("node_modules/{name}"));
        let mut open: VecDeque<String> =
            links.filter(|link| trees.iter().any(|tree| tree.nodes.contains_key(link.as_str()))).collect();
        if root {
            open.extend(trees.iter().flat_map(|tree| tree.needs(0, false)).map(str::to_owned));
        }
        // npm takes an empty filter for none.
        if open.is_empty() {
            return Self(None);
        }
        let mut meant = FxHashSet::default();
        while let Some(location) = open.pop_front() {
            if !meant.insert(location.clone()) {
                continue;
            }
            for tree in &trees {
                let Some(&node) = tree.nodes.get(location.as_str()) else { continue };
                if let Some(target) = tree.graph.nodes[node as usize].target {
                    open.push_back(tree.location(target).to_owned());
                    continue;
                }
                open.extend(tree.needs(node, true).map(str::to_owned));
            }
        }
        let nodes = installed.map_or(&[][..], |installed| &installed.nodes);
        // An extraneous package is removed if the package whose `node_modules` contains it is
        // selected.
        let is_inside = |parent: u32| meant.contains(&nodes[parent as usize].location);
        let unneeded = nodes.iter().filter(|node| node.extraneous && node.parent.is_some_and(is_inside));
        let unneeded: Vec<String> = unneeded.map(|node| node.location.clone()).collect();
        meant.extend(unneeded);
        Self(Some(Part { meant, installed: nodes.iter().map(|node| node.location.clone()).collect() }))
    }

    /// Whether a location is selected.
    pub fn has(&self, location: &str) -> bool {
        self.0.as_ref().is_none_or(|part| part.meant.contains(location))
    }

    /// Removes from a layout what is neither selected nor installed already, that is, what the
    /// whole plan would write. Without a plan, everything that isn't selected goes.
    pub fn narrow(&self, layout: &mut Layout, plan: Option<&Touched>) {
        let Some(Part { meant, .. }) = &self.0 else { return };
        let stays = |location: &String| {
            meant.contains(location) || plan.is_some_and(|Touched(touched)| !touched.contains(location))
        };
        // A workspace's folder always exists. It counts as installed if a link leads to it, selected
        // or not (`reify.js` removes the `tops` without links).
        let linked: FxHashSet<&str> = layout
            .packages
            .iter()
            .filter(|(location, _)| stays(location))
            .filter_map(|(_, package)| package.link())
            .collect();
        let is_there = |location: &String| {
            if lies_in_node_modules(location) { stays(location) } else { linked.contains(location.as_str()) }
        };
        let out = layout.packages.keys().filter(|location| !is_there(location));
        let out: Vec<String> = out.cloned().collect();
        layout.leave_out(out);
        // The commands of other packages stay as they are.
        let others = layout.packages.iter_mut().filter(|(location, _)| !meant.contains(*location));
        others.for_each(|(_, package)| package.bins.clear());
    }

    /// Removes from a plan what concerns other parts of the tree.
    pub fn limit(&self, plan: &mut Plan) {
        let Some(part) = &self.0 else { return };
        plan.place.retain(|placement| part.meant.contains(&placement.location));
        plan.links.retain(|link| part.meant.contains(&link.location));
        plan.retire.retain(|retirement| part.loses(&retirement.path));
    }
}

impl Part {
    /// Whether something goes that isn't right or doesn't belong where it is.
    fn loses(&self, path: &str) -> bool {
        let (folder, name) = split(path);
        // A path above a selected location is moved away, because that location has to lie below a
        // folder.
        let is_above = |location: &String| location.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        // A file or a link that leads nowhere, beside the packages of something that is selected.
        let is_no_package = || {
            let owner = folder.strip_suffix("/node_modules");
            owner.is_some_and(|owner| self.meant.contains(owner)) && !self.installed.contains(path)
        };
        let is_remains = name.starts_with('.');
        self.meant.contains(path) || is_remains || is_no_package() || self.meant.iter().any(is_above)
    }
}

/// Removes the workspaces from `node_modules`, and everything that the project itself does not need
/// (`prune` of `build-ideal-tree.js`). As in npm, a linked folder counts as needed, and its
/// dependencies do not.
pub(super) fn remove_workspaces(plan: &mut Plan, layout: &mut Layout, graph: &Graph, project: &Path) {
    let mut needed = FxHashSet::default();
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        let packages = graph.edges_of(node).iter().filter_map(|edge| edge.to);
        let packages = packages.filter(|&to| !graph.nodes[to as usize].workspace);
        open.extend(packages.filter(|&to| needed.insert(to)));
    }
    let nodes = graph.nodes.iter().zip(0..).filter(|(node, index)| !needed.contains(index) && !node.inert);
    let unneeded = nodes.map(|(node, _)| &node.location).filter(|location| lies_in_node_modules(location));
    let unneeded: FxHashSet<&str> = unneeded.map(String::as_str).collect();
    plan.place.retain(|placement| !unneeded.contains(placement.location.as_str()));
    plan.links.retain(|link| !unneeded.contains(link.location.as_str()));
    plan.retire.retain(|retirement| !unneeded.contains(retirement.path.as_str()));
    let is_below_unneeded =
        |location: &str| location.match_indices("/node_modules/").any(|(at, _)| unneeded.contains(&location[..at]));
    let mut gone: Vec<String> = unneeded.iter().map(|&location| location.to_owned()).collect();
    gone.sort_unstable();
    let is_there = |location: &&String| project.join(location).symlink_metadata().is_ok();
    let removed = gone.iter().filter(|location| !is_below_unneeded(location)).filter(is_there);
    plan.retire.extend(removed.map(|path| Retirement { path: path.clone(), removed: true }));
    layout.leave_out(gone);
    // A workspace's folder is part of the installation as long as a link leads to it.
    let linked: FxHashSet<&str> = layout.packages.values().filter_map(|package| package.link()).collect();
    let folders = layout.packages.keys().filter(|location| !lies_in_node_modules(location));
    let unlinked: Vec<String> = folders.filter(|folder| !linked.contains(folder.as_str())).cloned().collect();
    layout.leave_out(unlinked);
}
