//! Floors: the cost of a resolution's requests without a resolver, and of an installation's
//! tarballs and links without an installer.

mod link;
mod unpack;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::fetch::{self, Treatment};
use super::phase::{Phase, Project};
use super::server::Replay;

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
        let (packuments, versions) = documents(project)?;
        floors.insert("packuments alone", fetch::all(server.address, &packuments, Treatment::Drop)?);
        let both: Vec<String> = packuments.into_iter().chain(versions).collect();
        floors.insert("packuments and version documents alone", fetch::all(server.address, &both, Treatment::Drop)?);
        floors.insert(
            "packuments and version documents, inflated",
            fetch::all(server.address, &both, Treatment::Inflate)?,
        );
        floors.insert(
            "packuments and version documents, inflated and read",
            fetch::all(server.address, &both, Treatment::Read)?,
        );
    }
    if phase == Phase::P3 && !server.is_tls() {
        floors.insert("tarballs alone", unpack::all(server.address, made, scratch)?);
    }
    if phase == Phase::P4 {
        floors.insert("links alone", link::all(&made.join("node_modules"), scratch)?);
    }
    Ok(floors)
}

/// The paths of the packuments and version documents for a lock's packages.
fn documents(project: &Project) -> Result<(Vec<String>, Vec<String>)> {
    let lock: Value = serde_json::from_str(&project.lockfile)?;
    let (mut packuments, mut versions) = (BTreeSet::new(), BTreeSet::new());
    for (location, entry) in lock["packages"].as_object().into_iter().flatten() {
        let Some((_, key)) = location.rsplit_once("node_modules/") else { continue };
        let name = entry["name"].as_str().unwrap_or(key).replace('/', "%2f");
        if let Some(version) = entry["version"].as_str().filter(|_| entry["resolved"].is_string()) {
            versions.insert(format!("/{name}/{version}"));
            packuments.insert(format!("/{name}"));
        }
    }
    Ok((packuments.into_iter().collect(), versions.into_iter().collect()))
}
