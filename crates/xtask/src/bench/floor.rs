//! Floors: the cost of a resolution's requests without a resolver, and of an installation's
//! tarballs and links without an installer.

mod link;
mod unpack;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use espalier_core::spec::{SpecKind, Specs};
use serde_json::Value;

use self::link::Files;
use super::fetch::{self, Forms, Mentions, Treatment};
use super::phase::{Phase, Project};
use super::server::Replay;

/// The dependencies in an entry of a lock.
const BLOCKS: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// The floors of a phase, in milliseconds, by name. `made` is the project as Espalier installed it
/// in this phase.
pub fn of(
    phase: Phase,
    project: &Project,
    server: &Replay,
    scratch: &Path,
    made: &Path,
) -> Result<BTreeMap<&'static str, f64>> {
    let mut floors = BTreeMap::new();
    if phase == Phase::P1 && !server.is_tls() {
        let mentions = documents(project, server.forms)?;
        let paths: Vec<String> = mentions.documents.iter().cloned().collect();
        let mut fetched = |name, treatment| -> Result<()> {
            floors.insert(name, fetch::all(server.address, server.forms, &paths, treatment)?);
            Ok(())
        };
        fetched("documents alone", Treatment::Drop)?;
        fetched("documents, inflated", Treatment::Inflate)?;
        fetched("documents, inflated and read", Treatment::Read)?;
        let as_named = fetch::as_named(server.address, server.forms, &mentions)?;
        floors.insert("the same, each after one that names it", as_named);
    }
    if phase == Phase::P3 && !server.is_tls() {
        floors.insert("tarballs alone", unpack::all(server.address, made, scratch)?);
    }
    if phase == Phase::P4 {
        let modules = made.join("node_modules");
        floors.insert("links alone", link::all(&modules, scratch, Files::Link)?);
        floors.insert("links, after a look at every file", link::all(&modules, scratch, Files::LookAndLink)?);
    }
    Ok(floors)
}

/// The documents for a lock's packages. A project names the packuments of its dependencies. A
/// packument names the documents of its versions, and what their dependencies need. A package that
/// others name only by exact versions needs no packument, and a full packument no documents of
/// versions.
fn documents(project: &Project, forms: Forms) -> Result<Mentions> {
    let lock: Value = serde_json::from_str(&project.lockfile)?;
    let entries = || lock["packages"].as_object().into_iter().flatten();
    let specs = Specs::default();
    let exact = |spec: &str| match &specs.intern(spec).kind {
        SpecKind::Version { version, .. } => Some(version.to_string()),
        _ => None,
    };
    let of_project = || entries().filter(|(location, _)| !location.contains("node_modules/"));
    let own: BTreeSet<&str> = of_project().flat_map(|(_, entry)| dependencies(entry)).map(|(name, _)| name).collect();
    let is_own_peer = |entry: &Value, name: &str| own.contains(name) && entry["peerDependencies"].get(name).is_some();
    let in_ranges: BTreeSet<&str> = entries()
        .flat_map(|(_, entry)| dependencies(entry).filter(|(name, _)| !is_own_peer(entry, name)))
        .filter(|(_, spec)| exact(spec).is_none())
        .map(|(name, _)| name)
        .collect();
    let path = |name: &str, spec: &str| match exact(spec).filter(|_| !in_ranges.contains(name)) {
        Some(version) => format!("{}/{version}", packument(name)),
        None => packument(name),
    };
    let mut mentions = Mentions::default();
    for (location, entry) in entries() {
        let named = dependencies(entry).map(|(name, spec)| path(name, spec));
        let Some((_, key)) = location.rsplit_once("node_modules/") else {
            mentions.known.extend(named);
            continue;
        };
        let name = entry["name"].as_str().unwrap_or(key);
        if let Some(version) = entry["version"].as_str().filter(|_| entry["resolved"].is_string()) {
            let (first, document) = (path(name, version), format!("{}/{version}", packument(name)));
            let own = mentions.named.entry(first.clone()).or_default();
            own.extend(named);
            if forms == Forms::Abbreviated && first != document {
                own.insert(document.clone());
                mentions.documents.insert(document);
            }
            mentions.documents.insert(first);
        }
    }
    mentions.complete();
    Ok(mentions)
}

/// The packages that an entry depends on, and their specs, without aliases.
fn dependencies(entry: &Value) -> impl Iterator<Item = (&str, &str)> {
    let blocks = BLOCKS.iter().filter_map(|block| entry[block].as_object()).flatten();
    blocks.filter_map(|(name, spec)| Some(target(name, spec.as_str()?)))
}

/// The path of a packument.
fn packument(name: &str) -> String {
    format!("/{}", name.replace('/', "%2f"))
}

/// The package that a dependency asks for, which its alias may hide, and the spec.
fn target<'a>(name: &'a str, spec: &'a str) -> (&'a str, &'a str) {
    let Some(target) = spec.strip_prefix("npm:") else { return (name, spec) };
    target.rfind('@').filter(|at| *at > 0).map_or((target, "*"), |at| (&target[..at], &target[at + 1..]))
}
