//! Installed packages without I/O: archives, the layout of a tree on disk, commands, permitted
//! sources, explanations, and the format of settings.
//!
//! Installations on disk and in a browser follow the same rules, because both use this crate.
//! `espalier-install` and `espalier-wasm` own disks, networks and stores.

pub mod agreement;
pub mod archive;
pub mod bin_field;
pub mod bins;
mod entry;
pub mod explain;
pub mod identity;
pub mod layout;
pub mod noted;
pub mod npmrc;
pub mod optional;
pub mod patch;
pub mod trust;
