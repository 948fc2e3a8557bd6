//! A recorded npm registry on loopback, for the playground, tests and benchmarks.
//!
//! A [`Registry`] is the recording. A [`Server`] serves it with [`Settings`] in which real
//! registries differ. Bodies are derived and compressed at the first request and then sent from
//! memory, so a second run against the same server measures the client. A
//! [`Fault`] makes chosen requests fail as networks and registries do, the same ones in each run.

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
mod synthetic;

pub use fault::{Fault, FaultError, FaultKind, FaultScope, HELP as FAULT_HELP};
pub use habit::{HELP as HABIT_HELP, HabitError, Habits, Only, Product};
pub use registry::{Registry, RegistryError};
pub use server::{Server, ServerError};
pub use settings::Settings;
pub use statistics::Statistics;
pub use synthetic::{NotSynthetic, Shape, Synthetic};
