//! How a recorded registry is served: everything in which registries differ and that a client may notice.

use std::path::PathBuf;
use std::time::Duration;

use crate::fault::Fault;
use crate::habit::Habits;

/// The switches of a [`Server`](crate::Server). The default is what npm's own registry does.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a way in which registries differ, independent of the others"
)]
pub struct Settings {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Serve HTTPS with a self-signed certificate, and h2 where the client offers it.
    pub tls: bool,
    /// How long each response waits before its first byte.
    pub delay: Duration,
    /// What it does as registries other than npm's do it.
    pub habits: Habits,
    /// Whether `/<name>/<range>` gets the document of the highest version in it. Few registries do that; one client
    /// asks for nothing else.
    pub ranges: bool,
    /// How many times larger than recorded the version manifests of full documents are, to stand for the
    /// texts that recordings leave out. 1 adds nothing.
    pub pad_full: f64,
    /// Whether responses may be read across origins.
    pub cors: bool,
    /// Whether error responses may be, too. Without it a browser can't tell a 404 from a dead network.
    pub cors_on_errors: bool,
    /// Whether preflights are answered.
    pub preflight: bool,
    /// A folder of static files, served from `/` where no registry route needs it; a built web app that
    /// shall be of the same origin as its registry.
    pub static_root: Option<PathBuf>,
    /// What goes wrong on purpose; the first that applies to a request is taken.
    pub faults: Vec<Fault>,
    /// What the choice of requests depends on where a fault's rate is below 1.
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
