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

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use espalier_core::{Changes, Update};

use arguments::{Arguments, Command};
use command::install::Kind;
use command::{install, lock};

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Lock(arguments) => lock::run(&arguments.lock, lock::additions(&arguments.packages)),
        Command::Ci(arguments) => install::run(&arguments, Changes::default(), Kind::Ci),
        Command::Install(arguments) | Command::Add(arguments) => {
            install::change(&arguments, lock::additions(&arguments.packages))
        }
        Command::Remove(arguments) if arguments.packages.packages.is_empty() => {
            let message = "`remove` needs the names of the packages to remove";
            Arguments::command().error(ErrorKind::MissingRequiredArgument, message).exit()
        }
        Command::Remove(arguments) => install::change(&arguments, lock::removals(&arguments.packages)),
        Command::Update(arguments) => install::change(&arguments, lock::updates(&arguments.packages)),
        Command::Dedupe(arguments) => {
            let changes = Changes { update: Update::Duplicates, ..Changes::default() };
            install::lock_or_install(&arguments.install, changes, arguments.package_lock_only)
        }
        Command::Prune(arguments) => install::run(&arguments, Changes::default(), Kind::Prune),
        Command::Store(arguments) => command::store::run(&arguments),
        Command::Run(arguments) => command::run::run(arguments.script.as_deref(), &arguments.how, "run"),
        Command::Test(arguments) => command::run::run(Some("test"), &arguments, "test"),
        Command::Start(arguments) => command::run::run(Some("start"), &arguments, "start"),
        Command::Stop(arguments) => command::run::run(Some("stop"), &arguments, "stop"),
        Command::Restart(arguments) => command::run::run(Some("restart"), &arguments, "restart"),
        Command::Exec(arguments) => command::exec::run(&arguments),
        Command::Rebuild(arguments) => command::rebuild::run(&arguments),
        Command::Approve(arguments) => command::approve::run(&arguments, true),
        Command::Deny(arguments) => command::approve::run(&arguments, false),
        Command::Tree(arguments) => command::tree::run(&arguments),
        Command::Why(arguments) => command::why::run(&arguments),
        Command::Outdated(arguments) => command::outdated::run(&arguments),
        Command::Config(arguments) => command::config::run(&arguments),
        Command::Completions(arguments) => {
            clap_complete::generate(arguments.shell, &mut Arguments::command(), "espalier", &mut std::io::stdout());
            ExitCode::SUCCESS
        }
        Command::Other(words) => command::elsewhere::run(&words),
    }
}
