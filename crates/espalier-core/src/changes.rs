//! What a user asks to change in a project, beyond what its package.json says (`npm install <spec>`, `npm uninstall`,
//! `npm update`), and what came of it.
//!
//! What they do to the text of a package.json is [`crate::manifest_edit`]'s business.

/// The changes that the user asks for.
#[derive(Clone, Debug)]
pub struct Changes {
    /// Specs as they are typed: `react`, `react@18`, `npm:x@1`, `./folder`, `user/repository`.
    pub add: Vec<String>,
    /// Names of dependencies to remove.
    pub remove: Vec<String>,
    /// The dependencies to update.
    pub update: Update,
    /// The block to put additions into; by default the one that has them already, else `dependencies`.
    pub save_type: Option<SaveType>,
    /// `--save-bundle`: additions join `bundleDependencies`.
    pub save_bundle: bool,
    /// What is put before a version that is saved: `^`, `~`, or nothing (`--save-exact`).
    pub save_prefix: String,
    /// Names of the workspaces to change; without any, the root is.
    pub workspaces: Vec<String>,
    /// `--include-workspace-root`: the root is changed along with them.
    pub include_root: bool,
}

/// The dependencies to update, within the ranges of the package.json files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Nothing.
    #[default]
    None,
    /// Everything: the lock is made anew.
    All,
    /// The packages of these names, wherever they are.
    Names(Vec<String>),
    /// The packages that the tree holds more than once. An older version in the tree is preferred to a newer one (`npm dedupe`).
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

/// A package.json as the changes leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedManifest {
    /// Its folder, relative to the project; empty for the root.
    pub folder: String,
    /// Its whole text.
    pub text: String,
}
