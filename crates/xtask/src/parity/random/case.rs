//! A made-up project: its package.json files and flags, in one or two states that follow each other, the
//! second on top of the lock of the first.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What stands in a case for the registry's own origin, in specs that are URLs.
pub const ORIGIN: &str = crate::parity::drive::ORIGIN;

/// One state of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Folders relative to the project (empty for the root itself), and their package.json.
    pub manifests: BTreeMap<String, Value>,
    /// npm's flags.
    pub arguments: Vec<String>,
    /// npm's command with what it is about, such as `update a`; without any, it is `install`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

/// The result of a command, with the files that it changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Left<Answer> {
    /// The lock, or why there is none.
    pub answer: Answer,
    /// The package.json files after a command that may change them, by folder; else nothing.
    pub manifests: BTreeMap<String, String>,
}

/// A project and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Never empty.
    pub rounds: Vec<Round>,
}

impl Round {
    /// The command, spelled out.
    pub fn command(&self) -> Vec<String> {
        if self.command.is_empty() { vec!["install".to_owned()] } else { self.command.clone() }
    }

    /// The text of the root's package.json.
    pub fn manifest(&self) -> String {
        self.manifests.get("").map(pretty).unwrap_or_default()
    }

    /// Writes the project into an emptied folder, with a lock to start from where there is one.
    pub fn write(&self, folder: &Path, lockfile: Option<&str>, origin: &str) -> anyhow::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        for (path, manifest) in &self.manifests {
            let folder = folder.join(path);
            fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
            fs::write(folder.join("package.json"), pretty(manifest).replace(ORIGIN, origin))?;
        }
        if let Some(lockfile) = lockfile {
            fs::write(folder.join("package-lock.json"), with_origin(lockfile, origin))?;
        }
        Ok(())
    }
}

/// A lock as it would have been written with the registry at `origin`.
pub fn with_origin(lockfile: &str, origin: &str) -> String {
    lockfile.replace(ORIGIN, origin).replace("\"resolved\": \"/", &format!("\"resolved\": \"{origin}/"))
}

/// The text of a package.json.
pub fn pretty(manifest: &Value) -> String {
    let mut text = serde_json::to_string_pretty(manifest).unwrap_or_default();
    text.push('\n');
    text
}
