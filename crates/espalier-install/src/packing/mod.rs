//! Packs a folder into a tarball, as npm does with git dependencies and, with `--install-links`,
//! with folders (`dir.js` of pacote).
//!
//! The archive isn't compressed, because it goes straight into the store. [`prepare`] decides which
//! scripts run before.

mod list;
pub mod prepare;
mod rules;

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use espalier_core::manifest_edit;
use serde_json::Value;
use tar::{Builder, EntryType, Header};

/// The maximum size of a folder, which is also the maximum size of an unpacked archive.
const LONGEST: u64 = 4 << 30;

/// Packs a folder.
pub fn pack(folder: &Path) -> io::Result<Vec<u8>> {
    let manifest = list::manifest(folder);
    let bins = espalier_core::normalized_bin(
        manifest.get("bin").cloned().unwrap_or_default(),
        manifest.get("name").and_then(Value::as_str),
    );
    let mut archive = Builder::new(Vec::new());
    let mut left = LONGEST;
    for path in list::files_of(folder)? {
        let (mut content, mode) = read(&folder.join(&path), &mut left)?;
        if path == "package.json" && manifest.contains_key("patchedDependencies") {
            content = without_patches(&content);
        }
        // npm drops the first component of the path before it checks whether the file is a command.
        let short = path.split_once('/').map_or(path.as_str(), |(_, rest)| rest);
        let is_bin = bins.as_object().is_some_and(|bins| bins.values().any(|bin| bin.as_str() == Some(short)));
        let mode = if is_bin { mode | 0o111 } else { mode };
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode((mode | 0o600) & !0o022);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, format!("package/{path}"), content.as_slice())?;
    }
    archive.into_inner()
}

fn read(path: &Path, left: &mut u64) -> io::Result<(Vec<u8>, u32)> {
    let file = fs::File::open(path)?;
    let found = file.metadata()?;
    let mut content = Vec::new();
    let length = file.take(*left + 1).read_to_end(&mut content)? as u64;
    *left = left.checked_sub(length).ok_or_else(|| io::Error::other("it contains more than 4 GB"))?;
    Ok((content, mode_of(&found)))
}

#[cfg(unix)]
fn mode_of(found: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> u32 {
    0o644
}

/// Removes `patchedDependencies`, because patches belong to the project and aren't published.
fn without_patches(manifest: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(manifest);
    let stripped = manifest_edit::with_field(&text, "patchedDependencies", None);
    stripped.ok().flatten().unwrap_or_else(|| text.into_owned()).into_bytes()
}

#[cfg(test)]
mod tests;
