//! Records the decisions of placements, if somebody wants to see them.

use super::can_place::{Answer, Because};
use crate::decision::{Decision, Trial, Verdict, Why};
use crate::tree::{NodeId, Tree};

/// The decisions of a placement. A package precedes its peers.
#[derive(Default)]
pub struct Notes {
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// The folders that were tried for the current package.
    tried: Vec<Trial>,
}

impl Notes {
    /// Records the decision about a package, with the folders that were tried for it.
    pub fn decided(&mut self, decision: Decision) {
        self.decisions.push(Decision { tried: std::mem::take(&mut self.tried), ..decision });
    }

    /// Records a folder that was tried.
    pub fn tried(&mut self, tree: &Tree, target: NodeId, answer: &Answer) {
        let why = why(tree, answer);
        self.tried.push(Trial { location: tree.location(target), verdict: answer.verdict, why });
    }
}

fn why(tree: &Tree, answer: &Answer) -> Why {
    let spec = |edge| tree.spec(edge).raw.to_string();
    let version = |node| tree.package(node).version.as_deref().unwrap_or_default().to_owned();
    if let (Verdict::Conflict, Some((_, edge, target))) = (answer.verdict, answer.refused_peer)
        && answer.verdict_for_self != Verdict::Conflict
    {
        let name = tree.text(tree[edge].name).to_owned();
        return Why::PeerRefused { name, spec: spec(edge), location: tree.location(target) };
    }
    match answer.because {
        Because::Free => Why::Free,
        Because::Failed => Why::Failed,
        Because::PeerOfFolder => Why::PeerOfFolder,
        Because::OtherDemand(edge) => Why::OtherDemand { spec: spec(edge) },
        Because::Shadows(edge) => {
            let dependent = tree[edge].from.map(|from| tree.location(from)).unwrap_or_default();
            Why::Shadows { dependent, spec: spec(edge) }
        }
        Because::Same => Why::Same,
        Because::Satisfies(current) => Why::Satisfies { version: version(current) },
        Because::Upgrade(current) => Why::Upgrade { version: version(current) },
        Because::Dedupe(current) => Why::Dedupe { version: version(current) },
        Because::OwnFolder(current) => Why::OwnFolder { version: version(current) },
        Because::PeersMove(current) => Why::PeersMove { version: version(current) },
        Because::Occupied(current) => Why::Occupied { version: version(current) },
    }
}
