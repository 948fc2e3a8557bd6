//! `cargo xtask parity`: compares Espalier's locks with npm's, byte for byte.
//!
//! Each folder in `projects/` of a corpus has a package.json, npm's flags (`npm-args`) and the
//! package-lock.json that npm wrote. A folder without a lock is a project that fails in npm with
//! ERESOLVE. The core is driven directly from the recorded registry, without HTTP, because the
//! resolver is compared. With `--install`, the trees on disk are compared instead.

mod browser;
mod compare;
mod drive;
#[cfg(test)]
mod golden;
pub mod install;
mod project;
mod random;
mod scenarios;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail};
use espalier_replay::Registry;

use compare::Verdict;
use drive::Recording;
use project::CorpusProject;

/// Arguments of `cargo xtask parity`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder with the recorded registry and `projects/`.
    #[arg(long, value_name = "DIR", required_unless_present = "scenarios")]
    corpus: Option<PathBuf>,
    /// Only this project; can be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "random")]
    project: Vec<String>,
    /// Resolve with abbreviated packuments, which must not change the result
    #[arg(long)]
    abbreviated: bool,
    /// Compare the trees on disk of `npm ci` and `espalier ci`
    #[arg(long, conflicts_with_all = ["random", "abbreviated", "browser"])]
    install: bool,
    /// Resolve in Chromium, with the wasm build
    #[arg(long, conflicts_with_all = ["abbreviated", "random"])]
    browser: bool,
    /// The program to compare with npm [default: it is built]
    #[arg(long, value_name = "FILE", requires = "install")]
    espalier: Option<PathBuf>,
    /// Compare `tests/scenarios` with npm; needs no corpus
    #[arg(long)]
    scenarios: bool,
    /// Write npm's answers into the scenarios
    #[arg(long, requires = "scenarios")]
    write: bool,
    #[command(flatten)]
    random: random::Arguments,
}

/// Compares every project and fails if any differs.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.scenarios {
        return scenarios::run(arguments.write);
    }
    let corpus = arguments.corpus.as_deref().context("--corpus says where the recording is")?;
    if arguments.install {
        return install::run(corpus, &arguments.project, arguments.espalier.as_deref());
    }
    if arguments.random.wanted() {
        return random::run(corpus, arguments.abbreviated, &arguments.random);
    }
    if arguments.browser {
        return browser::run(corpus, &arguments.project);
    }
    let projects = CorpusProject::all(corpus, &arguments.project)?;
    let recording = Recording::new(Registry::open(corpus)?, arguments.abbreviated);
    let mut differing = 0;
    for project in &projects {
        let start = Instant::now();
        let verdict = check(&recording, project)?;
        println!("{:<20} {verdict} ({:.2?})", project.name, start.elapsed());
        differing += usize::from(!verdict.is_identical());
    }
    if differing > 0 {
        bail!("{differing} of {} projects differ from npm", projects.len());
    }
    println!("all {} projects are identical to npm's", projects.len());
    Ok(())
}

fn check(recording: &Recording, project: &CorpusProject) -> anyhow::Result<Verdict> {
    let answer = recording.resolve(&project.input()?, project.options.clone());
    Ok(compare::verdict(&project.expected, &answer))
}
