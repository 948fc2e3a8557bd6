//! package-lock.json as npm writes it (`shrinkwrap.js`).

mod read;
mod write;

pub use read::Lock;
pub use write::{document, entries};
