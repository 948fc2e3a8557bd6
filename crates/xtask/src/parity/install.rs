//! `cargo xtask parity --install`: compares the tree on disk with that of `npm ci
//! --ignore-scripts`.
//!
//! Both programs install the recorded lock from the same server. Every path, its kind, mode,
//! content and link are compared. Then npm judges Espalier's tree: `npm ls` has to print the same
//! for both, and `npm install` has to find nothing to do. Finally, both install from package.json
//! alone, which has to give the same lock, too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use espalier_replay::{Registry, Server, Settings};
use sha2::{Digest as _, Sha256};

use crate::oracle;
use crate::toolchain;

/// The projects whose tarballs are all in the corpus.
const PROJECTS: [&str; 2] = ["vite-react-ts", "alotta-files"];

/// The maximum number of printed differences.
const SHOWN: usize = 10;

/// The files of a folder, by path.
type Listing = BTreeMap<String, String>;

/// Compares these projects. Without names, it compares those with recorded tarballs.
pub fn run(corpus: &Path, only: &[String], espalier: Option<&Path>) -> anyhow::Result<()> {
    let server = Server::start_blocking(Arc::new(Registry::open(corpus)?), Settings::default())?;
    let scratch = tempfile::Builder::new().prefix("espalier-parity-").tempdir()?;
    let bench = Bench {
        npm: oracle::install(None)?.join("bin/npm-cli.js"),
        espalier: espalier.map_or_else(build, |path| Ok(std::path::absolute(path)?))?,
        origin: server.origin(),
        scratch: scratch.path().to_owned(),
    };
    let defaults = PROJECTS.map(str::to_owned);
    let mut differing = 0;
    for name in if only.is_empty() { &defaults[..] } else { only } {
        let start = Instant::now();
        let differences = bench.compare(&corpus.join("projects").join(name), name)?;
        for line in &differences {
            println!("  {line}");
        }
        let verdict = if differences.is_empty() { "identical on disk" } else { "DIFFERS" };
        println!("{name:<20} {verdict} ({:.0?})", start.elapsed());
        differing += usize::from(!differences.is_empty());
    }
    ensure!(differing == 0, "{differing} trees differ from npm's");
    Ok(())
}

struct Bench {
    npm: PathBuf,
    espalier: PathBuf,
    origin: String,
    scratch: PathBuf,
}

impl Bench {
    fn compare(&self, project: &Path, name: &str) -> anyhow::Result<Vec<String>> {
        let arguments = fs::read_to_string(project.join("npm-args")).unwrap_or_default();
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        // The folders have the same name, because npm prints it.
        let [by_npm, by_espalier] = ["npm", "espalier"].map(|who| self.scratch.join(who).join(name));
        for folder in [&by_npm, &by_espalier] {
            self.prepare(project, folder)?;
        }
        self.run_npm(&by_npm, "ci", &arguments)?;
        self.run_espalier(&by_espalier, "ci", &arguments)?;
        let mut differences = compare("npm ci", &list(&by_npm)?, &list(&by_espalier)?);

        let ls = |folder: &Path| -> anyhow::Result<String> {
            let output = self.npm(folder, "ls", &[&["--all", "--long", "--json"], &arguments[..]].concat()).output()?;
            let said = String::from_utf8_lossy(&output.stdout).replace(&*folder.to_string_lossy(), "");
            Ok(format!("{:?}\n{said}", output.status.code()))
        };
        if ls(&by_npm)? != ls(&by_espalier)? {
            differences.push("npm ls says something else of it".to_owned());
        }
        let before = list(&by_espalier)?;
        self.run_npm(&by_espalier, "install", &arguments)?;
        differences.extend(compare("npm install afterwards", &before, &list(&by_espalier)?));
        for folder in [&by_npm, &by_espalier] {
            fs::remove_dir_all(folder)?;
            self.prepare(project, folder)?;
            fs::remove_file(folder.join("package-lock.json"))?;
        }
        self.run_npm(&by_npm, "install", &arguments)?;
        self.run_espalier(&by_espalier, "install", &arguments)?;
        differences.extend(compare("npm install of nothing but package.json", &list(&by_npm)?, &list(&by_espalier)?));
        Ok(differences)
    }

    /// Copies a project, with the server's origin in its lock.
    fn prepare(&self, project: &Path, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(folder)?;
        for name in ["package.json", "package-lock.json"] {
            let text = fs::read_to_string(project.join(name)).with_context(|| format!("{name} of the project"))?;
            let text = text.replace("\"resolved\": \"/", &format!("\"resolved\": \"{}/", self.origin));
            fs::write(folder.join(name), text)?;
        }
        Ok(())
    }

    fn npm(&self, folder: &Path, command: &str, arguments: &[&str]) -> Command {
        let mut npm = Command::new("node");
        npm.arg(&self.npm).arg(command).args(["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
        npm.args(arguments).current_dir(folder).env("npm_config_registry", &self.origin);
        for (key, name) in [("userconfig", "user"), ("globalconfig", "global"), ("cache", "npm-cache")] {
            npm.env(format!("npm_config_{key}"), self.scratch.join(name));
        }
        npm
    }

    fn run_npm(&self, folder: &Path, command: &str, arguments: &[&str]) -> anyhow::Result<()> {
        succeed(&format!("npm {command}"), &self.npm(folder, command, arguments).output()?)
    }

    fn run_espalier(&self, folder: &Path, command: &str, arguments: &[&str]) -> anyhow::Result<()> {
        let mut espalier = Command::new(&self.espalier);
        espalier.arg(command).args(arguments).current_dir(folder).env("npm_config_registry", &self.origin);
        espalier.env("npm_config_userconfig", self.scratch.join("user"));
        espalier
            .env("ESPALIER_CACHE_DIR", self.scratch.join("cache"))
            .env("ESPALIER_STORE", self.scratch.join("store"));
        succeed(&format!("espalier {command}"), &espalier.output()?)
    }
}

/// Fails with the command's output unless it succeeded.
pub fn succeed(what: &str, output: &Output) -> anyhow::Result<()> {
    if !output.status.success() {
        bail!("{what} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Builds the command and returns its path.
pub fn build() -> anyhow::Result<PathBuf> {
    let status = toolchain::cargo().args(["build", "--quiet", "--package", "espalier-cli"]).status()?;
    ensure!(status.success(), "espalier could not be built");
    Ok(oracle::target_folder().join("debug").join(format!("espalier{}", std::env::consts::EXE_SUFFIX)))
}

/// The entries of a folder: kind, mode, and content or target.
fn list(folder: &Path) -> anyhow::Result<Listing> {
    let mut listing = Listing::new();
    let mut open = vec![String::new()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(folder.join(&path))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            let whole = folder.join(&path);
            let found = fs::symlink_metadata(&whole)?;
            let mode = mode(&found);
            let description = if found.is_symlink() {
                format!("link to {}", fs::read_link(&whole)?.display())
            } else if found.is_dir() {
                open.push(path.clone());
                format!("folder {mode:o}")
            } else {
                let digest = Sha256::digest(fs::read(&whole)?);
                let digest = digest.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
                format!("file {mode:o} of {} bytes, {digest}", found.len())
            };
            listing.insert(path, description);
        }
    }
    Ok(listing)
}

#[cfg(unix)]
fn mode(found: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0
}

fn compare(what: &str, expected: &Listing, actual: &Listing) -> Vec<String> {
    let paths: std::collections::BTreeSet<&String> = expected.keys().chain(actual.keys()).collect();
    let describe = |listing: &Listing, path: &String| listing.get(path).map_or("nothing".to_owned(), Clone::clone);
    let different: Vec<&String> = paths.into_iter().filter(|path| expected.get(*path) != actual.get(*path)).collect();
    let mut lines: Vec<String> = different
        .iter()
        .take(SHOWN)
        .map(|path| format!("{what}: {path}: {}, but is {}", describe(expected, path), describe(actual, path)))
        .collect();
    if different.len() > SHOWN {
        lines.push(format!("{what}: and {} more of {} paths", different.len() - SHOWN, expected.len()));
    }
    lines
}
