//! package-lock.json as npm writes it (`shrinkwrap.js`).

mod write;

pub use write::{document, entries};
