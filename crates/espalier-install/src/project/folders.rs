//! Finds the folders of a project that hold a package.json. They are the candidates for its
//! workspaces.

use std::fs;
use std::path::Path;

use espalier_core::{FetchFailure, FetchFailureKind, WorkspaceFolders};

use super::{MANIFEST, ProjectFolder};

impl ProjectFolder {
    /// The folders, sorted, without the root. The walk skips `node_modules` and `.git`, which no
    /// workspace can be in. It lists links to folders but doesn't follow them, so that it ends.
    /// Blocks.
    pub fn package_folders(&self) -> Result<Vec<String>, FetchFailure> {
        let workspaces = WorkspaceFolders::of(&self.manifest().unwrap_or_default());
        let mut found = Vec::new();
        let mut open = vec![String::new()];
        while let Some(folder) = open.pop() {
            let entries = match fs::read_dir(self.path().join(&folder)) {
                Ok(entries) => entries,
                // An unreadable folder can't be a workspace.
                Err(_) if !folder.is_empty() => continue,
                Err(error) => return Err(super::failure(FetchFailureKind::Invalid, self.path(), &error)),
            };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let kind = entry.file_type();
                let linked = kind.as_ref().is_ok_and(fs::FileType::is_symlink);
                let is_folder = kind.is_ok_and(|kind| kind.is_dir()) || linked && entry.path().is_dir();
                if !is_folder || matches!(name.as_str(), "node_modules" | ".git") {
                    continue;
                }
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                if workspaces.may_be(&path) && has_manifest(&entry.path()) {
                    found.push(path.clone());
                }
                if !linked && workspaces.may_be_below(&path) {
                    open.push(path);
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The files and folders below a folder of the project. Blocks.
    pub fn files_below(&self, folder: &str) -> Vec<String> {
        files_below(&self.path().join(folder))
    }
}

/// The files and folders below a folder, as relative paths with forward slashes. Links aren't
/// followed. Unreadable entries are skipped. Blocks.
pub(crate) fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(within) = open.pop() {
        for entry in fs::read_dir(folder.join(&within)).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if within.is_empty() { name } else { format!("{within}/{name}") };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

fn has_manifest(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file()
}
