//! package-lock.json as npm reads and writes it (`shrinkwrap.js`), and yarn.lock as far as npm
//! does.

mod conflict;
mod document;
mod entries;
mod legacy;
mod old;
mod read;
mod text;
mod write;
pub mod yarn;

pub use entries::{LockEntries, LockEntry};
pub use old::name_and_version_of_tarball;
pub use read::{DEFAULT_VERSION, ParsedLock};
pub use text::LockfileText;
pub use write::{PackageLock, Target, entries};
