//! A link or file in the place of a `node_modules`. As in npm (`reify.js`,
//! `[_validateNodeModules]`), it makes way and is never followed. Unlike in npm, it comes back if
//! the installation fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The entry that made way.
#[derive(Debug)]
pub(super) enum Replaced {
    /// A link, with its text.
    Link(PathBuf),
    /// A file, with its content.
    File(Vec<u8>),
}

impl Replaced {
    /// Removes the entry at this path, unless it is a folder or absent.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        if found.is_dir() {
            return Ok(None);
        }
        let replaced = if found.is_symlink() { Self::Link(fs::read_link(path)?) } else { Self::File(fs::read(path)?) };
        fs::remove_file(path)?;
        Ok(Some(replaced))
    }

    /// Restores it.
    pub fn put_back(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::Link(text) => symlink(text, path),
            Self::File(content) => fs::write(path, content),
        }
    }
}

/// Creates a link to a folder.
#[cfg(unix)]
pub(super) fn symlink(text: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(text, path)
}

/// Creates a link to a folder.
#[cfg(windows)]
pub(super) fn symlink(text: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(text, path)
}
