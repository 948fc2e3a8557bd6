//! The chart: a group of bars for each measurement. The length of a bar is the contestant's median, relative to the slowest of
//! the group.

use std::fmt::Write as _;

use super::report::Outcome;

const WIDTH: usize = 760;
const LABELS: usize = 210;
const BAR: usize = 14;
const GAP: usize = 18;

/// Draws the chart, for light and dark pages.
pub fn draw(outcomes: &[Outcome]) -> String {
    let mut bars = String::new();
    let mut y = 12;
    for outcome in outcomes {
        let medians: Vec<(&String, f64)> = outcome
            .runs
            .keys()
            .filter_map(|name| Some((name, outcome.spread(name, |run| run.usage.wall_ms)?.median)))
            .collect();
        let longest = medians.iter().map(|(_, median)| *median).fold(1.0, f64::max);
        let title = format!("{} · {} · {} ms", outcome.phase, outcome.project, outcome.delay_ms);
        let _ = writeln!(bars, r#"<text class="title" x="0" y="{}">{title}</text>"#, y + 11);
        for (name, median) in medians {
            let room = (WIDTH - LABELS - 70) as f64;
            let (length, class) = (room * median / longest, if name == "espalier" { "ours" } else { "other" });
            let _ = writeln!(
                bars,
                r#"<text class="name" x="{}" y="{}">{name}</text><rect class="{class}" x="{LABELS}" y="{y}" width="{length:.1}" height="{}"/><text x="{:.1}" y="{}">{}</text>"#,
                LABELS - 6,
                y + 11,
                BAR - 3,
                LABELS as f64 + length + 6.0,
                y + 10,
                duration(median),
            );
            y += BAR;
        }
        y += GAP;
    }
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img" aria-label="Median times, shorter is better">
<style>text{{font:11px system-ui,sans-serif;fill:#333}}.title{{font-weight:600}}.name{{text-anchor:end}}.ours{{fill:#2f7d4f}}.other{{fill:#9aa5a0}}@media(prefers-color-scheme:dark){{text{{fill:#ddd}}.ours{{fill:#5cc48a}}.other{{fill:#6b7570}}}}</style>
{bars}</svg>
"#
    )
}

fn duration(milliseconds: f64) -> String {
    if milliseconds < 1000.0 { format!("{milliseconds:.0} ms") } else { format!("{:.2} s", milliseconds / 1000.0) }
}
