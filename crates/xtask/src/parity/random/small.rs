//! Random registries of a few packages for each project. Their peers usually conflict.
//!
//! npm answers much faster than for real packages, and they reach parts of its placement that real
//! ones rarely reach. One registry serves all cases, because the names of packages contain the
//! number of their case.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use espalier_core::semver::{Range, Version};
use fastrand::Rng;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::case::{Case, Round};
use super::command;
use super::generate::FLAGS;

const LETTERS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
const VERSIONS: [&str; 6] = ["1.0.0", "1.1.0", "2.0.0", "2.0.1-beta.1", "2.1.0", "3.0.0"];
const RANGES: [&str; 12] =
    ["*", "*", "^1.0.0", "^1.0.0", "^2.0.0", "^2.0.0", "1.0.0", ">=1", "1 || 2", "<2", "^3.0.0", "latest"];
const KINDS: [&str; 12] = [
    "dependencies",
    "dependencies",
    "dependencies",
    "dependencies",
    "dependencies",
    "peerDependencies",
    "peerDependencies",
    "peerDependencies",
    "peerDependencies",
    "optionalPeers",
    "optionalPeers",
    "optionalDependencies",
];

/// Writes the packuments of all cases into a folder, and returns the cases.
pub fn cases(folder: &Path, seed: u64, numbers: std::ops::Range<u64>) -> anyhow::Result<Vec<(u64, Case)>> {
    let packuments = folder.join("packuments");
    fs::create_dir_all(&packuments).with_context(|| format!("cannot create {}", packuments.display()))?;
    let mut cases = Vec::new();
    for number in numbers {
        let random = Rng::with_seed(seed.wrapping_mul(7_000_003).wrapping_add(number));
        let mut world = World { random, number, versions: BTreeMap::new() };
        for letter in LETTERS {
            world.publish(letter);
        }
        for letter in LETTERS {
            let packument = world.packument(letter);
            let file = packuments.join(format!("{}.json", world.name(letter)));
            fs::write(&file, packument.to_string()).with_context(|| format!("cannot write {}", file.display()))?;
        }
        let first = world.project();
        let second = (!world.one_in(3)).then(|| world.second(&first));
        cases.push((number, Case { rounds: std::iter::once(first).chain(second).collect() }));
    }
    Ok(cases)
}

struct World {
    random: Rng,
    number: u64,
    /// The versions of each package, and its latest version.
    versions: BTreeMap<&'static str, (Vec<&'static str>, &'static str)>,
}

impl World {
    fn one_in(&mut self, times: u32) -> bool {
        self.random.u32(0..times) == 0
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.random.usize(0..choices.len())]
    }

    fn name(&self, letter: &str) -> String {
        format!("{letter}-{}", self.number)
    }

    fn any_name(&mut self) -> String {
        let letter = self.of(&LETTERS);
        self.name(letter)
    }

    fn publish(&mut self, letter: &'static str) {
        let count = self.random.usize(1..=4);
        let mut versions = self.random.choose_multiple(VERSIONS, count);
        versions.sort_unstable();
        let latest = versions[self.random.usize(0..versions.len())];
        self.versions.insert(letter, (versions, latest));
    }

    /// Generates a range for a package. Usually some version satisfies it.
    fn range(&mut self, name: &str) -> &'static str {
        let versions: Vec<Version> =
            self.versions[&name[..1]].0.iter().filter_map(|version| Version::parse_loose(version)).collect();
        let satisfiable = |text: &str| {
            Range::parse_loose(text).is_none_or(|range| versions.iter().any(|version| range.satisfied_by(version)))
        };
        let ranges: Vec<&'static str> = RANGES.into_iter().filter(|text| satisfiable(text)).collect();
        if self.one_in(60) { self.of(&RANGES) } else { self.of(&ranges) }
    }

    fn packument(&mut self, letter: &str) -> Value {
        let name = self.name(letter);
        let (versions, latest) = self.versions[letter].clone();
        let mut manifests = Map::new();
        for version in &versions {
            let mut manifest = json!({ "name": name, "version": version });
            let count = self.of(&["0", "0", "1", "1", "2", "3", "4"]).parse().unwrap_or(0);
            self.depend(&mut manifest, count);
            match self.random.u32(0..60) {
                0 | 1 => manifest["deprecated"] = "old".into(),
                2 => manifest["engines"] = json!({ "node": ">=99" }),
                3 => manifest["os"] = json!(["darwin"]),
                4 => manifest["acceptDependencies"] = json!({ self.any_name(): "*" }),
                5 => manifest["engines"] = json!({ "npm": "<3" }),
                _ => {}
            }
            let digest = Sha256::digest(format!("{name}@{version}"));
            let shasum = digest[..20].iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
            manifest["dist"] = json!({ "tarball": format!("/{name}/-/{name}-{version}.tgz"), "shasum": shasum });
            manifests.insert((*version).to_owned(), manifest);
        }
        let time: Map<String, Value> =
            versions.iter().map(|version| ((*version).to_owned(), "2026-01-01T00:00:00.000Z".into())).collect();
        json!({ "name": name, "dist-tags": { "latest": latest }, "versions": manifests, "time": time })
    }

    fn depend(&mut self, manifest: &mut Value, count: usize) {
        for _ in 0..count {
            let (name, kind) = (self.any_name(), self.of(&KINDS));
            let mut spec = self.range(&name).to_owned();
            if self.one_in(25) {
                let name = self.any_name();
                spec = format!("npm:{name}@{}", self.range(&name));
            }
            if kind == "optionalPeers" {
                manifest["peerDependencies"][&name] = spec.into();
                manifest["peerDependenciesMeta"][&name] = json!({ "optional": true });
            } else {
                manifest[kind][&name] = spec.into();
            }
        }
    }

    fn project(&mut self) -> Round {
        let mut manifests = BTreeMap::new();
        let mut root = json!({ "name": "made-up", "version": "1.0.0" });
        let count = self.random.usize(1..=5);
        self.depend(&mut root, count);
        if self.one_in(4) {
            let name = self.any_name();
            root["devDependencies"][&name] = self.range(&name).into();
        }
        if self.one_in(6) {
            self.override_something(&mut root);
        }
        if self.one_in(5) {
            for folder in ["one", "two"] {
                let mut workspace = json!({ "name": format!("@made-up/{folder}"), "version": "1.0.0" });
                let count = self.random.usize(0..=4);
                self.depend(&mut workspace, count);
                if folder == "two" && self.one_in(2) {
                    workspace["dependencies"]["@made-up/one"] = self.of(&["*", "^1.0.0", "file:../one"]).into();
                }
                manifests.insert(format!("packages/{folder}"), workspace);
            }
            root["workspaces"] = json!(["packages/*"]);
        }
        if self.one_in(12) {
            let mut local = json!({ "name": "local", "version": "1.2.3" });
            let count = self.random.usize(0..=3);
            self.depend(&mut local, count);
            manifests.insert("local".to_owned(), local);
            root["dependencies"]["local"] = "file:./local".into();
        }
        manifests.insert(String::new(), root);
        Round { manifests, arguments: self.flags(), command: Vec::new() }
    }

    fn override_something(&mut self, root: &mut Value) {
        let (one, other) = (self.any_name(), self.any_name());
        let (range, key) = (self.of(&RANGES), self.of(&RANGES));
        match self.random.u32(0..6) {
            0 => root["overrides"][one] = range.into(),
            1 => root["overrides"][one][other] = range.into(),
            2 => root["overrides"][format!("{one}@{key}")] = range.into(),
            3 => root["overrides"][one] = json!({ ".": range, other: key }),
            4 => root["overrides"][one] = format!("${other}").into(),
            _ => root["overrides"][format!("{one}@{key}")][other] = range.into(),
        }
    }

    fn flags(&mut self) -> Vec<String> {
        let count = [0, 0, 0, 1, 1, 2][self.random.usize(0..6)];
        let mut flags: Vec<String> = self.random.choose_multiple(FLAGS, count).into_iter().map(str::to_owned).collect();
        flags.dedup();
        flags
    }

    fn second(&mut self, first: &Round) -> Round {
        if self.one_in(2) {
            return self.edited(first);
        }
        let mut next = first.clone();
        let additions: Vec<String> = (0..2)
            .map(|_| {
                let name = self.any_name();
                if self.one_in(3) { name } else { format!("{name}@{}", self.range(&name)) }
            })
            .collect();
        command::make_up(&mut self.random, &mut next, additions);
        next
    }

    fn edited(&mut self, round: &Round) -> Round {
        let mut next = round.clone();
        let folders: Vec<String> = next.manifests.keys().cloned().collect();
        for _ in 0..self.random.usize(0..=3) {
            let folder = folders[self.random.usize(0..folders.len())].clone();
            let Some(manifest) = next.manifests.get_mut(&folder) else { continue };
            if self.one_in(2) {
                self.depend(manifest, 1);
                continue;
            }
            let block = self.of(&["dependencies", "peerDependencies", "devDependencies", "optionalDependencies"]);
            if let Some(block) = manifest[block].as_object_mut()
                && let Some(name) = self.random.choice(block.keys().cloned().collect::<Vec<_>>())
            {
                if self.random.bool() {
                    block.shift_remove(&name);
                } else {
                    block.insert(name, RANGES[self.random.usize(0..RANGES.len())].into());
                }
            }
        }
        if self.one_in(8) {
            next.arguments = self.flags();
        }
        next
    }
}
