//! The project's files as a map from path to text, in place of a file system.
//!
//! Paths are relative to the project, with forward slashes and without a leading `./`.

use espalier_core::order::sort_by_key;
use espalier_core::{Answer, InstalledPackage, NodeModules, Request};

use crate::pairs::Pairs;

/// The files from the caller.
pub struct Files(Pairs);

impl Files {
    /// `files` maps path to text.
    pub fn new(files: Pairs) -> Self {
        Self(files)
    }

    /// The answer to a request for files.
    ///
    /// # Panics
    ///
    /// If the request isn't for files.
    pub fn answer(&self, request: &Request) -> Answer {
        match request {
            Request::Folder { path } => Answer::Folder(self.manifest(path)),
            Request::File { path } => Answer::File(self.text(path).map(String::into_bytes)),
            Request::Files { folder } => Answer::Files(self.below(folder)),
            Request::PackageFolders => Answer::PackageFolders(self.package_folders()),
            _ => unreachable!("the network answers all other requests"),
        }
    }

    /// The text of the package.json in `folder`.
    fn manifest(&self, folder: &str) -> Option<String> {
        self.text(&format!("{folder}/package.json"))
    }

    /// The text of a file.
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).map(str::to_owned)
    }

    /// The paths of all files below a folder, relative to it.
    fn below(&self, folder: &str) -> Vec<String> {
        let inside = |(path, _): (&str, &str)| match folder {
            "" => Some(path.to_owned()),
            _ => path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned),
        };
        self.0.iter().filter_map(inside).collect()
    }

    /// All folders below the project with a package.json, except in `node_modules`.
    fn package_folders(&self) -> Vec<String> {
        let folders = self.0.iter().filter_map(|(path, _)| path.strip_suffix("/package.json"));
        let inside = |folder: &&str| !folder.split('/').any(|part| part == "node_modules" || part == "..");
        folders.filter(inside).map(str::to_owned).collect()
    }
}

/// The installed packages according to the files: the hidden lockfile, which counts as up to date,
/// or the packages in `node_modules`, level by level.
pub fn installed(files: &Pairs) -> NodeModules {
    if let Some(text) = files.get("node_modules/.package-lock.json") {
        return NodeModules { hidden_lockfile: Some(text.to_owned()), packages: Vec::new() };
    }
    let manifests = files.iter().filter_map(|(path, text)| Some((path.strip_suffix("/package.json")?, text)));
    let mut packages: Vec<(usize, InstalledPackage)> = manifests
        .filter(|(folder, _)| is_installed(folder))
        .map(|(folder, text)| {
            let package = InstalledPackage { path: folder.to_owned(), target: None, manifest: Some(text.to_owned()) };
            (folder.matches("node_modules/").count(), package)
        })
        .collect();
    sort_by_key(&mut packages, |(depth, _)| *depth);
    NodeModules { hidden_lockfile: None, packages: packages.into_iter().map(|(_, package)| package).collect() }
}

/// Whether a folder consists of `node_modules/<name>` only.
fn is_installed(folder: &str) -> bool {
    let Some(rest) = folder.strip_prefix("node_modules/") else { return false };
    rest.split("/node_modules/").all(|name| {
        let (scope, base) = name.split_once('/').unwrap_or(("", name));
        let scoped = scope.is_empty() || scope.starts_with('@');
        scoped && !base.is_empty() && !base.contains('/') && !base.starts_with(['.', '@'])
    })
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
    fn nested_packages_are_installed_after_those_above() {
        let paths = ["node_modules/a/node_modules/@s/b", "node_modules/a", "node_modules/a/lib", "node_modules/z"];
        let files = paths.iter().map(|path| (format!("{path}/package.json"), "{}".to_owned())).collect();
        let found: Vec<String> = installed(&files).packages.into_iter().map(|package| package.path).collect();
        assert_eq!(found, ["node_modules/a", "node_modules/z", "node_modules/a/node_modules/@s/b"]);
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
