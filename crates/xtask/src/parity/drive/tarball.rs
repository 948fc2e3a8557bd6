//! Reads the files and manifests of a tarball for the core.

use std::io::{self, Read};

use base64::{Engine, engine::general_purpose::STANDARD};
use espalier_core::TarballListing;
use espalier_core::request::{FetchFailure, FetchFailureKind};
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha512};

/// Reads a tarball. Fails if its SHA-512 differs from the expected one.
pub fn list(bytes: &[u8], expected: Option<&str>, url: &str) -> Result<TarballListing, FetchFailure> {
    let invalid = |message: String| FetchFailure { kind: FetchFailureKind::Invalid, message, url: url.to_owned() };
    let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(bytes)));
    if let Some(expected) = expected.filter(|expected| expected.contains("sha512-") && !expected.contains(&integrity)) {
        return Err(invalid(format!("{url} has integrity {integrity}, expected {expected}")));
    }
    let (files, manifests) = read(bytes).map_err(|error| invalid(format!("{url} is not a tarball: {error}")))?;
    Ok(TarballListing { integrity, files, manifests })
}

type Contents = (Vec<String>, Vec<(String, String)>);

fn read(bytes: &[u8]) -> io::Result<Contents> {
    let (mut files, mut manifests) = (Vec::new(), Vec::new());
    for entry in tar::Archive::new(MultiGzDecoder::new(bytes)).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path()?.to_string_lossy().replace('\\', "/");
        let Some((_, path)) = path.trim_start_matches("./").split_once('/') else { continue };
        let path = path.to_owned();
        if path.rsplit('/').next() == Some("package.json") {
            let mut text = Vec::new();
            entry.read_to_end(&mut text)?;
            manifests.push((path.clone(), String::from_utf8_lossy(&text).into_owned()));
        }
        files.push(path);
    }
    Ok((files, manifests))
}
