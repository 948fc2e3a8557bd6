//! Peer sets: a candidate brings its peers, these bring theirs, and all have to be compatible in
//! one virtual root.

use std::pin::Pin;

use super::candidates::PeerSet;
use super::edge_checks::{check_edge, check_needed};
use super::search::Search;
use crate::collation;
use crate::error::ResolveError;
use crate::order;
use crate::tree::{EdgeId, EdgeKind, NodeId};

impl Search {
    /// Loads the peers of a candidate, and theirs, into its virtual root.
    ///
    /// Peers can contradict each other or the dependent's own specs. That is an error for the
    /// project or a workspace, and in strict mode. Elsewhere, placement decides about the conflict.
    pub(super) fn load_peer_set<'a>(
        &'a mut self,
        node: NodeId,
        set: &'a mut PeerSet,
    ) -> Pin<Box<dyn Future<Output = Result<(), ResolveError>> + 'a>> {
        Box::pin(async move {
            let tree = &self.tree;
            check_needed(tree, node, &|edge| tree[edge].kind.is_peer() && tree[edge].to.is_some())?;
            for edge in self.unmet_peers(node) {
                // Another peer may have displaced this node.
                let Some(parent) = self.tree[node].parent else { break };
                if self.tree[edge].to.is_some() && self.tree.is_valid(edge) {
                    continue;
                }
                match self.tree[edge].to {
                    None => {
                        if !self.load_missing_peer(node, parent, edge, set).await? {
                            break;
                        }
                    }
                    Some(current) => self.load_better_peer(parent, edge, current, set).await?,
                }
            }
            Ok(())
        })
    }

    fn unmet_peers(&self, node: NodeId) -> Vec<EdgeId> {
        let tree = &self.tree;
        let met = |edge: EdgeId| tree[edge].to.is_some() && tree.is_valid(edge);
        let edges = tree[node].edges_out.iter().copied();
        let mut edges: Vec<EdgeId> = edges.filter(|&edge| tree[edge].kind.is_peer() && !met(edge)).collect();
        order::sort_by(&mut edges, |&a, &b| collation::compare(tree.text(tree[a].name), tree.text(tree[b].name)));
        edges
    }

    /// Whether a conflict in the peer set of this virtual root is tolerated.
    fn tolerates_conflicts(&self, virtual_root: NodeId) -> bool {
        let own = self.tree[virtual_root].source.is_some_and(|source| self.tree.is_own(source));
        self.sources.options.force || (!own && !self.sources.options.strict_peer_deps)
    }

    /// Loads a peer of which there is no node yet. Returns whether the dependent is still in its
    /// place.
    async fn load_missing_peer(
        &mut self,
        node: NodeId,
        parent: NodeId,
        edge: EdgeId,
        set: &mut PeerSet,
    ) -> Result<bool, ResolveError> {
        let name = self.tree[edge].name;
        let Some(parent_edge) = self.tree.edge(parent, name) else {
            if self.tree[edge].kind == EdgeKind::PeerOptional {
                // The peer is optional. It is loaded only so that a wrong one doesn't displace the
                // one in the real tree.
                let source = self.tree[parent].source.unwrap_or(parent);
                let Some(current) = self.tree.resolve(source, name) else { return Ok(true) };
                if !self.tree.in_dependency_bundle(current) {
                    check_edge(&self.tree, edge)?;
                }
                if self.tree.satisfied_by(edge, current) {
                    return Ok(true);
                }
            }
            self.build_candidate(edge, Some(parent), None, set).await?;
            return Ok(true);
        };
        // The dependent has a spec for it, too. Find a version for both, if there is one.
        let dep = self.build_candidate(parent_edge, Some(parent), Some(edge), set).await?;
        if self.tree.is_valid(edge) {
            return Ok(true);
        }
        if self.tolerates_conflicts(parent) || !set.required.contains(&dep) {
            self.tree[edge].peer_conflicted = true;
            return Ok(true);
        }
        if self.tree[node].parent.is_none() {
            return Ok(false);
        }
        Err(self.explain_peer_conflict(edge, Some(parent_edge)))
    }

    /// Loads another version of a peer, because the present one doesn't satisfy this edge.
    async fn load_better_peer(
        &mut self,
        parent: NodeId,
        edge: EdgeId,
        current: NodeId,
        set: &mut PeerSet,
    ) -> Result<(), ResolveError> {
        let parent_edge = self.tree.edge(parent, self.tree[edge].name);
        let dep = self.build_candidate(edge, None, None, set).await?;
        if self.tree.can_replace(dep, current, &[]) {
            self.build_candidate(edge, Some(parent), None, set).await?;
            return Ok(());
        }
        let from = self.tree[edge].from;
        if self.tolerates_conflicts(parent) || !from.is_some_and(|from| set.required.contains(&from)) {
            return Ok(());
        }
        Err(self.explain_peer_conflict(edge, parent_edge))
    }
}
