//! package-lock.json as npm writes it (`shrinkwrap.js`).

mod legacy;
mod read;
mod write;

pub use read::Lock;
pub use write::{document, entries};
