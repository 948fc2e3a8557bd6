//! A project whose package.json is changed, from the start to the end.

use std::rc::Rc;

use super::sources::Sources;
use crate::error::ResolveError;
use crate::manifest::Manifest;
use crate::manifest_edit::Edit;
use crate::names::Name;
use crate::tree::{NodeId, Tree};
use crate::vocabulary::Vocabulary;

/// A project whose package.json is changed.
pub(super) struct Edited {
    pub(super) node: NodeId,
    pub(super) edit: Edit,
    /// The added names, in order.
    pub(super) added: Vec<Name>,
}

impl Edited {
    /// Begins to edit the package.json of the root, whose text is known, or of a workspace.
    pub(super) async fn begin(
        node: NodeId,
        root_text: &str,
        tree: &Tree,
        sources: &mut Sources,
    ) -> Result<Self, ResolveError> {
        if node == tree.root {
            return Ok(Self { node, edit: Edit::of(root_text)?, added: Vec::new() });
        }
        let folder = tree[node].path.as_deref().unwrap_or_default().to_owned();
        let text = sources.folder_manifest(&folder).await;
        Ok(Self { node, edit: Edit::of(text.as_deref().unwrap_or("{}"))?, added: Vec::new() })
    }

    /// Gives the project's node the edited dependencies.
    pub(super) fn enter(&self, tree: &mut Tree, vocabulary: &Vocabulary) {
        let mut manifest = Manifest::from_changed(&self.edit.value(), vocabulary);
        if manifest.bin_folder.is_some() {
            let listed = tree[self.node].manifest.field("bin").cloned();
            manifest.set_field("bin", listed.unwrap_or_default());
        }
        tree.set_manifest(self.node, Rc::new(manifest));
    }
}
