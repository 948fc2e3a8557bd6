//! A package's manifest, normalised as npm normalises it before it builds a tree.
//!
//! Only what decides a tree or stands in a lockfile is read (`@npmcli/package-json`, `shrinkwrap.js`). Where
//! the manifest came from doesn't matter here: a packument, a folder, a tarball and a lockfile's entry all
//! give the same kind of manifest.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::rc::Rc;

use crate::integrity;
use crate::json;
use crate::names::{Name, Names};
use crate::paths;
use crate::semver::Version;
use crate::spec::{Spec, Specs};

/// A name and what is asked for.
pub type Dependency = (Name, Rc<Spec>);
/// One block of dependencies in JavaScript's order.
pub type Dependencies = Vec<Dependency>;

/// A normalised manifest.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// The package's own name.
    pub name: Option<Rc<str>>,
    /// The version as written; absent where there is none.
    pub version: Option<Rc<str>>,
    /// The version as read, by npm's loose rules.
    pub semver: Option<Version>,
    /// `dependencies` without those that are optional too.
    pub dependencies: Dependencies,
    /// `devDependencies`; never read from a registry.
    pub dev_dependencies: Dependencies,
    /// `optionalDependencies`.
    pub optional_dependencies: Dependencies,
    /// `peerDependencies`, optional or not.
    pub peer_dependencies: Dependencies,
    /// The peers that `peerDependenciesMeta` calls optional.
    pub optional_peers: Vec<Name>,
    /// `acceptDependencies`: specs that are good enough as well.
    pub accept_dependencies: Dependencies,
    /// `bundleDependencies` as a list.
    pub bundled: Vec<Name>,
    /// Whether a lifecycle script runs on installation.
    pub has_install_script: bool,
    /// `dist.tarball`, or where else the package came from.
    pub resolved: Option<Rc<str>>,
    /// The tarball's hashes.
    pub integrity: Option<Rc<str>>,
    /// Whether the registry left out fields that belong in the lock.
    pub abbreviated: bool,
    /// Whether there is a `devDependencies` at all, even an empty one.
    pub has_dev_dependencies: bool,
    /// Whether there is a `devEngines`, which makes npm ignore the root's `engines`.
    pub dev_engines: bool,
    /// `workspaces` as it stands, whatever it is.
    pub workspaces: Option<Value>,
    /// Whether it has `patchedDependencies`.
    pub has_patches: bool,
    /// `overrides`, when it is an object that isn't empty.
    pub overrides: Option<Map<String, Value>>,
    /// What is written into the lock as it stands: key and value, normalised.
    fields: Vec<(&'static str, Value)>,
}

/// The fields that are read. `Dev` is [`IgnoredAny`] for a registry's manifests, whose `devDependencies` are
/// long and never used.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "Dev: Deserialize<'de> + Default"))]
struct Wire<Dev> {
    name: Value,
    version: Value,
    dependencies: Value,
    dev_dependencies: Dev,
    optional_dependencies: Value,
    peer_dependencies: Value,
    peer_dependencies_meta: Value,
    accept_dependencies: Value,
    bundle_dependencies: Option<Value>,
    bundled_dependencies: Option<Value>,
    funding: Value,
    engines: Value,
    os: Value,
    cpu: Value,
    libc: Value,
    license: Value,
    bin: Value,
    deprecated: Value,
    workspaces: Option<Value>,
    overrides: Value,
    dev_engines: Value,
    patched_dependencies: Value,
    scripts: Value,
    has_install_script: Value,
    dist: Value,
}

impl Manifest {
    /// Reads a version's manifest out of a packument, or its own document.
    pub fn from_registry(
        text: &str,
        abbreviated: bool,
        names: &mut Names,
        specs: &mut Specs,
    ) -> Result<Self, serde_json::Error> {
        let wire: Wire<IgnoredAny> = serde_json::from_str(text)?;
        let dist = wire.dist.as_object().cloned().unwrap_or_default();
        let mut manifest = Self::from_wire(wire, &Value::Null, names, specs);
        let text = |key: &str| dist.get(key).and_then(Value::as_str);
        manifest.resolved = text("tarball").map(Rc::from);
        manifest.integrity = text("integrity")
            .and_then(integrity::normalize)
            .or_else(|| text("shasum").and_then(integrity::from_hex_sha1))
            .map(Rc::from);
        manifest.abbreviated = abbreviated;
        Ok(manifest)
    }

    /// Reads the `devDependencies` of a registry's manifest, which hardly anything needs.
    pub fn read_dev_dependencies(
        &mut self,
        text: &str,
        names: &mut Names,
        specs: &mut Specs,
    ) -> Result<(), serde_json::Error> {
        #[derive(Deserialize, Default)]
        #[serde(default, rename_all = "camelCase")]
        struct Dev {
            dev_dependencies: Value,
        }
        let wire: Dev = serde_json::from_str(text)?;
        self.dev_dependencies = dependencies(&wire.dev_dependencies, names, specs);
        Ok(())
    }

    /// Reads a package.json or a lockfile's entry. Anything but an object counts as an empty one.
    pub fn from_value(value: &Value, names: &mut Names, specs: &mut Specs) -> Self {
        let Ok(mut wire) = Wire::<Value>::deserialize(value) else {
            return Self::default();
        };
        let dev = std::mem::take(&mut wire.dev_dependencies);
        Self::from_wire(wire, &dev, names, specs)
    }

    /// Reads the manifest of a project while it is being changed. npm doesn't normalise it again, so what is optional may
    /// stand in `dependencies`, too.
    pub fn from_changed(value: &Value, names: &mut Names, specs: &mut Specs) -> Self {
        let all = dependencies(value.get("dependencies").unwrap_or(&Value::Null), names, specs);
        Self { dependencies: all, ..Self::from_value(value, names, specs) }
    }

    fn from_wire<Dev>(wire: Wire<Dev>, dev: &Value, names: &mut Names, specs: &mut Specs) -> Self {
        let name = wire.name.as_str().filter(|name| !name.is_empty());
        let version = wire.version.as_str().filter(|version| !version.is_empty());
        let bundled = bundled(wire.bundle_dependencies.or(wire.bundled_dependencies), &wire.dependencies, names);
        let optional_dependencies = dependencies(&wire.optional_dependencies, names, specs);
        let mut prod = dependencies(&wire.dependencies, names, specs);
        prod.retain(|(name, _)| !optional_dependencies.iter().any(|(optional, _)| optional == name));

        let script = |key: &str| wire.scripts.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let scripts = script("install") || script("preinstall") || script("postinstall");
        let optional_peers = wire.peer_dependencies_meta.as_object().map_or_else(Vec::new, |meta| {
            let optional = |value: &Value| value.get("optional").is_some_and(json::truthy);
            meta.iter().filter(|(_, value)| optional(value)).map(|(name, _)| names.intern(name)).collect()
        });

        let bin = normalized_bin(wire.bin, name);
        let mut fields = Vec::new();
        for (key, value) in [
            ("peerDependenciesMeta", wire.peer_dependencies_meta),
            ("funding", normalized_funding(wire.funding)),
            ("engines", wire.engines),
            ("os", wire.os),
            ("cpu", wire.cpu),
            ("libc", wire.libc),
            ("license", license_type(wire.license)),
            ("bin", bin),
            ("deprecated", wire.deprecated),
            ("workspaces", wire.workspaces.clone().unwrap_or_default()),
        ] {
            if is_filled(&value) {
                fields.push((key, value));
            }
        }
        Self {
            name: name.map(Rc::from),
            version: version.map(Rc::from),
            semver: version.and_then(Version::parse_loose),
            dependencies: prod,
            dev_dependencies: dependencies(dev, names, specs),
            optional_dependencies,
            peer_dependencies: dependencies(&wire.peer_dependencies, names, specs),
            optional_peers,
            accept_dependencies: dependencies(&wire.accept_dependencies, names, specs),
            bundled,
            has_install_script: scripts || json::truthy(&wire.has_install_script),
            resolved: None,
            integrity: None,
            abbreviated: false,
            has_dev_dependencies: json::truthy(dev),
            dev_engines: json::truthy(&wire.dev_engines),
            workspaces: wire.workspaces,
            has_patches: wire.patched_dependencies.as_object().is_some_and(|patches| !patches.is_empty()),
            overrides: match wire.overrides {
                Value::Object(overrides) if !overrides.is_empty() => Some(overrides),
                _ => None,
            },
            fields,
        }
    }

    /// A field that is written into the lock as it stands.
    pub fn field(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Sets a field that is written into the lock.
    pub fn set_field(&mut self, key: &'static str, value: Value) {
        self.fields.retain(|(name, _)| *name != key);
        if is_filled(&value) {
            self.fields.push((key, value));
        }
    }

    /// All of them.
    pub fn fields(&self) -> &[(&'static str, Value)] {
        &self.fields
    }

    /// The message of a deprecated version.
    pub fn deprecated(&self) -> Option<&str> {
        self.field("deprecated").map(|value| value.as_str().unwrap_or("deprecated"))
    }

    /// The license's name.
    pub fn license(&self) -> Option<&str> {
        self.field("license").and_then(Value::as_str)
    }

    /// `engines.node` or `engines.npm`.
    pub fn engine(&self, engine: &str) -> Option<&str> {
        self.field("engines")?.get(engine)?.as_str().filter(|range| !range.is_empty())
    }
}

/// npm writes what is truthy and, for objects and arrays, not empty (`metaFieldFromPkg`).
fn is_filled(value: &Value) -> bool {
    match value {
        Value::Object(object) => !object.is_empty(),
        Value::Array(array) => !array.is_empty(),
        other => json::truthy(other),
    }
}

fn dependencies(value: &Value, names: &mut Names, specs: &mut Specs) -> Dependencies {
    let Value::Object(object) = value else {
        return Vec::new();
    };
    let entries = json::entries(object).into_iter();
    entries.filter_map(|(name, spec)| Some((names.intern(name), specs.intern(spec.as_str()?)))).collect()
}

fn bundled(value: Option<Value>, dependencies: &Value, names: &mut Names) -> Vec<Name> {
    let keys = |object: &Map<String, Value>, names: &mut Names| {
        json::entries(object).into_iter().map(|(name, _)| names.intern(name)).collect()
    };
    match value {
        Some(Value::Bool(true)) => dependencies.as_object().map_or_else(Vec::new, |object| keys(object, names)),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(|name| names.intern(name)).collect(),
        Some(Value::Object(object)) => keys(&object, names),
        _ => Vec::new(),
    }
}

fn normalized_funding(funding: Value) -> Value {
    match funding {
        Value::String(url) if !url.is_empty() => Value::Object(Map::from_iter([("url".to_owned(), url.into())])),
        other => other,
    }
}

fn license_type(license: Value) -> Value {
    match license {
        Value::Object(mut object) if object.get("type").is_some_and(json::truthy) => {
            object.remove("type").unwrap_or_default()
        }
        other => other,
    }
}

/// `bin` as an object of base names and paths that can't leave the package (`normalizePackageBin`).
pub fn normalized_bin(bin: Value, package_name: Option<&str>) -> Value {
    let entries: Vec<(String, Value)> = match (bin, package_name) {
        (Value::String(path), Some(name)) if !path.is_empty() => vec![(name.to_owned(), path.into())],
        (Value::Array(list), _) => {
            list.into_iter().filter_map(|path| Some((path.as_str()?.rsplit('/').next()?.to_owned(), path))).collect()
        }
        (Value::Object(object), _) => object.into_iter().collect(),
        _ => return Value::Null,
    };
    let mut normalized = Map::new();
    for (key, target) in entries {
        let key = secure_path(&key);
        let name = key.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let target = target.as_str().map(secure_path).unwrap_or_default();
        if !name.is_empty() && !target.is_empty() {
            normalized.insert(name.to_owned(), target.into());
        }
    }
    Value::Object(normalized)
}

/// A path below the package, whatever was written (`secureAndUnixifyPath`).
fn secure_path(path: &str) -> String {
    let path = path.replace(['\\', ':'], "/");
    let secured = paths::normalize(&format!("/{path}")).trim_start_matches('/').to_owned();
    // Node's path.join keeps a trailing slash.
    if path.ends_with('/') && !secured.is_empty() { format!("{secured}/") } else { secured }
}
