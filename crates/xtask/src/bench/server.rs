//! The registry of a bench run: `espalier-replay` in a process of its own, so that it isn't
//! measured with a contestant.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use espalier_replay::{Statistics, Synthetic};

use super::fetch::{self, Forms};

/// A running server. It ends when it is dropped.
pub struct Replay {
    process: Child,
    /// Its URL, without a slash at the end.
    pub origin: String,
    /// Its certificate, if it uses TLS.
    pub certificate: Option<PathBuf>,
    /// The same registry without TLS and delay, to ask for its counts.
    pub address: SocketAddr,
    /// The form in which its packuments cost less.
    pub forms: Forms,
}

/// From this factor on, full packuments cost more than abbreviated ones and documents of versions.
const LONGER: f64 = 1.25;

/// The registry that a server serves.
#[derive(Clone, Copy)]
pub enum Served<'a> {
    /// A recording, and how many times as long as recorded the manifests in full documents are.
    Corpus {
        /// Its folder.
        folder: &'a Path,
        /// The factor.
        pad_full: f64,
    },
    /// A made-up registry.
    Synthetic(Synthetic),
}

impl Replay {
    /// Starts a server.
    pub fn start(program: &Path, served: Served<'_>, delay: u64, tls: bool, scratch: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        match served {
            Served::Corpus { folder, pad_full } => {
                command.arg("--corpus").arg(folder).args(["--pad-full", &pad_full.to_string()])
            }
            Served::Synthetic(synthetic) => command.arg("--synthetic").arg(synthetic.to_string()),
        };
        command.args(["--delay", &format!("{delay}ms")]);
        let certificate = tls.then(|| scratch.join(format!("certificate-{delay}.pem")));
        if let Some(certificate) = &certificate {
            command.arg("--tls").arg("--certificate").arg(certificate);
        }
        let mut process = command.stdout(Stdio::piped()).spawn().context("cannot run espalier-replay")?;
        let mut lines = BufReader::new(process.stdout.take().context("it says where it listens")?).lines();
        let origin = lines.next().context("espalier-replay said nothing")??;
        let address =
            origin.rsplit('/').next().unwrap_or_default().parse().with_context(|| format!("listens at {origin}"))?;
        let forms = match served {
            Served::Corpus { pad_full, .. } if pad_full > LONGER => Forms::Abbreviated,
            _ => Forms::Full,
        };
        Ok(Self { process, origin, certificate, address, forms })
    }

    /// Whether it speaks TLS.
    pub fn is_tls(&self) -> bool {
        self.certificate.is_some()
    }

    /// The counts so far. Empty if they need TLS.
    pub fn statistics(&self) -> Result<Statistics> {
        if self.is_tls() {
            return Ok(Statistics::default());
        }
        Ok(serde_json::from_slice(&fetch::once(self.address, "/-/stats")?)?)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        // It may have ended already, which is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
