//! The part of a tree that is installed if some workspaces are selected: the workspaces and what
//! they need (`filterNodes` of `diff.js`). The lockfile covers the whole tree.

use std::collections::VecDeque;

use espalier_core::{EdgeKind, Graph};
use espalier_package::noted::Noted;
use rustc_hash::FxHashSet;

use crate::plan::Plan;
use crate::plan::layout::{Layout, lies_in_node_modules};

/// The selected locations. `None` for the whole tree.
#[derive(Debug, Default)]
pub(super) struct Selection(Option<FxHashSet<String>>);

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

impl Selection {
    /// What the workspaces with these names need, and with `root`, what the project itself needs.
    pub fn of(graph: &Graph, workspaces: &[String], root: bool) -> Self {
        if workspaces.is_empty() {
            return Self::default();
        }
        Self::reached(graph, workspaces, root)
    }

    /// What the project itself needs (`--workspaces=false`).
    pub fn of_project(graph: &Graph) -> Self {
        Self::reached(graph, &[], true)
    }

    fn reached(graph: &Graph, workspaces: &[String], root: bool) -> Self {
        let targets = |from: u32, kinds: fn(EdgeKind) -> bool| {
            graph.edges_of(from).iter().filter(move |edge| kinds(edge.kind)).filter_map(|edge| edge.to)
        };
        let mut open: VecDeque<u32> = graph
            .edges_of(0)
            .iter()
            .filter(|edge| edge.kind == EdgeKind::Workspace && workspaces.contains(&edge.name))
            .filter_map(|edge| edge.to)
            .collect();
        if root {
            open.extend(targets(0, |kind| kind != EdgeKind::Workspace));
        }
        let mut meant = FxHashSet::default();
        while let Some(index) = open.pop_front() {
            let node = &graph.nodes[index as usize];
            if meant.insert(node.location.clone()) {
                open.extend(node.target);
                open.extend(targets(index, |_| true));
            }
        }
        Self(Some(meant))
    }

    /// Whether a location is selected.
    pub fn includes(&self, location: &str) -> bool {
        self.0.as_ref().is_none_or(|meant| meant.contains(location))
    }

    /// Removes from a layout what is neither selected nor installed already, that is, what the
    /// whole plan would write. Without a plan, everything that isn't selected goes.
    pub fn narrow(&self, layout: &mut Layout, plan: Option<&Touched>) {
        let Some(meant) = &self.0 else { return };
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
    }

    /// Removes from a plan what concerns other parts of the tree. A package that nobody needs is
    /// removed if the hidden lockfile lists it, or if there is no hidden lockfile.
    pub fn limit(&self, plan: &mut Plan, installed: Option<&Noted>) {
        let Some(meant) = &self.0 else { return };
        plan.place.retain(|placement| meant.contains(&placement.location));
        plan.links.retain(|link| meant.contains(&link.location));
        let is_noted = |path: &str| installed.is_none_or(|installed| installed.get(path).is_some());
        plan.retire
            .retain(|retirement| meant.contains(&retirement.path) || retirement.removed && is_noted(&retirement.path));
    }
}
