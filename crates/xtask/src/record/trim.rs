//! Reduces manifests to the fields that determine a lock, and writes one line for each version.
//! Differences between recordings are then readable.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::selection::Package;

/// Fields that are kept as they are.
const FIELDS: [&str; 20] = [
    "name",
    "version",
    "license",
    "licenses",
    "licence",
    "dependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "optionalDependencies",
    "acceptDependencies",
    "bundleDependencies",
    "bundledDependencies",
    "engines",
    "os",
    "cpu",
    "libc",
    "bin",
    "funding",
    "deprecated",
    "hasInstallScript",
];

/// Fields of `dist` that are kept.
const DIST: [&str; 5] = ["integrity", "shasum", "tarball", "fileCount", "unpackedSize"];

/// The fields of `dist` except for the tarball's address, by integrity.
type Sizes = BTreeMap<String, Value>;

const SCRIPTS: [&str; 3] = ["preinstall", "install", "postinstall"];

/// Replaces the packuments in a folder. Returns their size in bytes.
pub fn write(packages: &BTreeMap<String, Package>, folder: &Path) -> anyhow::Result<usize> {
    let mut sizes = Sizes::new();
    if folder.exists() {
        sizes = recorded_sizes(folder)?;
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut bytes = 0;
    for (name, package) in packages {
        let text = packument(package, &sizes)?;
        bytes += text.len();
        fs::write(folder.join(format!("{}.json", name.replace('/', "%2f"))), text)?;
    }
    Ok(bytes)
}

fn packument(package: &Package, sizes: &Sizes) -> serde_json::Result<String> {
    let field = |name: &str| package.packument.get(name).unwrap_or(&Value::Null);
    let kept = |version: &Value| version.as_str().is_some_and(|version| package.kept.contains(version));
    let mut tags: Map<String, Value> = entries(field("dist-tags")).filter(|(_, version)| kept(version)).collect();
    // Hardly any registry lacks `latest`, so the recording has it.
    if let (false, Some(highest)) = (tags.contains_key("latest"), package.highest()) {
        tags.insert("latest".into(), highest.into());
    }
    let versions: Vec<String> = entries(field("versions"))
        .filter(|(version, _)| package.kept.contains(version))
        .map(|(version, manifest)| {
            Ok(format!("{}:{}", json!(version), serde_json::to_string(&trimmed(&manifest, sizes))?))
        })
        .collect::<serde_json::Result<_>>()?;
    let timed = |name: &String| name == "modified" || package.kept.contains(name);
    let time: Map<String, Value> = entries(field("time")).filter(|(name, _)| timed(name)).collect();
    Ok(format!(
        "{{\"name\":{},\n\"dist-tags\":{},\n\"versions\":{{\n{}}},\n\"time\":{}}}\n",
        field("name"),
        Value::from(tags),
        versions.join(",\n"),
        Value::from(time)
    ))
}

fn trimmed(manifest: &Value, sizes: &Sizes) -> Value {
    let mut kept = Map::new();
    for (name, value) in entries(manifest) {
        let value = match name.as_str() {
            "dist" => distribution(&value, sizes),
            "scripts" => subset(&value, &SCRIPTS),
            "directories" => subset(&value, &["bin"]),
            name if FIELDS.contains(&name) => value,
            _ => continue,
        };
        if value != json!({}) {
            kept.insert(name, value);
        }
    }
    kept.into()
}

/// Turns the addresses of tarballs into paths. A server prepends its own origin.
fn distribution(dist: &Value, sizes: &Sizes) -> Value {
    let known = dist["integrity"].as_str().and_then(|integrity| sizes.get(integrity));
    let mut dist: Map<_, _> = known.into_iter().chain([dist]).flat_map(entries).collect();
    dist.retain(|name, _| DIST.contains(&name.as_str()));
    if let Some(Value::String(tarball)) = dist.get_mut("tarball")
        && let Some((_, rest)) = tarball.split_once("://")
        && let Some(slash) = rest.find('/')
    {
        *tarball = rest[slash..].to_owned();
    }
    dist.into()
}

/// The sizes in a recording. They stay if the tarball is the same, because another source may not
/// know them.
fn recorded_sizes(folder: &Path) -> anyhow::Result<Sizes> {
    let mut sizes = Sizes::new();
    for file in fs::read_dir(folder)? {
        let packument: Value = serde_json::from_str(&fs::read_to_string(file?.path())?)?;
        for (_, manifest) in entries(&packument["versions"]) {
            let dist = &manifest["dist"];
            if let (Some(integrity), false) = (dist["integrity"].as_str(), dist["unpackedSize"].is_null()) {
                sizes.insert(integrity.to_owned(), subset(dist, &["fileCount", "unpackedSize"]));
            }
        }
    }
    Ok(sizes)
}

fn subset(object: &Value, names: &[&str]) -> Value {
    entries(object).filter(|(name, _)| names.contains(&name.as_str())).collect::<Map<_, _>>().into()
}

fn entries(object: &Value) -> impl Iterator<Item = (String, Value)> {
    object.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()))
}
