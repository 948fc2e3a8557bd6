//! Converts a lockfile of version 1 into the entries of later versions, as far as possible
//! (`#loadAll`, `#metaFromLock` and `#fixDependencies` of `shrinkwrap.js`).
//!
//! Version 1 nests its packages, uses `version` for any source, and doesn't state the kinds of
//! dependencies. Missing facts are fetched later.

use serde_json::{Map, Value, json};
use std::rc::Rc;

use crate::hosted::{HostedGit, percent_decode};
use crate::json;
use crate::paths;
use crate::semver::Version;
use crate::spec::{Spec, SpecKind, Specs};

/// The entries of a version 1 lock, by location.
pub fn entries(lock: &Map<String, Value>, project: &str, specs: &Specs) -> Map<String, Value> {
    let mut conversion = Conversion { project, specs, entries: Map::new() };
    conversion.below("", lock);
    conversion.sort_out_requires();
    conversion.entries
}

struct Conversion<'a> {
    project: &'a str,
    specs: &'a Specs,
    entries: Map<String, Value>,
}

impl Conversion<'_> {
    fn below(&mut self, location: &str, lock: &Map<String, Value>) {
        let Some(Value::Object(dependencies)) = lock.get("dependencies") else { return };
        for (name, entry) in json::entries(dependencies) {
            let Some(entry) = entry.as_object() else { continue };
            let location = paths::join(location, &format!("node_modules/{name}"));
            // An entry nested under a link is in the link's target.
            let inside = self.convert(&location, name, entry).unwrap_or(location);
            self.below(&inside, entry);
        }
    }

    /// Converts an entry. Returns the target of a link.
    fn convert(&mut self, location: &str, name: &str, lock: &Map<String, Value>) -> Option<String> {
        let text = |key: &str| lock.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (version, integrity) = (text("version"), text("integrity"));
        let spec = self.spec_of(version, text("from"), text("resolved"), integrity.is_some());
        let kind = spec.as_deref().map(|spec| &spec.kind);

        if let Some(SpecKind::Directory(path)) = kind {
            let target = paths::relative(self.project, &path.resolve(self.project));
            self.entries.insert(location.to_owned(), json!({ "link": true, "resolved": target }));
            if !self.entries.contains_key(&target) {
                let mut unversioned = lock.clone();
                unversioned.remove("version");
                self.convert(&target, name, &unversioned);
            }
            return Some(target);
        }

        let mut entry = Map::new();
        if let Some(requires @ Value::Object(_)) = lock.get("requires") {
            entry.insert("requires".into(), requires.clone());
        }
        for flag in ["optional", "dev"] {
            if lock.get(flag).is_some_and(json::truthy) {
                entry.insert(flag.into(), true.into());
            }
        }
        if let Some(integrity) = integrity {
            entry.insert("integrity".into(), integrity.into());
        }
        let is_registry = spec.as_deref().is_some_and(Spec::is_registry);
        if let (Some(version), None) = (version, integrity) {
            if let Some(SpecKind::Git(git)) = kind {
                let resolved = git.hosted.as_ref().map_or_else(|| git.save.clone(), HostedGit::resolved);
                entry.insert("resolved".into(), resolved.into());
                self.entries.insert(location.to_owned(), entry.into());
                return None;
            }
            if is_registry {
                entry.insert("version".into(), version.into());
            }
        }
        let resolved = match kind {
            _ if is_registry => text("resolved").map(str::to_owned),
            Some(SpecKind::File(path)) => {
                Some(format!("file:{}", paths::relative(self.project, &path.resolve(self.project))))
            }
            Some(SpecKind::Remote(url)) => Some(url.to_string()),
            Some(SpecKind::Git(git)) => git.fetch.clone(),
            _ => None,
        };
        if let Some(resolved) = &resolved {
            entry.insert("resolved".into(), resolved.as_str().into());
        }
        if !entry.contains_key("version") {
            Self::infer_version(&mut entry, name, kind, resolved.as_deref());
        }
        if lock.get("bundled").is_some_and(json::truthy) {
            entry.insert("inBundle".into(), true.into());
        }
        self.entries.insert(location.to_owned(), entry.into());
        None
    }

    /// The source of an entry (`spec-from-lock.js`).
    fn spec_of(
        &mut self,
        version: Option<&str>,
        from: Option<&str>,
        resolved: Option<&str>,
        has_integrity: bool,
    ) -> Option<Rc<Spec>> {
        let read = |text: &str| Some(self.specs.intern(text)).filter(|spec| !is_invalid(spec));
        let by_version = match version {
            None => read("*"),
            Some(version) => read(version),
        };
        if version.is_some() {
            // npm gives up on a version that it can't parse.
            let spec = by_version.clone()?;
            if has_integrity || matches!(spec.kind, SpecKind::Git(_)) {
                return Some(spec);
            }
        }
        if let Some(from) = from {
            let Some(spec) = read(from) else { return by_version };
            if spec.is_registry() && version.is_some() {
                return by_version;
            }
            if resolved.is_none() {
                return Some(spec);
            }
        }
        match resolved {
            Some(resolved) => read(resolved).or(by_version),
            None => by_version,
        }
    }

    fn infer_version(entry: &mut Map<String, Value>, name: &str, kind: Option<&SpecKind>, resolved: Option<&str>) {
        match kind {
            Some(SpecKind::Version { version, .. }) => {
                entry.insert("version".into(), version.to_string().into());
            }
            Some(SpecKind::Alias { name, spec }) => {
                entry.insert("name".into(), (&**name).into());
                let version = match &spec.kind {
                    SpecKind::Version { version, .. } => version.to_string(),
                    _ => spec.raw.to_string(),
                };
                entry.insert("version".into(), version.into());
            }
            Some(SpecKind::File(_) | SpecKind::Remote(_)) => {
                let address = resolved.map(|resolved| resolved.strip_prefix("file:").unwrap_or(resolved));
                let found = address.and_then(|address| name_and_version_of_tarball(name, address));
                if let Some((own_name, version)) = found {
                    entry.insert("version".into(), version.into());
                    if own_name != name {
                        entry.insert("name".into(), own_name.into());
                    }
                }
            }
            _ => {}
        }
    }

    /// Turns `requires` into dependencies of the kind that the flags of both ends suggest.
    fn sort_out_requires(&mut self) {
        for location in self.entries.keys().cloned().collect::<Vec<_>>() {
            let Some(Value::Object(requires)) =
                self.entries.get_mut(&location).and_then(|entry| entry.as_object_mut()?.shift_remove("requires"))
            else {
                continue;
            };
            let flag =
                |entry: Option<&Value>, key: &str| entry.and_then(|entry| entry.get(key)).is_some_and(json::truthy);
            for (name, spec) in requires {
                let own = self.entries.get(&location);
                let met = self.resolve(&location, &name);
                let block = if flag(met, "optional") && !flag(own, "optional") {
                    "optionalDependencies"
                } else if flag(met, "dev") && !flag(own, "dev") {
                    "devDependencies"
                } else {
                    "dependencies"
                };
                self.entries[&location][block][name] = spec;
            }
        }
    }

    /// The entry that a name leads to from a location.
    fn resolve(&self, location: &str, name: &str) -> Option<&Value> {
        let mut path = location;
        loop {
            if let Some(entry) = self.entries.get(&paths::join(path, &format!("node_modules/{name}"))) {
                return Some(entry);
            }
            if path.is_empty() {
                return None;
            }
            path = paths::parent(path);
        }
    }
}

fn is_invalid(spec: &Spec) -> bool {
    matches!(spec.kind, SpecKind::Invalid { .. })
}

/// The name and version in a tarball's file name (`version-from-tgz.js`). The URL can also contain
/// the name.
pub fn name_and_version_of_tarball(name: &str, address: &str) -> Option<(String, String)> {
    let base = address.rsplit('/').next()?;
    let stem = base.strip_suffix(".tgz")?;
    let from_url = address.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
    let before = from_url.and_then(|(_, rest)| rest.split_once('/')?.1.rsplit_once("/-/"));
    let package = match before {
        Some((package, last)) if last == base => percent_decode(package),
        _ => percent_decode(name),
    };
    let mut parts = package.rsplit('/');
    let project = parts.next()?;
    let scope = parts.next().filter(|scope| scope.starts_with('@'));
    let version = Version::parse(stem.strip_prefix(project)?.strip_prefix('-')?)?;
    let name = scope.map_or_else(|| project.to_owned(), |scope| format!("{scope}/{project}"));
    Some((name, version.to_string()))
}

#[cfg(test)]
mod tests {
    use super::name_and_version_of_tarball;

    #[track_caller]
    fn check(name: &str, address: &str, expected: Option<(&str, &str)>) {
        let found = name_and_version_of_tarball(name, address);
        assert_eq!(found.as_ref().map(|(name, version)| (&**name, &**version)), expected);
    }

    #[test]
    fn a_tarball_tells_its_name_and_version() {
        check("x", "http://registry.test/@a/b/-/b-1.2.3.tgz", Some(("@a/b", "1.2.3")));
        check("x", "http://registry.test/deep/@a%2fb/-/b-1.2.3-beta.1.tgz", Some(("@a/b", "1.2.3-beta.1")));
        check("@a/b", "http://files.test/b-1.0.0.tgz", Some(("@a/b", "1.0.0")));
        check("b", "file:../b-1.0.0.tgz", Some(("b", "1.0.0")));
        check("b", "file:../c-1.0.0.tgz", None);
        check("b", "file:../b-1.0.0.tar.gz", None);
    }
}
