//! package-lock.json as npm writes it (`shrinkwrap.js`), and yarn.lock as far as npm reads and writes
//! it.

mod document;
mod legacy;
mod write;
pub mod yarn;

pub use write::{PackageLock, Target, entries};
