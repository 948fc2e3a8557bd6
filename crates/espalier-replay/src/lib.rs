//! A recorded npm registry on loopback: for the playground, for tests, and as the other end of benchmarks.
//!
//! A [`Registry`] is what was recorded; a [`Server`] serves it with [`Settings`] in which real registries
//! differ. Bodies are derived and compressed on first request and then sent from memory, so that a second
//! run against the same server measures the client.

pub mod document;
mod padding;
mod registry;
mod representation;
mod respond;
mod route;
mod server;
mod settings;
mod static_files;
mod statistics;

pub use registry::{Registry, RegistryError};
pub use server::{Server, ServerError};
pub use settings::Settings;
pub use statistics::Statistics;
