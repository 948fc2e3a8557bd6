//! The project's own commands. Each is a module; this file only knows their names and arguments.

mod bench;
mod browser;
mod guard;
mod oracle;
mod parity;
mod play;
mod programs;
mod record;
mod test;
mod toolchain;
mod wasm;

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Espalier's own commands")]
enum Command {
    /// Build the wasm and start the playground on the embedded registry.
    Play(play::Arguments),
    /// Run everything: formatting, lints, Rust, wasm, web and browser tests.
    Test(test::Arguments),
    /// Build `pkg/dist` from `espalier-wasm`.
    Wasm(wasm::Arguments),
    /// Compare Espalier's locks with npm's.
    Parity(parity::Arguments),
    /// Measure Espalier beside other package managers.
    Bench(bench::Arguments),
    /// Record the paths that the command takes, for the compiler.
    Profile(bench::Profiling),
    /// Measure how time and memory grow with the number of packages.
    Growth(bench::Growing),
    /// Run a command and write what it has used into a file.
    #[command(hide = true)]
    Measure(bench::Measured),
    /// Compare counts of system calls and instructions with their budgets.
    Guard(guard::Arguments),
    /// Run programs from projects that Espalier installed.
    Programs(programs::Arguments),
    /// Record trimmed packuments and npm's answers into `tests/registry`.
    Record(record::Arguments),
    /// Install the pinned version of npm and print its folder.
    Oracle(oracle::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Play(arguments) => play::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Wasm(arguments) => wasm::run(&arguments),
        Command::Parity(arguments) => parity::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Profile(arguments) => bench::profile(&arguments),
        Command::Growth(arguments) => bench::grow(&arguments),
        Command::Measure(arguments) => bench::measure_child(&arguments),
        Command::Guard(arguments) => guard::run(&arguments),
        Command::Programs(arguments) => programs::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Oracle(arguments) => oracle::run(&arguments),
    }
}
