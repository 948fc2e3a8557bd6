//! `patchedDependencies`, as far as installing goes: which packages a lock has patched, and whether those on disk are.
//!
//! Which patch is for which package was decided when the lock was made.

use std::fs;
use std::path::Path;

use espalier_package::noted::Noted;
use espalier_package::patch::{PatchError, Patched, patched};
use rustc_hash::FxHashMap;

use crate::plan::inspect::{Condition, Findings};

/// The patched packages, by location.
#[derive(Debug, Default)]
pub(super) struct Patches(FxHashMap<String, Patched>);

impl Patches {
    /// Those of a lockfile.
    pub fn of(lockfile: &str) -> Self {
        Self(patched(lockfile))
    }

    /// Finds wrong what is not patched as it should be: by npm's note, or, where there is none, all that shall be patched,
    /// because the store doesn't know patched files.
    pub fn judge(&self, findings: &mut Findings, installed: Option<&Noted>) {
        for (location, condition) in &mut findings.conditions {
            if *condition != Condition::Right {
                continue;
            }
            let wanted = self.0.get(location).map(|patch| patch.integrity.as_str());
            let is_right = match installed {
                Some(installed) => wanted == installed.get(location).and_then(|entry| entry.patch()),
                None => wanted.is_none(),
            };
            if !is_right {
                *condition = Condition::Wrong("it is not patched as it should be".to_owned());
            }
        }
    }

    /// The texts of the patches for what is going to be placed, checked against the lock.
    pub fn read<'a>(
        &self,
        project: &Path,
        locations: impl Iterator<Item = &'a str>,
    ) -> Result<FxHashMap<String, String>, PatchError> {
        let patched = locations.filter_map(|location| Some((location, self.0.get(location)?)));
        let read = |(location, patch): (&str, &Patched)| {
            let content = fs::read(project.join(&patch.path)).ok();
            Ok((location.to_owned(), patch.text(content.as_deref())?))
        };
        patched.map(read).collect()
    }
}
