//! `cargo xtask parity --random N`: random projects, which npm and Espalier resolve with the same
//! packuments.
//!
//! npm runs in a few long-lived processes, and the target folder caches its answers. A project
//! whose results differ is written to a folder, both as it was generated and in its smallest form.

mod ask;
mod case;
mod catalog;
mod command;
mod coverage;
mod edit;
mod generate;
mod generator;
mod judge;
mod overrides;
mod ranges;
mod report;
mod shrink;
mod small;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use anyhow::{Context, bail};
use espalier_replay::{Registry, Server, Settings};

use super::drive::Recording;
use crate::oracle::{self, FileCoverage};
use ask::Npm;
use case::Case;
use catalog::Catalog;
use judge::{Judge, Judged};
use report::Report;

/// The maximum number of questions to npm for making one case smaller.
const SHRINKING: usize = 150;

/// Arguments of the comparison of random projects.
#[derive(clap::Args)]
#[group(id = "random-projects")]
pub struct Arguments {
    /// Compare this number of random projects instead
    #[arg(long, value_name = "N")]
    random: Option<u64>,
    /// The seed of the random projects
    #[arg(long, value_name = "S", default_value_t = 1, requires = "random")]
    seed: u64,
    /// Also generate small registries instead of using the corpus's packages; npm is fast with
    /// those
    #[arg(long, requires = "random")]
    small: bool,
    /// The number of the first project.
    #[arg(long, value_name = "K", default_value_t = 0, requires = "random")]
    first: u64,
    /// The number of concurrent npm processes [default: one for each processor]
    #[arg(long, value_name = "N", requires = "random")]
    jobs: Option<usize>,
    /// The folder for differences [default: a folder in cargo's target folder]
    #[arg(long, value_name = "DIR", requires = "random")]
    out: Option<PathBuf>,
    /// Do not make cases with differences smaller
    #[arg(long, requires = "random")]
    no_shrink: bool,
    /// Print the parts of npm's placement code that were never executed; npm's answers are then not
    /// cached
    #[arg(long, requires = "random")]
    coverage: bool,
}

impl Arguments {
    /// Whether this comparison is asked for.
    pub fn wanted(&self) -> bool {
        self.random.is_some()
    }
}

/// A case that was compared.
struct Finding {
    number: u64,
    case: Case,
    judged: Vec<Judged>,
    /// The smallest case that still differs.
    smallest: Option<(Case, Vec<Judged>)>,
}

/// Compares random projects and fails if any differs.
pub fn run(corpus: &Path, abbreviated: bool, arguments: &Arguments) -> anyhow::Result<()> {
    let count = arguments.random.context("--random says how many projects")?;
    let numbers = arguments.first..arguments.first + count;
    println!("making up {count} projects");
    let small = arguments.small.then(tempfile::tempdir).transpose()?;
    let small_cases =
        small.as_ref().map(|small| small::cases(small.path(), arguments.seed, numbers.clone())).transpose()?;
    let corpus = small.as_ref().map_or(corpus, tempfile::TempDir::path);
    let recording = Arc::new(Recording::new(Registry::open(corpus)?, abbreviated));
    let server = Server::start_blocking(Arc::new(Registry::open(corpus)?), Settings::default())?;
    let (cases, salt): (Vec<(u64, Case)>, String) = match small_cases {
        Some(cases) => (cases, format!("small registries of seed {}", arguments.seed)),
        None => {
            let catalog = Catalog::read(corpus, Arc::clone(&recording))?;
            let cases = numbers.map(|number| (number, generate::case(&catalog, arguments.seed, number))).collect();
            let salt = format!("{} of {} packages", std::path::absolute(corpus)?.display(), catalog.names.len());
            (cases, salt)
        }
    };

    let out = arguments.out.clone().unwrap_or_else(|| oracle::target_folder().join("parity"));
    let mut report = Report::new(out, arguments.seed, cases.len());
    let bench = Bench { npm: oracle::install(None)?, recording, registry: server.origin(), salt, arguments };
    let coverage = bench.compare(&cases, |finding| report.add(&finding))?;
    if arguments.coverage {
        print!("{}", coverage::summary(&bench.npm, &coverage)?);
    }
    print!("{report}");
    if report.differing() > 0 {
        bail!("{} of {} random projects differ from npm", report.differing(), cases.len());
    }
    Ok(())
}

/// The state that all workers share.
struct Bench<'a> {
    npm: PathBuf,
    recording: Arc<Recording>,
    registry: String,
    salt: String,
    arguments: &'a Arguments,
}

impl Bench<'_> {
    /// Compares all cases, on as many threads as there are processes of npm.
    fn compare(
        &self,
        cases: &[(u64, Case)],
        mut found: impl FnMut(Finding) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<Vec<FileCoverage>>> {
        let jobs = self.arguments.jobs.or(thread::available_parallelism().map(Into::into).ok()).unwrap_or(1);
        let next = AtomicUsize::new(0);
        let (sender, findings) = mpsc::channel();
        thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs.clamp(1, cases.len().max(1)))
                .map(|_| {
                    let (sender, next) = (sender.clone(), &next);
                    scope.spawn(move || self.work(cases, next, &sender))
                })
                .collect();
            drop(sender);
            for finding in findings {
                found(finding)?;
            }
            let joined =
                workers.into_iter().map(|worker| worker.join().map_err(|_| anyhow::anyhow!("a worker panicked"))?);
            Ok(joined.collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }

    fn work(
        &self,
        cases: &[(u64, Case)],
        next: &AtomicUsize,
        findings: &mpsc::Sender<Finding>,
    ) -> anyhow::Result<Vec<Vec<FileCoverage>>> {
        let scratch = tempfile::tempdir()?;
        let memory = (!self.arguments.coverage).then(|| oracle::target_folder().join("parity-answers"));
        let coverage = self.arguments.coverage;
        let patience = if self.arguments.small { ask::SMALL_PATIENCE } else { ask::PATIENCE };
        let registry = self.registry.clone();
        let npm = Npm::start(&self.npm, scratch.path(), registry, &self.salt, memory, patience, coverage)?;
        let mut judge = Judge::new(npm, Arc::clone(&self.recording));
        while let Some((number, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let judged = judge.rounds(case)?;
            // A smaller case with another kind of difference would show another bug.
            let kind = judged.iter().find_map(|judged| judged.verdict.kind());
            let smallest = match kind.filter(|_| !self.arguments.no_shrink) {
                Some(kind) => {
                    let smallest = shrink::shrink(case, SHRINKING, |case| judge.differ(case, &kind))?;
                    let judged = judge.rounds(&smallest)?;
                    Some((smallest, judged))
                }
                None => None,
            };
            let finding = Finding { number: *number, case: case.clone(), judged, smallest };
            if findings.send(finding).is_err() {
                break;
            }
        }
        if coverage { judge.npm.coverage() } else { Ok(Vec::new()) }
    }
}
