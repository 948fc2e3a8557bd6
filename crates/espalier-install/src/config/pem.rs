//! The certificates that settings name, as PEM.
//!
//! A file is read when a connection needs it. Settings often name all certificates of the system,
//! and reading those takes longer than a command that needs no registry.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::ConfigError;

/// A PEM text or file.
#[derive(Clone, Debug)]
pub struct Pem {
    /// The setting, and the file.
    setting: String,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Text(String),
    File(PathBuf),
}

impl Pem {
    /// The value of a setting.
    pub fn of_text(setting: &str, text: String) -> Self {
        Self { setting: setting.to_owned(), content: Content::Text(text) }
    }

    /// A file that a setting names. Fails if it can't be opened.
    pub fn of_file(setting: &str, path: PathBuf) -> io::Result<Self> {
        File::open(&path)?;
        Ok(Self { setting: format!("{setting} {}", path.display()), content: Content::File(path) })
    }

    /// All of it.
    pub fn read(&self) -> Result<Cow<'_, [u8]>, ConfigError> {
        match &self.content {
            Content::Text(text) => Ok(text.as_bytes().into()),
            Content::File(path) => match std::fs::read(path) {
                Ok(bytes) => Ok(bytes.into()),
                Err(source) => Err(ConfigError::Unreadable { path: path.clone(), source }),
            },
        }
    }

    /// Checks that it begins with a certificate, and reads no more of a file than that takes.
    pub fn check(&self) -> Result<(), ConfigError> {
        let first = match &self.content {
            Content::Text(text) => CertificateDer::pem_slice_iter(text.as_bytes()).next().map(|first| first.map(drop)),
            Content::File(path) => {
                let file = File::open(path);
                let file = file.map_err(|source| ConfigError::Unreadable { path: path.clone(), source })?;
                CertificateDer::pem_reader_iter(file).next().map(|first| first.map(drop))
            }
        };
        match first {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(self.unusable(error.to_string())),
            None => Err(self.unusable("there is no PEM certificate in it".to_owned())),
        }
    }

    /// The error for certificates that can't be used.
    pub fn unusable(&self, reason: String) -> ConfigError {
        ConfigError::Certificates { setting: self.setting.clone(), reason }
    }
}

/// The setting, and the file.
impl fmt::Display for Pem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.setting)
    }
}
