//! Applies a patch to the package in a folder, whose files must not be shared. `espalier-package`
//! parses the patch and decides which files it may change.

use std::fs;
use std::path::{Component, Path};

use espalier_package::patch::{Files, Patch, PatchError};

/// Applies the text of a patch.
pub fn apply_to(folder: &Path, patch: &str) -> Result<(), PatchError> {
    Patch::read(patch)?.apply(&mut Folder(folder))
}

struct Folder<'a>(&'a Path);

impl Files for Folder<'_> {
    fn is_inside(&self, path: &str) -> bool {
        let mut at = self.0.to_owned();
        Path::new(path).components().all(|component| {
            at.push(component);
            let is_link = fs::symlink_metadata(&at).is_ok_and(|found| found.is_symlink());
            matches!(component, Component::Normal(_)) && !is_link
        })
    }

    fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.0.join(path)).is_ok()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.0.join(path)).ok()
    }

    fn write(&mut self, path: &str, content: String) -> Result<(), String> {
        let target = self.0.join(path);
        let above = fs::create_dir_all(target.parent().unwrap_or(self.0));
        above.and_then(|()| fs::write(&target, content)).map_err(|error| error.to_string())
    }

    fn remove(&mut self, path: &str) -> Result<(), String> {
        fs::remove_file(self.0.join(path)).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
