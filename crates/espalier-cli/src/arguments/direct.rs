//! Parses the commands that run most often, each by a definition of its own.
//!
//! Defining all commands with all their options takes longer than an installation with nothing to
//! do. Words that such a definition doesn't accept, such as a mistake or `--help`, are for the full
//! definition, which has the descriptions.

use std::ffi::{OsStr, OsString};

use clap::{Args, FromArgMatches};

use super::{Arguments, ChangeArguments, Command, InstallArguments, RelockArguments, as_npm};

/// The arguments, if the first word is one of these commands and they are right.
pub fn parsed(program: &OsStr, words: &[OsString]) -> Option<Arguments> {
    let name = words.first()?.to_str()?;
    let command = match name {
        "ci" => Command::Ci(of::<InstallArguments>(program, name, words)?),
        "lock" => Command::Lock(of::<RelockArguments>(program, name, words)?),
        "install" | "i" => Command::Install(of::<ChangeArguments>(program, name, words)?),
        "add" => Command::Add(of::<ChangeArguments>(program, name, words)?),
        "remove" | "rm" => Command::Remove(of::<ChangeArguments>(program, name, words)?),
        "update" | "up" => Command::Update(of::<ChangeArguments>(program, name, words)?),
        _ => return None,
    };
    Some(Arguments { command })
}

fn of<T: Args + FromArgMatches>(program: &OsStr, name: &str, words: &[OsString]) -> Option<T> {
    let definition = clap::Command::new("espalier").subcommand(T::augment_args(clap::Command::new(name.to_owned())));
    let words = as_npm::translated(words.to_vec(), &definition);
    let matches = definition.try_get_matches_from(std::iter::once(program.to_owned()).chain(words)).ok()?;
    T::from_arg_matches(matches.subcommand()?.1).ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};

    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::{Arguments, as_npm, parsed};

    /// By its own definition, and by the full one.
    fn both(line: &str) -> (Option<String>, Option<String>) {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let direct = parsed(OsStr::new("espalier"), &words);
        let definition = Arguments::command();
        let words = as_npm::translated(words, &definition);
        let matches = definition.try_get_matches_from(std::iter::once("espalier".into()).chain(words));
        let full = matches.ok().and_then(|matches| Arguments::from_arg_matches(&matches).ok());
        (direct.map(|arguments| format!("{arguments:?}")), full.map(|arguments| format!("{arguments:?}")))
    }

    #[test]
    fn both_definitions_give_the_same() {
        for line in [
            "ci",
            "ci --legacy-peer-deps --registry http://registry.test/ --timings",
            "ci --no-audit -s",
            "lock --node-version 22.14.0",
            "lock a@1 -D",
            "install",
            "i a b@2 --save-dev",
            "add -w one a",
            "remove a --dry-run",
            "rm a",
            "update --package-lock-only",
            "up a --omit=dev",
        ] {
            let (direct, full) = both(line);
            assert!(direct.is_some(), "{line}");
            assert_eq!(direct, full, "{line}");
        }
    }

    #[test]
    fn everything_else_is_for_the_full_definition() {
        for line in [
            "",
            "ci --help",
            "install -h",
            "add --frobnicate",
            "lock --node-version latest",
            "tree",
            "--loglevel=warn ci",
        ] {
            assert_eq!(both(line).0, None, "{line}");
        }
    }
}
