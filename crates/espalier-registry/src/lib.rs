//! npm's registry protocol without I/O.
//!
//! From a request and the configuration comes what to send ([`Registries`], [`Get`]); from status, headers and body comes what
//! that means ([`Get::judge`], [`document`], [`tarball`]): an answer, another attempt after a wait ([`retry`]), another document
//! in its place, how long it may be kept ([`freshness`]), or a failure in words ([`Trouble`]). Sockets, `fetch`, caches and
//! threads are the adapters' business: `espalier-install` natively, `espalier-wasm` in JavaScript. What a registry is and how it
//! may behave is said here, once, so that both behave alike.

mod address;
mod credentials;
pub mod document;
mod experience;
pub mod freshness;
mod get;
pub mod integrity;
mod registries;
pub mod retry;
pub mod tarball;
mod trouble;

pub use address::{Address, Normalize};
pub use credentials::Credentials;
pub use experience::Experience;
pub use get::{Answered, Get, Judged, Received, Validators};
pub use registries::{PUBLIC_REGISTRY, Registries, ReplacedHost, public_host};
pub use retry::Retries;
pub use trouble::{Broken, Trouble, printable};
