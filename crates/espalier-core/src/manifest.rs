//! A package's manifest, normalised as npm normalises it before it builds a tree.
//!
//! It contains what decides a tree or is part of a lockfile (`@npmcli/package-json`,
//! `shrinkwrap.js`). Packuments, folders, tarballs and lockfile entries all give the same kind of
//! manifest.

use serde_json::{Map, Value};
use std::rc::Rc;

use crate::integrity;
use crate::json::{self, Fields};
use crate::names::{Name, Names};
use crate::order;
use crate::paths;
use crate::semver::Version;
use crate::spec::{Spec, Specs};

/// A name and the requested spec.
pub type Dependency = (Name, Rc<Spec>);
/// A block of dependencies in JavaScript's order.
pub type Dependencies = Vec<Dependency>;

/// A normalised manifest. It has a field for each field of package.json and of a registry's
/// documents that npm's rules read.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// The package's own name.
    pub name: Option<Rc<str>>,
    /// The version as written, if there is one.
    pub version: Option<Rc<str>>,
    /// The version as parsed by npm's loose rules.
    pub semver: Option<Version>,
    /// `dependencies` without those that are also optional.
    pub dependencies: Dependencies,
    /// `devDependencies`. They are usually not read from registry manifests.
    pub dev_dependencies: Dependencies,
    /// `optionalDependencies`.
    pub optional_dependencies: Dependencies,
    /// `peerDependencies`, optional or not.
    pub peer_dependencies: Dependencies,
    /// The peers that `peerDependenciesMeta` marks as optional.
    pub optional_peers: Vec<Name>,
    /// `acceptDependencies`: alternative specs.
    pub accept_dependencies: Dependencies,
    /// `bundleDependencies` as a list.
    pub bundled: Vec<Name>,
    /// Whether a lifecycle script runs on installation.
    pub has_install_script: bool,
    /// `dist.tarball`, or another source of the package.
    pub resolved: Option<Rc<str>>,
    /// The integrity of the tarball.
    pub integrity: Option<Rc<str>>,
    /// `dist.unpackedSize`: the bytes of the files in the tarball, if the registry states it.
    pub unpacked_size: Option<u64>,
    /// `dist.fileCount`: the number of those files, if the registry states it.
    pub file_count: Option<u64>,
    /// Whether the registry left out fields that a lock contains.
    pub abbreviated: bool,
    /// Whether its `deprecated` counts as true in JavaScript.
    pub is_deprecated: bool,
    /// Whether there is a `devDependencies`, even an empty one.
    pub has_dev_dependencies: bool,
    /// Whether there is a `devEngines`, which makes npm ignore the root's `engines`.
    pub dev_engines: bool,
    /// `workspaces` as it is, of any type.
    pub workspaces: Option<Value>,
    /// The folder of its commands (`directories.bin`), if it has no `bin` and its source can list
    /// folders.
    pub bin_folder: Option<String>,
    /// Whether it has `patchedDependencies`.
    pub has_patches: bool,
    /// `overrides`, if it is an object that isn't empty.
    pub overrides: Option<Map<String, Value>>,
    /// The normalised fields that are written into the lock, by key.
    fields: Vec<(&'static str, Value)>,
}

/// The fields of `dist` that are read.
const DIST: [&str; 5] = ["tarball", "integrity", "shasum", "unpackedSize", "fileCount"];

/// The fields that are read from every manifest.
pub(crate) const READ: [&str; 24] = [
    "name",
    "version",
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "acceptDependencies",
    "bundleDependencies",
    "bundledDependencies",
    "funding",
    "engines",
    "os",
    "cpu",
    "libc",
    "license",
    "bin",
    "deprecated",
    "workspaces",
    "overrides",
    "devEngines",
    "patchedDependencies",
    "scripts",
    "hasInstallScript",
    "dist",
];

/// Those of them that are written into the lock almost unchanged.
const WRITTEN: [&str; 10] =
    ["peerDependenciesMeta", "funding", "engines", "os", "cpu", "libc", "license", "bin", "deprecated", "workspaces"];

/// This field isn't read from registry manifests, because it is long and rarely used.
const DEV: &str = "devDependencies";

impl Manifest {
    /// Parses the manifest of a version, from a packument or from its own document.
    pub fn from_registry(
        text: &str,
        abbreviated: bool,
        names: &mut Names,
        specs: &mut Specs,
    ) -> Result<Self, serde_json::Error> {
        let (mut fields, mut dist) = (Fields::default(), Fields::default());
        json::members(text, &READ, |key, value| {
            match key {
                "dist" if value.starts_with('{') => dist = Fields::read(value, &DIST)?,
                "dist" => dist = Fields::default(),
                _ => fields.set(key, serde_json::from_str(value)?),
            }
            Ok(())
        })?;
        let mut manifest = Self::from_fields(fields, names, specs);
        let text = |key: &str| dist.get(key).as_str();
        manifest.resolved = text("tarball").map(Rc::from);
        manifest.integrity = text("integrity")
            .and_then(integrity::normalize)
            .or_else(|| text("shasum").and_then(integrity::from_hex_sha1))
            .map(Rc::from);
        manifest.unpacked_size = dist.get("unpackedSize").as_u64();
        manifest.file_count = dist.get("fileCount").as_u64();
        manifest.abbreviated = abbreviated;
        Ok(manifest)
    }

    /// Reads the `devDependencies` of a registry manifest, which few callers need.
    pub fn read_dev_dependencies(
        &mut self,
        text: &str,
        names: &mut Names,
        specs: &mut Specs,
    ) -> Result<(), serde_json::Error> {
        let dev = Fields::read(text, &[DEV])?.take(DEV);
        self.dev_dependencies = dependencies(&dev, names, specs);
        Ok(())
    }

    /// Parses a package.json or a lockfile's entry. Anything but an object counts as an empty one.
    pub fn from_value(value: &Value, names: &mut Names, specs: &mut Specs) -> Self {
        let mut fields = Fields::default();
        for (key, value) in value.as_object().into_iter().flatten() {
            if let Some(key) = READ.iter().chain([&DEV]).find(|read| *read == key) {
                fields.set(key, value.clone());
            }
        }
        let mut manifest = Self::from_fields(fields, names, specs);
        let folder = value.get("directories").and_then(|directories| directories.get("bin")?.as_str());
        let folder = folder.filter(|folder| !folder.is_empty() && !value.get("bin").is_some_and(json::truthy));
        manifest.bin_folder = folder.map(secure_path);
        manifest
    }

    /// Makes `bin` of the folder of commands (`binDir` of `@npmcli/package-json`): every entry that
    /// isn't hidden, including folders. `files` are paths relative to that folder.
    pub fn list_bins(&mut self, files: &[String]) {
        let Some(folder) = self.bin_folder.take() else { return };
        // npm's glob goes down level by level, so of two entries with the same name, the deepest
        // wins.
        let mut found: Vec<&str> = Vec::new();
        for file in files {
            let ends = file.match_indices('/').map(|(at, _)| at).chain([file.len()]);
            for path in ends.map(|end| &file[..end]).filter(|path| !path.is_empty()) {
                if !found.contains(&path) && !path.split('/').any(|part| part.starts_with('.')) {
                    found.push(path);
                }
            }
        }
        order::sort_by_key(&mut found, |path| (path.matches('/').count(), *path));
        let bin = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            (name.to_owned(), Value::from(format!("{folder}/{path}")))
        };
        self.set_field("bin", Value::Object(found.into_iter().map(bin).collect()));
    }

    /// The same for a package in a folder that contains all of these files.
    pub fn list_bins_among(&mut self, files: &[String], folder: &str) {
        let Some(commands) = &self.bin_folder else { return };
        let below = paths::join(folder, commands);
        let below = below.trim_end_matches('/');
        let inside = |file: &'_ String| match below {
            "" => Some(file.clone()),
            _ => file.strip_prefix(below)?.strip_prefix('/').map(str::to_owned),
        };
        let files: Vec<String> = files.iter().filter_map(inside).collect();
        self.list_bins(&files);
    }

    /// Parses the manifest of a project that is being changed. npm doesn't normalise it again, so
    /// an optional dependency may also be in `dependencies`.
    pub fn from_changed(value: &Value, names: &mut Names, specs: &mut Specs) -> Self {
        let all = dependencies(value.get("dependencies").unwrap_or(&Value::Null), names, specs);
        Self { dependencies: all, ..Self::from_value(value, names, specs) }
    }

    fn from_fields(mut read: Fields, names: &mut Names, specs: &mut Specs) -> Self {
        let [name, version] = ["name", "version"].map(|key| read.take(key));
        let name = name.as_str().filter(|name| !name.is_empty());
        let version = version.as_str().filter(|version| !version.is_empty());
        let declared = Some(read.take("bundleDependencies")).filter(|declared| !declared.is_null());
        let declared = declared.unwrap_or_else(|| read.take("bundledDependencies"));
        let bundled = bundled(declared, read.get("dependencies"), names);
        let optional_dependencies = dependencies(read.get("optionalDependencies"), names, specs);
        let mut prod = dependencies(read.get("dependencies"), names, specs);
        prod.retain(|(name, _)| !optional_dependencies.iter().any(|(optional, _)| optional == name));

        let scripts = read.get("scripts");
        let script = |key: &str| scripts.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let has_install_script = script("install") || script("preinstall") || script("postinstall");
        let optional_peers = read.get("peerDependenciesMeta").as_object().map_or_else(Vec::new, |meta| {
            let optional = |value: &Value| value.get("optional").is_some_and(json::truthy);
            meta.iter().filter(|(_, value)| optional(value)).map(|(name, _)| names.intern(name)).collect()
        });
        let dev_dependencies = dependencies(read.get(DEV), names, specs);
        let peer_dependencies = dependencies(read.get("peerDependencies"), names, specs);
        let accept_dependencies = dependencies(read.get("acceptDependencies"), names, specs);
        let workspaces = Some(read.get("workspaces")).filter(|workspaces| !workspaces.is_null()).cloned();

        let is_deprecated = json::truthy(read.get("deprecated"));

        let mut fields = Vec::new();
        for key in WRITTEN {
            let value = match (key, read.take(key)) {
                ("funding", funding) => normalized_funding(funding),
                ("license", license) => license_type(license),
                ("bin", bin) => normalized_bin(bin, name),
                (_, value) => value,
            };
            if is_filled(&value) {
                fields.push((key, value));
            }
        }
        Self {
            name: name.map(Rc::from),
            version: version.map(Rc::from),
            semver: version.and_then(Version::parse_loose),
            dependencies: prod,
            dev_dependencies,
            optional_dependencies,
            peer_dependencies,
            optional_peers,
            accept_dependencies,
            bundled,
            has_install_script: has_install_script || json::truthy(read.get("hasInstallScript")),
            resolved: None,
            integrity: None,
            unpacked_size: None,
            file_count: None,
            abbreviated: false,
            is_deprecated,
            has_dev_dependencies: json::truthy(read.get(DEV)),
            dev_engines: json::truthy(read.get("devEngines")),
            workspaces,
            bin_folder: None,
            has_patches: read.get("patchedDependencies").as_object().is_some_and(|patches| !patches.is_empty()),
            overrides: match read.take("overrides") {
                Value::Object(overrides) if !overrides.is_empty() => Some(overrides),
                _ => None,
            },
            fields,
        }
    }

    /// A field that is written into the lock.
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

    /// The fields that are written into the lock.
    pub fn fields(&self) -> &[(&'static str, Value)] {
        &self.fields
    }

    /// The deprecation message of the version.
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

/// Whether npm writes a value: it is truthy and, for objects and arrays, not empty
/// (`metaFieldFromPkg`).
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

fn bundled(value: Value, dependencies: &Value, names: &mut Names) -> Vec<Name> {
    let keys = |object: &Map<String, Value>, names: &mut Names| {
        json::entries(object).into_iter().map(|(name, _)| names.intern(name)).collect()
    };
    match value {
        Value::Bool(true) => dependencies.as_object().map_or_else(Vec::new, |object| keys(object, names)),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(|name| names.intern(name)).collect(),
        Value::Object(object) => keys(&object, names),
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

/// `bin` as an object of base names, with paths that can't leave the package
/// (`normalizePackageBin`).
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

/// A path inside the package, whatever was written (`secureAndUnixifyPath`).
fn secure_path(path: &str) -> String {
    let path = path.replace(['\\', ':'], "/");
    let secured = paths::normalize(&format!("/{path}")).trim_start_matches('/').to_owned();
    // Node's path.join preserves a trailing slash.
    if path.ends_with('/') && !secured.is_empty() { format!("{secured}/") } else { secured }
}
