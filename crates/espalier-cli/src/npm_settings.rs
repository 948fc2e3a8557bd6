//! npm's settings as flags, by npm's names and spellings.
//!
//! A flag is one more place where a setting can be made, so it isn't interpreted here: it becomes a name and a value and
//! goes where those of the .npmrc files go.

use clap::{Arg, ArgAction, ArgMatches, Command};
use espalier_install::config::Value;
use indexmap::IndexMap;

/// The settings that were given as flags.
#[derive(Clone, Debug, Default)]
pub struct NpmSettings(IndexMap<String, Value>);

struct Setting {
    name: &'static str,
    /// The placeholder for a value; a switch has none.
    value: Option<&'static str>,
    heading: &'static str,
    help: &'static str,
}

const fn switch(name: &'static str, heading: &'static str, help: &'static str) -> Setting {
    Setting { name, value: None, heading, help }
}

const fn text(name: &'static str, value: &'static str, heading: &'static str, help: &'static str) -> Setting {
    Setting { name, value: Some(value), heading, help }
}

const TREE: &str = "Tree";
const PLATFORM: &str = "Platform";
const NETWORK: &str = "Network";

const SETTINGS: &[Setting] = &[
    switch("legacy-peer-deps", TREE, "Neither install nor check peer dependencies, as npm 6 did"),
    switch("strict-peer-deps", TREE, "Fail on any peer conflict, also deep in the tree"),
    switch("force", TREE, "Keep going where peers conflict"),
    switch("prefer-dedupe", TREE, "Prefer a version that is already there to a newer one"),
    text("install-strategy", "STRATEGY", TREE, "How high packages may go: hoisted, nested or shallow"),
    switch("install-links", TREE, "Pack folders outside the project instead of linking them"),
    switch("engine-strict", TREE, "Fail on packages that do not support this Node"),
    text("before", "DATE", TREE, "Only see versions that were published by then"),
    text("tag", "TAG", TREE, "The dist-tag for dependencies without a range [default: latest]"),
    text("os", "OS", PLATFORM, "The system to resolve for, as in `process.platform` [default: this one]"),
    text("cpu", "CPU", PLATFORM, "The processor to resolve for, as in `process.arch` [default: this one]"),
    text("libc", "LIBC", PLATFORM, "The C library to resolve for, glibc or musl [default: this one]"),
    text("registry", "URL", NETWORK, "The registry to ask"),
    switch("offline", NETWORK, "Use the cache only"),
    switch("prefer-offline", NETWORK, "Use the cache however old it is, and the network for the rest"),
    switch("prefer-online", NETWORK, "Ask the registry even where the cache is fresh"),
    text("userconfig", "FILE", NETWORK, "The user's settings [default: ~/.npmrc]"),
];

impl NpmSettings {
    /// The settings by name.
    pub fn into_settings(self) -> IndexMap<String, Value> {
        self.0
    }
}

impl Setting {
    fn argument(&self) -> Arg {
        let argument = Arg::new(self.name).long(self.name).help(self.help).help_heading(self.heading);
        match self.value {
            Some(placeholder) => argument.value_name(placeholder),
            // `--force`, `--force=false`; and `--force x` does not swallow the x.
            None => argument
                .action(ArgAction::Set)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(clap::value_parser!(bool))
                .hide_possible_values(true)
                .value_name("BOOL"),
        }
    }

    fn given(&self, matches: &ArgMatches) -> Option<Value> {
        match self.value {
            Some(_) => matches.get_one::<String>(self.name).cloned().map(Value::Text),
            None => matches.get_one::<bool>(self.name).copied().map(Value::Flag),
        }
    }
}

impl clap::Args for NpmSettings {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().map(Setting::argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for NpmSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = SETTINGS.iter().filter_map(|setting| Some((setting.name.to_owned(), setting.given(matches)?)));
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use espalier_install::config::Value;

    use crate::arguments::{Arguments, Command};

    fn given(flags: &[&str]) -> Vec<(String, Value)> {
        let arguments = Arguments::parse_from(["espalier", "lock"].iter().chain(flags));
        let Command::Lock(arguments) = arguments.command;
        arguments.npm.into_settings().into_iter().collect()
    }

    #[test]
    fn switches_stand_alone_or_say_so() {
        assert_eq!(given(&["--force"]), [("force".to_owned(), Value::Flag(true))]);
        assert_eq!(given(&["--force=false"]), [("force".to_owned(), Value::Flag(false))]);
    }

    #[test]
    fn what_is_not_given_is_not_set() {
        assert_eq!(given(&[]), []);
    }

    #[test]
    fn texts_take_what_follows() {
        let expected = [("registry".to_owned(), Value::Text("http://registry.test".into()))];
        assert_eq!(given(&["--registry", "http://registry.test"]), expected);
    }
}
