//! How an `.npmrc` is written. What its settings mean, and which of several files counts, is not known here.

mod expand;
pub mod ini;

pub use expand::expand;
pub use ini::{Value, parse};
