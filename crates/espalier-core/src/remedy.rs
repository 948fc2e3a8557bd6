//! Searches for remedies of a conflict of peers: the smallest changes to package.json that resolve
//! it.
//!
//! The failed resolution [proposes](crate::error::PeerConflict::proposals) changes, because it
//! knows the available versions. A [`Search`] combines them and returns the next project to try.
//! Its caller resolves that project and reports the result. A remedy is a combination that has led
//! to a tree. The caller decides how long to search.

use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;

use crate::error::ResolveError;
use crate::json;
use crate::options::{Options, Project};
use crate::proposal::Proposal;

/// The maximum number of changes in a remedy.
const MOST_CHANGES: usize = 3;
/// The number of remedies, beside npm's flags, that end the search.
const ENOUGH: usize = 4;

/// Changes that lead to a tree if they are made together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Remedy(pub Vec<Proposal>);

/// npm's flags that pass any conflict of peers, the milder one first.
const FLAGS: [&str; 2] = ["legacy-peer-deps", "force"];

/// A search for remedies. It tries single changes first.
pub struct Search {
    project: Project,
    options: Options,
    manifest: Value,
    /// Combinations to try, those with fewer changes first.
    pending: VecDeque<Vec<Proposal>>,
    trying: Option<Vec<Proposal>>,
    found: Vec<Remedy>,
    /// Flags to try, the next one last.
    flags: Vec<&'static str>,
}

impl Search {
    /// Begins to search. There is nothing to try unless the failure is a conflict of peers.
    pub fn new(project: Project, options: Options, failure: &ResolveError) -> Self {
        let manifest = json::parse("package.json", &project.manifest).unwrap_or_default();
        let (pending, mut flags) = match failure {
            ResolveError::PeerConflict(conflict) => {
                (conflict.proposals.iter().map(|change| vec![change.clone()]).collect(), FLAGS.to_vec())
            }
            _ => (VecDeque::new(), Vec::new()),
        };
        flags.reverse();
        Self { project, options, manifest, pending, trying: None, found: Vec::new(), flags }
    }

    /// The next project to resolve. `None` at the end of the search.
    pub fn next_trial(&mut self) -> Option<(Project, Options)> {
        let changes = loop {
            let Some(changes) = self.pending.pop_front() else {
                break vec![Proposal::Flag { flag: self.flags.pop()? }];
            };
            // A combination with more changes than a known remedy is of no use, and neither is any
            // after enough remedies.
            let smallest = self.found.first().map_or(MOST_CHANGES, |Remedy(changes)| changes.len());
            if changes.len() <= smallest && self.found.len() < ENOUGH {
                break changes;
            }
        };
        let mut manifest = self.manifest.clone();
        let mut options = Options { tree_only: true, ..self.options.clone() };
        let (in_workspaces, own): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.folder().is_some());
        for change in own {
            match change {
                Proposal::Flag { flag: "force" } => options.force = true,
                Proposal::Flag { .. } => options.legacy_peer_deps = true,
                change => change.edit(&mut manifest),
            }
        }
        let trial = in_workspaces.into_iter().cloned().collect();
        self.trying = Some(changes);
        Some((Project { manifest: manifest.to_string(), trial, ..self.project.clone() }, options))
    }

    /// Takes the result of the latest trial.
    pub fn report<T>(&mut self, result: &Result<T, ResolveError>) {
        let Some(changes) = self.trying.take() else { return };
        match result {
            Ok(_) => self.found.push(Remedy(changes)),
            Err(ResolveError::PeerConflict(conflict)) => {
                for proposal in &conflict.proposals {
                    let new = !changes.iter().any(|change| change.concerns_same(proposal));
                    let longer = [&changes[..], std::slice::from_ref(proposal)].concat();
                    let known = |other: &Vec<Proposal>| {
                        other.len() == longer.len() && other.iter().all(|change| longer.contains(change))
                    };
                    if new && !self.pending.iter().any(known) {
                        self.pending.push_back(longer);
                    }
                }
            }
            Err(_) => {}
        }
    }

    /// Skips the remaining combinations, except for npm's flags.
    pub fn give_up(&mut self) {
        self.pending.clear();
    }

    /// The remedies, the smallest first, and then the flags.
    pub fn finish(self) -> Vec<Remedy> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::error::{ConflictSide, PeerConflict};

    fn conflict(proposals: Vec<Proposal>) -> ResolveError {
        let side = ConflictSide { version: None, spec: "1".into(), chain: Vec::new() };
        ResolveError::PeerConflict(Arc::new(PeerConflict {
            summary: String::new(),
            name: "a".into(),
            current: side.clone(),
            wanted: side,
            proposals,
        }))
    }

    fn range(name: &str, to: &str) -> Proposal {
        Proposal::Range {
            folder: String::new(),
            block: "dependencies",
            name: name.into(),
            from: "1".into(),
            to: to.into(),
        }
    }

    fn search(failure: &ResolveError) -> Search {
        let manifest = r#"{"dependencies": {"a": "1", "b": "1"}}"#.to_owned();
        Search::new(Project { manifest, ..Project::default() }, Options::default(), failure)
    }

    #[test]
    fn what_leads_to_a_tree_is_a_remedy() {
        let removal = Proposal::Remove { folder: String::new(), block: "dependencies", name: "b".into() };
        let mut search = search(&conflict(vec![range("a", "2"), removal]));
        let (project, _) = search.next_trial().unwrap();
        assert_eq!(project.manifest, r#"{"dependencies":{"a":"2","b":"1"}}"#);
        search.report::<()>(&Err(conflict(Vec::new())));
        let (project, _) = search.next_trial().unwrap();
        assert_eq!(project.manifest, r#"{"dependencies":{"a":"1"}}"#);
        search.report(&Ok(()));
        assert!(search.next_trial().unwrap().1.legacy_peer_deps);
        search.report(&Ok(()));
        assert!(search.next_trial().unwrap().1.force);
        search.report::<()>(&Err(conflict(Vec::new())));
        assert!(search.next_trial().is_none());
        let found = search.finish();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], Remedy(vec![Proposal::Flag { flag: "legacy-peer-deps" }]));
    }

    #[test]
    fn changes_are_combined_only_where_one_is_not_enough() {
        let mut search = search(&conflict(vec![range("a", "2"), range("b", "2")]));
        search.next_trial().unwrap();
        search.report::<()>(&Err(conflict(vec![range("b", "3"), range("a", "4")])));
        search.next_trial().unwrap();
        search.report(&Ok(()));
        // The combination of a and b is in the queue, but b alone is sufficient.
        assert!(search.next_trial().unwrap().1.legacy_peer_deps);
    }

    #[test]
    fn an_override_goes_below_its_parent() {
        let mut manifest = json!({ "overrides": { "a": "1", "b": { "c": "2" } } });
        for (parent, name) in [("a", "x"), ("b", "y"), ("d", "z")] {
            let change = Proposal::Override { parent: parent.into(), name: name.into(), spec: "$x".into() };
            change.edit(&mut manifest);
        }
        let expected = json!({ "a": { ".": "1", "x": "$x" }, "b": { "c": "2", "y": "$x" }, "d": { "z": "$x" } });
        assert_eq!(manifest["overrides"], expected);
    }
}
