//! The lockfile on disk: its name, and when it is replaced.
//!
//! An unchanged file isn't touched, so programs that watch it aren't woken.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use espalier_core::LockfileText;

use super::{ProjectError, ProjectFolder};
use crate::replace;

/// The project's lockfile, which may not exist yet.
#[derive(Clone, Debug)]
pub struct Lockfile {
    path: PathBuf,
    text: Option<LockfileText>,
}

/// What happened to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// It was created.
    Created,
    /// Its content has changed.
    Changed,
    /// Its content has stayed the same.
    Unchanged,
}

impl ProjectFolder {
    /// The lockfile that npm reads and writes. npm 12 no longer has npm-shrinkwrap.json.
    pub fn lockfile(&self) -> Result<Lockfile, ProjectError> {
        let path = self.path().join("package-lock.json");
        let text = match fs::read(&path) {
            Ok(bytes) => Some(text_of(bytes).into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(ProjectError::Unreadable { path, source }),
        };
        Ok(Lockfile { path, text })
    }
}

/// The text of a file. Bytes that aren't UTF-8 are replaced, as in Node.
fn text_of(bytes: Vec<u8>) -> String {
    // A large lockfile that is UTF-8 isn't copied.
    String::from_utf8(bytes).unwrap_or_else(|invalid| String::from_utf8_lossy(invalid.as_bytes()).into_owned())
}

impl Lockfile {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its current text.
    pub fn text(&self) -> Option<&str> {
        self.text.as_ref().map(LockfileText::as_str)
    }

    /// Its current text, and what it says.
    pub(crate) fn shared(&self) -> Option<LockfileText> {
        self.text.clone()
    }

    /// Replaces its text.
    pub fn write(&self, text: &str) -> Result<Written, ProjectError> {
        if self.text() == Some(text) {
            return Ok(Written::Unchanged);
        }
        let unwritable = |source| ProjectError::Unwritable { path: self.path.clone(), source };
        replace::file(&self.path, text, false).map_err(unwritable)?;
        Ok(if self.text.is_some() { Written::Changed } else { Written::Created })
    }
}

/// Replaces the text of another file in the same way.
pub(super) fn write(path: &Path, text: &str) -> Result<(), ProjectError> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    replace::file(path, text, false).map_err(|source| ProjectError::Unwritable { path: path.to_owned(), source })
}
