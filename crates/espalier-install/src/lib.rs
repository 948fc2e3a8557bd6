//! The part of Espalier that touches the machine. It answers the requests of a resolution
//! ([`espalier_core`]) from registries, the cache and files.
//!
//! It knows npm's configuration, talks to registries, keeps a cache, and reads and writes a
//! project's files. It decides nothing about the tree.

pub mod activity;
mod blocking;
mod body;
pub mod cache;
pub mod config;
mod digest;
pub mod driver;
mod folder;
mod git;
mod ground;
pub mod host;
pub mod install;
pub mod installed;
pub mod integrity;
pub mod lock;
pub mod outdated;
pub mod packing;
pub mod patch;
pub mod plan;
mod presumed;
pub mod programs;
pub mod project;
mod recall;
pub mod registry;
pub mod reify;
mod remedies;
mod retired;
pub mod scripts;
pub mod snapshot;
pub mod spans;
pub mod store;
mod superseded;
pub mod tarball;
pub mod unpack;
mod workers;
