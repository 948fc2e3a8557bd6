//! Patches of packages (`patchedDependencies`): unified diffs, applied with no fuzz at all (`patch.js` of arborist, on `diff` 8).
//!
//! A patch is the project's own, but what it is applied to isn't: it stays inside the package, follows no link out of it, and fails
//! loudly where the text has drifted. Which patch is for which package was decided when the lock was made, and where
//! the package's files are is known to [`Files`] only.

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

/// A patch's text, of what its file holds.
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

/// The files of one package. Paths are relative to it, with neither `.` nor `..` in them.
pub trait Files {
    /// Whether a path leads to where it says: through no link.
    fn is_inside(&self, path: &str) -> bool;
    /// Whether there is anything.
    fn exists(&self, path: &str) -> bool;
    /// A file's content, if there is one.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
    /// Writes a file, which keeps its mode if it was there. An error says what went wrong.
    fn write(&mut self, path: &str, content: String) -> Result<(), String>;
    /// Removes a file.
    fn remove(&mut self, path: &str) -> Result<(), String>;
}

/// What is done to a package.
#[derive(Debug)]
pub struct Patch(Vec<FilePatch>);

impl Patch {
    /// Reads a patch's text.
    pub fn read(text: &str) -> Result<Self, PatchError> {
        let files = parse::parse(text).map_err(|reason| failed(format!("failed to apply patch: {reason}")))?;
        let does_anything = |file: &FilePatch| !file.hunks.is_empty() || !is_added(file) || !is_removed(file);
        Ok(Self(files.into_iter().filter(does_anything).collect()))
    }

    /// The files that it is about.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|file| target(name(file)).ok())
    }

    /// Applies it, file by file.
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

/// The name that a part of a patch is about.
fn name(patch: &FilePatch) -> &str {
    let name = if is_removed(patch) { &patch.old } else { &patch.new };
    let name = name.as_deref().unwrap_or_default();
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// Where that leads, if it is in the package.
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

/// Whether a diff means that there is no file.
fn is_nothing(name: Option<&str>) -> bool {
    name.is_none_or(|name| matches!(name, "" | "/dev/null" | ".dev/null") || name.ends_with("/.dev/null"))
}

#[cfg(test)]
mod tests;
