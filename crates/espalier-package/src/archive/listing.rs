//! Lists a package's tarball as far as it decides a tree: the paths and the manifests.

use indexmap::{IndexMap, IndexSet};

use super::{ArchiveError, Limits, Receiver, read};

/// The maximum length of a package.json.
const LONGEST_MANIFEST: usize = 16 << 20;

/// The paths of an archive's files, and the path and text of each package.json.
pub type Listing = (Vec<String>, Vec<(String, String)>);

/// Lists a complete archive.
pub fn list(bytes: &[u8], limits: Limits) -> Result<Listing, ArchiveError<String>> {
    let mut lister = Lister::default();
    match read(bytes, limits, &mut lister) {
        // An empty package makes no difference to the tree.
        Ok(()) | Err(ArchiveError::Empty) if !bytes.is_empty() => Ok(lister.listing()),
        Ok(()) => Err(ArchiveError::Empty),
        Err(error) => Err(error),
    }
}

/// Collects the paths and manifests of an archive.
#[derive(Default)]
pub struct Lister {
    files: IndexSet<String>,
    manifests: IndexMap<String, Vec<u8>>,
    /// The path of the manifest that is being read.
    open: Option<String>,
}

impl Lister {
    /// The result.
    pub fn listing(self) -> Listing {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let manifests = self.manifests.into_iter().map(|(path, bytes)| (path, text(bytes))).collect();
        (self.files.into_iter().collect(), manifests)
    }
}

impl Receiver for Lister {
    type Error = String;

    fn begin(&mut self, path: &str, _: u32) -> Result<(), String> {
        self.files.insert(path.to_owned());
        if path == "package.json" || path.ends_with("/package.json") {
            self.open = Some(path.to_owned());
            self.manifests.insert(path.to_owned(), Vec::new());
        }
        Ok(())
    }

    fn content(&mut self, bytes: &[u8]) -> Result<(), String> {
        let Some(manifest) = self.open.as_ref().and_then(|path| self.manifests.get_mut(path)) else { return Ok(()) };
        if manifest.len() + bytes.len() > LONGEST_MANIFEST {
            return Err(format!("{} MB in a package.json", LONGEST_MANIFEST >> 20));
        }
        manifest.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        self.open = None;
        Ok(())
    }
}
