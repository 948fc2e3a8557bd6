//! The changes to a project that a user asks for (`npm install <spec>`, `npm uninstall`, `npm
//! update`), and the resulting files.
//!
//! [`crate::manifest_edit`] changes the text of a package.json.

/// The changes that the user asks for.
#[derive(Clone, Debug)]
pub struct Changes {
    /// Specs as typed: `react`, `react@18`, `npm:x@1`, `./folder`, `user/repository`.
    pub add: Vec<String>,
    /// Names of dependencies to remove.
    pub remove: Vec<String>,
    /// The dependencies to update.
    pub update: Update,
    /// The block for additions. By default, the block that has the dependency already, otherwise
    /// `dependencies`.
    pub save_type: Option<SaveType>,
    /// `--save-bundle`: additions join `bundleDependencies`.
    pub save_bundle: bool,
    /// The prefix of a saved version: `^`, `~`, or nothing (`--save-exact`).
    pub save_prefix: String,
    /// The names of the workspaces to change. If empty, the root is changed.
    pub workspaces: Vec<String>,
    /// `--include-workspace-root`: also changes the root.
    pub include_root: bool,
}

/// The dependencies to update, within the ranges of the package.json files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Nothing.
    #[default]
    None,
    /// Everything. The lock is created anew.
    All,
    /// The packages with these names, wherever they are.
    Names(Vec<String>),
    /// The packages that the tree holds more than once. An older version in the tree is preferred
    /// to a newer one (`npm dedupe`).
    Duplicates,
}

/// The block that a dependency is saved in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveType {
    /// `dependencies`.
    Prod,
    /// `devDependencies`.
    Dev,
    /// `optionalDependencies`.
    Optional,
    /// `peerDependencies`.
    Peer,
    /// `peerDependencies`, marked as optional in `peerDependenciesMeta`.
    PeerOptional,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            add: Vec::new(),
            remove: Vec::new(),
            update: Update::None,
            save_type: None,
            save_bundle: false,
            save_prefix: "^".into(),
            workspaces: Vec::new(),
            include_root: false,
        }
    }
}

impl Changes {
    /// Whether the user asks for any change.
    pub fn any(&self) -> bool {
        !self.add.is_empty() || !self.remove.is_empty() || self.update != Update::None
    }

    /// Whether every dependency is updated.
    pub fn updates_all(&self) -> bool {
        self.update == Update::All
    }
}

/// A changed package.json.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedManifest {
    /// Its folder, relative to the project; empty for the root.
    pub folder: String,
    /// Its complete text.
    pub text: String,
}
