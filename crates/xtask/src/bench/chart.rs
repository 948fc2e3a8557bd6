//! The charts. For a comparison, it is a group of bars for each measurement: the length of a bar is
//! the contestant's median, relative to the slowest of the group. For growth, it is a curve for
//! each shape of tree.

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

/// A curve: the processor time per package, by the number of packages.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Draws curves of microseconds per package, with the number of packages on a logarithmic scale.
pub fn curves(curves: &[Curve]) -> String {
    const HEIGHT: f64 = 260.0;
    const LEFT: f64 = 56.0;
    const RIGHT: f64 = 90.0;
    const BOTTOM: f64 = 30.0;
    let points = || curves.iter().flat_map(|curve| curve.points.iter());
    let most = points().map(|point| point.1).fold(1.0, f64::max);
    let (first, last) = points().fold((f64::MAX, 1.0_f64), |(low, high), point| (low.min(point.0), high.max(point.0)));
    let decades = (last / first).log10().max(f64::EPSILON);
    let x = |packages: f64| LEFT + (WIDTH as f64 - LEFT - RIGHT) * (packages / first).log10() / decades;
    let y = |time: f64| (HEIGHT - BOTTOM) - (HEIGHT - BOTTOM - 16.0) * time / most;
    let mut drawn = String::new();
    for part in 0..=4 {
        let time = most * f64::from(part) / 4.0;
        let _ = writeln!(
            drawn,
            r#"<line class="grid" x1="{LEFT}" x2="{}" y1="{:.1}" y2="{:.1}"/><text class="name" x="{}" y="{:.1}">{time:.0} µs</text>"#,
            WIDTH as f64 - RIGHT,
            y(time),
            y(time),
            LEFT - 6.0,
            y(time) + 4.0,
        );
    }
    for packages in curves.first().into_iter().flat_map(|curve| &curve.points).map(|point| point.0) {
        let _ =
            writeln!(drawn, r#"<text class="middle" x="{:.1}" y="{}">{packages:.0}</text>"#, x(packages), HEIGHT - 8.0);
    }
    for (index, curve) in curves.iter().enumerate() {
        let path: Vec<String> =
            curve.points.iter().map(|&(packages, time)| format!("{:.1},{:.1}", x(packages), y(time))).collect();
        let _ = writeln!(drawn, r#"<polyline class="curve c{index}" points="{}"/>"#, path.join(" "));
    }
    let mut names: Vec<(f64, &str)> =
        curves.iter().filter_map(|curve| Some((y(curve.points.last()?.1) + 4.0, curve.name.as_str()))).collect();
    names.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let mut free = 0.0_f64;
    for (end, name) in names {
        // The names of curves that end close together stand one below the other.
        let base = end.max(free);
        free = base + 12.0;
        let _ = writeln!(drawn, r#"<text x="{}" y="{base:.1}">{name}</text>"#, WIDTH as f64 - RIGHT + 8.0);
    }
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="Processor time per package, by the number of packages">
<style>text{{font:11px system-ui,sans-serif;fill:#333}}.name{{text-anchor:end}}.middle{{text-anchor:middle}}.grid{{stroke:#8884}}.curve{{fill:none;stroke-width:2;stroke:#2f7d4f}}.c1{{stroke-dasharray:6 3}}.c2{{stroke-dasharray:2 3}}.c3{{stroke-dasharray:10 3 2 3}}@media(prefers-color-scheme:dark){{text{{fill:#ddd}}.curve{{stroke:#5cc48a}}}}</style>
{drawn}</svg>
"#
    )
}

pub fn duration(milliseconds: f64) -> String {
    if milliseconds < 1000.0 { format!("{milliseconds:.0} ms") } else { format!("{:.2} s", milliseconds / 1000.0) }
}
