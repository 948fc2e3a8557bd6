//! Reports npm's commands that Espalier doesn't have.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;

use super::complaint::Complaint;
use super::run::distance;
use crate::arguments::Arguments;
use crate::style::strong;

/// npm's commands that Espalier doesn't have, in groups by subject.
const OF_NPM: &[(&str, &[&str])] = &[
    (
        "npm manages accounts and publishes packages",
        &[
            "access",
            "adduser",
            "add-user",
            "deprecate",
            "dist-tag",
            "hook",
            "login",
            "logout",
            "org",
            "owner",
            "profile",
            "publish",
            "stage",
            "star",
            "stars",
            "team",
            "token",
            "trust",
            "undeprecate",
            "unpublish",
            "unstar",
            "version",
            "whoami",
        ],
    ),
    (
        "npm asks the registry about packages and advisories",
        &[
            "audit", "bugs", "docs", "doctor", "fund", "home", "info", "issues", "ping", "repo", "search", "show", "v",
            "view",
        ],
    ),
    (
        "npm makes and packs packages",
        &[
            "create",
            "diff",
            "edit",
            "explore",
            "init",
            "innit",
            "link",
            "ln",
            "pack",
            "patch",
            "pkg",
            "query",
            "sbom",
            "set-script",
            "shrinkwrap",
        ],
    ),
    ("npm manages its own cache, help and folders", &["cache", "help-search", "prefix", "root"]),
];

/// Reports the command and what to use instead.
pub fn run(words: &[OsString]) -> ExitCode {
    let command = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some((reason, _)) = OF_NPM.iter().find(|(_, commands)| commands.contains(&command.as_str())) {
        let all: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let details = format!("  {reason}:\n\n    {}\n", strong(format!("npm {}", all.join(" "))));
        return Complaint::usage(format!("Espalier has no command `{command}`"), details).report(false);
    }
    let known = Arguments::command();
    let mut close: Vec<String> = known
        .get_subcommands()
        .flat_map(|known| std::iter::once(known.get_name()).chain(known.get_visible_aliases()))
        .filter(|name| distance(name, &command) * 5 <= name.len().max(3) * 2)
        .map(str::to_owned)
        .collect();
    close.sort_by_key(|name| distance(name, &command));
    let mut details = String::new();
    if let Some(name) = close.first() {
        let _ = writeln!(details, "  Did you mean {}?\n", strong(name));
    }
    let _ = writeln!(details, "  {} lists the commands.", strong("espalier --help"));
    Complaint::usage(format!("there is no command `{command}`"), details).report(false)
}
