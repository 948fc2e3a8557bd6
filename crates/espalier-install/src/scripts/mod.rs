//! Lifecycle scripts: which there are, which may run, in which order, and what they find around them.
//!
//! A script of the project itself is the user's own and runs when it is asked for. One that comes with a dependency runs
//! during an installation and is anyone's code, so it needs a word of the project: npm 12's `allowScripts` ([`policy`]),
//! which `approve` writes ([`approvals`]). Either kind runs in the same surroundings ([`environment`], [`shell`]).

pub mod approvals;
pub mod environment;
pub mod identity;
pub mod lifecycle;
pub mod package;
pub mod policy;
pub mod process;
pub mod shell;
