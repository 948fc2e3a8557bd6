//! The commands besides `lock`, as a person meets them: the real command, on real files, in a real shell.

#[path = "../support/mod.rs"]
mod support;

mod config;
#[cfg(unix)]
mod fetching;
#[cfg(unix)]
mod json;
#[cfg(unix)]
mod measuring;
#[cfg(unix)]
mod reading;
#[cfg(unix)]
mod running;
mod snapshot;
#[cfg(unix)]
mod typing;
