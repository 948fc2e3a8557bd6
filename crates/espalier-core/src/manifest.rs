//! A package's manifest, normalised as npm normalises it before it builds a tree.
//!
//! It contains what decides a tree or is part of a lockfile (`@npmcli/package-json`,
//! `shrinkwrap.js`). Packuments, folders, tarballs and lockfile entries all give the same kind of
//! manifest.

mod fields;

use serde_json::{Error, Map, Value};
use std::borrow::Cow;
use std::rc::Rc;

use crate::integrity;
use crate::json;
use crate::names::{Name, Names};
use crate::order;
use crate::paths;
use crate::semver::Version;
use crate::spec::Spec;
use crate::vocabulary::Vocabulary;
use fields::{BLOCKS, DEV, Unread, WRITTEN, WRITTEN_PLACES, place};

pub(crate) use fields::Field;
#[cfg(feature = "summaries")]
pub(crate) use fields::READ;

/// A name and the requested spec.
pub type Dependency = (Name, Rc<Spec>);
/// A block of dependencies in JavaScript's order.
pub type Dependencies = Vec<Dependency>;

/// A key, and the text of its value.
pub type Member<'a> = (Cow<'a, str>, &'a str);

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
    /// `workspaces` as it is, of any type. This and other large fields that few manifests have are
    /// in boxes, because there are thousands of manifests.
    pub workspaces: Option<Box<Value>>,
    /// The folder of its commands (`directories.bin`), if it has no `bin` and its source can list
    /// folders.
    pub bin_folder: Option<String>,
    /// Whether it has `patchedDependencies`.
    pub has_patches: bool,
    /// `overrides`, if it is an object that isn't empty.
    pub overrides: Option<Box<Map<String, Value>>>,
    /// The normalised fields that are written into the lock, by key.
    fields: Vec<(&'static str, Rc<Value>)>,
}

/// The scripts that run on installation.
const INSTALL_SCRIPTS: [&str; 3] = ["preinstall", "install", "postinstall"];

impl Manifest {
    /// Parses the manifest of a version, from a packument or from its own document.
    ///
    /// `abbreviated` states whether the registry left out fields that a lock contains.
    pub fn from_registry(text: &str, abbreviated: bool, vocabulary: &Vocabulary) -> Result<Self, Error> {
        let (mut manifest, dist) = Self::without_dist(text, vocabulary)?;
        let mut shasum = None;
        dist.members(&mut |key, value| {
            match key {
                "tarball" => manifest.resolved = value.string()?.as_deref().map(Rc::from),
                "integrity" => manifest.integrity = value.string()?.and_then(|text| integrity::normalize(&text)),
                "shasum" => shasum = value.string()?,
                _ => manifest.read_size(key, value)?,
            }
            Ok(())
        })?;
        if manifest.integrity.is_none() {
            manifest.integrity = shasum.and_then(|shasum| integrity::from_hex_sha1(&shasum)).map(Rc::from);
        }
        manifest.abbreviated = abbreviated;
        Ok(manifest)
    }

    /// The complete manifest of the version whose own document this is.
    ///
    /// The source of the package stays that of the packument. A version's other fields never
    /// change, except that it can be deprecated later, or no longer be.
    pub fn completed(&self, document: &str, vocabulary: &Vocabulary) -> Result<Self, Error> {
        let (mut complete, dist) = Self::without_dist(document, vocabulary)?;
        dist.members(&mut |key, value| complete.read_size(key, value))?;
        complete.resolved.clone_from(&self.resolved);
        complete.integrity.clone_from(&self.integrity);
        complete.set_field("deprecated", self.field("deprecated").cloned().unwrap_or_default());
        Ok(complete)
    }

    /// A registry's manifest without its `dist`, and the `dist`.
    fn without_dist<'a>(text: &'a str, vocabulary: &Vocabulary) -> Result<(Self, Field<'a>), Error> {
        let mut fields = Unread::default();
        json::each_member(text, &mut |key, value| {
            fields.take(key, Field::Text(value));
            Ok(())
        })?;
        fields.dev = Field::Missing;
        Ok((Self::from_fields(&fields, vocabulary)?, fields.read[const { place("dist") }]))
    }

    /// Reads a member of `dist` about the size of the package.
    fn read_size(&mut self, key: &str, value: Field<'_>) -> Result<(), Error> {
        match key {
            "unpackedSize" => self.unpacked_size = value.number()?,
            "fileCount" => self.file_count = value.number()?,
            _ => {}
        }
        Ok(())
    }

    /// Reads the `devDependencies` of a registry manifest, which few callers need.
    pub fn read_dev_dependencies(&mut self, text: &str, vocabulary: &Vocabulary) -> Result<(), Error> {
        let mut dev = Field::Missing;
        json::each_member(text, &mut |key, value| {
            if key == DEV {
                dev = Field::Text(value);
            }
            Ok(())
        })?;
        self.dev_dependencies = dev.dependencies(vocabulary)?;
        Ok(())
    }

    /// Parses a package.json. Anything but an object counts as an empty one.
    pub fn from_value(value: &Value, vocabulary: &Vocabulary) -> Self {
        let members = value.as_object().into_iter().flatten();
        let fields = members.map(|(key, value)| (key.as_str(), Field::Value(value)));
        Self::from_project(&mut fields.into_iter(), vocabulary).expect("values are parsed already")
    }

    /// Parses the members of a lockfile's entry. Fields that can't be read, such as numbers out of
    /// range, count as missing.
    pub fn from_members(members: &[Member<'_>], vocabulary: &Vocabulary) -> Self {
        let mut fields = members.iter().map(|(key, text)| (&**key, Field::Text(text)));
        Self::from_project(&mut fields, vocabulary).unwrap_or_else(|_| {
            let fields = members.iter().map(|(key, text)| (&**key, Field::Text(text)));
            Self::from_project(&mut fields.filter(|(_, field)| field.value().is_ok()), vocabulary).unwrap_or_default()
        })
    }

    /// Parses the fields of a package.json, or of what a lockfile says of one.
    fn from_project(
        members: &mut dyn Iterator<Item = (&str, Field<'_>)>,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Error> {
        let (mut fields, mut directories) = (Unread::default(), Field::Missing);
        for (key, field) in members {
            match key {
                "directories" => directories = field,
                _ => fields.take(key, field),
            }
        }
        let mut manifest = Self::from_fields(&fields, vocabulary)?;
        let mut folder = None;
        directories.members(&mut |key, field| {
            if key == "bin" {
                folder = field.string()?.filter(|folder| !folder.is_empty()).map(|folder| secure_path(&folder));
            }
            Ok(())
        })?;
        manifest.bin_folder = folder.filter(|_| !fields.read[const { place("bin") }].truthy().unwrap_or_default());
        Ok(manifest)
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
    pub fn from_changed(value: &Value, vocabulary: &Vocabulary) -> Self {
        let all = value.get("dependencies").map_or(Field::Missing, Field::Value);
        let all = all.dependencies(vocabulary).expect("values are parsed already");
        Self { dependencies: all, ..Self::from_value(value, vocabulary) }
    }

    fn from_fields(fields: &Unread<'_>, vocabulary: &Vocabulary) -> Result<Self, Error> {
        let read = &fields.read;
        let name = read[const { place("name") }].string()?.filter(|name| !name.is_empty());
        let version = read[const { place("version") }].string()?.filter(|version| !version.is_empty());
        let declared = read[const { place("bundleDependencies") }];
        let declared = if declared.is_missing() { read[const { place("bundledDependencies") }] } else { declared };
        let bundled = bundled(declared.value()?, read[const { place("dependencies") }], &vocabulary.names)?;
        let optional_dependencies = read[const { place("optionalDependencies") }].dependencies(vocabulary)?;
        let mut prod = read[const { place("dependencies") }].dependencies(vocabulary)?;
        prod.retain(|(name, _)| !optional_dependencies.iter().any(|(optional, _)| optional == name));

        let mut scripts = [false; INSTALL_SCRIPTS.len()];
        read[const { place("scripts") }].members(&mut |key, script| {
            if let Some(index) = INSTALL_SCRIPTS.iter().position(|name| *name == key) {
                scripts[index] = script.string()?.is_some_and(|script| !script.is_empty());
            }
            Ok(())
        })?;

        // npm reads no peers from a text (`_loadDeps` of `node.js`).
        let peers = read[const { place("peerDependencies") }];
        let peers = if peers.string()?.is_some() { Field::Missing } else { peers };
        let (mut optional_peers, mut workspaces, mut is_deprecated) = (Vec::new(), None, false);
        let is_written = |index: usize| {
            let field = read[WRITTEN_PLACES[index]];
            !field.is_missing() && (index >= BLOCKS || !field.is_object())
        };
        let mut written = Vec::with_capacity((0..WRITTEN.len()).filter(|index| is_written(*index)).count());
        for index in (0..WRITTEN.len()).filter(|index| is_written(*index)) {
            let (key, field) = (WRITTEN[index], read[WRITTEN_PLACES[index]]);
            let value = normalized(key, field.shared(&vocabulary.values)?, name.as_deref());
            match (key, &*value) {
                ("peerDependenciesMeta", Value::Object(meta)) => {
                    let optional = |value: &Value| value.get("optional").is_some_and(json::truthy);
                    let peers = meta.iter().filter(|(_, value)| optional(value));
                    optional_peers.extend(peers.map(|(name, _)| vocabulary.names.intern(name)));
                }
                ("workspaces", value) if !value.is_null() => workspaces = Some(Box::new(value.clone())),
                ("deprecated", value) => is_deprecated = json::truthy(value),
                _ => {}
            }
            if is_filled(&value) {
                written.push((key, value));
            }
        }
        if fields.dev.truthy()? && !fields.dev.is_object() {
            written.push((DEV, fields.dev.shared(&vocabulary.values)?));
        }
        Ok(Self {
            semver: version.as_deref().and_then(Version::parse_loose),
            name: name.as_deref().map(Rc::from),
            version: version.as_deref().map(Rc::from),
            dependencies: prod,
            dev_dependencies: fields.dev.dependencies(vocabulary)?,
            optional_dependencies,
            peer_dependencies: peers.dependencies(vocabulary)?,
            optional_peers,
            accept_dependencies: read[const { place("acceptDependencies") }].dependencies(vocabulary)?,
            bundled,
            has_install_script: scripts.contains(&true) || read[const { place("hasInstallScript") }].truthy()?,
            resolved: None,
            integrity: None,
            unpacked_size: None,
            file_count: None,
            abbreviated: false,
            is_deprecated,
            has_dev_dependencies: fields.dev.truthy()?,
            dev_engines: read[const { place("devEngines") }].truthy()?,
            workspaces,
            bin_folder: None,
            has_patches: read[const { place("patchedDependencies") }]
                .value()?
                .as_object()
                .is_some_and(|patches| !patches.is_empty()),
            overrides: match read[const { place("overrides") }].value()? {
                Value::Object(overrides) if !overrides.is_empty() => Some(Box::new(overrides)),
                _ => None,
            },
            fields: written,
        })
    }

    /// A field that is written into the lock.
    pub fn field(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, value)| &**value)
    }

    /// Sets a field that is written into the lock.
    pub fn set_field(&mut self, key: &'static str, value: Value) {
        self.fields.retain(|(name, _)| *name != key);
        if is_filled(&value) {
            self.fields.push((key, Rc::new(value)));
        }
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

fn bundled(value: Value, dependencies: Field<'_>, names: &Names) -> Result<Vec<Name>, Error> {
    let keys =
        |object: &Map<String, Value>| json::entries(object).into_iter().map(|(name, _)| names.intern(name)).collect();
    Ok(match value {
        Value::Bool(true) => dependencies.value()?.as_object().map_or_else(Vec::new, keys),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(|name| names.intern(name)).collect(),
        Value::Object(object) => keys(&object),
        _ => Vec::new(),
    })
}

/// The value of a field that is written into the lock, as npm normalises it.
fn normalized(key: &str, value: Rc<Value>, package_name: Option<&str>) -> Rc<Value> {
    Rc::new(match (key, &*value) {
        ("funding", Value::String(_)) => normalized_funding(Value::clone(&value)),
        ("license", Value::Object(_)) => license_type(Value::clone(&value)),
        ("bin", _) => normalized_bin(Value::clone(&value), package_name),
        _ => return value,
    })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::fields::READ;
    use super::{Manifest, Member};
    use crate::vocabulary::Vocabulary;

    fn from_text(text: &str) -> Manifest {
        let vocabulary = Vocabulary::default();
        Manifest::from_registry(text, false, &vocabulary).expect("a manifest")
    }

    /// The dependencies of a block of this text, as text.
    fn dependencies(block: &str) -> Vec<(String, String)> {
        let vocabulary = Vocabulary::default();
        let text = format!(r#"{{"dependencies":{block}}}"#);
        let manifest = Manifest::from_registry(&text, false, &vocabulary).expect("a manifest");
        let texts = manifest.dependencies.iter();
        texts.map(|(name, spec)| (vocabulary.names.text(*name).to_owned(), spec.raw.to_string())).collect()
    }

    fn values() -> impl Strategy<Value = Value> {
        let keys = || prop_oneof!["[a-c0-2]", "[a-zé\"\\\\\n]{0,3}", Just("optional".to_owned())];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i8>().prop_map(Value::from),
            "[a-z^1.é\"\\\\\n]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((keys(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// A lockfile's text says what its parsed value says.
        #[test]
        fn an_entry_and_its_value_give_the_same_manifest(fields in prop::collection::vec(
            (prop::sample::select([&READ[..], &["directories", "devDependencies"]].concat()), values()), 0..10,
        )) {
            let fields: Map<String, Value> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            let value = Value::Object(fields);
            let texts = value.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.to_string()));
            let texts: Vec<(String, String)> = texts.collect();
            let members: Vec<Member<'_>> = texts.iter().map(|(key, text)| (key.into(), text.as_str())).collect();
            let vocabulary = Vocabulary::default();
            let parsed = Manifest::from_value(&value, &vocabulary);
            let read = Manifest::from_members(&members, &vocabulary);
            prop_assert_eq!(format!("{read:?}"), format!("{parsed:?}"));
        }

        /// A registry's text says what its parsed value says.
        #[test]
        fn text_and_value_give_the_same_manifest(fields in prop::collection::vec(
            (prop::sample::select(READ.to_vec()), values()), 0..10,
        )) {
            let fields: Map<String, Value> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            let value = Value::Object(fields);
            let vocabulary = Vocabulary::default();
            let parsed = Manifest::from_value(&value, &vocabulary);
            let read = Manifest { resolved: None, integrity: None, ..from_text(&value.to_string()) };
            // Names are numbers, in another order.
            let shown = |manifest: &Manifest| (manifest.name.clone(), manifest.fields.clone(), manifest.has_install_script,
                manifest.has_patches, manifest.dev_engines, manifest.overrides.clone(), manifest.bundled.len(),
                manifest.optional_peers.len(), manifest.peer_dependencies.len(), manifest.version.clone());
            prop_assert_eq!(shown(&read), shown(&parsed));
        }

        #[test]
        fn dependencies_are_in_the_order_of_javascript(block in values()) {
            let text = |spec: &Value| spec.as_str().map_or_else(|| spec.to_string(), str::to_owned);
            let expected: Vec<(String, String)> = match &block {
                Value::Object(block) => {
                    let entries = crate::json::entries(block).into_iter();
                    entries.map(|(name, spec)| (name.clone(), text(spec))).collect()
                }
                Value::Array(list) => list.iter().enumerate().map(|(index, spec)| (index.to_string(), text(spec))).collect(),
                Value::String(letters) if !letters.is_empty() => vec![("0".to_owned(), letters.clone())],
                _ => Vec::new(),
            };
            prop_assert_eq!(dependencies(&block.to_string()), expected);
        }
    }

    #[test]
    fn of_a_repeated_dependency_the_last_counts_in_the_first_place() {
        let found = dependencies(r#"{"a":"1","b":"2","a":"3","c":null,"c":"4","b":5}"#);
        let expected = [("a", "3"), ("b", "5"), ("c", "4")];
        assert_eq!(found, expected.map(|(name, spec)| (name.to_owned(), spec.to_owned())));
    }

    #[test]
    fn long_blocks_are_read_like_short_ones() {
        let long: Map<String, Value> =
            (0..200).map(|index| (format!("p{}", index % 150), json!(index.to_string()))).collect();
        let found = dependencies(&Value::Object(long).to_string());
        assert_eq!((found.len(), &*found[0].1, &*found[149].1), (150, "150", "149"));
    }

    #[test]
    fn a_field_that_is_not_json_is_refused() {
        for text in [r#"{"license":MIT}"#, r#"{"name":"\x"}"#, "{\"version\":\"1\n\"}", r#"{"dependencies":{"a":yes}}"#]
        {
            let vocabulary = Vocabulary::default();
            assert!(Manifest::from_registry(text, false, &vocabulary).is_err(), "{text}");
        }
    }

    #[test]
    fn the_source_is_that_of_dist() {
        let text = r#"{"dist":{"tarball":"t","shasum":"da39a3ee5e6b4b0d3255bfef95601890afd80709","unpackedSize":7,
            "fileCount":2,"integrity":" sha1-a  sha512-b md5-c sha1-d "}}"#;
        let manifest = from_text(text);
        assert_eq!(manifest.resolved.as_deref(), Some("t"));
        assert_eq!(manifest.integrity.as_deref(), Some("sha1-a sha1-d sha512-b"));
        assert_eq!((manifest.unpacked_size, manifest.file_count), (Some(7), Some(2)));
        let text = text.replace("\" sha1-a  sha512-b md5-c sha1-d \"", "\"md5-c\"");
        assert_eq!(from_text(&text).integrity.as_deref(), Some("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="));
        assert_eq!(from_text(&format!(r#"{},"dist":null}}"#, &text[..text.len() - 1])).resolved, None);
    }
}
