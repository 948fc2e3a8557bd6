//! `packageExtensions`: the root's corrections to manifests of other packages
//! (`package-extensions.js`).
//!
//! A rule adds dependencies that a package forgot to declare, or corrects its peers. Overrides, not
//! extensions, choose versions. Rules apply to every fetched manifest before its dependencies are
//! read.

use serde_json::{Map, Value};
use std::rc::Rc;

use crate::error::ResolveError;
use crate::integrity;
use crate::json;
use crate::manifest::Manifest;
use crate::names::Names;
use crate::order;
use crate::refusal::{ExtensionProblem, Refusal};
use crate::semver::{Range, Version};
use crate::spec;
use crate::vocabulary::Vocabulary;

/// The root's rules.
#[derive(Debug, Default)]
pub struct PackageExtensions {
    rules: Vec<Rule>,
    /// The hash of the rules in a lock. `None` without `packageExtensions`.
    pub(crate) hash: Option<String>,
}

/// A manifest after the rules, and what npm writes into the lock if one of them matched.
pub(crate) type Extended = (Rc<Manifest>, Option<Rc<Map<String, Value>>>);

#[derive(Debug)]
struct Rule {
    key: String,
    name: String,
    /// The range of versions. `None` for all.
    range: Option<Range>,
    extension: Map<String, Value>,
}

const NORMAL_BLOCKS: [&str; 2] = ["dependencies", "optionalDependencies"];
const BLOCKS: [&str; 4] = ["dependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta"];

impl PackageExtensions {
    /// Parses and checks the `packageExtensions` of a root manifest.
    pub(crate) fn parse(extensions: Option<&Value>) -> Result<Self, ResolveError> {
        let Some(value) = extensions else { return Ok(Self::default()) };
        let Value::Object(extensions) = value else {
            return Err(Refusal::ExtensionsNotAnObject.into());
        };
        let rules = json::entries(extensions).into_iter().map(|(key, extension)| Rule::parse(key, extension));
        let rules = rules.collect::<Result<_, _>>()?;
        Ok(Self { rules, hash: Some(integrity::sha512(canonical(value).as_bytes())) })
    }

    /// Parses the rules of a root manifest, from its text.
    pub fn of_manifest(manifest: &str) -> Result<Self, ResolveError> {
        Self::parse(json::parse("package.json", manifest)?.get("packageExtensions"))
    }

    /// The selectors that match a package. A lock needs at most one.
    pub fn selectors<'a>(&'a self, name: &'a str, version: &'a str) -> impl Iterator<Item = &'a str> {
        self.rules.iter().filter(move |rule| rule.matches(name, version)).map(|rule| rule.key.as_str())
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether there is a rule with this selector.
    pub fn has(&self, selector: &str) -> bool {
        self.rules.iter().any(|rule| rule.key == selector)
    }

    /// Whether a rule matches a package.
    pub(crate) fn concern(&self, name: &str, version: &str) -> bool {
        self.selectors(name, version).next().is_some()
    }

    /// Applies the rule that matches a fetched manifest.
    pub(crate) fn apply(&self, manifest: Rc<Manifest>, vocabulary: &Vocabulary) -> Result<Extended, ResolveError> {
        let Some(name) = manifest.name.as_deref().filter(|_| !self.rules.is_empty()) else {
            return Ok((manifest, None));
        };
        let version = manifest.version.as_deref().unwrap_or_default();
        let mut matching = self.rules.iter().filter(|rule| rule.matches(name, version));
        let Some(rule) = matching.next() else { return Ok((manifest, None)) };
        if let Some(other) = matching.next() {
            return Err(Refusal::AmbiguousExtension {
                name: name.to_owned(),
                version: version.to_owned(),
                first: rule.key.clone(),
                second: other.key.clone(),
            }
            .into());
        }
        let (manifest, applied) = rule.apply(&manifest, vocabulary)?;
        Ok((Rc::new(manifest), Some(Rc::new(applied))))
    }
}

impl Rule {
    fn parse(key: &str, extension: &Value) -> Result<Self, ResolveError> {
        let invalid = |problem| refused(key, problem);
        let at = key.char_indices().skip(1).find(|&(_, character)| character == '@').map(|(at, _)| at);
        let (name, range) = at.map_or((key, None), |at| (&key[..at], Some(&key[at + 1..])));
        if !spec::is_valid_name(name) {
            return Err(invalid(ExtensionProblem::KeyNotAName));
        }
        let range = match range {
            Some(range) if range.trim().is_empty() => return Err(invalid(ExtensionProblem::KeyWithoutRange)),
            Some(range) => Some(Range::parse_loose(range).ok_or_else(|| invalid(ExtensionProblem::KeyNotARange))?),
            None => None,
        };
        let extension = checked(key, extension)?;
        Ok(Self { key: key.to_owned(), name: name.to_owned(), range, extension })
    }

    fn matches(&self, name: &str, version: &str) -> bool {
        self.name == name
            && self
                .range
                .as_ref()
                .is_none_or(|range| Version::parse_loose(version).is_some_and(|version| range.satisfied_by(&version)))
    }

    fn block(&self, block: &str) -> Vec<(&String, &Value)> {
        self.extension.get(block).and_then(Value::as_object).map(json::entries).unwrap_or_default()
    }

    fn apply(
        &self,
        manifest: &Manifest,
        vocabulary: &Vocabulary,
    ) -> Result<(Manifest, Map<String, Value>), ResolveError> {
        let mut next = manifest.clone();
        let mut applied = Map::from_iter([("selector".to_owned(), Value::from(self.key.as_str()))]);
        for block in BLOCKS {
            let touched: Vec<Value> = self.block(block).iter().map(|(name, _)| Value::from(name.as_str())).collect();
            if !touched.is_empty() {
                applied.insert(block.to_owned(), touched.into());
            }
        }
        let interned = |name: &str, spec: &Value| {
            (vocabulary.names.intern(name), vocabulary.specs.intern(spec.as_str().unwrap_or_default()))
        };
        for block in NORMAL_BLOCKS {
            for (name, spec) in self.block(block) {
                let dependency = interned(name, spec);
                let declared =
                    [("dependencies", &next.dependencies), ("optionalDependencies", &next.optional_dependencies)];
                if let Some((existing, _)) =
                    declared.iter().find(|(_, block)| block.iter().any(|(other, _)| *other == dependency.0))
                {
                    return Err(refused(&self.key, ExtensionProblem::Declared { block, name: name.clone(), existing }));
                }
                if block == "dependencies" { &mut next.dependencies } else { &mut next.optional_dependencies }
                    .push(dependency);
            }
        }
        for (name, spec) in self.block("peerDependencies") {
            let dependency = interned(name, spec);
            match next.peer_dependencies.iter_mut().find(|(other, _)| *other == dependency.0) {
                Some(existing) => *existing = dependency,
                None => next.peer_dependencies.push(dependency),
            }
        }
        self.apply_meta(&mut next, &vocabulary.names)?;
        Ok((next, applied))
    }

    fn apply_meta(&self, next: &mut Manifest, names: &Names) -> Result<(), ResolveError> {
        let changes = self.block("peerDependenciesMeta");
        if changes.is_empty() {
            return Ok(());
        }
        let mut meta = next.field("peerDependenciesMeta").and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, change) in changes {
            let id = names.intern(name);
            if !next.peer_dependencies.iter().any(|(peer, _)| *peer == id) {
                return Err(refused(&self.key, ExtensionProblem::OrphanMeta { name: name.clone() }));
            }
            let entry = meta.entry(name.as_str()).or_insert_with(|| Map::new().into());
            if let (Value::Object(entry), Value::Object(change)) = (entry, change) {
                entry.extend(change.clone());
                next.optional_peers.retain(|peer| *peer != id);
                if entry.get("optional").is_some_and(json::truthy) {
                    next.optional_peers.push(id);
                }
            }
        }
        next.set_field("peerDependenciesMeta", meta.into());
        Ok(())
    }
}

/// Checks a rule before it is used.
fn checked(key: &str, extension: &Value) -> Result<Map<String, Value>, ResolveError> {
    let not_an_object = |what: String| refused(key, ExtensionProblem::NotAnObject(what));
    let extension = extension.as_object().ok_or_else(|| not_an_object(String::new()))?;
    for (block, value) in json::entries(extension) {
        if !BLOCKS.contains(&block.as_str()) {
            return Err(refused(key, ExtensionProblem::UnknownField { field: block.clone(), allowed: &BLOCKS }));
        }
        let entries = value.as_object().ok_or_else(|| not_an_object(format!(".{block}")))?;
        for (name, value) in json::entries(entries) {
            let is_meta = block == "peerDependenciesMeta";
            if is_meta && !value.is_object() {
                return Err(not_an_object(format!(".{block}.{name}")));
            }
            if !is_meta && (value.is_null() || value == false || value == "-") {
                return Err(refused(key, ExtensionProblem::Deletion { block: block.clone(), name: name.clone() }));
            }
        }
    }
    Ok(extension.clone())
}

fn refused(key: &str, problem: ExtensionProblem) -> ResolveError {
    Refusal::Extension { key: key.to_owned(), problem }.into()
}

/// JSON with sorted keys and without white space, which is what npm hashes.
fn canonical(value: &Value) -> String {
    match value {
        Value::Array(values) => format!("[{}]", values.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(object) => {
            let mut entries: Vec<(&String, &Value)> = object.iter().collect();
            order::sort_by(&mut entries, |(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            let entries =
                entries.into_iter().map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
