//! The results of a bench run, as data and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use espalier_replay::Statistics;
use serde::Serialize;

use super::check::Found;
use super::contestants::Contestant;
use super::measure::Usage;
use super::phase::Phase;

/// One counted run.
#[derive(Debug, Serialize)]
pub struct Run {
    pub usage: Usage,
    pub served: Statistics,
    pub found: Found,
}

/// All rounds of one phase of one project.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub project: String,
    pub phase: String,
    pub delay_ms: u64,
    pub tls: bool,
    /// By contestant, in the order of the rounds.
    pub runs: BTreeMap<String, Vec<Run>>,
    /// By name, in the order of the rounds.
    pub floors: BTreeMap<&'static str, Vec<f64>>,
    pub system_calls: BTreeMap<String, BTreeMap<String, u64>>,
    pub left_out: Vec<String>,
}

/// Everything.
#[derive(Debug, Serialize)]
pub struct Report {
    date: String,
    machine: String,
    command: String,
    rounds: usize,
    versions: BTreeMap<String, &'static str>,
    pub outcomes: Vec<Outcome>,
}

/// The minimum, the median and the maximum of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub least: f64,
    pub median: f64,
    pub greatest: f64,
}

impl Spread {
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut numbers: Vec<f64> = numbers.into_iter().collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let middle = numbers.len() / 2;
        let (least, greatest) = (*numbers.first()?, *numbers.last()?);
        let median =
            if numbers.len() % 2 == 1 { numbers[middle] } else { f64::midpoint(numbers[middle - 1], numbers[middle]) };
        Some(Self { least, median, greatest })
    }
}

impl Outcome {
    pub fn new(project: &str, phase: Phase, delay_ms: u64, tls: bool) -> Self {
        Self {
            project: project.to_owned(),
            phase: phase.to_string(),
            delay_ms,
            tls,
            runs: BTreeMap::new(),
            floors: BTreeMap::new(),
            system_calls: BTreeMap::new(),
            left_out: Vec::new(),
        }
    }

    pub fn add(&mut self, contestant: Contestant, run: Run) {
        self.runs.entry(contestant.to_string()).or_default().push(run);
    }

    pub fn floor(&mut self, floors: BTreeMap<&'static str, f64>) {
        for (name, milliseconds) in floors {
            self.floors.entry(name).or_default().push(milliseconds);
        }
    }

    /// One figure of a contestant's runs.
    pub fn spread(&self, contestant: &str, figure: impl Fn(&Run) -> f64) -> Option<Spread> {
        Spread::of(self.runs.get(contestant)?.iter().map(figure))
    }

    /// The ratio of Espalier to another contestant, round by round.
    pub fn ratio(&self, other: &str, figure: impl Fn(&Run) -> f64) -> Option<Spread> {
        let (ours, others) = (self.runs.get("espalier")?, self.runs.get(other)?);
        Spread::of(ours.iter().zip(others).map(|(ours, other)| figure(ours) / figure(other)))
    }

    /// A line for each contestant.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        for (name, runs) in &self.runs {
            let Some(run) = runs.last() else { continue };
            let wall = self.spread(name, wall).map_or(0.0, |spread| spread.median);
            let ratio = self.ratio(name, |run| run.usage.wall_ms).map_or(0.0, |spread| spread.median);
            let _ = writeln!(
                text,
                "{name:<9} {wall:>7.0} ms, espalier is {ratio:.2} of it; {} packages, {} files, {} requests",
                run.found.packages, run.found.files, run.served.requests
            );
        }
        for (name, rounds) in &self.floors {
            let floor = Spread::of(rounds.iter().copied()).map_or(0.0, |spread| spread.median);
            let _ = writeln!(text, "{name}: {floor:.0} ms");
        }
        text
    }

    fn title(&self) -> String {
        let tls = if self.tls { ", TLS" } else { "" };
        format!("{} {}, {} ms{tls}", self.phase, self.project, self.delay_ms)
    }
}

fn wall(run: &Run) -> f64 {
    run.usage.wall_ms
}

fn cpu(run: &Run) -> f64 {
    run.usage.user_ms + run.usage.system_ms
}

impl Report {
    pub fn new(rounds: usize, contestants: impl Iterator<Item = Contestant>) -> Self {
        let date =
            Command::new("date").args(["-u", "+%Y-%m-%d"]).output().map(|output| output.stdout).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            date: String::from_utf8_lossy(&date).trim().to_owned(),
            machine: format!("{cores} cores, {}", processor()),
            command: format!("cargo xtask {}", std::env::args().skip(1).collect::<Vec<_>>().join(" ")),
            rounds,
            versions: contestants.map(|one| (one.to_string(), one.version())).collect(),
            outcomes: Vec::new(),
        }
    }

    /// Writes both.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::write(folder.join("bench.json"), serde_json::to_string_pretty(self)? + "\n")?;
        fs::write(folder.join("bench.md"), self.markdown())?;
        Ok(())
    }

    /// The table.
    pub fn markdown(&self) -> String {
        let versions: Vec<String> = self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let mut text = format!(
            "{} · {} · {}\n\n`{}`: medians of {} interleaved rounds, with the least and the greatest. The ratio is \
             Espalier's time to the other's, round by round.\n\n",
            self.date,
            self.machine,
            versions.join(", "),
            self.command,
            self.rounds
        );
        text += "| what | who | wall, ms | ratio | CPU, ms | of it system | memory, MiB | context switches | requests | MB | packages | files | system calls |\n";
        text += "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
        for outcome in &self.outcomes {
            for name in outcome.runs.keys() {
                text += &row(outcome, name);
            }
            for (name, rounds) in &outcome.floors {
                let ours = outcome.runs.get("espalier").into_iter().flatten().map(wall);
                let ratio = Spread::of(ours.zip(rounds).map(|(ours, floor)| ours / floor));
                let floor = Spread::of(rounds.iter().copied());
                let _ = writeln!(
                    text,
                    "| {} | *{name}* | {} | {} | | | | | | | | | |",
                    outcome.title(),
                    shown(floor, 0),
                    shown(ratio, 2)
                );
            }
        }
        text
    }
}

fn row(outcome: &Outcome, name: &str) -> String {
    let figure = |figure: fn(&Run) -> f64, digits| shown(outcome.spread(name, figure), digits);
    let middle = |figure: fn(&Run) -> f64| outcome.spread(name, figure).map_or(0.0, |spread| spread.median);
    let ratio = if name == "espalier" { String::new() } else { shown(outcome.ratio(name, wall), 2) };
    let calls = outcome.system_calls.get(name).and_then(|calls| calls.get("total"));
    format!(
        "| {} | {name} | {} | {ratio} | {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} | {} |\n",
        outcome.title(),
        figure(wall, 0),
        figure(cpu, 0),
        middle(|run| run.usage.system_ms),
        middle(|run| run.usage.peak_mib),
        middle(|run| run.usage.context_switches as f64),
        middle(|run| run.served.requests as f64),
        middle(|run| run.served.bytes as f64 / 1e6),
        middle(|run| run.found.packages as f64),
        middle(|run| run.found.files as f64),
        calls.map(ToString::to_string).unwrap_or_default(),
    )
}

fn shown(spread: Option<Spread>, digits: usize) -> String {
    let Some(Spread { least, median, greatest }) = spread else { return String::new() };
    format!("{median:.digits$} ({least:.digits$}–{greatest:.digits$})")
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        assert_eq!(Spread::of([4.0, 1.0, 3.0, 2.0]), Some(Spread { least: 1.0, median: 2.5, greatest: 4.0 }));
        assert_eq!(Spread::of([2.0, 9.0, 1.0]), Some(Spread { least: 1.0, median: 2.0, greatest: 9.0 }));
        assert_eq!(Spread::of([]), None);
    }
}
