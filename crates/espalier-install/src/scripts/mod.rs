//! Lifecycle scripts: which of them exist, which may run, their order and their environment.
//!
//! The project's own scripts are the user's code and run when they are asked for. The scripts of
//! dependencies are anyone's code and run during an installation, so they need the project's
//! permission: npm 12's `allowScripts` ([`policy`]), which `approve` writes ([`approvals`]). Both
//! kinds have the same environment ([`environment`], [`shell`]).

pub mod approvals;
pub mod environment;
pub mod identity;
pub mod lifecycle;
mod ownership;
pub mod package;
pub mod policy;
pub mod process;
pub mod shell;
