//! The format of an `.npmrc`. The caller interprets the settings and merges several files.

mod expand;
pub mod ini;

pub use expand::expand;
pub use ini::{Value, parse};
