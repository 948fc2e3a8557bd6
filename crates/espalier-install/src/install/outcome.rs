//! The results of an installation: what was done, or why it failed.

use std::path::PathBuf;
use std::time::Duration;

use espalier_core::Warning;
use espalier_package::patch::PatchError;
use espalier_package::trust::Refusal;

use super::scripts::ScriptFailure;
use crate::lock::{self, LockError};
use crate::plan::Plan;
use crate::plan::layout::LayoutError;
use crate::project::Written;
use crate::reify::{ReifyError, Report};
use crate::scripts::policy::PolicyError;
use crate::store::StoreError;

/// The result of a run. In a dry run, nothing was changed.
#[derive(Debug)]
pub struct Done {
    /// Warnings about the tree.
    pub warnings: Vec<Warning>,
    /// The lockfile and what happened to it. `ci` doesn't write it.
    pub lockfile: Option<(PathBuf, Written)>,
    /// What was done.
    pub report: Report,
    /// The plan, in a dry run.
    pub plan: Option<Plan>,
    /// A message about the store.
    pub note: Option<String>,
    /// The time from the first file read to the last byte written.
    pub elapsed: Duration,
    /// The parts of that time, beside those that the activity counts.
    pub phases: Phases,
}

/// The parts of an installation, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// The parts of the resolution.
    pub resolution: lock::Phases,
    /// Comparing the disk with the target state.
    pub planning: Duration,
    /// Moving away, fetching, unpacking and placing.
    pub placing: Duration,
    /// The install scripts of dependencies.
    pub scripts: Duration,
    /// Writing the lockfiles, and the project's own scripts.
    pub finishing: Duration,
}

/// Why an installation failed. The project is as it was before, unless one of its own scripts or
/// the last step failed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The resolution failed.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// `ci` needs a lockfile, and there is none.
    #[error("`ci` needs a package-lock.json")]
    NoLockfile,
    /// `ci` needs a lockfile, and the one that exists can't be read.
    #[error("`ci` needs a package-lock.json, and the one that exists is not JSON")]
    BrokenLockfile,
    /// `ci` found a lockfile that doesn't match.
    #[error("package.json and package-lock.json are not in sync")]
    Disagreement {
        /// The differences, in npm's words.
        differences: Vec<String>,
    },
    /// The lockfile can't be installed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// It names a package that must not be fetched.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Packages have unreviewed scripts, and the settings make that an error.
    #[error("{} with install scripts {} not covered by allowScripts", counted(packages.len()), if packages.len() == 1 { "is" } else { "are" })]
    Unreviewed {
        /// The packages, with their versions.
        packages: Vec<String>,
    },
    /// A package can't be patched.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// A workspace leads out of the project.
    #[error("{} is outside the project, where nothing may be installed", .0.display())]
    Outside(PathBuf),
    /// The disk or the network failed.
    #[error(transparent)]
    Reify(#[from] ReifyError),
    /// `allowScripts` can't be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A script failed.
    #[error(transparent)]
    Script(Box<ScriptFailure>),
}

fn counted(packages: usize) -> String {
    if packages == 1 { "1 package".to_owned() } else { format!("{packages} packages") }
}

impl From<ScriptFailure> for InstallError {
    fn from(failure: ScriptFailure) -> Self {
        Self::Script(Box::new(failure))
    }
}

impl From<StoreError> for InstallError {
    fn from(error: StoreError) -> Self {
        Self::Reify(ReifyError::Store(error))
    }
}
