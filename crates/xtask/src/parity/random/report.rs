//! The results of many cases: counts, and a folder for each case that differs, with everything
//! needed to examine it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Finding;
use super::case::{Case, ORIGIN};
use super::judge::Judged;
use crate::parity::compare::{Answer, Expected, Verdict};

/// The counts so far.
pub struct Report {
    folder: PathBuf,
    seed: u64,
    total: usize,
    compared: usize,
    differing: Vec<u64>,
    /// The number of cases that differ in no round, but in which npm left a round unanswered.
    unanswered: usize,
    /// By npm's outcome of the first and the second round.
    outcomes: [BTreeMap<String, usize>; 2],
}

impl Report {
    /// `folder` gets the cases that differ.
    pub fn new(folder: PathBuf, seed: u64, total: usize) -> Self {
        Self { folder, seed, total, compared: 0, differing: Vec::new(), unanswered: 0, outcomes: Default::default() }
    }

    /// The number of cases that differ.
    pub fn differing(&self) -> usize {
        self.differing.len()
    }

    /// Counts a case. A case that differs is printed and written.
    pub fn add(&mut self, finding: &Finding) -> anyhow::Result<()> {
        self.compared += 1;
        for (outcomes, judged) in self.outcomes.iter_mut().zip(&finding.judged) {
            let outcome = match &judged.npm {
                Expected::Lockfile(_) => "a lock",
                Expected::Failure { code, .. } => code.as_deref().unwrap_or("no code"),
                Expected::Unanswered => "no answer in time",
            };
            *outcomes.entry(outcome.to_owned()).or_default() += 1;
        }
        if finding.judged.iter().any(|judged| judged.verdict.differs()) {
            self.differing.push(finding.number);
            let folder = self.folder.join(format!("{}-{}", self.seed, finding.number));
            let (case, judged) = match &finding.smallest {
                Some((case, judged)) => (case, judged),
                None => (&finding.case, &finding.judged),
            };
            write(&folder.join("found"), &finding.case, &finding.judged)?;
            write(&folder.join("smallest"), case, judged)?;
            println!("case {} differs: {}", finding.number, folder.display());
            for (round, judged) in case.rounds.iter().zip(judged) {
                println!(
                    "  {} {}",
                    serde_json::to_string(&round.manifests)?,
                    [round.command(), round.arguments.clone()].concat().join(" ")
                );
                println!("  {}", judged.verdict.to_string().trim_end().replace('\n', "\n  "));
            }
        }
        let unanswered = |judged: &Judged| matches!(judged.verdict, Verdict::Unanswered);
        let unanswered =
            finding.judged.iter().any(unanswered) && !finding.judged.iter().any(|judged| judged.verdict.differs());
        self.unanswered += usize::from(unanswered);
        if self.compared.is_multiple_of(50) {
            println!("{} of {} compared, {} differ", self.compared, self.total, self.differing.len());
        }
        Ok(())
    }
}

fn write(folder: &Path, case: &Case, judged: &[Judged]) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    for (index, (round, judged)) in case.rounds.iter().zip(judged).enumerate() {
        let folder = folder.join(format!("round-{}", index + 1));
        round.write(&folder, judged.start.as_deref(), ORIGIN)?;
        fs::write(folder.join("npm-args"), [round.command(), round.arguments.clone()].concat().join(" "))?;
        match &judged.npm {
            Expected::Lockfile(lockfile) => fs::write(folder.join("npm-lock.json"), lockfile)?,
            Expected::Unanswered => {}
            Expected::Failure { code, message } => {
                fs::write(folder.join("npm-error"), format!("{}\n{message}\n", code.as_deref().unwrap_or_default()))?;
            }
        }
        match &judged.espalier {
            Answer::Lockfile(lockfile) => fs::write(folder.join("espalier-lock.json"), lockfile)?,
            Answer::Failure { code, message } => {
                fs::write(folder.join("espalier-error"), format!("{code}\n{message}\n"))?;
            }
            Answer::Broken(reason) => fs::write(folder.join("espalier-error"), reason)?,
        }
        fs::write(folder.join("difference"), judged.verdict.to_string())?;
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (round, outcomes) in ["a fresh project", "on top of its lock"].iter().zip(&self.outcomes) {
            let outcomes: Vec<String> = outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
            writeln!(formatter, "npm, {round}: {}", outcomes.join(", "))?;
        }
        let identical = self.compared - self.differing.len() - self.unanswered;
        writeln!(formatter, "{identical} of {} cases are identical to npm's (seed {})", self.compared, self.seed)?;
        if !self.differing.is_empty() {
            let numbers: Vec<String> = self.differing.iter().map(u64::to_string).collect();
            writeln!(formatter, "different: {}", numbers.join(", "))?;
        }
        Ok(())
    }
}
