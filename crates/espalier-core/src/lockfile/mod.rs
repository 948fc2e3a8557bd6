//! package-lock.json as npm reads and writes it (`shrinkwrap.js`), and yarn.lock as far as npm does.

mod conflict;
mod hidden;
mod legacy;
mod old;
mod read;
mod write;
pub mod yarn;

pub use hidden::hidden_lockfile;
pub use old::name_and_version_of_tarball;
pub use read::{DEFAULT_VERSION, Lock};
pub use write::{Target, entries, text};
