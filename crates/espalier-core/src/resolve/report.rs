//! Reports the events of a resolution's decisions.

use std::rc::Rc;

use super::explain::name_of;
use super::search::Search;
use crate::catalog::registry_target;
use crate::decision::{Demand, Origin, Problem, ProblemState};
use crate::manifest::Manifest;
use crate::options::Reporting;
use crate::platform;
use crate::request::{Event, PlacedTarball};
use crate::spec::Spec;
use crate::tree::{EdgeId, NodeId};

impl Search {
    fn path_of_dependent(&self, edge: EdgeId) -> String {
        let tree = &self.tree;
        tree[edge].from.and_then(|from| tree[from].path.as_deref()).unwrap_or_default().to_owned()
    }

    pub(super) fn report_picked(&mut self, edge: EdgeId, spec: &Rc<Spec>, manifest: &Manifest) {
        if self.sources.options.reporting < Reporting::Choices {
            return;
        }
        let Some(version) = manifest.version.as_deref() else { return };
        let name = self.tree[edge].name;
        let (package, target) = registry_target(&self.sources.vocabulary.names, name, spec);
        let Some(reason) = self.sources.catalog.reason(package, &target, version) else {
            return;
        };
        let versions = (self.sources.options.reporting == Reporting::Decisions)
            .then(|| self.sources.catalog.versions(package, &target, version));
        let from = self.tree[edge].from;
        self.sources.exchange.report(Event::Picked {
            name: self.tree.text(package).to_owned(),
            spec: spec.raw.to_string(),
            version: version.to_owned(),
            reason,
            by: from.map(|from| name_of(&self.tree, from).to_owned()).unwrap_or_default(),
            from: from.and_then(|from| self.tree[from].path.as_deref()).map(str::to_owned),
            versions: versions.flatten(),
        });
    }

    pub(super) fn report_visit(&self, node: NodeId, edges: &[EdgeId]) {
        if self.sources.options.reporting < Reporting::Decisions {
            return;
        }
        let tree = &self.tree;
        let problem = |&edge: &EdgeId| Problem {
            demand: Demand::of(tree, edge),
            state: match tree[edge].to {
                None => ProblemState::Missing,
                Some(_) if tree.is_valid(edge) => ProblemState::Requested,
                Some(_) => ProblemState::Invalid,
            },
            found: tree[edge].to.and_then(|to| tree.package(to).version.as_deref()).map(str::to_owned),
        };
        let problems = edges.iter().map(problem).collect();
        self.sources.exchange.report(Event::Visited { location: tree.location(node), problems });
    }

    pub(super) fn report_gathered(&self, edge: EdgeId, candidate: NodeId, set: NodeId, origin: Origin) {
        if self.sources.options.reporting < Reporting::Decisions {
            return;
        }
        let tree = &self.tree;
        self.sources.exchange.report(Event::Gathered {
            demand: Demand::of(tree, edge),
            version: tree.package(candidate).version.as_deref().map(str::to_owned),
            origin,
            set: tree.location(tree[set].source.unwrap_or(set)),
        });
    }

    pub(super) fn report_kept(&self, edge: EdgeId) {
        if self.sources.options.reporting < Reporting::Choices {
            return;
        }
        let tree = &self.tree;
        let Some(kept) = tree[edge].to.filter(|_| tree.is_valid(edge)) else { return };
        self.sources.exchange.report(Event::Kept {
            location: tree[kept].path.as_deref().unwrap_or_default().to_owned(),
            version: tree.package(kept).version.as_deref().unwrap_or_default().to_owned(),
            name: tree.text(tree[edge].name).to_owned(),
            spec: tree.spec(edge).raw.to_string(),
            kind: tree[edge].kind,
            from: self.path_of_dependent(edge),
        });
    }

    pub(super) fn report_placed(&self, placed: NodeId, edge: EdgeId) {
        let tree = &self.tree;
        self.sources.exchange.report(Event::Placed {
            location: tree[placed].path.as_deref().unwrap_or_default().to_owned(),
            name: tree.text(tree[placed].name).to_owned(),
            version: tree.package(placed).version.as_deref().unwrap_or_default().to_owned(),
            kind: tree[edge].kind,
            spec: tree.spec(edge).raw.to_string(),
            from: self.path_of_dependent(edge),
            tarball: self.tarball_of(placed),
        });
    }

    fn tarball_of(&self, placed: NodeId) -> Option<PlacedTarball> {
        let (node, manifest) = (&self.tree[placed], self.tree.package(placed));
        let resolved =
            node.resolved.as_deref().filter(|_| platform::suits(manifest, &self.sources.options.platform))?;
        let name = manifest.name.as_deref().unwrap_or(self.tree.text(node.name));
        let integrity = node.integrity.as_deref().map(str::to_owned);
        Some(PlacedTarball { name: name.to_owned(), resolved: resolved.to_owned(), integrity })
    }
}
