//! Reads the texts of patches (`patchedDependencies`). The resolution has decided which package
//! each patch is for.

use std::fs;
use std::path::Path;

use espalier_core::graph::PatchFile;
use espalier_package::patch::{self, PatchError};
use rustc_hash::FxHashMap;

use crate::plan::Plan;
use crate::plan::layout::Layout;

/// The patches of the packages to place, by location, compared with the lock.
pub(super) fn read(project: &Path, layout: &Layout, plan: &Plan) -> Result<FxHashMap<String, String>, PatchError> {
    let placed = plan.place.iter().filter_map(|placement| layout.packages.get_key_value(&placement.location));
    let patched = placed.filter_map(|(location, package)| Some((location, package.patch.as_ref()?)));
    let read = |(location, file): (&String, &PatchFile)| {
        let content = fs::read(project.join(&file.path)).ok();
        Ok((location.clone(), patch::text(file, content.as_deref())?))
    };
    patched.map(read).collect()
}
