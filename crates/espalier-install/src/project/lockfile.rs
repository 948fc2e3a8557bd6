//! The lockfile on disk: which file it is, and how it is replaced.
//!
//! A resolution that is cut off leaves the old file as it was: the new one is written beside it and renamed. A file that
//! would stay the same is not touched, so that nothing that watches it wakes up.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{ProjectError, ProjectFolder};

/// The project's lockfile, which may not exist yet.
#[derive(Clone, Debug)]
pub struct Lockfile {
    path: PathBuf,
    text: Option<String>,
}

/// What became of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// There was none.
    Created,
    /// It says something else now.
    Changed,
    /// It said the same already.
    Unchanged,
}

impl ProjectFolder {
    /// The lockfile that npm reads and writes. npm 12 has no npm-shrinkwrap.json any more.
    pub fn lockfile(&self) -> Result<Lockfile, ProjectError> {
        let path = self.path().join("package-lock.json");
        let text = match fs::read(&path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(ProjectError::Unreadable { path, source }),
        };
        Ok(Lockfile { path, text })
    }
}

impl Lockfile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says now.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Puts this text in its place.
    pub fn write(&self, text: &str) -> Result<Written, ProjectError> {
        if self.text.as_deref() == Some(text) {
            return Ok(Written::Unchanged);
        }
        let unwritable = |source| ProjectError::Unwritable { path: self.path.clone(), source };
        replace(&self.path, text).map_err(unwritable)?;
        Ok(if self.text.is_some() { Written::Changed } else { Written::Created })
    }
}

/// Puts a text in the place of another file's, likewise.
pub(super) fn write(path: &Path, text: &str) -> Result<(), ProjectError> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    replace(path, text).map_err(|source| ProjectError::Unwritable { path: path.to_owned(), source })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A lockfile that is a link to another file stays one.
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

/// A temporary file would be readable by its owner only; this one gets what any new file gets.
#[cfg(unix)]
pub(crate) fn readable_as_usual(builder: &mut tempfile::Builder) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
pub(crate) fn readable_as_usual(_: &mut tempfile::Builder) {}
