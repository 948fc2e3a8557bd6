//! A packument: what a registry says about all versions of a package.
//!
//! Parsing reads the keys and leaves every version's manifest as text, because a resolution looks at one
//! or two of a few hundred versions.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A parsed packument.
#[derive(Debug)]
pub struct Packument {
    /// The package's name.
    pub name: String,
    /// Tag and version, as the registry lists them.
    pub dist_tags: Vec<(String, String)>,
    /// Version and manifest text, as the registry lists them.
    pub versions: Vec<(String, Box<RawValue>)>,
    /// Version and publication time; empty in abbreviated documents.
    pub time: Vec<(String, String)>,
    /// Whether fields that npm writes into the lock (such as `license`) are left out.
    pub abbreviated: bool,
}

/// A body that is not a packument.
#[derive(Debug, thiserror::Error)]
#[error("not a packument: {0}")]
pub struct PackumentError(#[from] serde_json::Error);

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    name: String,
    #[serde(default, rename = "dist-tags")]
    dist_tags: indexmap::IndexMap<String, String>,
    #[serde(default)]
    versions: indexmap::IndexMap<String, Box<RawValue>>,
    #[serde(default)]
    time: indexmap::IndexMap<String, serde_json::Value>,
}

impl Packument {
    /// Reads a body. `abbreviated` says whether it is of the content type
    /// `application/vnd.npm.install-v1+json`.
    pub fn parse(body: &[u8], abbreviated: bool) -> Result<Self, PackumentError> {
        let wire: Wire = serde_json::from_slice(body)?;
        Ok(Self {
            name: wire.name,
            dist_tags: wire.dist_tags.into_iter().collect(),
            versions: wire.versions.into_iter().collect(),
            time: wire
                .time
                .into_iter()
                .filter_map(|(version, time)| Some((version, time.as_str()?.to_owned())))
                .collect(),
            abbreviated,
        })
    }
}
