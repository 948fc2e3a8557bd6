//! `cargo xtask growth`: how the time and the memory of a cold resolution grow with the tree, on
//! made-up registries of several shapes.
//!
//! Processor time and peak memory are divided by the number of packages in the lock. Where an
//! algorithm takes more than proportional time, the quotient grows with the size.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use espalier_replay::{Shape, Synthetic};
use serde::Serialize;
use serde_json::Value;

use super::contestants::Contestant;
use super::measure::{self, Usage};
use super::report::Spread;
use super::server::{Replay, Served};
use super::{build_espalier, build_replay};
use crate::oracle;

/// Arguments of `cargo xtask growth`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A number of packages; can be repeated
    #[arg(long, value_name = "COUNT", default_values_t = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000])]
    packages: Vec<usize>,
    /// Only this shape; can be repeated
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    shape: Vec<Shape>,
    /// The number of runs that count, after one that does not
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    rounds: usize,
    /// The espalier to measure [default: it is built]
    #[arg(long, value_name = "FILE")]
    espalier: Option<PathBuf>,
    /// The folder for the results
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

fn shape(name: &str) -> Result<Shape, String> {
    let known = Shape::ALL.into_iter().find(|shape| shape.name() == name);
    known.ok_or_else(|| format!("expected one of {}", Shape::ALL.map(Shape::name).join(", ")))
}

/// The figures of one tree.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Point {
    /// In the lock.
    packages: usize,
    wall_ms: f64,
    cpu_ms: f64,
    peak_mib: f64,
}

impl Point {
    fn cpu_per_package(&self) -> f64 {
        self.cpu_ms * 1e3 / self.packages as f64
    }

    fn memory_per_package(&self) -> f64 {
        self.peak_mib * 1024.0 / self.packages as f64
    }
}

/// Measures and reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.rounds > 0, "--rounds has to be at least 1");
    let target = oracle::target_folder();
    let replay = build_replay(&target)?;
    let espalier = build_espalier(arguments.espalier.as_deref(), &target)?;
    let shapes = if arguments.shape.is_empty() { Shape::ALL.to_vec() } else { arguments.shape.clone() };
    let mut curves: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    for shape in shapes {
        for &packages in &arguments.packages {
            let synthetic = Synthetic { shape, packages };
            eprintln!("=== {synthetic}");
            let point = measure_one(synthetic, &replay, &espalier, arguments.rounds)?;
            eprintln!("{} packages: {:.0} ms, {:.0} MiB", point.packages, point.wall_ms, point.peak_mib);
            curves.entry(shape.name()).or_default().push(point);
        }
    }
    let output = arguments.output.clone().unwrap_or_else(|| target.join("bench/growth"));
    fs::create_dir_all(&output)?;
    fs::write(output.join("growth.json"), serde_json::to_vec_pretty(&curves)?)?;
    fs::write(output.join("growth.md"), markdown(&curves))?;
    fs::write(output.join("growth.svg"), super::chart::curves(&lines(&curves)))?;
    println!("{}", markdown(&curves));
    eprintln!("JSON, Markdown and SVG are in {}", output.display());
    Ok(())
}

/// The median of some cold resolutions, each in new folders.
fn measure_one(synthetic: Synthetic, replay: &Path, espalier: &Path, rounds: usize) -> Result<Point> {
    let scratch = tempfile::Builder::new().prefix("espalier-growth-").tempdir()?;
    let server = Replay::start(replay, Served::Synthetic(synthetic), 0, false, scratch.path())?;
    let (mut usages, mut found) = (Vec::new(), 0);
    // The server makes its documents in the first round, which doesn't count.
    for round in 0..=rounds {
        let (project, home) =
            (scratch.path().join(format!("{round}/project")), scratch.path().join(format!("{round}/home")));
        fs::create_dir_all(&project)?;
        fs::create_dir_all(&home)?;
        fs::write(project.join("package.json"), synthetic.project().to_string())?;
        let mut command = Contestant::Espalier.command(espalier, &project, &home, &server.origin, None);
        command.args(["lock", "--quiet"]);
        let usage = measure::run(&command, &scratch.path().join(format!("{round}/usage.json")))?;
        let lock: Value = serde_json::from_slice(&fs::read(project.join("package-lock.json"))?)?;
        found = lock["packages"].as_object().context("a lock has packages")?.len() - 1;
        ensure!(found >= synthetic.packages, "{synthetic}: the lock has {found} packages");
        if round > 0 {
            usages.push(usage);
        }
    }
    let median = |figure: fn(&Usage) -> f64| Spread::of(usages.iter().map(figure)).map_or(0.0, |spread| spread.median);
    Ok(Point {
        packages: found,
        wall_ms: median(|usage| usage.wall_ms),
        cpu_ms: median(|usage| usage.user_ms + usage.system_ms),
        peak_mib: median(|usage| usage.peak_mib),
    })
}

fn markdown(curves: &BTreeMap<&str, Vec<Point>>) -> String {
    let mut text =
        "| Shape | Packages | Time | CPU per package | Memory | per package |\n|---|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for (shape, points) in curves {
        for point in points {
            let _ = writeln!(
                text,
                "| {shape} | {} | {:.2} s | {:.0} µs | {:.0} MiB | {:.1} KiB |",
                point.packages,
                point.wall_ms / 1e3,
                point.cpu_per_package(),
                point.peak_mib,
                point.memory_per_package(),
            );
        }
        let (time, memory) = (growth(points, Point::cpu_per_package), growth(points, Point::memory_per_package));
        let _ = writeln!(text, "| {shape} | largest / smallest | | {time:.2} | | {memory:.2} |");
    }
    text
}

/// The quotient of the figures of the largest and the smallest tree. A program that grows in
/// proportion has 1, or less if it has constant costs.
fn growth(points: &[Point], figure: fn(&Point) -> f64) -> f64 {
    match points {
        [first, .., last] => figure(last) / figure(first),
        _ => 1.0,
    }
}

fn lines(curves: &BTreeMap<&str, Vec<Point>>) -> Vec<super::chart::Curve> {
    let curve = |(shape, points): (&&str, &Vec<Point>)| super::chart::Curve {
        name: (*shape).to_owned(),
        points: points.iter().map(|point| (point.packages as f64, point.cpu_per_package())).collect(),
    };
    curves.iter().map(curve).collect()
}
