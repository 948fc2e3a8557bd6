//! Replaces a text file. The new one is written beside the old one and renamed, so an interrupted run
//! leaves the old one.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces a file, which keeps its permissions, or creates it. A new file is for its owner only if
/// it is `private`. A link to a file stays one.
pub fn file(path: &Path, text: &str, private: bool) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".espalier-").suffix(".tmp");
    if !private {
        readable_as_usual(&mut builder);
    }
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
