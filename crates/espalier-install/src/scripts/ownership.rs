//! Gives a package copies of its own of the files that it shares with the store and with other
//! projects, because its scripts may write to them.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// Replaces each shared file of a folder by a copy with the same mode and modification time.
pub(super) fn take(folder: &Path) -> io::Result<()> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let before = fs::metadata(&folder)?;
        let mut is_changed = false;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // Links aren't followed.
            let found = entry.metadata()?;
            if found.is_dir() {
                open.push(entry.path());
            } else if found.is_file() && is_shared(&found) {
                let path = entry.path();
                let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
                copy(&folder, &path, &found).map_err(named)?;
                is_changed = true;
            }
        }
        if is_changed {
            // A newer folder would make the hidden lockfile look outdated. If that fails, the next
            // installation only takes longer.
            let _ = File::open(&folder).and_then(|open| open.set_modified(before.modified()?));
        }
    }
    Ok(())
}

fn copy(folder: &Path, file: &Path, found: &Metadata) -> io::Result<()> {
    let mut copy = tempfile::Builder::new().prefix(".espalier-").tempfile_in(folder)?;
    io::copy(&mut File::open(file)?, copy.as_file_mut())?;
    copy.as_file().set_permissions(found.permissions())?;
    // The modification time tells an unchanged file from a changed one.
    copy.as_file().set_modified(found.modified()?)?;
    copy.persist(file)?;
    Ok(())
}

#[cfg(unix)]
fn is_shared(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

/// The number of links is unknown here.
#[cfg(not(unix))]
fn is_shared(_: &Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    #[test]
    fn shared_files_become_copies_with_the_same_mode_and_time() {
        let scene = tempfile::tempdir().expect("a folder");
        let (stored, package) = (scene.path().join("stored.js"), scene.path().join("package"));
        fs::create_dir_all(package.join("lib")).expect("folders");
        fs::write(&stored, "shared").expect("written");
        fs::set_permissions(&stored, fs::Permissions::from_mode(0o555)).expect("a mode");
        let linked = package.join("lib/index.js");
        fs::hard_link(&stored, &linked).expect("a link");
        let (before, folder) =
            (fs::metadata(&stored).expect("a file"), fs::metadata(package.join("lib")).expect("a folder"));
        super::take(&package).expect("copied");
        let after = fs::metadata(&linked).expect("a file");
        assert_eq!((after.nlink(), fs::metadata(&stored).expect("a file").nlink()), (1, 1));
        assert_eq!((after.mode(), after.modified().ok()), (before.mode(), before.modified().ok()));
        assert_eq!(fs::read(&linked).ok().as_deref(), Some(b"shared".as_slice()));
        assert_eq!(fs::metadata(package.join("lib")).expect("a folder").mtime(), folder.mtime());
        assert_eq!(fs::read_dir(package.join("lib")).expect("a folder").count(), 1);
    }
}
