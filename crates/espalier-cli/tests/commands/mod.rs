//! The commands except `lock`, as a person uses them: the real program, on real files, in a real
//! shell.

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
