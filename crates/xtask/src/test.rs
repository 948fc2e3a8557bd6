//! `cargo xtask test`: everything that has to hold, from formatting to a browser.
//!
//! The quick and likely failures come first. Every runner prints to the terminal as it is, so that
//! its own closing lines can be read.
//!
//! What leaves a processor idle begins before its step, beside others: installing tools waits for
//! networks, and most of the wasm package's time is one thread's.

use std::path::PathBuf;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::Result;

use crate::browser;
use crate::guard;
use crate::oracle::{self, target_folder};
use crate::programs;
use crate::toolchain::{self, npm_packages, npm_program, run as run_command};
use crate::wasm;

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only the steps whose names contain this; may be repeated.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// What runs beside the steps, if it has begun.
type Begun = Option<JoinHandle<Result<()>>>;

/// The results of earlier steps, and what they began.
#[derive(Default)]
struct Made {
    /// Whether all steps run, so that what a later one needs can begin.
    is_whole: bool,
    /// The folder of our programs, once `cargo test` has built them.
    programs: Option<PathBuf>,
    /// The installation of tools.
    tools: Begun,
    /// The build of the wasm package.
    package: Begun,
}

impl Made {
    fn begin(&self, work: fn() -> Result<()>) -> Begun {
        self.is_whole.then(|| thread::spawn(work))
    }

    /// Tests in JavaScript take the programs from there. By itself, cargo would build each package
    /// alone, and with it much of what it depends on, because features are those of the whole
    /// workspace here.
    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(programs) = &self.programs {
            command.env("ESPALIER_PROGRAMS", programs);
        }
        command
    }

    /// The command line, if it has been built.
    fn espalier(&self) -> Option<PathBuf> {
        self.programs.as_ref().map(|programs| programs.join(format!("espalier{}", std::env::consts::EXE_SUFFIX)))
    }
}

type Step = (&'static str, fn(&mut Made) -> Result<()>);

const STEPS: [Step; 14] = [
    ("formatting", |_| formatting()),
    ("lints", lints),
    ("tools", |made| ended(made.tools.take(), tools)),
    ("web lints", |_| web_lints()),
    ("spelling", |_| spelling()),
    ("rust tests", rust_tests),
    ("counts", counts),
    ("programs", recorded_programs),
    ("core tests as wasm", |_| wasm::test_core()),
    ("wasm package", |made| ended(made.package.take(), wasm_package)),
    ("types", |_| types()),
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
    let mut made = Made { is_whole: arguments.only.is_empty(), ..Made::default() };
    for (name, step) in STEPS.iter().filter(|(name, _)| wanted(name)) {
        eprintln!("\n=== {name}");
        let start = Instant::now();
        if let Err(error) = step(&mut made) {
            eprintln!("=== {name} failed");
            // Otherwise npm or cargo would go on beside the next attempt.
            let beside = [made.tools.take(), made.package.take()];
            beside.into_iter().flatten().for_each(|begun| drop(begun.join()));
            return Err(error.context(format!("{name} failed")));
        }
        eprintln!("=== {name}: {} s", start.elapsed().as_secs());
    }
    eprintln!("\nEverything holds.");
    Ok(())
}

/// Waits for work that was started earlier, or does it now.
fn ended(begun: Begun, work: fn() -> Result<()>) -> Result<()> {
    begun.map_or_else(work, |begun| begun.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Installs what later steps need. Each of them would install its part by itself.
fn tools() -> Result<()> {
    npm_packages()?;
    wasm::targets()?;
    browser::chromium()?;
    browser::firefox()?;
    oracle::install(None).map(|_| ())
}

fn wasm_package() -> Result<()> {
    wasm::build(wasm::Profile::Release)
}

fn cargo(arguments: &[&str]) -> Result<()> {
    run_command(toolchain::cargo().args(arguments))
}

fn formatting() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])
}

fn lints(made: &mut Made) -> Result<()> {
    made.tools = made.begin(tools);
    cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"])
}

/// TypeScript, JavaScript and CSS, by the rules of `biome.jsonc`.
fn web_lints() -> Result<()> {
    run_command(Command::new(npm_program("biome")).args(["check", "--error-on-warnings", "--diagnostic-level=warn"]))
}

/// Misspellings in code and prose, by `cspell.jsonc`.
fn spelling() -> Result<()> {
    run_command(Command::new(npm_program("cspell")).args(["lint", "--no-progress"]))
}

fn rust_tests(made: &mut Made) -> Result<()> {
    made.package = made.begin(wasm_package);
    cargo(&["test", "--workspace"])?;
    made.programs = Some(target_folder().join("debug"));
    Ok(())
}

/// Counts of system calls and instructions, beside their budgets. They depend on the machine's
/// PATH, kernel and C library, so here a difference is printed and does not fail; `cargo xtask
/// guard` fails.
#[expect(clippy::unnecessary_wraps, reason = "it is a step like the others")]
fn counts(made: &mut Made) -> Result<()> {
    let arguments = guard::Arguments { espalier: made.espalier(), ..guard::Arguments::default() };
    if let Err(difference) = guard::run(&arguments) {
        eprintln!("Look at this: {difference:#}");
    }
    Ok(())
}

/// Runs programs from recorded tarballs, if there are any.
fn recorded_programs(made: &mut Made) -> Result<()> {
    let Some(corpus) = std::env::var_os("ESPALIER_CORPUS") else {
        eprintln!("Left out: ESPALIER_CORPUS names no folder with tarballs.");
        return Ok(());
    };
    let corpus = Some(PathBuf::from(corpus));
    programs::run(&programs::Arguments { corpus, espalier: made.espalier(), ..programs::Arguments::default() })
}

fn types() -> Result<()> {
    run_command(Command::new("npm").args(["run", "--workspaces", "--if-present", "check"]))?;
    for tests in ["tests/packed", "tests/bench"] {
        run_command(Command::new(npm_program("tsc")).args(["--project", tests]))?;
    }
    Ok(())
}

fn web_tests(made: &mut Made) -> Result<()> {
    run_command(made.environment(Command::new("npm").args(["run", "--workspaces", "--if-present", "test"])))
}

/// The package as it is published, in projects outside the repository.
fn packaged_tests(made: &mut Made) -> Result<()> {
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec", "tests/packed"]).env("CHROMIUM_PATH", browser::chromium()?);
    if let Some(firefox) = browser::firefox()? {
        node.env("FIREFOX_PATH", firefox);
    }
    run_command(made.environment(&mut node))
}

fn browser_tests(made: &mut Made) -> Result<()> {
    let chromium = browser::chromium()?;
    // Tests in several workers would install it at the same time.
    oracle::install(None)?;
    // A test that passes the second time is listed as flaky at the end. A real failure fails twice.
    run_command(made.environment(
        Command::new(npm_program("playwright")).args(["test", "--retries=1"]).env("CHROMIUM_PATH", chromium),
    ))
}
