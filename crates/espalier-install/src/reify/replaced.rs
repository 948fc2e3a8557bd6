//! A link or a file where a `node_modules` has to be. As in npm (`reify.js`, `[_validateNodeModules]`) it makes way and is never followed;
//! unlike there it comes back when the installation fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What made way.
#[derive(Debug)]
pub(super) enum Replaced {
    /// A link, with what it says.
    Link(PathBuf),
    /// A file, with what is in it.
    File(Vec<u8>),
}

impl Replaced {
    /// Removes what is at this path, unless it is a folder, or nothing.
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

    /// Makes it as it was.
    pub fn put_back(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::Link(text) => symlink(text, path),
            Self::File(content) => fs::write(path, content),
        }
    }
}

/// Makes a link to a folder.
#[cfg(unix)]
pub(super) fn symlink(text: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(text, path)
}

/// Makes a link to a folder.
#[cfg(windows)]
pub(super) fn symlink(text: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(text, path)
}
