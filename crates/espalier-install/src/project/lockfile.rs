//! The lockfile on disk: its name, and how it is replaced.
//!
//! The new file is written beside the old one and renamed, so an interrupted run leaves the old
//! one. An unchanged file isn't touched, so programs that watch it aren't woken.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use espalier_core::LockfileText;

use super::{ProjectError, ProjectFolder};

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
        replace(&self.path, text).map_err(unwritable)?;
        Ok(if self.text.is_some() { Written::Changed } else { Written::Created })
    }
}

/// Replaces the text of another file in the same way.
pub(super) fn write(path: &Path, text: &str) -> Result<(), ProjectError> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    replace(path, text).map_err(|source| ProjectError::Unwritable { path: path.to_owned(), source })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // If the lockfile is a link to another file, it stays one.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".package-lock-").suffix(".json");
    readable_as_usual(&mut builder);
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(&target) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(&target)?;
    Ok(())
}

/// Gives a temporary file the mode of an ordinary new file. By default, only its owner can read it.
#[cfg(unix)]
pub(crate) fn readable_as_usual(builder: &mut tempfile::Builder) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
pub(crate) fn readable_as_usual(_: &mut tempfile::Builder) {}
