//! Patches of packages: unified diffs, applied with no fuzz at all (`patch.js` of arborist, on `diff` 8).
//!
//! A patch is the project's own, but what it is applied to isn't: it stays inside the package's folder, follows no link out of
//! it, and fails loudly where the text has drifted.

mod apply;
mod parse;

use std::fs;
use std::path::{Component, Path, PathBuf};

pub use parse::{FilePatch, parse};

/// Why a package could not be patched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatchError {
    /// npm's code.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

fn failed(message: String) -> PatchError {
    PatchError { code: "EPATCHFAILED", message }
}

/// Applies a patch to the package in a folder, whose files have to be its own.
pub fn apply_to(folder: &Path, patch: &str) -> Result<(), PatchError> {
    let files = parse(patch).map_err(|reason| failed(format!("failed to apply patch: {reason}")))?;
    for file in files {
        if !file.hunks.is_empty() || !is_nothing(file.old.as_deref()) || !is_nothing(file.new.as_deref()) {
            apply_one(folder, &file)?;
        }
    }
    Ok(())
}

fn apply_one(folder: &Path, patch: &FilePatch) -> Result<(), PatchError> {
    let goes = is_nothing(patch.new.as_deref());
    let name = if goes { &patch.old } else { &patch.new };
    let name = without_prefix(name.as_deref().unwrap_or_default());
    let target = inside(folder, name)?;
    let written =
        |result: std::io::Result<()>| result.map_err(|error| failed(format!("failed to apply patch: {error}")));
    let applied = |source: &str| {
        apply::apply(source, &patch.hunks).ok_or_else(|| failed(format!("patch could not be applied to {name}")))
    };
    if !goes && is_nothing(patch.old.as_deref()) {
        if fs::symlink_metadata(&target).is_ok() {
            return Err(failed(format!("patch adds a file that already exists: {name}")));
        }
        let content = applied("")?;
        written(fs::create_dir_all(target.parent().unwrap_or(folder)))?;
        return written(fs::write(&target, content));
    }
    let source = fs::read(&target).map_err(|_| {
        let to_delete = if goes { " to delete" } else { "" };
        failed(format!("patch target{to_delete} is missing: {name}"))
    })?;
    let content = applied(&String::from_utf8_lossy(&source))?;
    // Writing keeps the file's mode.
    written(if goes { fs::remove_file(&target) } else { fs::write(&target, content) })
}

/// Where a path of a patch leads, if that is in the package and no link is on the way.
fn inside(folder: &Path, name: &str) -> Result<PathBuf, PatchError> {
    let unsafe_path =
        || PatchError { code: "EPATCHUNSAFE", message: format!("patch path escapes the package directory: {name}") };
    let mut steps: Vec<&std::ffi::OsStr> = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(step) => steps.push(step),
            Component::CurDir => {}
            Component::ParentDir if !steps.is_empty() => {
                steps.pop();
            }
            _ => return Err(unsafe_path()),
        }
    }
    let mut path = folder.to_owned();
    for step in &steps {
        path.push(step);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(unsafe_path());
        }
    }
    if steps.is_empty() { Err(unsafe_path()) } else { Ok(path) }
}

fn without_prefix(name: &str) -> &str {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// Whether a diff means that there is no file.
fn is_nothing(name: Option<&str>) -> bool {
    name.is_none_or(|name| matches!(name, "" | "/dev/null" | ".dev/null") || name.ends_with("/.dev/null"))
}

#[cfg(test)]
mod tests;
