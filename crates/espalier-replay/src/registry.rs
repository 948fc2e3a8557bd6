//! A recorded registry: the names of its packages and tarballs, and their bytes.
//!
//! Two layouts are supported: a folder with `packuments/<name>.json` and
//! `tarballs/<name>/<file>.tgz` (a slash in a name is written `%2f`), and the same trees packed as
//! `registry.tar.zst` and `tarballs.tar`. Only files that are listed when the registry is opened
//! can be requested, so no request can name a path.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::synthetic::Synthetic;

/// The reason why a folder can't be served.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The folder has neither of the two layouts.
    #[error("{} holds no recorded registry: expected packuments/ or registry.tar.zst in it", .folder.display())]
    NotARegistry {
        /// The folder.
        folder: PathBuf,
    },
    /// A file or folder of the registry can't be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// An open registry. Bodies are read when they are requested.
#[derive(Debug)]
pub struct Registry {
    packuments: HashMap<String, Stored>,
    /// The answer of the endpoint for advisories, to any question.
    pub advisories: Option<Bytes>,
    /// By package name, then by file name.
    tarballs: HashMap<String, HashMap<String, Stored>>,
}

/// The position of a body.
#[derive(Debug)]
enum Stored {
    File(PathBuf),
    /// A slice of the unpacked archive.
    Memory(Bytes),
    /// Made when it is requested.
    Made(Synthetic, usize),
    /// Uncompressed, in a larger file.
    Section {
        archive: PathBuf,
        offset: u64,
        length: u64,
    },
}

impl Registry {
    /// Opens a folder in either layout. If it has both, the unpacked one is used.
    pub fn open(folder: &Path) -> Result<Self, RegistryError> {
        let advisories = std::fs::read(folder.join("advisories.json")).ok().map(Bytes::from);
        let mut registry = Self { packuments: HashMap::new(), advisories, tarballs: HashMap::new() };
        let (packuments, packed_packuments) = (folder.join("packuments"), folder.join("registry.tar.zst"));
        if packuments.is_dir() {
            registry.list_packuments(&packuments).map_err(unreadable(&packuments))?;
        } else if packed_packuments.is_file() {
            registry.unpack_packuments(&packed_packuments).map_err(unreadable(&packed_packuments))?;
        } else {
            return Err(RegistryError::NotARegistry { folder: folder.to_owned() });
        }
        let (tarballs, packed_tarballs) = (folder.join("tarballs"), folder.join("tarballs.tar"));
        if tarballs.is_dir() {
            registry.list_tarballs(&tarballs).map_err(unreadable(&tarballs))?;
        } else if packed_tarballs.is_file() {
            registry.index_tarballs(&packed_tarballs).map_err(unreadable(&packed_tarballs))?;
        }
        Ok(registry)
    }

    /// A made-up registry, without tarballs.
    pub fn synthetic(synthetic: Synthetic) -> Self {
        let packuments = synthetic.names().enumerate().map(|(package, name)| (name, Stored::Made(synthetic, package)));
        Self { packuments: packuments.collect(), advisories: None, tarballs: HashMap::new() }
    }

    /// The names of all packages, unordered.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.packuments.keys().map(String::as_str)
    }

    /// The recorded packument, with tarballs as paths. `None` if the package wasn't recorded.
    pub fn packument(&self, name: &str) -> Option<io::Result<Bytes>> {
        self.packuments.get(name).map(Stored::read)
    }

    /// A tarball, by package name and file name.
    pub fn tarball(&self, name: &str, file: &str) -> Option<io::Result<Bytes>> {
        self.tarballs.get(name)?.get(file).map(Stored::read)
    }

    fn list_packuments(&mut self, folder: &Path) -> io::Result<()> {
        for path in entries(folder)? {
            if let Some(name) = path.file_name().and_then(package_of_document) {
                self.packuments.insert(name, Stored::File(path));
            }
        }
        Ok(())
    }

    fn list_tarballs(&mut self, folder: &Path) -> io::Result<()> {
        for package in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
            for path in entries(&package)? {
                if let (Some(name), Some(file)) = (text(package.file_name()), text(path.file_name())) {
                    self.add_tarball(name, file, Stored::File(path.clone()));
                }
            }
        }
        Ok(())
    }

    fn unpack_packuments(&mut self, archive: &Path) -> io::Result<()> {
        let mut unpacked = Vec::new();
        zstd::Decoder::new(File::open(archive)?)?.read_to_end(&mut unpacked)?;
        let unpacked = Bytes::from(unpacked);
        for entry in tar::Archive::new(&unpacked[..]).entries()? {
            let entry = entry?;
            let path = entry.path()?;
            if let Some(name) = path.file_name().and_then(package_of_document) {
                let body = section(entry.raw_file_position(), entry.size())?;
                self.packuments.insert(name, Stored::Memory(unpacked.slice(body)));
            }
        }
        Ok(())
    }

    fn index_tarballs(&mut self, archive: &Path) -> io::Result<()> {
        for entry in tar::Archive::new(File::open(archive)?).entries_with_seek()? {
            let entry = entry?;
            let path = entry.path()?;
            let package = path.parent().and_then(Path::file_name);
            if let (true, Some(name), Some(file)) =
                (entry.header().entry_type().is_file(), text(package), text(path.file_name()))
            {
                let (offset, length) = (entry.raw_file_position(), entry.size());
                self.add_tarball(name, file, Stored::Section { archive: archive.to_owned(), offset, length });
            }
        }
        Ok(())
    }

    fn add_tarball(&mut self, folder: &str, file: &str, stored: Stored) {
        self.tarballs.entry(package_of_folder(folder)).or_default().insert(file.to_owned(), stored);
    }
}

impl Stored {
    fn read(&self) -> io::Result<Bytes> {
        match self {
            Self::File(path) => fs::read(path).map(Bytes::from),
            Self::Memory(body) => Ok(body.clone()),
            Self::Made(synthetic, package) => Ok(Bytes::from(synthetic.packument(*package).to_string())),
            Self::Section { archive, offset, length } => {
                let mut file = File::open(archive)?;
                file.seek(SeekFrom::Start(*offset))?;
                let mut body = Vec::new();
                file.take(*length).read_to_end(&mut body)?;
                Ok(Bytes::from(body))
            }
        }
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> RegistryError {
    let path = path.to_owned();
    |source| RegistryError::Unreadable { path, source }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

fn text(name: Option<&OsStr>) -> Option<&str> {
    name.and_then(OsStr::to_str)
}

/// `@babel%2fcore.json` → `@babel/core`.
fn package_of_document(file: &OsStr) -> Option<String> {
    file.to_str()?.strip_suffix(".json").map(package_of_folder)
}

fn package_of_folder(folder: &str) -> String {
    folder.replacen("%2f", "/", 1)
}

fn section(offset: u64, length: u64) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(io::Error::other)?;
    let length = usize::try_from(length).map_err(io::Error::other)?;
    Ok(start..start + length)
}
