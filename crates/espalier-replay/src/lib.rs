//! A recorded npm registry on loopback: for the playground, for tests, and as the other end of benchmarks.
//!
//! A [`Registry`] is what was recorded; a [`Server`] serves it with [`Settings`] in which real registries
//! differ. Bodies are derived and compressed on first request and then sent from memory, so that a second
//! run against the same server measures the client. With [`Fault`]s, chosen requests go wrong in the ways that networks and
//! registries have, the same ones in each run.

pub mod document;
mod fault;
mod habit;
mod padding;
mod registry;
mod representation;
mod respond;
mod route;
mod server;
mod settings;
mod spoil;
mod static_files;
mod statistics;

pub use fault::{Fault, FaultError, FaultKind, FaultScope, HELP as FAULT_HELP};
pub use habit::{HELP as HABIT_HELP, HabitError, Habits, Only, Product};
pub use registry::{Registry, RegistryError};
pub use server::{Server, ServerError};
pub use settings::Settings;
pub use statistics::Statistics;
