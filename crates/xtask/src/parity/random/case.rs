//! A random project: its package.json files and flags, in one or two rounds. The second round
//! starts from the lock of the first.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The placeholder for the registry's origin in specs that are URLs.
pub const ORIGIN: &str = crate::parity::project::ORIGIN;

/// The state of a project in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The package.json files, by their folders relative to the project. The root's folder is
    /// empty.
    pub manifests: BTreeMap<String, Value>,
    /// npm's flags.
    pub arguments: Vec<String>,
    /// npm's command and its arguments, such as `update a`. Empty for `install`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

/// The result of a command, with the files that it changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Left<Answer> {
    /// The lock or the error.
    pub answer: Answer,
    /// The package.json files by folder, if the command may have changed them. Otherwise empty.
    pub manifests: BTreeMap<String, String>,
}

/// A project and its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The rounds. There is at least one.
    pub rounds: Vec<Round>,
}

impl Round {
    /// The command with its default.
    pub fn command(&self) -> Vec<String> {
        if self.command.is_empty() { vec!["install".to_owned()] } else { self.command.clone() }
    }

    /// The text of the root's package.json.
    pub fn manifest(&self) -> String {
        self.manifests.get("").map(pretty).unwrap_or_default()
    }

    /// Empties a folder and writes the project into it, with the lock to start from, if there is
    /// one.
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

/// The lock that npm would have written with the registry at `origin`.
pub fn with_origin(lockfile: &str, origin: &str) -> String {
    lockfile.replace(ORIGIN, origin).replace("\"resolved\": \"/", &format!("\"resolved\": \"{origin}/"))
}

/// The text of a package.json.
pub fn pretty(manifest: &Value) -> String {
    let mut text = serde_json::to_string_pretty(manifest).unwrap_or_default();
    text.push('\n');
    text
}
