//! Finds or installs the browsers for the tests.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::toolchain::{npm_program, root, run};

/// A browser that tests run in.
struct Browser {
    /// The variable that names its executable.
    variable: &'static str,
    /// Its names on the PATH.
    names: &'static [&'static str],
    /// Debian's packages. The first that can be installed is used.
    packages: &'static [&'static str],
}

/// The headless one comes first. It has no window, takes less than two thirds of the processor
/// time, and is what Playwright downloads for tests. Not every release of Debian has it.
const CHROMIUM: Browser = Browser {
    variable: "CHROMIUM_PATH",
    names: &["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    packages: &["chromium-headless-shell", "chromium"],
};
const FIREFOX: Browser =
    Browser { variable: "FIREFOX_PATH", names: &["firefox-esr", "firefox"], packages: &["firefox-esr"] };

/// The executable of Chromium: the one that `CHROMIUM_PATH` names, one on the PATH, Debian's
/// package if `apt-get` works as root, otherwise Playwright's own download.
pub fn chromium() -> Result<PathBuf> {
    if let Some(found) = CHROMIUM.find_or_install()? {
        return Ok(found);
    }
    eprintln!("Installing Chromium (playwright install chromium) …");
    run(Command::new(npm_program("playwright")).args(["install", "chromium"]))?;
    playwrights_own()
}

/// The executable of Firefox, in the same way. `None` if there is none and it can't be installed.
/// Playwright's own is patched, so it isn't a browser that anybody uses.
pub fn firefox() -> Result<Option<PathBuf>> {
    FIREFOX.find_or_install()
}

impl Browser {
    fn find_or_install(&self) -> Result<Option<PathBuf>> {
        if let Some(path) = env::var_os(self.variable) {
            return Ok(Some(path.into()));
        }
        if let Some(found) = self.on_path() {
            return Ok(Some(found));
        }
        if !is_root() || Command::new("apt-get").arg("--version").output().is_err() {
            return Ok(None);
        }
        run(Command::new("apt-get").args(["update", "--quiet", "--quiet"]))?;
        let mut installed = Ok(());
        for package in self.packages {
            installed = install(package);
            if installed.is_ok() {
                break;
            }
        }
        installed?;
        let found = self.on_path();
        found.map(Some).with_context(|| format!("Debian's {} is installed, but not on the PATH", self.packages[0]))
    }

    fn on_path(&self) -> Option<PathBuf> {
        let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
        let mut candidates = self.names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        candidates.find(|path| path.is_file())
    }
}

/// Installs a package of Debian.
fn install(package: &str) -> Result<()> {
    eprintln!("Installing {package} (apt-get install {package}) …");
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--quiet", "--quiet", "--no-install-recommends", package]);
    run(command.env("DEBIAN_FRONTEND", "noninteractive"))
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
