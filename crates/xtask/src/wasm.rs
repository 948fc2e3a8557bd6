//! `cargo xtask wasm`: builds `pkg/dist` from `espalier-wasm` and `pkg/src`, and weighs it.
//!
//! The steps are cargo, wasm-bindgen (as a library, of the version that the workspace pins for the
//! crate as well), `wasm-opt`, `tsc` and `rolldown` from npm. Nothing is done when no input has
//! changed since the last time.

mod callees;
mod freshness;
mod order;

use std::convert::Infallible;
use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use walrus::{Function, FunctionBuilder, FunctionId, FunctionKind, InstrSeqBuilder, Module};
use wasm_bindgen_cli_support::Bindgen;
use wasm_encoder::reencode::Reencode;
use wasmparser::Parser;

use crate::browser;
use crate::toolchain::{self, npm_program, root};

/// The maximum weight of the wasm: its bytes, and the bytes that a browser downloads.
const MAX_RAW: u64 = 903_100;
const MAX_BROTLI: u64 = 321_900;

/// A function with one caller becomes part of it only if it has at most this number of bytes. By
/// default, `wasm-opt` makes functions of 30 KB, which compress badly: 22 KB more of brotli.
/// Engines count what a function does by its length, so they soon optimise the long ones, which
/// takes most of the time of all optimisations (see ARCHITECTURE.md).
const LONGEST_INLINED: &str = "20";

/// The target of `espalier-wasm`.
const TARGET: &str = "wasm32-unknown-unknown";
/// The target of tests, which has files and output.
const TEST_TARGET: &str = "wasm32-wasip1";

/// Rust's tasks run in microtasks. This import replaces the global function, so that a trap is
/// noticed.
const MICROTASKS: &str = "import { queueMicrotask } from './crash.js';\n";

/// The glue's reaction if a promise settles after its instance was replaced. The exception would
/// reject a promise that nobody holds, and Node would exit. There is nothing to do, so it is
/// ignored.
const STALE_CLOSURE: &str = "throw new Error('Cannot invoke closure from previous WASM instance');";

/// Arguments of `cargo xtask wasm`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Build quickly: neither optimised nor weighed
    #[arg(long)]
    dev: bool,
    /// Do not build, but run the core's tests as wasm, in Chromium
    #[arg(long, conflicts_with = "dev")]
    test: bool,
}

/// How the wasm is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The published build.
    Release,
    /// A quick build.
    Development,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.test {
        return test_core();
    }
    build(if arguments.dev { Profile::Development } else { Profile::Release })
}

/// Builds `pkg/dist`, unless it is up to date.
pub fn build(profile: Profile) -> Result<()> {
    toolchain::npm_packages()?;
    let fingerprint = freshness::fingerprint(profile)?;
    if freshness::is_fresh(&fingerprint) {
        eprintln!("pkg/dist is up to date.");
        return Ok(());
    }
    toolchain::rust_target(TARGET)?;
    eprintln!("Compiling espalier-wasm …");
    let compiled = compile(profile)?;
    let dist = dist();
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    fs::create_dir_all(&dist)?;
    bind(&compiled, &dist, profile)?;
    if profile == Profile::Release {
        eprintln!("Optimising it (wasm-opt) …");
        optimise(&wasm_file())?;
    }
    toolchain::run(Command::new(npm_program("tsc")).args(["--project", "pkg"]))?;
    bundle(&dist.join("worker-entry.js"))?;
    if profile == Profile::Release {
        weigh(&wasm_file())?;
    }
    freshness::remember(&fingerprint)
}

/// Puts the modules of the worker into its script. A browser that loads them singly learns of each
/// from one that imports it, so the worker would be ready after twice the time.
fn bundle(script: &Path) -> Result<()> {
    let mut rolldown = Command::new(npm_program("rolldown"));
    toolchain::run(rolldown.arg(script).arg("--file").arg(script).args(["--format", "esm"]))
}

/// Runs the core's tests as wasm, in Chromium.
pub fn test_core() -> Result<()> {
    toolchain::rust_target(TEST_TARGET)?;
    toolchain::npm_packages()?;
    let runner = format!("node {}", root().join("crates/xtask/src/wasm/runner.mjs").display());
    let mut cargo = toolchain::cargo();
    // Doc tests are native ones: rustdoc runs them once more with every target.
    cargo.args(["test", "--package", "espalier-core", "--lib", "--tests", "--target", TEST_TARGET]);
    cargo.env("CARGO_TARGET_WASM32_WASIP1_RUNNER", runner).env("CHROMIUM_PATH", browser::chromium()?);
    toolchain::run(&mut cargo)
}

/// Makes sure that Rust can compile for both targets.
pub fn targets() -> Result<()> {
    toolchain::rust_target(TARGET)?;
    toolchain::rust_target(TEST_TARGET)
}

fn dist() -> PathBuf {
    root().join("pkg/dist")
}

fn wasm_file() -> PathBuf {
    dist().join("espalier.wasm")
}

/// Returns where cargo has put the module.
fn compile(profile: Profile) -> Result<PathBuf> {
    let profile = if profile == Profile::Release { "wasm" } else { "dev" };
    let mut cargo = toolchain::cargo();
    cargo.args(["build", "--package", "espalier-wasm", "--lib", "--target", TARGET, "--profile", profile]);
    cargo.arg("--message-format=json-render-diagnostics");
    cargo.arg("--config").arg(format!("target.{TARGET}.rustflags = {}", Value::from(remapped_paths()?)));
    let output = cargo.current_dir(root()).stderr(Stdio::inherit()).output().context("cannot start `cargo`")?;
    ensure!(output.status.success(), "espalier-wasm doesn't compile");
    let messages = String::from_utf8(output.stdout)?;
    messages.lines().find_map(module_in).context("cargo named no wasm file")
}

/// The messages of panics name files of dependencies and, if rustup has installed its sources, of
/// the standard library. Without their folders, the wasm is the same on every machine, and lighter.
fn remapped_paths() -> Result<Vec<String>> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).context("cargo's home folder is unknown")?;
    let library =
        format!("--remap-path-prefix={}/lib/rustlib/src/rust=/rustc/{}", rustc(&["--print", "sysroot"])?, commit()?);
    let sources = fs::read_dir(home.join("registry/src")).into_iter().flatten();
    let paths = sources.map(|source| Ok(format!("--remap-path-prefix={}/=", source?.path().display())));
    // The files of the workspace have shorter names, too.
    let own = ["core", "package", "registry", "wasm"];
    let own = own.map(|name| Ok(format!("--remap-path-prefix=crates/espalier-{name}/src={name}")));
    std::iter::once(Ok(library)).chain(own).chain(paths).collect()
}

/// The commit of the compiler, in whose name it states the paths of the standard library.
fn commit() -> Result<String> {
    let about = rustc(&["--version", "--verbose"])?;
    let commit = about.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    commit.map(str::to_owned).context("rustc states no commit")
}

fn rustc(arguments: &[&str]) -> Result<String> {
    let output = Command::new("rustc").args(arguments).current_dir(root()).output().context("cannot start `rustc`")?;
    ensure!(output.status.success(), "`rustc {}` failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The wasm file in one of cargo's messages, if it is that of our crate.
fn module_in(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["target"]["name"] != "espalier_wasm" {
        return None;
    }
    let files = message["filenames"].as_array()?;
    let mut files = files.iter().filter_map(Value::as_str).map(PathBuf::from);
    files.find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
}

/// Writes `espalier.wasm` and the glue that instantiates it.
fn bind(module: &Path, dist: &Path, profile: Profile) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("espalier").web(true)?;
    bindgen.typescript(false).omit_default_module_path(true).reset_state_function(true);
    bindgen.debug(profile == Profile::Development).remove_producers_section(true);
    let mut output = bindgen.generate_output().context("wasm-bindgen failed")?;
    ensure!(output.js().contains(STALE_CLOSURE), "wasm-bindgen's glue has changed: look at {STALE_CLOSURE:?}");
    let glue = format!("{MICROTASKS}{}", output.js().replace(STALE_CLOSURE, "return;"));
    fs::write(dist.join("glue.js"), glue)?;
    if profile == Profile::Release {
        without_fractions(output.wasm_mut())?;
    }
    fs::write(wasm_file(), output.wasm_mut().emit_wasm())?;
    Ok(())
}

/// Leaves out the standard library's printing of fractions, which weighs 4.4 KB of brotli. Only
/// serde uses it, in the error for an option of a wrong type, which TypeScript refuses first
/// (`pkg/src/input.ts`); serde then prints nothing there. `serde_json` prints its numbers by other
/// means. Any other code that prints a fraction traps.
fn without_fractions(module: &mut Module) -> Result<()> {
    let named = |start: &str, end: &str| {
        let is_it = |name: &String| name.starts_with(start) && name.contains(end);
        let found = module.funcs.iter().find(|function| function.name.as_ref().is_some_and(is_it));
        found.map(Function::id).with_context(|| format!("nothing is called {start}{end} any more"))
    };
    let by_serde = named("<serde_core::de::WithDecimalPoint as core", "::fmt::Display>::fmt::h")?;
    let by_core = named("<f64 as core", "::fmt::Display>::fmt")?;
    // `Ok(())`
    replace(module, by_serde, |body| {
        body.i32_const(0);
    });
    replace(module, by_core, |body| {
        body.unreachable();
    });
    Ok(())
}

fn replace(module: &mut Module, function: FunctionId, write: impl FnOnce(&mut InstrSeqBuilder<'_>)) {
    let (parameters, results) = module.types.params_results(module.funcs.get(function).ty());
    let (parameters, results) = (parameters.to_vec(), results.to_vec());
    let arguments = parameters.iter().map(|kind| module.locals.add(*kind)).collect();
    let mut builder = FunctionBuilder::new(&mut module.types, &parameters, &results);
    write(&mut builder.func_body());
    module.funcs.get_mut(function).kind = FunctionKind::Local(builder.local_func(arguments));
}

fn optimise(wasm: &Path) -> Result<()> {
    // The passes repeat until nothing changes, and then once more for the whole program. A single
    // pass leaves 3 KB of brotli. The stack comes first in memory and grows down, so no object is
    // below 1024. Knowing that at the end saves 2.5 KB more.
    const RUNS: [&[&str]; 3] = [
        &["-Oz", "--converge"],
        &["--gufa", "-Oz", "--converge"],
        &["--low-memory-unused", "-Oz", "--optimize-added-constants-propagate", "-Oz"],
    ];
    for arguments in RUNS {
        optimise_once(wasm, arguments)?;
    }
    // Functions that differ in constants and callees are merged, which saves 6% of the bytes. This
    // takes references to functions, for which `wasm-opt` needs `--enable-gc`. The module must not
    // claim that feature afterwards, so the list of features is removed and passed as options.
    let features = features(wasm)?;
    optimise_once(wasm, &["--enable-gc", "--merge-similar-functions", "--strip-target-features"])?;
    fs::write(wasm, callees::as_numbers(&fs::read(wasm)?)?)?;
    let mut arguments: Vec<&str> = features.lines().collect();
    arguments.extend(["--low-memory-unused", "-Oz"]);
    optimise_once(wasm, &arguments)?;
    fs::write(wasm, order::ordered(&fs::read(wasm)?)?)?;
    Ok(())
}

/// Writes a module anew.
fn rewritten(module: &[u8], mut changes: impl Reencode<Error = Infallible>) -> Result<Vec<u8>> {
    let mut result = wasm_encoder::Module::new();
    changes.parse_core_module(&mut result, Parser::new(0), module).context("the wasm can't be written")?;
    Ok(result.finish())
}

/// The features of WebAssembly that the module uses, as options of `wasm-opt`.
fn features(wasm: &Path) -> Result<String> {
    let mut run = Command::new(npm_program("wasm-opt"));
    let output = run.arg("--print-features").arg(wasm).output().context("cannot start `wasm-opt`")?;
    ensure!(output.status.success(), "`wasm-opt` can't read the wasm");
    Ok(String::from_utf8(output.stdout)?)
}

fn optimise_once(wasm: &Path, arguments: &[&str]) -> Result<()> {
    let mut run = Command::new(npm_program("wasm-opt"));
    run.args(["--one-caller-inline-max-function-size", LONGEST_INLINED]);
    toolchain::run(run.args(arguments).arg(wasm).arg("-o").arg(wasm))
}

/// Prints the weights, and fails if they exceed the maximum.
fn weigh(wasm: &Path) -> Result<()> {
    let script = include_str!("wasm/weigh.mjs");
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-", &wasm.to_string_lossy()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = node.spawn().context("cannot start `node`")?;
    process.stdin.take().context("no stdin")?.write_all(script.as_bytes())?;
    let output = process.wait_with_output()?;
    ensure!(output.status.success(), "the wasm could not be weighed");
    let sizes = String::from_utf8(output.stdout)?;
    let sizes = sizes.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    let [raw, gzip, brotli] = sizes[..] else { anyhow::bail!("three sizes were expected") };
    eprintln!("espalier.wasm: {raw} bytes, {gzip} as gzip, {brotli} as brotli");
    ensure!(raw <= MAX_RAW && brotli <= MAX_BROTLI, "it may weigh {MAX_RAW} bytes, and {MAX_BROTLI} as brotli");
    Ok(())
}
