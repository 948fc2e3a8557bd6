//! The command `espalier`: parses arguments, runs a command, and prints the result.
//!
//! The exit code is 0 after success, 1 after a failure, 2 for invalid arguments, 130 after an
//! interruption, and a script's own if a script failed.

mod arguments;
mod command;
mod npm_settings;
mod progress;
mod report;
mod style;
mod trace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};

use espalier_core::{Changes, Update};

use arguments::{Arguments, Command};
use command::install::Kind;
use command::{install, lock, run};

/// The system's allocator takes a lock if one thread frees what another allocated, and documents go
/// from thread to thread.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match parsed().command {
        Command::Lock(arguments) => lock::run(&arguments.lock, lock::additions(&arguments.packages)),
        Command::Ci(arguments) => install::run(&arguments, Changes::default(), Kind::Ci),
        Command::Install(arguments) | Command::Add(arguments) => {
            install::change(&arguments, lock::additions(&arguments.packages))
        }
        Command::InstallTest(arguments) => {
            let installed = install::change(&arguments, lock::additions(&arguments.packages));
            run::test_after(installed, &arguments.install)
        }
        Command::InstallCiTest(arguments) => {
            run::test_after(install::run(&arguments, Changes::default(), Kind::Ci), &arguments)
        }
        Command::Remove(arguments) if arguments.packages.packages.is_empty() => {
            let message = "`remove` needs the names of the packages to remove";
            let mut definition = Arguments::command();
            definition.build();
            let remove = definition.find_subcommand_mut("remove").expect("it is defined");
            remove.error(ErrorKind::MissingRequiredArgument, message).exit()
        }
        Command::Remove(arguments) => install::change(&arguments, lock::removals(&arguments.packages)),
        Command::Update(arguments) => install::change(&arguments, lock::updates(&arguments.packages)),
        Command::Dedupe(arguments) => {
            let changes = Changes { update: Update::Duplicates, ..Changes::default() };
            install::lock_or_install(&arguments.install, changes, arguments.package_lock_only)
        }
        Command::Prune(arguments) => install::run(&arguments.install, Changes::default(), Kind::Prune),
        Command::Store(arguments) => command::store::run(&arguments),
        Command::Run(arguments) => run::run(arguments.script.as_deref(), &arguments.how, "run"),
        Command::Test(arguments) => run::run(Some("test"), &arguments, "test"),
        Command::Start(arguments) => run::run(Some("start"), &arguments, "start"),
        Command::Stop(arguments) => run::run(Some("stop"), &arguments, "stop"),
        Command::Restart(arguments) => run::run(Some("restart"), &arguments, "restart"),
        Command::Exec(arguments) => command::exec::run(&arguments),
        Command::Rebuild(arguments) => command::rebuild::run(&arguments),
        Command::Approve(arguments) => command::approve::run(&arguments, true),
        Command::Deny(arguments) => command::approve::run(&arguments, false),
        Command::Snapshot(arguments) => command::snapshot::run(&arguments),
        Command::Tree(arguments) => command::tree::run(&arguments),
        Command::Why(arguments) => command::why::run(&arguments),
        Command::Outdated(arguments) => command::outdated::run(&arguments),
        Command::Play(arguments) => command::play::run(&arguments),
        Command::Config(arguments) => command::config::run(&arguments),
        Command::Completions(arguments) => {
            command::completions::print(arguments.shell);
            ExitCode::SUCCESS
        }
        Command::Other(words) => command::elsewhere::run(&words),
    }
}

fn parsed() -> Arguments {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_else(|| "espalier".into());
    let words: Vec<OsString> = words.collect();
    choose_colors(&words);
    if let Some(arguments) = arguments::direct::parsed(&program, &words) {
        return arguments;
    }
    let definition = Arguments::command();
    let words = arguments::as_npm::translated(words, &definition);
    let matches = definition.get_matches_from(std::iter::once(program).chain(words));
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Reads npm's `--color` before anything is printed.
fn choose_colors(words: &[OsString]) {
    let options = words.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    let choice = options.filter_map(|word| match word {
        "--no-color" | "--color=false" => Some(anstream::ColorChoice::Never),
        "--color=always" => Some(anstream::ColorChoice::Always),
        _ => None,
    });
    if let Some(choice) = choice.last() {
        choice.write_global();
    }
}
