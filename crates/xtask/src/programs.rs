//! `cargo xtask programs`: runs programs from installations by Espalier.
//!
//! Each folder in `tests/programs/` is a project with a script `check`. It is copied, installed
//! from the configured or a recorded registry, and checked. The install script of a native addon
//! may run only after its approval.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use espalier_replay::{Registry, Server, Settings};

use crate::oracle;
use crate::parity::install::{build, succeed};

/// Arguments of `cargo xtask programs`.
#[derive(Default, clap::Args)]
pub struct Arguments {
    /// Only this program; can be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// A folder with a recorded registry, instead of the configured registry
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// The program to use [default: it is built]
    #[arg(long, value_name = "FILE")]
    pub espalier: Option<PathBuf>,
}

/// A program, and the commands that make it run.
struct Program {
    name: &'static str,
    steps: &'static [&'static [&'static str]],
    /// Whether a recorded corpus has its tarballs.
    is_recorded: bool,
}

const INSTALL_AND_CHECK: &[&[&str]] = &[&["install"], &["run", "check"]];

const PROGRAMS: [Program; 4] = [
    Program { name: "vite", steps: INSTALL_AND_CHECK, is_recorded: true },
    Program { name: "express", steps: INSTALL_AND_CHECK, is_recorded: false },
    Program { name: "jest", steps: INSTALL_AND_CHECK, is_recorded: false },
    Program {
        name: "addon",
        steps: &[&["install"], &["approve", "bufferutil"], &["rebuild"], &["run", "check"]],
        is_recorded: false,
    },
];

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let recording = match &arguments.corpus {
        Some(corpus) => Some(Server::start_blocking(Arc::new(Registry::open(corpus)?), Settings::default())?),
        None => None,
    };
    let scratch = tempfile::Builder::new().prefix("espalier-programs-").tempdir()?;
    let espalier = match &arguments.espalier {
        Some(file) => std::path::absolute(file)?,
        None => build()?,
    };
    let wanted = |program: &&Program| {
        (recording.is_none() || program.is_recorded)
            && (arguments.only.is_empty() || arguments.only.iter().any(|only| only == program.name))
    };
    for program in PROGRAMS.iter().filter(wanted) {
        let start = Instant::now();
        let folder = scratch.path().join(program.name);
        copy(&oracle::repository().join("tests/programs").join(program.name), &folder)?;
        for step in program.steps {
            let mut command = Command::new(&espalier);
            command.args(*step).current_dir(&folder);
            command.env("ESPALIER_CACHE_DIR", scratch.path().join("cache"));
            command.env("ESPALIER_STORE", scratch.path().join("store"));
            // Packages with prebuilt binaries are built, too, because the script is what this
            // checks.
            command.env("npm_config_build_from_source", "true");
            if let Some(server) = &recording {
                command.env("npm_config_registry", server.origin());
            }
            succeed(&format!("espalier {}", step.join(" ")), &command.output()?).context(program.name)?;
            if program.name == "addon" && step == &["install"] {
                let built = folder.join("node_modules/bufferutil/build");
                ensure!(!built.exists(), "an install script ran that nobody had approved");
            }
        }
        println!("{:<10} runs ({:.0?})", program.name, start.elapsed());
    }
    if let Some(unknown) = arguments.only.iter().find(|only| PROGRAMS.iter().all(|program| program.name != **only)) {
        bail!("there is no program {unknown}");
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
