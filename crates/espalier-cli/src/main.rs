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

use espalier_core::Changes;

use arguments::{Arguments, Command};
use command::{install, lock};

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Lock(arguments) => lock::run(&arguments.lock, lock::additions(&arguments.packages)),
        Command::Ci(arguments) => install::run(&arguments, Changes::default(), true),
        Command::Install(arguments) | Command::Add(arguments) => {
            install::change(&arguments, lock::additions(&arguments.packages))
        }
        Command::Remove(arguments) => install::change(&arguments, lock::removals(&arguments.packages)),
        Command::Update(arguments) => install::change(&arguments, lock::updates(&arguments.packages)),
        Command::Store(arguments) => command::store::run(&arguments),
    }
}
