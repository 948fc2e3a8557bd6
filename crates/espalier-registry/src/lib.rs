//! npm's registry protocol without I/O.
//!
//! [`Registries`] and [`Get`] turn a request and the configuration into what to send.
//! [`Get::judge`] and [`document`] turn the status, headers and body of an answer into its meaning:
//! a document, another attempt after a wait ([`retry`]), another document to ask for, a lifetime in
//! the cache ([`freshness`]), or a failure in words ([`Trouble`]). Adapters own sockets, `fetch`,
//! caches and threads: `espalier-install` natively, `espalier-wasm` in JavaScript. Both use these
//! rules, so both behave alike.

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
pub use get::{BodyMetadata, Get, Judged, ResponseHead, Validators};
pub use registries::{PUBLIC_REGISTRY, Registries, ReplacedHost, public_host};
pub use retry::Retries;
pub use trouble::{Broken, Trouble, printable};
