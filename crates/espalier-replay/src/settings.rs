//! The settings of a server: everything in which registries differ and that a client may notice.

use std::path::PathBuf;
use std::time::Duration;

use crate::fault::Fault;
use crate::habit::Habits;

/// The settings of a [`Server`](crate::Server), with a field for each difference. The default is
/// npm's own registry.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a way in which registries differ, independent of the others"
)]
pub struct Settings {
    /// The port on 127.0.0.1. 0 takes a free one.
    pub port: u16,
    /// Whether to serve HTTPS with a self-signed certificate, and HTTP/2 to clients that offer it.
    pub tls: bool,
    /// The delay before the first byte of each response.
    pub delay: Duration,
    /// The habits of registries other than npm's.
    pub habits: Habits,
    /// Whether `/<name>/<range>` gives the document of the highest version in it. Few registries do
    /// that, and one client requests nothing else.
    pub ranges: bool,
    /// The factor by which version manifests of full documents are enlarged, for the texts that
    /// recordings leave out. 1 adds nothing.
    pub pad_full: f64,
    /// Whether other origins may read responses.
    pub cors: bool,
    /// Whether other origins may read error responses. Otherwise a browser can't distinguish a 404
    /// from a network failure.
    pub cors_on_errors: bool,
    /// Whether preflights are answered.
    pub preflight: bool,
    /// A folder of static files, served from `/` unless a registry route matches: a built web app
    /// at the same origin as its registry.
    pub static_root: Option<PathBuf>,
    /// The faults. The first that applies to a request is used.
    pub faults: Vec<Fault>,
    /// The seed for the choice of requests, if the rate of a fault is below 1.
    pub fault_seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: 0,
            tls: false,
            delay: Duration::ZERO,
            habits: Habits::default(),
            ranges: false,
            pad_full: 1.0,
            cors: true,
            cors_on_errors: false,
            preflight: false,
            static_root: None,
            faults: Vec::new(),
            fault_seed: 0,
        }
    }
}
