//! Floors: the cost of a resolution's requests without a resolver, and of an installation's
//! tarballs and links without an installer.

mod link;
mod unpack;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use self::link::Files;
use super::fetch::{self, Mentions, Treatment};
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
        let mentions = documents(project)?;
        let both: Vec<String> = mentions.documents.iter().cloned().collect();
        let packuments: Vec<String> = both.iter().filter(|path| fetch::is_packument(path)).cloned().collect();
        floors.insert("packuments alone", fetch::all(server.address, &packuments, Treatment::Drop)?);
        floors.insert("packuments and version documents alone", fetch::all(server.address, &both, Treatment::Drop)?);
        floors.insert(
            "packuments and version documents, inflated",
            fetch::all(server.address, &both, Treatment::Inflate)?,
        );
        floors.insert(
            "packuments and version documents, inflated and read",
            fetch::all(server.address, &both, Treatment::Read)?,
        );
        floors.insert("the same, each after one that names it", fetch::as_named(server.address, &mentions)?);
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
/// packument names the documents of its versions, and the packuments of their dependencies.
fn documents(project: &Project) -> Result<Mentions> {
    let lock: Value = serde_json::from_str(&project.lockfile)?;
    let mut mentions = Mentions::default();
    for (location, entry) in lock["packages"].as_object().into_iter().flatten() {
        let dependencies = BLOCKS.iter().filter_map(|block| entry[block].as_object()).flatten();
        let packuments = dependencies.map(|(name, spec)| packument(real_name(name, spec)));
        let Some((_, key)) = location.rsplit_once("node_modules/") else {
            mentions.known.extend(packuments);
            continue;
        };
        let packument = packument(entry["name"].as_str().unwrap_or(key));
        if let Some(version) = entry["version"].as_str().filter(|_| entry["resolved"].is_string()) {
            let document = format!("{packument}/{version}");
            mentions.documents.extend([packument.clone(), document.clone()]);
            mentions.named.entry(packument).or_default().extend(packuments.chain([document]));
        }
    }
    mentions.complete();
    Ok(mentions)
}

/// The path of a packument.
fn packument(name: &str) -> String {
    format!("/{}", name.replace('/', "%2f"))
}

/// The name of the package that a dependency asks for, which its alias may hide.
fn real_name<'a>(name: &'a str, spec: &'a Value) -> &'a str {
    let alias = spec.as_str().and_then(|spec| spec.strip_prefix("npm:"));
    alias.map_or(name, |target| target.rfind('@').filter(|at| *at > 0).map_or(target, |at| &target[..at]))
}
