//! The version of Node to resolve for, before Node itself has stated it. Starting Node takes as
//! long as the first dozens of answers.
//!
//! The presumption is nearly always right. If it turns out to be wrong, the caller discards the
//! results.

use std::path::{Path, PathBuf};

use tokio::sync::watch;

use crate::host;

/// A presumed version, and later the actual one.
#[derive(Debug)]
pub(crate) struct NodeVersion {
    presumed: Option<String>,
    told: watch::Receiver<Option<Said>>,
}

/// The version that Node stated; `None` without Node.
#[derive(Clone, Debug)]
struct Said(Option<String>);

/// The version of the `node` on the `PATH`, as far as it is known without starting it.
pub(crate) fn nearby(cache: Option<&Path>) -> Option<String> {
    cache.and_then(host::noted_node_version).or_else(beside_program)
}

/// The version that the files beside the `node` on the `PATH` state.
fn beside_program() -> Option<String> {
    host::node_on_path().and_then(host::node_version_nearby)
}

impl NodeVersion {
    /// A version that the user chose.
    pub fn chosen(version: String) -> Self {
        let (_, told) = watch::channel(Some(Said(Some(version.clone()))));
        Self { presumed: Some(version), told }
    }

    /// The version of the `node` on the `PATH`, as this folder remembers it. Meanwhile Node is
    /// asked. Needs a runtime.
    pub fn on_path(cache: Option<&Path>) -> Self {
        if let Some(version) = cache.and_then(host::noted_node_version) {
            return Self::chosen(version);
        }
        let presumed = beside_program();
        let (tell, told) = watch::channel(None);
        let cache = cache.map(PathBuf::from);
        tokio::spawn(async move {
            // Nobody listens any more where the resolution failed.
            let _ = tell.send(Some(Said(host::asked_node_version(cache.as_deref()).await)));
        });
        Self { presumed, told }
    }

    /// Waits for the actual version if there is nothing to presume.
    pub async fn or_told(mut self) -> Self {
        if self.presumed.is_none() {
            self.presumed = self.truth().await;
        }
        self
    }

    /// The presumed version.
    pub fn presumed(&self) -> Option<String> {
        self.presumed.clone()
    }

    /// Whether Node has stated the presumed version.
    pub fn is_confirmed(&self) -> bool {
        self.told.borrow().as_ref().is_some_and(|Said(version)| *version == self.presumed)
    }

    /// The actual version.
    pub async fn truth(&self) -> Option<String> {
        let mut told = self.told.clone();
        // The sender is dropped without a value only if the runtime ends, which ends the caller,
        // too.
        let told = told.wait_for(Option::is_some).await;
        told.ok().and_then(|told| told.clone()).and_then(|Said(version)| version)
    }

    /// Completes when the presumption turns out to be wrong.
    pub async fn refuted(&self) {
        if self.truth().await == self.presumed {
            std::future::pending::<()>().await;
        }
    }
}
