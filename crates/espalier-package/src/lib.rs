//! Installed packages, without a machine: what is in an archive, where each package of a tree goes, which commands it has,
//! where it may come from, why it is there, and how the settings about all that are written.
//!
//! Everything here is data in, data out, so that what is installed natively and what is installed in a browser follow the same
//! rules. Disks, networks and stores are `espalier-install`'s business, and those of `espalier-wasm`.

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
