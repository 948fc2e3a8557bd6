//! `cargo xtask test`: everything that has to hold, from formatting to a browser.
//!
//! The quick and likely failures come first. Every runner prints to the terminal as it is, so that its own
//! closing lines can be read.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::browser;
use crate::toolchain::{npm_packages, npm_program, run as run_command};
use crate::wasm;

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only the steps whose names contain this; may be repeated.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

type Step = (&'static str, fn() -> Result<()>);

const STEPS: [Step; 11] = [
    ("formatting", formatting),
    ("lints", lints),
    ("rust tests", rust_tests),
    ("programs", recorded_programs),
    ("core tests as wasm", wasm::test_core),
    ("npm packages", npm_packages),
    ("wasm package", wasm_package),
    ("types", types),
    ("web tests", web_tests),
    ("packaged tests", packaged_tests),
    ("browser tests", browser_tests),
];

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    match std::env::var("ESPALIER_CORPUS") {
        Ok(corpus) => eprintln!("The recorded corpus in {corpus} is compared too."),
        Err(_) => eprintln!("ESPALIER_CORPUS names no folder, so only the embedded registry is compared."),
    }
    let wanted =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| name.contains(only.as_str()));
    for (name, step) in STEPS.iter().filter(|(name, _)| wanted(name)) {
        eprintln!("\n=== {name}");
        let start = Instant::now();
        step().with_context(|| format!("{name} failed"))?;
        eprintln!("=== {name}: {} s", start.elapsed().as_secs());
    }
    eprintln!("\nEverything holds.");
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result<()> {
    run_command(Command::new("cargo").args(arguments))
}

fn formatting() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])
}

fn lints() -> Result<()> {
    cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"])
}

fn rust_tests() -> Result<()> {
    cargo(&["test", "--workspace"])
}

/// Programs from recorded tarballs, where there are any.
fn recorded_programs() -> Result<()> {
    let Some(corpus) = std::env::var_os("ESPALIER_CORPUS") else {
        eprintln!("Left out: ESPALIER_CORPUS names no folder with tarballs.");
        return Ok(());
    };
    run_command(Command::new("cargo").args(["xtask", "programs", "--corpus"]).arg(corpus))
}

fn wasm_package() -> Result<()> {
    wasm::build(wasm::Profile::Release)
}

fn types() -> Result<()> {
    run_command(Command::new("npm").args(["run", "--workspaces", "--if-present", "check"]))?;
    for tests in ["tests/packed", "tests/bench"] {
        run_command(Command::new(npm_program("tsc")).args(["--project", tests]))?;
    }
    Ok(())
}

fn web_tests() -> Result<()> {
    run_command(Command::new("npm").args(["run", "--workspaces", "--if-present", "test"]))
}

/// The package as it is published, in projects outside the repository.
fn packaged_tests() -> Result<()> {
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec", "tests/packed"]).env("CHROMIUM_PATH", browser::chromium()?);
    if let Some(firefox) = browser::firefox()? {
        node.env("FIREFOX_PATH", firefox);
    }
    run_command(&mut node)
}

fn browser_tests() -> Result<()> {
    let chromium = browser::chromium()?;
    run_command(Command::new(npm_program("playwright")).arg("test").env("CHROMIUM_PATH", chromium))
}
