//! `cargo xtask bench`: Espalier beside other package managers, on one recorded registry.
//!
//! A round is one run of every contestant, one after the other, in new folders. The order
//! alternates from round to round. Folders are deleted only at the end, because deleting slows down
//! later runs on some file systems. A run counts after a check of its result: Espalier's lock is
//! npm's, and the files are in place. Times on a shared machine say little, so the report also has
//! ratios within a round, counts, and floors: the cost of the same requests or links alone.

#![expect(clippy::cast_precision_loss, reason = "figures are shown with three digits")]

mod chart;
mod check;
mod contestants;
mod fetch;
mod floor;
mod growth;
mod measure;
mod phase;
mod profile;
mod ratios;
mod report;
mod server;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::oracle;
use crate::toolchain::{self, run as run_command};
use contestants::Contestant;
pub use growth::{Arguments as Growing, run as grow};
pub use measure::{Arguments as Measured, child as measure_child, counted};
use phase::{Phase, Project};
pub use profile::{Arguments as Profiling, run as profile};
use report::{Outcome, Report, Run};
use server::{Replay, Served};

/// Arguments of `cargo xtask bench`. It has a field for each option.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder with the recorded registry and `projects/`.
    #[arg(long, value_name = "DIR", required_unless_present = "from")]
    corpus: Option<PathBuf>,
    /// Only this project; can be repeated
    #[arg(long, value_name = "NAME")]
    project: Vec<String>,
    /// Only this phase; can be repeated
    #[arg(long, value_name = "PHASE", value_enum)]
    phase: Vec<Phase>,
    /// Only these contestants; can be repeated. Espalier always takes part
    #[arg(long, value_name = "NAME", value_enum)]
    against: Vec<Contestant>,
    /// The server's delay before each answer, in milliseconds; can be repeated
    #[arg(long, value_name = "MS", default_values_t = [0, 10, 30])]
    delay: Vec<u64>,
    /// The number of rounds that count, after one that does not
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    rounds: usize,
    /// Serve over TLS, with HTTP/2 for clients that offer it
    #[arg(long)]
    tls: bool,
    /// Make the manifests in full documents this many times as long as recorded. Those of npm's
    /// registry are several times as long as abbreviated ones
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pad_full: f64,
    /// Run each contestant once more and count its system calls
    #[arg(long)]
    system_calls: bool,
    /// The espalier to measure [default: it is built]
    #[arg(long, value_name = "FILE")]
    espalier: Option<PathBuf>,
    /// Another espalier, for instance an earlier one, which takes part as `before`
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// The folder for the projects and caches of the rounds, outside of any project that could have
    /// them as workspaces
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The folder for the results
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Draw Espalier's times relative to bun's
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Measure nothing, and draw the chart of an earlier run's bench.json; can be repeated
    #[arg(long, value_name = "FILE", requires = "chart")]
    from: Vec<PathBuf>,
}

/// The projects that are measured by default.
const PROJECTS: [&str; 4] = ["ant-design", "alotta-files", "vite-react-ts", "docusaurus"];

/// Measures and reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    if let (Some(chart), false) = (&arguments.chart, arguments.from.is_empty()) {
        return ratios::draw(&arguments.from, chart);
    }
    let corpus = arguments.corpus.as_deref().context("a corpus")?;
    let target = oracle::target_folder();
    let output = arguments.output.clone().unwrap_or_else(|| target.join("bench/results"));
    fs::create_dir_all(&output)?;
    let bench = Bench::new(arguments, &target)?;
    let names: Vec<String> =
        if arguments.project.is_empty() { PROJECTS.map(str::to_owned).into() } else { arguments.project.clone() };
    let mut report = Report::new(arguments.rounds, bench.contestants.iter().map(|one| one.0));
    for &delay in &arguments.delay {
        let recording = Served::Corpus { folder: corpus, pad_full: arguments.pad_full };
        let server = Replay::start(&bench.replay, recording, delay, arguments.tls, &bench.scratch)?;
        for name in &names {
            let project = Project::read(corpus, name)?;
            for &phase in &bench.phases {
                // A phase without requests doesn't depend on the delay.
                let is_local = matches!(phase, Phase::P4 | Phase::NoOp);
                if !phase.suits(&project) || is_local && delay != arguments.delay[0] {
                    continue;
                }
                eprintln!("=== {name} {phase} at {delay} ms");
                let outcome = bench.measure(&server, &project, phase, delay)?;
                eprint!("{}", outcome.summary());
                report.outcomes.push(outcome);
                // A later failure doesn't lose this.
                report.write(&output)?;
                fs::write(output.join("bench.svg"), chart::draw(&report.outcomes))?;
            }
        }
    }
    if let Some(chart) = &arguments.chart {
        ratios::draw(&[output.join("bench.json")], chart)?;
    }
    println!("{}", report.markdown());
    eprintln!("JSON, Markdown and SVG are in {}", output.display());
    Ok(())
}

/// Builds the server of recorded registries.
fn build_replay(target: &Path) -> Result<PathBuf> {
    build("espalier-replay")?;
    Ok(std::path::absolute(target.join("release/espalier-replay"))?)
}

/// The command to measure, which is built if none is given.
fn build_espalier(given: Option<&Path>, target: &Path) -> Result<PathBuf> {
    if let Some(program) = given {
        return Ok(std::path::absolute(program)?);
    }
    build("espalier-cli")?;
    let program = std::path::absolute(target.join("release/espalier"))?;
    profile::warn_unless_fitting(&program)?;
    Ok(program)
}

fn build(package: &str) -> Result<()> {
    run_command(toolchain::cargo().args(["build", "--quiet", "--release", "--package", package]))
}

/// Fails if a folder is inside of a project, which could have the measured ones as workspaces.
fn in_no_project(folder: &Path) -> Result<()> {
    let above = folder.ancestors().find(|folder| folder.join("package.json").exists());
    ensure!(above.is_none(), "{} is inside of another project; --scratch names a better place", folder.display());
    Ok(())
}

struct Bench {
    /// The contestants with their programs.
    contestants: Vec<(Contestant, PathBuf)>,
    phases: Vec<Phase>,
    replay: PathBuf,
    scratch: PathBuf,
    rounds: usize,
    system_calls: bool,
    /// Removed with its content at the end.
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new(arguments: &Arguments, target: &Path) -> Result<Self> {
        let replay = build_replay(target)?;
        let espalier = build_espalier(arguments.espalier.as_deref(), target)?;
        let mut wanted = arguments.against.clone();
        if wanted.is_empty() {
            wanted = vec![Contestant::Bun, Contestant::Pnpm, Contestant::Utoo, Contestant::Npm];
        }
        let mut contestants = vec![(Contestant::Espalier, espalier)];
        if let Some(program) = &arguments.before {
            contestants.push((Contestant::Before, std::path::absolute(program)?));
        }
        for contestant in wanted.into_iter().filter(|one| !one.is_ours()) {
            contestants.push((contestant, contestant.install(&target.join("bench/peers"))?));
        }
        let scratch = arguments.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let folder = tempfile::Builder::new().prefix("espalier-bench-").tempdir_in(std::path::absolute(scratch)?)?;
        in_no_project(folder.path())?;
        let phases = if arguments.phase.is_empty() { Phase::ALL.to_vec() } else { arguments.phase.clone() };
        ensure!(arguments.rounds > 0, "--rounds has to be at least 1");
        Ok(Self {
            contestants,
            phases,
            replay,
            scratch: folder.path().to_owned(),
            rounds: arguments.rounds,
            system_calls: arguments.system_calls,
            _folder: folder,
        })
    }

    /// All rounds of one phase of one project.
    fn measure(&self, server: &Replay, project: &Project, phase: Phase, delay: u64) -> Result<Outcome> {
        let mut outcome = Outcome::new(&project.name, phase, delay, server.is_tls());
        let mut prepared = Vec::new();
        for (contestant, program) in &self.contestants {
            if let Some(seed) = phase.seed(*contestant, program, project, server, &self.scratch)? {
                prepared.push((*contestant, program, seed));
            } else {
                outcome.left_out.push(contestant.to_string());
            }
        }
        // The first round fills the system's caches and doesn't count.
        for round in 0..=self.rounds {
            let mut order: Vec<_> = prepared.iter().collect();
            if round % 2 == 1 {
                order.reverse();
            }
            let mut made = PathBuf::new();
            for (contestant, program, seed) in order {
                let folders = seed.scene(project, server, &self.scratch)?;
                let earlier = server.statistics()?;
                let command = phase.command(*contestant, program, project, server, &folders);
                let usage = measure::run(&command, &folders.folder.join("usage.json"))?;
                let answers = server.statistics()?.since(&earlier);
                let found = check::run(*contestant, phase, project, server, &folders);
                let found = found.with_context(|| format!("{contestant}, {} {phase}", project.name))?;
                if round > 0 {
                    outcome.add(*contestant, Run { usage, served: answers, found });
                }
                if *contestant == Contestant::Espalier {
                    made = folders.project;
                }
            }
            if round > 0 {
                outcome.floor(floor::of(phase, project, server, &self.scratch, &made)?);
            }
        }
        if self.system_calls {
            for (contestant, program, seed) in &prepared {
                let folders = seed.scene(project, server, &self.scratch)?;
                let command = phase.command(*contestant, program, project, server, &folders);
                outcome.system_calls.insert(contestant.to_string(), measure::system_calls(&command, &folders.folder)?);
            }
        }
        Ok(outcome)
    }
}
