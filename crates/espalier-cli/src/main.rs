//! The `espalier` command: arguments in, npm's tree out, and words that a person can use.
//!
//! This crate decides what is shown and which exit code is returned, and nothing else: 0 when it worked, 1 when it
//! didn't, 2 when it was called wrongly, 130 when it was interrupted.

mod arguments;
mod command;
mod npm_settings;
mod progress;
mod report;
mod style;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Lock(arguments) => command::lock::run(&arguments, command::lock::additions(&arguments)),
        Command::Add(arguments) => command::lock::run(&arguments, command::lock::additions(&arguments)),
        Command::Remove(arguments) => command::lock::run(&arguments, command::lock::removals(&arguments)),
        Command::Update(arguments) => command::lock::run(&arguments, command::lock::updates(&arguments)),
    }
}
