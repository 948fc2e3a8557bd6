//! Programs that are fetched for one run (`libnpmexec`): where they are installed, and in which
//! version.
//!
//! The caller decides whether a program has to be fetched, and whether it may be.

use std::path::{Path, PathBuf};

use espalier_core::collation;
use espalier_core::pick::Picker;
use espalier_core::spec::{Spec, SpecKind};
use espalier_core::{FetchFailure, Options, ResolveError, options};
use ring::digest;

use crate::registry::Registry;

/// The folder of a project for these packages. Its name depends on them, so that the next run finds
/// it.
pub fn folder(cache: &Path, packages: &[String]) -> PathBuf {
    let mut packages = packages.to_vec();
    packages.sort_by(|a, b| collation::compare(a, b));
    let digest = digest::digest(&digest::SHA512, packages.join("\n").as_bytes());
    let name = digest.as_ref()[..8].iter().fold(0u64, |name, byte| name << 8 | u64::from(*byte));
    cache.join("exec-1").join(format!("{name:016x}"))
}

/// The package that a registry spec names; for an alias, its target.
pub fn package_of<'a>(name: &'a str, spec: &'a Spec) -> (&'a str, &'a Spec) {
    match &spec.kind {
        SpecKind::Alias { name, spec } => (name, spec),
        _ => (name, spec),
    }
}

/// The version that a registry has for a spec.
pub async fn version(
    registry: &Registry,
    options: &Options,
    name: &str,
    spec: &Spec,
) -> Result<String, Box<ResolveError>> {
    let before = options.before.filter(|_| !options::is_excepted(&options.before_exclude, name));
    let failed =
        |failure: FetchFailure| Box::new(ResolveError::Fetch { name: name.to_owned(), failure, chain: Vec::new() });
    let packument = registry.packument(name, before.is_some()).await.map_err(failed)?;
    let mut picker = Picker::new(&options.node_version, &options.npm_version, before, &options.default_tag);
    match picker.pick(&packument, spec) {
        Ok(index) => Ok(packument.version(index).to_owned()),
        Err(_) => Err(Box::new(ResolveError::NoMatchingVersion {
            name: name.to_owned(),
            spec: spec.raw.to_string(),
            chain: Vec::new(),
            nearest: Picker::nearest(&packument, spec),
        })),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::folder;

    #[test]
    fn a_folder_belongs_to_packages_in_any_order() {
        let of = |packages: &[&str]| {
            let packages: Vec<String> = packages.iter().map(|package| (*package).to_owned()).collect();
            folder(Path::new("cache"), &packages)
        };
        assert_eq!(of(&["a", "b@1"]), of(&["b@1", "a"]));
        assert_ne!(of(&["a", "b@1"]), of(&["a"]));
        // npm's own name for it.
        assert_eq!(of(&["cowsay"]).file_name().and_then(|name| name.to_str()), Some("8f497369b2d6166e"));
    }
}
