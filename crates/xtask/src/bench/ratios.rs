//! The chart of the README: Espalier's time in each case, relative to one other contestant's.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::report::Spread;

/// The contestant that the others of the chart are relative to.
const OTHER: &str = "bun";

/// What the chart needs of a `bench.json`.
#[derive(Deserialize)]
struct Report {
    date: String,
    machine: String,
    versions: BTreeMap<String, String>,
    outcomes: Vec<Outcome>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    project: String,
    phase: String,
    delay_ms: u64,
    runs: BTreeMap<String, Vec<Run>>,
}

#[derive(Deserialize)]
struct Run {
    usage: Usage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    wall_ms: f64,
}

/// All rounds of a case, of all reports.
#[derive(Default)]
struct Case {
    title: String,
    ratios: Vec<f64>,
    ours: Vec<f64>,
}

/// Draws the results in these files of JSON. Rounds of the same case are put together.
pub fn draw(files: &[PathBuf], to: &Path) -> Result<()> {
    let mut cases: Vec<Case> = Vec::new();
    let mut origin = String::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let report: Report = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let version = report.versions.get(OTHER).map(String::as_str).unwrap_or_default();
        origin = format!("{OTHER} {version} · {} · {}", report.machine, report.date);
        for outcome in &report.outcomes {
            let (Some(ours), Some(others)) = (outcome.runs.get("espalier"), outcome.runs.get(OTHER)) else { continue };
            let title = title(outcome);
            let at = cases.iter().position(|case| case.title == title).unwrap_or_else(|| {
                cases.push(Case { title, ..Case::default() });
                cases.len() - 1
            });
            let case = &mut cases[at];
            case.ratios.extend(ours.iter().zip(others).map(|(ours, other)| ours.usage.wall_ms / other.usage.wall_ms));
            case.ours.extend(ours.iter().map(|run| run.usage.wall_ms));
        }
    }
    ensure!(!cases.is_empty(), "no case has both espalier and {OTHER}");
    fs::write(to, svg(&cases, &origin)).with_context(|| to.display().to_string())
}

fn title(outcome: &Outcome) -> String {
    let what = match outcome.phase.as_str() {
        "p0" => "install from nothing",
        "p1" => "cold resolve",
        "warm p1" => "warm resolve",
        "edited p1" => "warm resolve, edited",
        "add p1" => "add to a lock, warm cache",
        "stale p1" => "stale resolve",
        "p3" => "install, lock only",
        "p4" => "install, warm store",
        "no-op" => "nothing to do",
        "add" => "add and install",
        other => other,
    };
    let delay = if outcome.delay_ms > 0 { format!(", {} ms", outcome.delay_ms) } else { String::new() };
    format!("{what}, {}{delay}", outcome.project)
}

fn svg(cases: &[Case], origin: &str) -> String {
    const WIDTH: f64 = 760.0;
    const LEFT: f64 = 250.0;
    const RIGHT: f64 = 110.0;
    const ROW: f64 = 20.0;
    const TOP: f64 = 26.0;
    let spreads: Vec<_> = cases
        .iter()
        .filter_map(|case| {
            let [ratio, ours] = [&case.ratios, &case.ours].map(|numbers| Spread::of(numbers.iter().copied()));
            Some((&case.title, ratio?, ours?))
        })
        .collect();
    let most = spreads.iter().map(|(_, ratio, _)| ratio.median).fold(1.25, f64::max);
    let x = |ratio: f64| LEFT + (WIDTH - LEFT - RIGHT) * ratio.min(most) / most;
    let (mut rows, mut y) = (String::new(), TOP);
    for (title, ratio, ours) in spreads {
        let class = if ratio.median < 1.0 { "faster" } else { "slower" };
        let _ = writeln!(
            rows,
            r#"<text class="name" x="{:.1}" y="{:.1}">{title}</text><rect class="{class}" x="{LEFT}" y="{:.1}" width="{:.1}" height="{:.1}"/><line class="spread" x1="{:.1}" x2="{:.1}" y1="{:.1}" y2="{:.1}"/><text x="{:.1}" y="{:.1}"><tspan class="ratio">{:.2}</tspan>  {}</text>"#,
            LEFT - 8.0,
            y + 12.0,
            y + 2.0,
            x(ratio.median) - LEFT,
            ROW - 6.0,
            x(ratio.least),
            x(ratio.greatest),
            y + 9.0,
            y + 9.0,
            WIDTH - RIGHT + 10.0,
            y + 12.0,
            ratio.median,
            super::chart::duration(ours.median),
        );
        y += ROW;
    }
    let height = y + 30.0;
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-label="Espalier's wall time relative to that of {OTHER}, by case; below 1, Espalier is faster">
<style>text{{font:11px system-ui,sans-serif;fill:#333;white-space:pre}}.name{{text-anchor:end}}.middle{{text-anchor:middle}}.ratio{{font-weight:600}}.faster{{fill:#2f7d4f}}.slower{{fill:#9aa5a0}}.spread{{stroke:#333;stroke-width:1}}.one{{stroke:#333;stroke-dasharray:4 3}}@media(prefers-color-scheme:dark){{text{{fill:#ddd}}.faster{{fill:#5cc48a}}.slower{{fill:#6b7570}}.spread,.one{{stroke:#ddd}}}}</style>
{rows}<line class="one" x1="{one:.1}" x2="{one:.1}" y1="{top:.1}" y2="{y:.1}"/><text class="middle" x="{one:.1}" y="14">{OTHER} = 1</text>
<text x="{LEFT}" y="{:.1}">{origin}</text>
</svg>
"#,
        y + 20.0,
        one = x(1.0),
        top = TOP - 6.0,
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::draw;

    #[test]
    fn rounds_of_the_same_case_are_put_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let report = |name: &str, ours: f64| {
            let file = folder.path().join(name);
            let json = format!(
                r#"{{"date":"2026-11-23","machine":"2 cores","command":"","versions":{{"bun":"1.4.5"}},"outcomes":[
                {{"project":"app","phase":"p4","delayMs":0,"runs":{{"espalier":[{{"usage":{{"wallMs":{ours}}}}}],"bun":[{{"usage":{{"wallMs":100}}}}]}}}},
                {{"project":"app","phase":"p3","delayMs":30,"runs":{{"espalier":[{{"usage":{{"wallMs":5}}}}]}}}}]}}"#
            );
            fs::write(&file, json).expect("written");
            file
        };
        let (files, chart) = ([report("one.json", 50.0), report("two.json", 150.0)], folder.path().join("chart.svg"));
        draw(&files, &chart).expect("drawn");
        let svg = fs::read_to_string(&chart).expect("a chart");
        assert_eq!(svg.matches("class=\"name\"").count(), 1, "{svg}");
        assert!(svg.contains("install, warm store, app") && svg.contains(">1.00</tspan>  100 ms"), "{svg}");
        assert!(svg.contains("bun 1.4.5 · 2 cores · 2026-11-23") && svg.contains("prefers-color-scheme:dark"), "{svg}");
        assert!(draw(&[], &chart).is_err());
    }
}
