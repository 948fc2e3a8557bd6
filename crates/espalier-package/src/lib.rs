//! Installed packages, without a machine: what is in an archive, where each package of a tree goes, which commands it has,
//! where it may come from, and why it is there.
//!
//! Everything here is data in, data out, so that what is installed natively and what is installed in a browser follow the same
//! rules. Disks, networks and stores are `espalier-install`'s business, and those of `espalier-wasm`.

pub mod agreement;
pub mod archive;
pub mod bins;
pub mod explain;
pub mod identity;
pub mod layout;
pub mod noted;
pub mod optional;
pub mod trust;
