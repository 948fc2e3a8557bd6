//! `espalier completions` prints a script for shell completion.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::npm_settings::SETTING;

/// Prints the script for a shell.
pub fn print(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "espalier", &mut script);
    super::say(&without_setting(&String::from_utf8_lossy(&script), shell));
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
