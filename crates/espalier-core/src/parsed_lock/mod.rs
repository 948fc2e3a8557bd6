//! A lockfile as it was parsed: of any version, with or without conflict markers. `resolve/locked.rs`
//! makes a tree of it.

mod conflict;
mod entries;
mod old;
mod read;
mod shared;
mod text;

pub use entries::{LockEntries, LockEntry};
pub use old::name_and_version_of_tarball;
pub use read::{DEFAULT_VERSION, NEWEST_VERSION, ParsedLock, version};
pub use shared::LockfileText;
