//! A recorded registry: which packages and tarballs it holds, and their bytes as recorded.
//!
//! Two layouts are read: a folder with `packuments/<name>.json` and `tarballs/<name>/<file>.tgz` (a slash in
//! a name is written `%2f`), and the same two trees packed as `registry.tar.zst` and `tarballs.tar`. Only
//! what is listed when the registry is opened can be asked for, so no request can name a path.
//! What is derived from a packument (origins, abbreviated forms) is not known here.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;

/// A folder that can't be served.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The folder holds neither of the two layouts.
    #[error("{} holds no recorded registry: expected packuments/ or registry.tar.zst in it", .folder.display())]
    NotARegistry {
        /// The folder that was named.
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

/// A recorded registry, opened. Bodies are read when they are asked for.
#[derive(Debug)]
pub struct Registry {
    packuments: HashMap<String, Stored>,
    /// What the endpoint for advisories answers, whatever it is asked.
    pub advisories: Option<Bytes>,
    /// By name, then by file name.
    tarballs: HashMap<String, HashMap<String, Stored>>,
}

/// Where a body is.
#[derive(Debug)]
enum Stored {
    File(PathBuf),
    /// A slice of the unpacked archive.
    Memory(Bytes),
    /// Uncompressed, inside a larger file.
    Section {
        archive: PathBuf,
        offset: u64,
        length: u64,
    },
}

impl Registry {
    /// Opens a folder in either layout. Where both are there, the unpacked one is read.
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

    /// The names of all packages, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.packuments.keys().map(String::as_str)
    }

    /// The recorded packument, with tarballs as paths; `None` for a package that was not recorded.
    pub fn packument(&self, name: &str) -> Option<io::Result<Bytes>> {
        self.packuments.get(name).map(Stored::read)
    }

    /// A tarball by its package's name and its own file name.
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
