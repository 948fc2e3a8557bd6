//! The tarballs of a small registry, and their paths.
//!
//! Most projects are only resolved. A project with a file `with-tarballs` is installed, too, so the
//! tarballs of its lock are kept. The file names more of them for tests that add packages, one
//! `name@version` on each line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// The packages whose tarballs are wanted, as `name@version`.
pub fn wanted(projects: &Path, names: &[String]) -> anyhow::Result<BTreeSet<String>> {
    let mut wanted = BTreeSet::new();
    for folder in names.iter().map(|name| projects.join(name)) {
        let marker = folder.join("with-tarballs");
        if !marker.exists() {
            continue;
        }
        wanted.extend(fs::read_to_string(&marker)?.lines().map(str::to_owned));
        let lockfile: Value = serde_json::from_slice(&fs::read(folder.join("package-lock.json"))?)?;
        let packages = lockfile["packages"].as_object().context("npm's lock has no packages")?;
        for (location, entry) in packages {
            if let (Some((_, name)), Some(version)) = (location.rsplit_once("node_modules/"), entry["version"].as_str())
            {
                wanted.insert(format!("{}@{version}", entry["name"].as_str().unwrap_or(name)));
            }
        }
    }
    Ok(wanted)
}

/// Replaces the tarballs in a folder. Returns their size in bytes.
pub fn write(
    wanted: &BTreeSet<String>,
    folder: &Path,
    mut fetch: impl FnMut(&str) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<usize> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut bytes = 0;
    for package in wanted {
        let (name, version) = package.rsplit_once('@').with_context(|| format!("{package} has no version"))?;
        let file = name.rsplit('/').next().unwrap_or(name);
        let parent = folder.join(name.replace('/', "%2f"));
        let tarball = fetch(package)?;
        bytes += tarball.len();
        fs::create_dir_all(&parent)?;
        fs::write(parent.join(format!("{file}-{version}.tgz")), tarball)?;
    }
    Ok(bytes)
}
