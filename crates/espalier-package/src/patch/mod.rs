//! Patches of packages (`patchedDependencies`): unified diffs, applied without fuzz (`patch.js` of
//! arborist, on `diff` 8).
//!
//! A patch belongs to the project, but the package doesn't. So a patch stays inside the package,
//! follows no link out of it, and fails if the text differs. The resolution decides which patch is
//! for which package. Only [`Files`] knows where the files are.

mod apply;
mod parse;

use espalier_core::graph::PatchFile;
use espalier_core::integrity_of;
use parse::FilePatch;

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

/// The text of a patch, from the content of its file.
pub fn text(file: &PatchFile, content: Option<&[u8]>) -> Result<String, PatchError> {
    let PatchFile { path, integrity } = file;
    let content = content
        .ok_or_else(|| PatchError { code: "EPATCHNOTFOUND", message: format!("patch file not found: {path}") })?;
    if integrity_of(content) != *integrity {
        let message = format!("patch file {path} does not match the recorded integrity");
        return Err(PatchError { code: "EPATCHINTEGRITY", message });
    }
    Ok(String::from_utf8_lossy(content).into_owned())
}

/// The files of a package. Paths are relative to it and have neither `.` nor `..` in them.
pub trait Files {
    /// Whether no link is on the way to this path.
    fn is_inside(&self, path: &str) -> bool;
    /// Whether the path exists.
    fn exists(&self, path: &str) -> bool;
    /// The content of a file, if it exists.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
    /// Writes a file. An existing file keeps its mode. The error says what went wrong.
    fn write(&mut self, path: &str, content: String) -> Result<(), String>;
    /// Removes a file.
    fn remove(&mut self, path: &str) -> Result<(), String>;
}

/// The changes to a package.
#[derive(Debug)]
pub struct Patch(Vec<FilePatch>);

impl Patch {
    /// Parses the text of a patch.
    pub fn read(text: &str) -> Result<Self, PatchError> {
        let files = parse::parse(text).map_err(|reason| failed(format!("failed to apply patch: {reason}")))?;
        let does_anything = |file: &FilePatch| !file.hunks.is_empty() || !is_added(file) || !is_removed(file);
        Ok(Self(files.into_iter().filter(does_anything).collect()))
    }

    /// The paths of the changed files.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|file| target(name(file)).ok())
    }

    /// Applies the changes, file by file.
    pub fn apply(&self, files: &mut impl Files) -> Result<(), PatchError> {
        self.0.iter().try_for_each(|file| apply_one(files, file))
    }
}

fn apply_one(files: &mut impl Files, patch: &FilePatch) -> Result<(), PatchError> {
    let name = name(patch);
    let place = target(name)?;
    if !files.is_inside(&place) {
        return Err(escapes(name));
    }
    let written =
        |result: Result<(), String>| result.map_err(|error| failed(format!("failed to apply patch: {error}")));
    let applied = |source: &str| {
        apply::apply(source, &patch.hunks).ok_or_else(|| failed(format!("patch could not be applied to {name}")))
    };
    let goes = is_removed(patch);
    if !goes && is_added(patch) {
        if files.exists(&place) {
            return Err(failed(format!("patch adds a file that already exists: {name}")));
        }
        return written(files.write(&place, applied("")?));
    }
    let source = files.read(&place).ok_or_else(|| {
        let to_delete = if goes { " to delete" } else { "" };
        failed(format!("patch target{to_delete} is missing: {name}"))
    })?;
    let content = applied(&String::from_utf8_lossy(&source))?;
    written(if goes { files.remove(&place) } else { files.write(&place, content) })
}

/// The name of the file that a part of a patch changes.
fn name(patch: &FilePatch) -> &str {
    let name = if is_removed(patch) { &patch.old } else { &patch.new };
    let name = name.as_deref().unwrap_or_default();
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// The path of that file, if it is in the package.
fn target(name: &str) -> Result<String, PatchError> {
    let mut steps: Vec<&str> = Vec::new();
    if name.starts_with('/') {
        return Err(escapes(name));
    }
    for step in name.split('/') {
        match step {
            ".." if steps.pop().is_none() => return Err(escapes(name)),
            "" | "." | ".." => {}
            step => steps.push(step),
        }
    }
    if steps.is_empty() { Err(escapes(name)) } else { Ok(steps.join("/")) }
}

fn escapes(name: &str) -> PatchError {
    PatchError { code: "EPATCHUNSAFE", message: format!("patch path escapes the package directory: {name}") }
}

fn is_added(patch: &FilePatch) -> bool {
    is_nothing(patch.old.as_deref())
}

fn is_removed(patch: &FilePatch) -> bool {
    is_nothing(patch.new.as_deref())
}

/// Whether a diff states that the file doesn't exist.
fn is_nothing(name: Option<&str>) -> bool {
    name.is_none_or(|name| matches!(name, "" | "/dev/null" | ".dev/null") || name.ends_with("/.dev/null"))
}

#[cfg(test)]
mod tests;
