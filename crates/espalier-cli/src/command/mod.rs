//! The commands, one module each.

pub mod approve;
mod complaint;
pub mod completions;
pub mod config;
mod context;
pub mod elsewhere;
pub mod exec;
mod exit;
pub mod install;
pub mod lock;
mod measured;
pub mod outdated;
pub mod play;
pub mod rebuild;
pub mod run;
pub mod snapshot;
pub mod store;
pub mod tree;
pub mod why;

use std::io::Write as _;

/// Prints to standard output. A closed pipe is no error.
fn say(text: &str) {
    let mut output = anstream::stdout().lock();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}
