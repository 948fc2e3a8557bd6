//! Generates random projects. They contain what people write into package.json, and rare things
//! that npm accepts.
//!
//! A case depends only on the seed, its number and the corpus. For most dependencies, everything
//! that they need is recorded. They may still conflict with each other.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value, json};

use super::case::{Case, ORIGIN, Round};
use super::catalog::Catalog;
use super::command;
use super::edit;
use super::generator::{Entry, Generator};
use super::overrides;
use super::ranges;

/// The number of attempts to find a dependency before it is left out.
const TRIES: usize = 12;

/// The blocks of package.json, each as often as its share of dependencies.
const KINDS: [&str; 10] = [
    "dependencies",
    "dependencies",
    "dependencies",
    "dependencies",
    "dependencies",
    "devDependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependencies",
];

/// npm's flags that change a tree, and some that should not. None writes a lockfile of version 1. npm
/// completes such a lockfile from abbreviated packuments, and the driver gives whole ones by default.
pub const FLAGS: [&str; 22] = [
    "--legacy-peer-deps",
    "--force",
    "--force",
    "--strict-peer-deps",
    "--strict-peer-deps",
    "--prefer-dedupe",
    "--prefer-dedupe",
    "--install-links",
    "--engine-strict",
    "--before=2026-03-01T00:00:00.000Z",
    "--install-strategy=nested",
    "--install-strategy=shallow",
    "--omit=dev",
    "--omit=optional",
    "--omit=peer",
    "--os=darwin",
    "--cpu=arm64",
    "--libc=musl",
    "--tag=next",
    "--lockfile-version=2",
    "--lockfile-version=3",
    "--omit-lockfile-registry-resolved",
];

/// The case with this number.
pub fn case(catalog: &Catalog, seed: u64, number: u64) -> Case {
    let random = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(number));
    let mut generator = Generator { random, catalog };
    let first = generator.project();
    let mut rounds = vec![first];
    if generator.one_in(2) {
        let second =
            if generator.one_in(2) { edit::edit(&mut generator, &rounds[0]) } else { generator.command(&rounds[0]) };
        rounds.push(second);
    }
    Case { rounds }
}

impl Generator<'_> {
    fn project(&mut self) -> Round {
        let mut manifests = BTreeMap::new();
        let mut root = json!({"name": "made-up", "version": "1.0.0"});
        if self.one_in(10) {
            self.decorate(&mut root);
        }
        let count = self.random.usize(2..=8);
        let entries = self.entries(count);
        self.insert(&mut root, &entries);
        if self.one_in(6) {
            self.add_overrides(&mut root, &entries);
        }
        if self.one_in(7) {
            self.add_workspaces(&mut root, &mut manifests);
        }
        if self.one_in(14) {
            self.add_folder(&mut root, &mut manifests);
        }
        manifests.insert(String::new(), root);
        let arguments = self.flags();
        Round { manifests, arguments, command: Vec::new() }
    }

    /// Generates a command for a project with a lock.
    fn command(&mut self, first: &Round) -> Round {
        let mut next = first.clone();
        let additions: Vec<String> = self
            .entries(2)
            .into_iter()
            .filter(|entry| !entry.spec.contains("://"))
            .map(|entry| {
                // npm saves an unknown name as `npm:null@*`, which is of no use.
                let is_there = entry.package.as_ref().is_some_and(|(name, _)| *name == entry.key);
                if is_there && self.one_in(3) { entry.key } else { format!("{}@{}", entry.key, entry.spec) }
            })
            .collect();
        command::make_up(&mut self.random, &mut next, additions);
        next
    }

    /// Generates flags. Most cases have none.
    pub fn flags(&mut self) -> Vec<String> {
        let count = [0, 0, 0, 1, 1, 2][self.random.usize(0..6)];
        let mut flags: Vec<String> = self.random.choose_multiple(FLAGS, count).into_iter().map(str::to_owned).collect();
        flags.dedup();
        flags
    }

    /// Generates at most this number of dependencies.
    pub fn entries(&mut self, count: usize) -> Vec<Entry> {
        (0..count).filter_map(|_| self.entry()).collect()
    }

    /// Generates a dependency. Usually everything that it needs is recorded; rarely it can't be
    /// met.
    pub fn entry(&mut self) -> Option<Entry> {
        match self.random.u32(0..150) {
            0 => return Some(Entry { key: "nobody-recorded-this".into(), spec: "^1.0.0".into(), package: None }),
            1 => {
                let name = self.name();
                return Some(Entry { key: name, spec: "^9876.0.0".into(), package: None });
            }
            _ => {}
        }
        for _ in 0..TRIES {
            let name = self.name();
            let Some(spec) = self.spec(&name) else { continue };
            let Some(version) = self.catalog.pick(&name, &spec) else { continue };
            if self.catalog.is_closed(&name, &version) {
                let package = Some((name.clone(), version.clone()));
                return Some(match self.random.u32(0..25) {
                    0 => Entry {
                        key: format!("{}-alias", name.trim_start_matches('@').replace('/', "-")),
                        spec: alias(&name, &spec),
                        package,
                    },
                    1 => Entry { key: self.name(), spec: alias(&name, &spec), package },
                    2 => match self.tarball(&name, &version) {
                        Some(spec) => Entry { key: name, spec, package },
                        None => continue,
                    },
                    _ => Entry { key: name, spec, package },
                });
            }
        }
        None
    }

    /// Chooses a package, often one whose peers conflict.
    pub fn name(&mut self) -> String {
        if self.catalog.zoo.is_empty() || self.one_in(4) {
            return self.catalog.names[self.random.usize(0..self.catalog.names.len())].clone();
        }
        self.catalog.zoo[self.random.usize(0..self.catalog.zoo.len())].0.clone()
    }

    /// Generates a range, version or tag for a package.
    pub fn spec(&mut self, name: &str) -> Option<String> {
        let zoo = self.catalog.zoo.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok();
        if let Some(zoo) = zoo
            && !self.one_in(3)
        {
            return self.random.choice(&self.catalog.zoo[zoo].1).cloned();
        }
        ranges::spec(&mut self.random, &*self.catalog.packument(name)?)
    }

    /// The URL of a recorded tarball.
    fn tarball(&self, name: &str, version: &str) -> Option<String> {
        let file = format!("{}-{version}.tgz", name.rsplit('/').next().unwrap_or(name));
        self.catalog.has_tarball(name, &file).then(|| format!("{ORIGIN}/{name}/-/{file}"))
    }

    /// Adds dependencies to a package.json, each to a random block.
    pub fn insert(&mut self, manifest: &mut Value, entries: &[Entry]) {
        for entry in entries {
            let kind = KINDS[self.random.usize(0..KINDS.len())];
            manifest[kind][&entry.key] = entry.spec.clone().into();
            if kind == "peerDependencies" && self.one_in(3) {
                manifest["peerDependenciesMeta"][&entry.key] = json!({"optional": true});
            }
            // npm has rules for a name in two blocks.
            if self.one_in(40) {
                let other = KINDS[self.random.usize(0..KINDS.len())];
                manifest[other][&entry.key] = entry.spec.clone().into();
            }
        }
    }

    /// Adds overrides that probably apply to a dependency.
    pub fn add_overrides(&mut self, root: &mut Value, entries: &[Entry]) {
        let mut rules = root["overrides"].as_object().cloned().unwrap_or_default();
        for _ in 0..self.random.usize(1..=3) {
            if let Some((key, rule)) = overrides::rule(self, root, entries) {
                rules.insert(key, rule);
            }
        }
        if !rules.is_empty() {
            root["overrides"] = rules.into();
        }
    }

    fn add_workspaces(&mut self, root: &mut Value, manifests: &mut BTreeMap<String, Value>) {
        let count = self.random.usize(1..=3);
        let names: Vec<String> = (0..count).map(|index| self.workspace_name(index)).collect();
        for (index, name) in names.iter().enumerate() {
            let mut manifest = json!({"name": name, "version": format!("{}.0.0", self.random.u32(1..4))});
            let count = self.random.usize(0..=4);
            let entries = self.entries(count);
            self.insert(&mut manifest, &entries);
            let other = &names[self.random.usize(0..count.max(1)) % names.len()];
            if other != name && self.one_in(2) {
                let spec = ["*", "^1.0.0", "1.0.0", "file:../package-0"][self.random.usize(0..4)];
                manifest["dependencies"][other] = spec.into();
            }
            if self.one_in(8) {
                manifest.as_object_mut().map(|manifest| manifest.shift_remove("version"));
            }
            manifests.insert(format!("packages/package-{index}"), manifest);
        }
        root["workspaces"] = match self.random.u32(0..6) {
            0 => json!(["packages/package-0", "packages/*"]),
            1 => json!({"packages": ["packages/*"]}),
            2 => json!(["packages/*", "!packages/package-1"]),
            3 => json!(["./packages/**"]),
            _ => json!(["packages/*"]),
        };
        if self.one_in(4) {
            root["dependencies"][&names[0]] = "*".into();
        }
    }

    fn workspace_name(&mut self, index: usize) -> String {
        match self.random.u32(0..12) {
            // A workspace may have the name of a package of the registry.
            0 => self.name(),
            1..=4 => format!("@made-up/package-{index}"),
            _ => format!("package-{index}"),
        }
    }

    fn add_folder(&mut self, root: &mut Value, manifests: &mut BTreeMap<String, Value>) {
        let mut manifest = json!({"name": "local", "version": "1.2.3"});
        let count = self.random.usize(0..=3);
        let entries = self.entries(count);
        self.insert(&mut manifest, &entries);
        manifests.insert("local".into(), manifest);
        let kind = KINDS[self.random.usize(0..KINDS.len())];
        root[kind]["local"] = "file:./local".into();
    }

    /// Fields of the root that its entry in the lock repeats.
    fn decorate(&mut self, root: &mut Value) {
        let fields = [
            ("license", json!({"type": "MIT", "url": "http://example.test"})),
            ("license", json!("Apache-2.0")),
            ("engines", json!({"node": ">=18"})),
            ("engines", json!({"node": "^4"})),
            ("bin", json!("cli.js")),
            ("bin", json!({"one": "./one.js", "two": "bin/two.js"})),
            ("funding", json!("http://example.test/fund")),
            ("os", json!(["linux", "darwin"])),
            ("cpu", json!(["!arm"])),
            ("name", json!("@made-up/root")),
            ("hasInstallScript", json!(true)),
            ("private", json!(true)),
        ];
        for _ in 0..self.random.usize(1..=3) {
            let (field, value) = &fields[self.random.usize(0..fields.len())];
            root[*field] = value.clone();
        }
        for field in ["name", "version"] {
            if self.one_in(4) {
                root.as_object_mut().map(|root| root.shift_remove(field));
            }
        }
    }
}

fn alias(name: &str, spec: &str) -> String {
    if spec.is_empty() { format!("npm:{name}") } else { format!("npm:{name}@{}", spec.trim()) }
}
