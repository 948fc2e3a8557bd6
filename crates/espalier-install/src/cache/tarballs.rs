//! Cached tarballs, named by their integrity. A tarball is verified again when it is read, so a
//! failing disk or another program can't change a tree.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use crate::integrity::{Hashed, Integrity};

#[derive(Debug)]
pub(crate) struct Tarballs {
    folder: PathBuf,
}

impl Tarballs {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Finds the tarball with this integrity. Blocks.
    pub(crate) fn read(&self, integrity: &Integrity) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path(integrity)?).ok()?;
        integrity.verify(&Hashed::new(&bytes)).ok()?;
        Some(bytes)
    }

    /// Keeps a verified tarball. Blocks.
    pub(crate) fn write(&self, integrity: &Integrity, bytes: &[u8]) {
        let Some(path) = self.path(integrity) else { return };
        // The cache goes without a tarball that can't be written. A full disk must not stop a
        // resolution.
        let _ = fs::create_dir_all(&self.folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(bytes)?;
            file.persist(path)?;
            Ok(())
        });
    }

    fn path(&self, integrity: &Integrity) -> Option<PathBuf> {
        Some(self.folder.join(format!("{}.tgz", integrity.file_name()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::Tarballs;
    use crate::integrity::Integrity;

    #[test]
    fn only_the_right_bytes_are_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tarballs = Tarballs::new(folder.path().join("tarballs"));
        let integrity = Integrity::of(b"tarball");
        assert_eq!(tarballs.read(&integrity), None);
        tarballs.write(&integrity, b"tarball");
        assert_eq!(tarballs.read(&integrity).as_deref(), Some(b"tarball".as_slice()));
        std::fs::write(tarballs.path(&integrity).expect("a path"), b"tampered").expect("written");
        assert_eq!(tarballs.read(&integrity), None);
    }
}
