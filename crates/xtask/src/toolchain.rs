//! The prerequisites beyond Rust, Node and git. Missing ones are installed and reported. Present
//! ones stay as they are, so a second start takes no time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

/// The oldest Node that everything here runs on: Vite's.
const OLDEST_NODE: (u32, u32) = (20, 19);

/// The root of the workspace.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("this crate is two folders below the root").to_owned()
}

/// Runs a command in the root folder and passes its output on.
pub fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.current_dir(root()).status().with_context(|| format!("cannot start `{name}`"))?;
    ensure!(status.success(), "`{name}` failed ({status})");
    Ok(())
}

/// Cargo. Windows can't run the shell script that gives optimised builds their profile.
pub fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    if cfg!(windows) {
        cargo.args(["--config", "build.rustc-wrapper=''"]);
    }
    cargo
}

/// A program of an npm package of the workspace. [`npm_packages`] installs it.
pub fn npm_program(name: &str) -> PathBuf {
    root().join("node_modules/.bin").join(if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() })
}

/// Makes sure that the packages of the root's package-lock.json are installed.
pub fn npm_packages() -> Result<()> {
    node()?;
    let installed = modified(&root().join("node_modules/.package-lock.json"));
    let wanted = modified(&root().join("package-lock.json")).context("there is no package-lock.json")?;
    if installed.is_some_and(|installed| installed >= wanted) {
        return Ok(());
    }
    eprintln!("Installing npm packages (npm ci) …");
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    run(Command::new(npm).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))
}

/// Makes sure that Rust can compile for `target`.
pub fn rust_target(target: &str) -> Result<()> {
    if rustlib()?.join(target).join("lib").exists() {
        return Ok(());
    }
    eprintln!("Installing Rust's standard library for {target} (rustup target add) …");
    run(Command::new("rustup").args(["target", "add", target]))
        .with_context(|| format!("Rust's standard library for {target} is missing; install it and try again"))
}

/// The program that merges the counts of instrumented programs.
pub fn profile_merger() -> Result<PathBuf> {
    let find = || -> Result<Option<PathBuf>> {
        let name = format!("bin/llvm-profdata{}", std::env::consts::EXE_SUFFIX);
        let folders = fs::read_dir(rustlib()?)?.flatten();
        Ok(folders.map(|folder| folder.path().join(&name)).find(|program| program.exists()))
    };
    if let Some(program) = find()? {
        return Ok(program);
    }
    eprintln!("Installing LLVM's programs of this version of Rust (rustup component add llvm-tools) …");
    run(Command::new("rustup").args(["component", "add", "llvm-tools"]))?;
    find()?.context("rustup's component llvm-tools has no llvm-profdata")
}

/// The folder with Rust's files for each target.
fn rustlib() -> Result<PathBuf> {
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()).output()?;
    ensure!(rustc.status.success(), "`rustc` failed: {}", String::from_utf8_lossy(&rustc.stderr));
    Ok(PathBuf::from(String::from_utf8(rustc.stdout)?.trim()).join("lib/rustlib"))
}

/// Fails unless there is a sufficient Node.
fn node() -> Result<()> {
    let (major, minor) = OLDEST_NODE;
    let remedy = format!("install Node {major}.{minor} or later from https://nodejs.org/");
    let Ok(output) = Command::new("node").arg("--version").output() else {
        bail!("there is no `node` on the PATH; {remedy}");
    };
    let version = String::from_utf8(output.stdout)?;
    let mut parts = version.trim().trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0));
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    ensure!(found >= OLDEST_NODE, "Node {} is too old; {remedy}", version.trim());
    Ok(())
}

fn modified(file: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}
