//! The compared package managers, at pinned versions, and how to start them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::oracle;
use crate::toolchain::run as run_command;

/// A package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Contestant {
    Espalier,
    /// Another build of it.
    Before,
    Bun,
    Pnpm,
    Utoo,
    Npm,
}

impl fmt::Display for Contestant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Espalier => "espalier",
            Self::Before => "before",
            Self::Bun => "bun",
            Self::Pnpm => "pnpm",
            Self::Utoo => "utoo",
            Self::Npm => "npm",
        })
    }
}

impl Contestant {
    /// Whether it is a build of Espalier.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Espalier | Self::Before)
    }

    /// The measured version.
    pub fn version(self) -> &'static str {
        match self {
            Self::Espalier | Self::Before => env!("CARGO_PKG_VERSION"),
            Self::Bun => "1.4.5",
            Self::Pnpm => "12.21.0",
            Self::Utoo => "1.1.9",
            Self::Npm => oracle::NPM_VERSION,
        }
    }

    /// Its program, which is installed if necessary.
    pub fn install(self, folder: &Path) -> Result<PathBuf> {
        if self == Self::Npm {
            return Ok(std::path::absolute(oracle::install(None)?.join("bin/npm-cli.js"))?);
        }
        // Each has a folder of its own, because npm would remove the others.
        let folder = folder.join(format!("{self}-{}", self.version()));
        if self.program(&folder).is_none() {
            fs::create_dir_all(&folder)?;
            let package = format!("{self}@{}", self.version());
            // A script installs its own program.
            let arguments = ["install", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--prefix"];
            run_command(Command::new("npm").args(arguments).arg(&folder).arg(&package))?;
        }
        let program = self.program(&folder).with_context(|| format!("{self} has no program for this machine"))?;
        ensure!(program.is_file(), "{} is no program", program.display());
        Ok(std::path::absolute(program)?)
    }

    /// The native program, without the script that starts it.
    fn program(self, folder: &Path) -> Option<PathBuf> {
        let modules = folder.join("node_modules");
        let candidates = match self {
            Self::Bun => vec![modules.join("bun/bin/bun.exe"), modules.join("bun/bin/bun")],
            Self::Pnpm => native(&modules.join("@pnpm"), "pnpm"),
            Self::Utoo => native(&modules.join("@utoo"), "bin/utoo"),
            Self::Espalier | Self::Before | Self::Npm => Vec::new(),
        };
        candidates.into_iter().find(|path| path.metadata().is_ok_and(|found| found.len() > 1_000_000))
    }

    /// The command that starts it. Everything that it keeps is below `home`.
    pub fn command(
        self,
        program: &Path,
        folder: &Path,
        home: &Path,
        origin: &str,
        certificate: Option<&Path>,
    ) -> Command {
        let mut command = if self == Self::Npm { Command::new("node") } else { Command::new(program) };
        if self == Self::Npm {
            command.arg(program);
        }
        command.current_dir(folder).env_clear();
        // It gets PATH and HOME, and nothing else of this machine.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home).env("CI", "1");
        command.env("npm_config_registry", origin).env("npm_config_cache", home.join("npm-cache"));
        command.env("npm_config_userconfig", home.join(".npmrc")).env("npm_config_globalconfig", home.join("npmrc"));
        for (name, value) in
            [("audit", "false"), ("fund", "false"), ("update_notifier", "false"), ("ignore_scripts", "true")]
        {
            command.env(format!("npm_config_{name}"), value);
        }
        if let Some(certificate) = certificate {
            command.env("NODE_EXTRA_CA_CERTS", certificate).env("npm_config_cafile", certificate);
        }
        match self {
            Self::Espalier | Self::Before => {
                command.env("ESPALIER_CACHE_DIR", home.join("cache")).env("ESPALIER_STORE", home.join("store"));
            }
            Self::Bun => {
                command.env("BUN_INSTALL_CACHE_DIR", home.join("bun-cache")).env("BUN_INSTALL", home.join("bun"));
            }
            Self::Pnpm => {
                command
                    .env("npm_config_store_dir", home.join("pnpm-store"))
                    .env("XDG_CACHE_HOME", home.join("xdg-cache"));
                command.env("XDG_DATA_HOME", home.join("xdg-data")).env("XDG_STATE_HOME", home.join("xdg-state"));
                command.env("PNPM_HOME", home.join("pnpm"));
            }
            Self::Utoo | Self::Npm => {}
        }
        command
    }
}

/// The programs in the packages of a scope. Only that of this machine is installed.
fn native(scope: &Path, program: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(scope).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().join(program)).collect()
}
