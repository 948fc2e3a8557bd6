//! The browser for the tests: found, or installed.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::toolchain::{npm_program, root, run};

/// The names that Chromium goes by on the PATH.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The executable: the one that `CHROMIUM_PATH` names, one on the PATH, Debian's package where `apt-get`
/// works as root, else Playwright's own download.
pub fn find_or_install() -> Result<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM_PATH") {
        return Ok(path.into());
    }
    if let Some(found) = on_path() {
        return Ok(found);
    }
    if is_root() && Command::new("apt-get").arg("--version").output().is_ok() {
        eprintln!("Installing Chromium (apt-get install chromium) …");
        run(Command::new("apt-get").args(["update", "--quiet", "--quiet"]))?;
        let mut install = Command::new("apt-get");
        install.args(["install", "--yes", "--quiet", "--quiet", "--no-install-recommends", "chromium"]);
        run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
        return on_path().context("Debian's chromium is installed, but not on the PATH");
    }
    eprintln!("Installing Chromium (playwright install chromium) …");
    run(Command::new(npm_program("playwright")).args(["install", "chromium"]))?;
    playwrights_own()
}

fn on_path() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn playwrights_own() -> Result<PathBuf> {
    let script = "process.stdout.write(require('@playwright/test').chromium.executablePath())";
    let output = Command::new("node").args(["--eval", script]).current_dir(root()).output()?;
    if !output.status.success() {
        bail!("Playwright doesn't say where its Chromium is: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?.into())
}
