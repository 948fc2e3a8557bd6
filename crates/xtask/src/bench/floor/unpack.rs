//! Fetches the tarballs of an installation, verifies them and writes their files, because every
//! installation without a cache has to. There is no store, no plan and no link.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha512};

use crate::bench::fetch::{Connection, Forms, Inflated};

/// The number of threads for each processor. One waits for the server while the other one unpacks.
const THREADS: usize = 2;

/// Unpacks everything that is installed in a project. Returns the time in milliseconds.
pub fn all(address: SocketAddr, project: &Path, scratch: &Path) -> Result<f64> {
    let tarballs = tarballs(project)?;
    let target = tempfile::Builder::new().prefix("files-").tempdir_in(scratch)?.keep();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            let (mut connection, mut inflated) = (Connection::open(address, Forms::Full)?, Inflated::default());
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((path, integrity)) = tarballs.get(index) else { return Ok(()) };
                let tarball = connection.get(path)?;
                ensure!(
                    BASE64_STANDARD.encode(Sha512::digest(tarball)) == *integrity,
                    "{path} is not what the lock says"
                );
                let unpacked = inflated.inflate(tarball).and_then(|tar| write(tar, &target.join(index.to_string())));
                unpacked.with_context(|| format!("{path} cannot be unpacked"))?;
            }
        };
        let count = THREADS * available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The paths and SHA-512 digests of the installed tarballs, by npm's hidden lockfile.
fn tarballs(project: &Path) -> Result<Vec<(String, String)>> {
    let text = fs::read_to_string(project.join("node_modules/.package-lock.json"))?;
    let lock: Value = serde_json::from_str(&text)?;
    let mut tarballs = BTreeMap::new();
    for entry in lock["packages"].as_object().into_iter().flat_map(Map::values) {
        let (Some(resolved), Some(integrity)) = (entry["resolved"].as_str(), entry["integrity"].as_str()) else {
            continue;
        };
        let path = resolved.splitn(4, '/').nth(3).with_context(|| format!("{resolved} is no address"))?;
        let integrity = integrity.strip_prefix("sha512-").with_context(|| format!("{resolved} has no SHA-512"))?;
        tarballs.insert(format!("/{path}"), integrity.to_owned());
    }
    Ok(tarballs.into_iter().collect())
}

/// Writes the files of an archive.
fn write(tar: &[u8], target: &Path) -> Result<()> {
    let (mut folders, mut content) = (HashSet::new(), Vec::new());
    for entry in tar::Archive::new(tar).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = target.join(entry.path()?.components().skip(1).collect::<PathBuf>());
        let folder = path.parent().unwrap_or(target);
        if !folders.contains(folder) {
            fs::create_dir_all(folder)?;
            folders.insert(folder.to_owned());
        }
        content.clear();
        entry.read_to_end(&mut content)?;
        File::create(&path)?.write_all(&content)?;
    }
    Ok(())
}
