//! The project's files, as a map from path to text: what stands in for a file system.
//!
//! Paths are relative to the project with forward slashes and without a leading `./`.

use std::collections::BTreeMap;

/// The files that the caller gave.
pub struct Files(BTreeMap<String, String>);

impl Files {
    /// `files` maps path to text.
    pub fn new(files: BTreeMap<String, String>) -> Self {
        Self(files)
    }

    /// The text of the package.json in `folder`.
    pub fn manifest(&self, folder: &str) -> Option<String> {
        self.0.get(&format!("{folder}/package.json")).cloned()
    }

    /// All folders below the project that have a package.json, `node_modules` left out.
    pub fn package_folders(&self) -> Vec<String> {
        let folders = self.0.keys().filter_map(|path| path.strip_suffix("/package.json"));
        let inside = |folder: &&str| !folder.split('/').any(|part| part == "node_modules" || part == "..");
        folders.filter(inside).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let paths = ["package.json", "packages/ui/package.json", "../shared/package.json", "packages/ui/readme.md"];
        let installed = "packages/ui/node_modules/a/package.json";
        Files::new(
            paths.iter().chain([&installed]).map(|path| ((*path).to_owned(), format!("{path}'s text"))).collect(),
        )
    }

    #[test]
    fn workspaces_are_looked_for_inside_the_project_only() {
        assert_eq!(files().package_folders(), ["packages/ui"]);
    }

    #[test]
    fn a_folder_is_found_by_its_package_json() {
        assert_eq!(files().manifest("../shared").as_deref(), Some("../shared/package.json's text"));
        assert_eq!(files().manifest("packages"), None);
    }
}
