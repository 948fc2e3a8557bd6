//! package-lock.json as npm writes it (`shrinkwrap.js`).

mod hidden;
mod legacy;
mod read;
mod write;

pub use hidden::hidden_lockfile;
pub use read::Lock;
pub use write::{document, entries};
