//! Overrides: the root's rules that replace requested specs (`override-set.js`).
//!
//! The rules form a tree. A node or edge is *under* one rule. The rules that can apply to it are
//! that rule's children, then its ancestors' children and the ancestors themselves, the nearest
//! first. A resolution has one tree of rules, so two rules are equal if they are the same rule.

use serde_json::{Map, Value};
use std::num::NonZeroU32;
use std::rc::Rc;

use crate::json;
use crate::names::Name;
use crate::refusal::Refusal;
use crate::semver::Range;
use crate::spec::{Spec, SpecKind};
use crate::vocabulary::Vocabulary;

/// The number of a rule. It counts from one, so that an `Option` takes no more room. Rule 1 is the
/// root of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleId(NonZeroU32);

impl RuleId {
    fn at(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("fewer than four billion rules"))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A rule: for certain versions of a package, it gives a spec, and further rules for the packages
/// below.
#[derive(Debug)]
pub struct Rule {
    parent: Option<RuleId>,
    /// The key as written, `name@spec`. The root has none.
    pub key: Rc<str>,
    /// The package that it applies to. The root has none.
    pub name: Option<Name>,
    /// The specs that it applies to.
    pub key_spec: Rc<Spec>,
    /// The spec that replaces them. npm's `*` replaces nothing.
    pub value: Rc<Spec>,
    children: Vec<RuleId>,
    /// The rules that can apply under this one, in their order.
    ruleset: Vec<RuleId>,
}

/// The rules of a root's `overrides`.
#[derive(Debug, Default)]
pub struct Overrides {
    rules: Vec<Rule>,
    /// Whether the value of a rule is a reference, `$name`.
    have_references: bool,
}

/// The rule that an edge is under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Governing {
    /// The rule.
    pub rule: RuleId,
    /// A rule whose key is not a range, although a range had to be compared with it. npm fails
    /// there.
    pub incomparable: Option<RuleId>,
}

impl Overrides {
    /// The root of the tree of rules.
    pub const ROOT: RuleId = RuleId(NonZeroU32::MIN);

    /// Parses the `overrides` of a root manifest.
    pub fn parse(overrides: &Map<String, Value>, vocabulary: &Vocabulary) -> Result<Self, Refusal> {
        let any = vocabulary.specs.intern("*");
        let root = Rule {
            parent: None,
            key: "".into(),
            name: None,
            key_spec: any.clone(),
            value: any,
            children: Vec::new(),
            ruleset: Vec::new(),
        };
        let mut tree = Self { rules: vec![root], have_references: false };
        tree.add_children(Self::ROOT, overrides, vocabulary)?;
        for index in 0..tree.rules.len() {
            tree.rules[index].ruleset = tree.collect_ruleset(index);
        }
        tree.have_references = tree.rules.iter().any(|rule| rule.value.raw.starts_with('$'));
        Ok(tree)
    }

    fn add_children(
        &mut self,
        parent: RuleId,
        overrides: &Map<String, Value>,
        vocabulary: &Vocabulary,
    ) -> Result<(), Refusal> {
        for (key, value) in json::entries(overrides) {
            if key == "." {
                continue;
            }
            let (name, key_spec) = vocabulary.specs.argument(key).map_err(Refusal::InvalidSpec)?;
            // npm has no code for this error.
            let unnamed = || Refusal::UnnamedOverride { key: key.clone() };
            let name = name.ok_or_else(unnamed)?;
            let own = match value {
                Value::String(text) => Some(text.as_str()),
                Value::Object(object) => object.get(".").and_then(Value::as_str),
                _ => None,
            };
            let value_spec = match own {
                Some("") => vocabulary.specs.intern("*"),
                Some(text) => vocabulary.specs.intern(text),
                None => key_spec.clone(),
            };
            let id = RuleId::at(self.rules.len());
            self.rules.push(Rule {
                parent: Some(parent),
                key: key.as_str().into(),
                name: Some(vocabulary.names.intern(name)),
                key_spec,
                value: value_spec,
                children: Vec::new(),
                ruleset: Vec::new(),
            });
            self.rules[parent.index()].children.push(id);
            if let Value::Object(object) = value {
                self.add_children(id, object, vocabulary)?;
            }
        }
        Ok(())
    }

    fn collect_ruleset(&self, index: usize) -> Vec<RuleId> {
        let mut ruleset: Vec<RuleId> = Vec::new();
        let mut current = Some(RuleId::at(index));
        let mut add = |id: RuleId| {
            if !ruleset.iter().any(|&known| self.rule(known).key == self.rule(id).key) {
                ruleset.push(id);
            }
        };
        while let Some(id) = current {
            let rule = self.rule(id);
            rule.children.iter().for_each(|&child| add(child));
            if rule.parent.is_some() {
                add(id);
            }
            current = rule.parent;
        }
        ruleset
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.len() < 2
    }

    /// Whether the value of a rule is a reference, `$name`.
    pub fn have_references(&self) -> bool {
        self.have_references
    }

    /// The rule with this id.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()]
    }

    /// The rule that an edge is under if its dependent is under `current` (`getEdgeRule`).
    pub fn for_edge(&self, current: RuleId, name: Name, asked: &Spec) -> Governing {
        let mut incomparable = None;
        for &id in &self.rule(current).ruleset {
            let rule = self.rule(id);
            if rule.name != Some(name) {
                continue;
            }
            match applies_to(rule, asked) {
                Ok(true) => return Governing { rule: id, incomparable },
                Ok(false) => {}
                Err(Incomparable) => incomparable = incomparable.or(Some(id)),
            }
        }
        Governing { rule: current, incomparable }
    }

    /// The rule that a package of the project is under (`getNodeRule`).
    pub fn for_package(&self, name: Name, version: &str) -> RuleId {
        let applies = |rule: &Rule| {
            let meets = |spec: &Spec| crate::semver::satisfies(version, &spec.raw, false);
            rule.name == Some(name) && (meets(&rule.key_spec) || meets(&rule.value))
        };
        let ruleset = &self.rule(Self::ROOT).ruleset;
        ruleset.iter().copied().find(|&id| applies(self.rule(id))).unwrap_or(Self::ROOT)
    }

    fn ancestry(&self, id: RuleId) -> impl Iterator<Item = RuleId> {
        std::iter::successors(Some(id), |&id| self.rule(id).parent)
    }

    /// The more specific of two rules. If neither is, their nearest common ancestor, or `None` if
    /// they contradict each other (`findSpecificOverrideSet`).
    pub fn more_specific(&self, first: RuleId, second: RuleId) -> Option<RuleId> {
        if self.ancestry(second).any(|ancestor| ancestor == first) {
            return Some(second);
        }
        if self.ancestry(first).any(|ancestor| ancestor == second) {
            return Some(first);
        }
        if self.contradict(first, second) {
            return None;
        }
        self.ancestry(second).find(|&ancestor| self.ancestry(first).any(|other| other == ancestor))
    }

    /// Whether two sets of rules demand incompatible versions of a package
    /// (`haveConflictingRules`).
    fn contradict(&self, first: RuleId, second: RuleId) -> bool {
        self.rule(first).ruleset.iter().any(|&one| {
            let one_rule = self.rule(one);
            let other = self.rule(second).ruleset.iter().copied().find(|&other| self.rule(other).key == one_rule.key);
            other.is_some_and(|other| {
                let ranges = (one_rule.value.range(), self.rule(other).value.range());
                one != other && matches!(ranges, (Some(a), Some(b)) if !a.intersects(b))
            })
        })
    }
}

/// A range had to be compared with a key that isn't a range.
struct Incomparable;

fn applies_to(rule: &Rule, asked: &Spec) -> Result<bool, Incomparable> {
    if &*rule.key_spec.raw == "*" {
        return Ok(true);
    }
    let asked = match &asked.kind {
        SpecKind::Alias { spec, .. } => spec,
        _ => asked,
    };
    let intersects = |range: &Range| rule.key_spec.range().map(|key| range.intersects(key)).ok_or(Incomparable);
    match &asked.kind {
        SpecKind::Git(git) => match git.range.as_deref().and_then(Range::parse) {
            Some(range) => intersects(&range),
            None => Ok(false),
        },
        SpecKind::Version { range, .. } | SpecKind::Range { range, .. } => intersects(range),
        // A tag, folder or file can't be compared, so npm applies the rule.
        _ => Ok(true),
    }
}
