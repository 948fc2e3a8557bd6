//! The selection of packages and versions for a small registry.
//!
//! 1. The versions that npm chose for the projects.
//! 2. The target of `latest` of every package.
//! 3. For every dependency of a kept version, including peers but not optional ones: if no kept version satisfies it, the
//!    highest version that does. Its package is then kept as well, with its `latest`.
//! 4. The newest release of each of the last few majors, and the target of `next`, of every kept package.
//! 5. Finally, versions that npm didn't choose stay only if everything that they depend on is kept.
//!
//! So nothing is missing that a kept name, tag or major needs.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use espalier_core::semver::{Version, max_satisfying, satisfies};
use serde_json::Value;

/// The number of majors to keep of a package, the newest first.
const MAJORS: usize = 8;

/// A package and its kept versions.
pub struct Package {
    /// The source's packument.
    pub packument: Value,
    /// The kept versions.
    pub kept: BTreeSet<String>,
}

/// A dependency on a package of the registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Demand {
    name: String,
    /// A range or a tag.
    spec: String,
}

/// The packages that are needed in any case.
#[derive(Default)]
pub struct Selection {
    chosen: Vec<(String, String)>,
    demands: Vec<Demand>,
}

impl Selection {
    /// The direct dependencies of a project.
    pub fn demand_of(&mut self, manifest: &Value) {
        let fields = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
        self.demands.extend(fields.iter().flat_map(|field| demands_in(&manifest[field])));
    }

    /// The versions in a lock.
    pub fn choose(&mut self, lockfile: &Value) -> anyhow::Result<()> {
        let packages = lockfile["packages"].as_object().context("npm's lock has no packages")?;
        for (location, entry) in packages {
            let Some((_, name)) = location.rsplit_once("node_modules/") else { continue };
            let name = entry["name"].as_str().unwrap_or(name);
            if let Some(version) = entry["version"].as_str() {
                self.chosen.push((name.to_owned(), version.to_owned()));
            }
        }
        Ok(())
    }

    /// The selected versions, by name. `fetch` returns the source's packuments.
    pub fn close(
        self,
        fetch: impl FnMut(&str) -> anyhow::Result<Option<Value>>,
    ) -> anyhow::Result<BTreeMap<String, Package>> {
        let mut held = Held { packages: BTreeMap::new(), fetch, pending: Vec::new() };
        for (name, version) in &self.chosen {
            held.keep(name, version)?;
        }
        for demand in &self.demands {
            held.meet(demand)?;
        }
        while let Some((name, version)) = held.pending.pop() {
            for demand in held.packages.get(&name).map(|package| package.demands(&version)).unwrap_or_default() {
                held.meet(&demand)?;
            }
        }
        let mut packages = held.packages;
        for package in packages.values_mut() {
            let newest = package.newest();
            package.kept.extend(newest);
        }
        drop_what_does_not_stand(&mut packages, &self.chosen.into_iter().collect());
        packages.retain(|_, package| !package.kept.is_empty());
        Ok(packages)
    }
}

struct Held<Fetch> {
    /// Packages that the source lacks are also in it, without versions.
    packages: BTreeMap<String, Package>,
    fetch: Fetch,
    /// Versions whose dependencies weren't looked at yet.
    pending: Vec<(String, String)>,
}

impl<Fetch: FnMut(&str) -> anyhow::Result<Option<Value>>> Held<Fetch> {
    fn package(&mut self, name: &str) -> anyhow::Result<&mut Package> {
        if !self.packages.contains_key(name) {
            let packument = (self.fetch)(name)?.unwrap_or_default();
            let latest = packument["dist-tags"]["latest"].as_str().map(str::to_owned);
            self.packages.insert(name.to_owned(), Package { packument, kept: BTreeSet::new() });
            if let Some(latest) = latest {
                self.keep(name, &latest)?;
            }
        }
        self.packages.get_mut(name).context("a package was taken away while it was recorded")
    }

    fn keep(&mut self, name: &str, version: &str) -> anyhow::Result<()> {
        let package = self.package(name)?;
        if package.packument["versions"].get(version).is_some() && package.kept.insert(version.to_owned()) {
            self.pending.push((name.to_owned(), version.to_owned()));
        }
        Ok(())
    }

    fn meet(&mut self, demand: &Demand) -> anyhow::Result<()> {
        let package = self.package(&demand.name)?;
        if package.meets(demand) {
            return Ok(());
        }
        let tagged = package.packument["dist-tags"][&demand.spec].as_str().map(str::to_owned);
        let highest = max_satisfying(package.versions(), &demand.spec, true).map(str::to_owned);
        match tagged.or(highest) {
            Some(version) => self.keep(&demand.name, &version),
            // No version satisfies it.
            None => Ok(()),
        }
    }
}

impl Package {
    fn versions(&self) -> impl Iterator<Item = &str> {
        self.packument["versions"].as_object().into_iter().flatten().map(|(version, _)| version.as_str())
    }

    fn meets(&self, demand: &Demand) -> bool {
        match self.packument["dist-tags"][&demand.spec].as_str() {
            Some(tagged) => self.kept.contains(tagged),
            None => self.kept.iter().any(|version| satisfies(version, &demand.spec, true)),
        }
    }

    /// The newest release of each of the last majors, and the target of `next`.
    fn newest(&self) -> Vec<String> {
        let mut majors: BTreeMap<u64, (Version, &str)> = BTreeMap::new();
        for text in self.versions() {
            let Some(version) = Version::parse(text).filter(|version| version.prerelease.is_empty()) else { continue };
            let newer = majors.get(&version.major).is_none_or(|(newest, _)| newest.compare(&version).is_lt());
            if newer {
                majors.insert(version.major, (version, text));
            }
        }
        let majors = majors.into_values().rev().take(MAJORS).map(|(_, text)| text);
        let next = self.packument["dist-tags"]["next"].as_str();
        let known = next.filter(|version| self.packument["versions"].get(version).is_some());
        majors.chain(known).map(str::to_owned).collect()
    }

    /// The highest kept release, or the highest prerelease if there is no release.
    pub fn highest(&self) -> Option<&str> {
        let kept = || self.kept.iter().map(String::as_str);
        max_satisfying(kept(), "*", true).or_else(|| kept().max())
    }

    fn demands(&self, version: &str) -> Vec<Demand> {
        demands(&self.packument["versions"][version])
    }
}

fn drop_what_does_not_stand(packages: &mut BTreeMap<String, Package>, chosen: &BTreeSet<(String, String)>) {
    loop {
        let met = |demand: &Demand| packages.get(&demand.name).is_some_and(|package| package.meets(demand));
        let mut falling = Vec::new();
        for (name, package) in packages.iter() {
            let doubtful = package.kept.iter().map(|version| (name.clone(), version.clone()));
            let doubtful = doubtful.filter(|version| !chosen.contains(version));
            falling.extend(doubtful.filter(|(_, version)| !package.demands(version).iter().all(met)));
        }
        if falling.is_empty() {
            return;
        }
        for (name, version) in falling {
            packages.entry(name).and_modify(|package| {
                package.kept.remove(&version);
            });
        }
    }
}

/// The dependencies of a version on the registry.
fn demands(manifest: &Value) -> Vec<Demand> {
    let mut demands: Vec<Demand> = demands_in(&manifest["dependencies"]).collect();
    demands.extend(demands_in(&manifest["optionalDependencies"]));
    if let Some(peers) = manifest["peerDependencies"].as_object() {
        let optional = |name: &str| manifest["peerDependenciesMeta"][name]["optional"] == Value::Bool(true);
        demands.extend(peers.iter().filter(|(name, _)| !optional(name)).filter_map(|(name, spec)| demand(name, spec)));
    }
    demands
}

fn demands_in(dependencies: &Value) -> impl Iterator<Item = Demand> {
    dependencies.as_object().into_iter().flatten().filter_map(|(name, spec)| demand(name, spec))
}

/// `None` for a dependency that doesn't come from the registry.
fn demand(name: &str, spec: &Value) -> Option<Demand> {
    let spec = spec.as_str()?.trim();
    if let Some(alias) = spec.strip_prefix("npm:") {
        let (name, range) = match alias.rfind('@') {
            Some(at) if at > 0 => alias.split_at(at),
            _ => (alias, ""),
        };
        return Some(Demand { name: name.to_owned(), spec: range.trim_start_matches('@').to_owned() });
    }
    let local = spec.contains([':', '/']);
    (!local).then(|| Demand { name: name.to_owned(), spec: spec.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn source(name: &str) -> anyhow::Result<Option<Value>> {
        let version = |dependencies: Value| json!({ "dependencies": dependencies });
        Ok(match name {
            "a" => Some(json!({"dist-tags": {"latest": "2.1.0"}, "versions": {
                "0.9.0": version(json!({"gone": "*"})),
                "1.0.0": version(json!({"b": "^1"})),
                "1.1.0": version(json!({"b": "^9"})),
                "2.0.0": version(json!({})),
                "2.1.0": version(json!({"c": "npm:b@~1.0.0"})),
            }})),
            "b" => Some(json!({"dist-tags": {"latest": "2.0.0"}, "versions": {
                "1.0.0": version(json!({})), "1.0.1": version(json!({})), "1.1.0": version(json!({})), "2.0.0": version(json!({})),
            }})),
            "c" => Some(json!({"dist-tags": {"latest": "2.0.0"}, "versions": {
                "1.0.0": version(json!({})), "2.0.0": version(json!({"gone": "^1"})),
            }})),
            "gone" => None,
            _ => anyhow::bail!("{name} was not to be fetched"),
        })
    }

    fn kept(selection: Selection) -> Vec<(String, Vec<String>)> {
        let packages = selection.close(source).unwrap();
        packages.into_iter().map(|(name, package)| (name, package.kept.into_iter().collect())).collect()
    }

    #[test]
    fn chosen_and_latest_versions_are_held_with_all_they_need() {
        let mut selection = Selection::default();
        selection.choose(&json!({"packages": {"": {}, "node_modules/x": {"name": "a", "version": "1.0.0"}}})).unwrap();
        let a = ["1.0.0", "2.1.0"].map(String::from).to_vec();
        let b = ["1.0.1", "1.1.0", "2.0.0"].map(String::from).to_vec();
        // 1.1.0 of a is the newest of its major, but needs a version of b that there isn't; 0.9.0 needs a
        // package that isn't kept. 1.0.1 of b is what 2.1.0 of a needs.
        assert_eq!(kept(selection), [("a".into(), a), ("b".into(), b)]);
    }

    #[test]
    fn a_projects_own_demands_are_met() {
        let mut selection = Selection::default();
        selection.demand_of(&json!({"devDependencies": {"b": "1.0.0", "local": "file:../local"}}));
        assert_eq!(kept(selection), [("b".into(), ["1.0.0", "1.1.0", "2.0.0"].map(String::from).to_vec())]);
    }

    #[test]
    fn not_even_latest_is_held_when_the_source_lacks_what_it_needs() {
        let mut selection = Selection::default();
        selection.demand_of(&json!({"dependencies": {"c": "*"}}));
        assert_eq!(kept(selection), [("c".into(), vec!["1.0.0".into()])]);
    }
}
