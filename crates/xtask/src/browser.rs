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
    /// Debian's package.
    package: &'static str,
}

/// Chromium without a window, which is also what Playwright downloads for tests. It takes two thirds
/// of the processor time.
const HEADLESS: Browser =
    Browser { variable: "CHROMIUM_PATH", names: &["chromium-headless-shell"], package: "chromium-headless-shell" };
const CHROMIUM: Browser = Browser {
    variable: "CHROMIUM_PATH",
    names: &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    package: "chromium",
};
const FIREFOX: Browser =
    Browser { variable: "FIREFOX_PATH", names: &["firefox-esr", "firefox"], package: "firefox-esr" };

/// The executable of Chromium: the one that `CHROMIUM_PATH` names, a headless one on the PATH or from
/// Debian if `apt-get` works as root, another one in the same way, otherwise Playwright's own
/// download.
pub fn chromium() -> Result<PathBuf> {
    match HEADLESS.find_or_install() {
        Ok(Some(found)) => return Ok(found),
        Ok(None) => {}
        // Not every release of every distribution has it.
        Err(error) => eprintln!("{error:#}"),
    }
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
        eprintln!("Installing {0} (apt-get install {0}) …", self.package);
        run(Command::new("apt-get").args(["update", "--quiet", "--quiet"]))?;
        let mut install = Command::new("apt-get");
        install.args(["install", "--yes", "--quiet", "--quiet", "--no-install-recommends", self.package]);
        run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
        let found = self.on_path();
        found.map(Some).with_context(|| format!("Debian's {} is installed, but not on the PATH", self.package))
    }

    fn on_path(&self) -> Option<PathBuf> {
        let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
        let mut candidates = self.names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        candidates.find(|path| path.is_file())
    }
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
