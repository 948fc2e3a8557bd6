//! `patchedDependencies`, as far as installing goes: which packages a lock has patched, and whether those on disk are.
//!
//! Which patch is for which package was decided when the lock was made.

use std::fs;
use std::path::Path;

use espalier_package::noted::Noted;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::integrity::Integrity;
use crate::patch::PatchError;
use crate::plan::inspect::{Condition, Findings};

/// A patch, as the lock names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Patched {
    path: String,
    integrity: String,
}

/// The patched packages, by location.
#[derive(Debug, Default)]
pub(super) struct Patches(FxHashMap<String, Patched>);

#[derive(Deserialize)]
struct Lockfile {
    #[serde(default)]
    packages: IndexMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    patched: Option<Patched>,
}

impl Patches {
    /// Those of a lockfile. Most have none, and aren't read for it.
    pub fn of(lockfile: &str) -> Self {
        if !lockfile.contains("\"patched\"") {
            return Self::default();
        }
        let packages = serde_json::from_str::<Lockfile>(lockfile).map(|lockfile| lockfile.packages);
        let patched = packages.unwrap_or_default().into_iter();
        Self(patched.filter_map(|(location, entry)| Some((location, entry.patched?))).collect())
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
            let path = &patch.path;
            let error = |code, message| PatchError { code, message };
            let content = fs::read(project.join(path))
                .map_err(|_| error("EPATCHNOTFOUND", format!("patch file not found: {path}")))?;
            if Integrity::of(&content).to_string() != patch.integrity {
                let message = format!("patch file {path} does not match the recorded integrity");
                return Err(error("EPATCHINTEGRITY", message));
            }
            Ok((location.to_owned(), String::from_utf8_lossy(&content).into_owned()))
        };
        patched.map(read).collect()
    }
}
