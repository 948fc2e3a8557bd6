//! Determines whether `pkg/dist` is up to date, by a fingerprint of all of its inputs.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{Profile, dist, wasm_file};
use crate::toolchain::root;

/// The files and folders that the build depends on.
const INPUTS: [&str; 14] = [
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "crates/espalier-core",
    "crates/espalier-package",
    "crates/espalier-registry",
    "crates/espalier-wasm",
    "crates/xtask/src/wasm.rs",
    "crates/xtask/src/wasm/callees.rs",
    "crates/xtask/src/wasm/order.rs",
    "package-lock.json",
    "pkg/src",
    "pkg/tsconfig.json",
    "rust-toolchain.toml",
];

/// A number that changes when an input does.
pub fn fingerprint(profile: Profile) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    (profile == Profile::Release).hash(&mut hasher);
    for input in INPUTS {
        hash(&root().join(input), &mut hasher)?;
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

/// Whether the last build had this fingerprint.
pub fn is_fresh(fingerprint: &str) -> bool {
    wasm_file().exists() && fs::read_to_string(stamp()).is_ok_and(|last| last == fingerprint)
}

/// Records the fingerprint of a complete build.
pub fn remember(fingerprint: &str) -> Result<()> {
    Ok(fs::write(stamp(), fingerprint)?)
}

fn stamp() -> PathBuf {
    dist().join(".stamp")
}

fn hash(path: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    path.hash(hasher);
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        entries.sort();
        entries.iter().try_for_each(|entry| hash(entry, hasher))
    } else {
        fs::read(path).with_context(|| format!("cannot read {}", path.display()))?.hash(hasher);
        Ok(())
    }
}
