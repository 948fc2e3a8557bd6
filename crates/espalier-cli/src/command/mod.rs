//! The commands, one module each.

pub mod install;
pub mod lock;
pub mod store;
