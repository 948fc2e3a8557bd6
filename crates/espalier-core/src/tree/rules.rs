//! Override rules travel along edges.
//!
//! An edge is under the rule that applies below its dependent. A node is under the most specific
//! rule of the edges that lead to it. When that changes, the edges out of the node change with it.

use super::{NodeId, Tree};
use crate::overrides::RuleId;

impl Tree {
    /// An edge under `rule` now leads to the node (`updateOverridesEdgeInAdded`).
    pub fn rule_added(&mut self, node: NodeId, rule: Option<RuleId>) {
        let Some(rule) = rule else { return };
        let combined = match self[node].rule {
            None => Some(rule),
            Some(own) if own == rule => return,
            // Contradictory rules leave the node as it is, and the edge becomes invalid.
            Some(own) => self.overrides.more_specific(own, rule).filter(|&combined| combined != own),
        };
        if combined.is_some() {
            self[node].rule = combined;
            self.propagate_rule(node);
        }
    }

    /// An edge under `rule` no longer leads to the node (`updateOverridesEdgeInRemoved`).
    pub(super) fn rule_removed(&mut self, node: NodeId, rule: Option<RuleId>) {
        if self[node].rule.is_none() || self[node].rule != rule {
            return;
        }
        let mut remaining: Option<RuleId> = None;
        for &edge in &self[node].edges_in {
            let other = self[edge].rule;
            remaining = match (remaining, other) {
                (Some(current), Some(other)) => self.overrides.more_specific(other, current),
                (_, other) => other,
            };
        }
        if remaining == self[node].rule {
            return;
        }
        self[node].rule = remaining;
        if remaining.is_some() {
            self.propagate_rule(node);
        }
    }

    fn propagate_rule(&mut self, node: NodeId) {
        if self[node].is_link {
            if let (Some(rule), Some(target)) = (self[node].rule, self[node].target)
                && self.rule_matters_below(rule, target)
            {
                self.rule_added(target, Some(rule));
            }
            return;
        }
        for edge in self[node].edges_out.snapshot() {
            self.reload(edge, true);
            if let Some(to) = self[edge].to {
                self.rule_added(to, self[edge].rule);
            }
        }
    }

    /// Whether a rule names anything that can be reached from a node. Only then does a link pass
    /// the rule on.
    fn rule_matters_below(&mut self, rule: RuleId, start: NodeId) -> bool {
        let mut seen = Vec::new();
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            let node = self.target(node);
            if seen.contains(&node) {
                continue;
            }
            seen.push(node);
            for edge in self[node].edges_out.snapshot() {
                let (name, to) = (self[edge].name, self[edge].to);
                let found = self.overrides.for_edge(rule, name, &self[edge].raw_spec);
                let applied = self.noted(found);
                if self.overrides.rule(applied).name == Some(name) {
                    return true;
                }
                stack.extend(to);
            }
        }
        false
    }
}
