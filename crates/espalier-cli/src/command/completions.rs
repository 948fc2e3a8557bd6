//! `espalier completions` prints a script for shell completion.

use clap::{Arg, ArgAction, Command, CommandFactory as _};
use clap_complete::Shell;
use espalier_install::config::definitions;

use crate::arguments::Arguments;
use crate::npm_settings::SETTING;

/// Prints the script for a shell.
pub fn print(shell: Shell) {
    let mut script = Vec::new();
    let mut definition = Arguments::command().mut_subcommands(with_negations);
    clap_complete::generate(shell, &mut definition, "espalier", &mut script);
    super::say(&without_setting(&String::from_utf8_lossy(&script), shell));
}

/// Adds npm's `--no-…` for each switch of a command. Its definition lacks them, because the words
/// of a command line are rewritten before they are parsed.
fn with_negations(command: Command) -> Command {
    let options = command.get_arguments().filter(|option| !option.is_hide_set());
    let switches = options.filter_map(Arg::get_long).filter(|name| definitions::is_switch(name));
    let is_missing = |name: &String| command.get_arguments().all(|option| option.get_long() != Some(name.as_str()));
    let negations: Vec<String> = switches.map(|name| format!("no-{name}")).filter(is_missing).collect();
    command.args(negations.into_iter().map(|name| Arg::new(name.clone()).long(name).action(ArgAction::SetTrue)))
}

/// Removes the internal option `--npm-setting`. It has a line of its own, except for bash, which
/// has all options in one line.
fn without_setting(script: &str, shell: Shell) -> String {
    let mut shown = String::with_capacity(script.len());
    for line in script.lines() {
        let is_list = line.trim_start().starts_with("opts=");
        match line.contains(SETTING) {
            true if is_list => shown += &line.replace(&format!(" --{SETTING}"), ""),
            true if shell != Shell::Bash => continue,
            _ => shown += line,
        }
        shown.push('\n');
    }
    shown
}
