//! npm's settings as options, under npm's names.
//!
//! An option is another source of a setting, beside the .npmrc files. So this module doesn't
//! interpret it: it passes the name and the value on.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Command};
use espalier_install::config::table::{Kind, Setting, Subject, options};
use espalier_install::config::{Value, definitions};
use indexmap::IndexMap;

/// The option that takes any of npm's settings.
pub const SETTING: &str = "npm-setting";

/// The settings on the command line. A command defines the options that matter to it. All others
/// reach it as `--npm-setting` (`arguments/as_npm.rs`), because a definition takes time.
#[derive(Clone, Debug)]
pub struct NpmSettings<S>(IndexMap<String, Value>, PhantomData<S>);

/// The settings that are options of a command.
pub trait Shown: Clone + Send + Sync + 'static {
    /// Their names.
    const SETTINGS: &'static [&'static str];
}

macro_rules! shown {
    ($($(#[$doc:meta])* $name:ident: $settings:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name;
        impl Shown for $name {
            const SETTINGS: &'static [&'static str] = &$settings;
        }
    )*};
}

shown! {
    /// For commands that resolve.
    ForResolving: [
        "omit", "include", "legacy-peer-deps", "strict-peer-deps", "force", "prefer-dedupe", "install-links", "engine-strict",
        "install-strategy", "ignore-scripts", "before", "tag", "allow-git", "allow-remote", "allow-file", "allow-directory", "allow-unused-patches",
        "ignore-extension", "lockfile-version", "package-lock", "save", "save-exact", "save-prefix", "os", "cpu", "libc", "registry", "offline", "prefer-offline", "prefer-online", "userconfig",
    ];
    /// For commands that run scripts.
    ForScripts: ["ignore-scripts", "foreground-scripts", "script-shell"];
    /// For programs that may have to be fetched.
    ForPrograms: ["yes", "before", "registry", "offline", "prefer-offline", "script-shell"];
    /// For commands that list installed packages.
    ForListing: ["omit", "include"];
    /// For commands that compare installed packages with the registry.
    ForOutdated: ["omit", "include", "before", "registry", "offline", "prefer-offline"];
    /// For the playground.
    ForPlaying: [
        "legacy-peer-deps", "strict-peer-deps", "force", "prefer-dedupe", "before", "registry", "offline", "prefer-offline", "userconfig",
    ];
    /// For commands about settings themselves.
    ForConfig: ["userconfig", "globalconfig"];
}

/// The heading of options about saving that aren't settings.
pub const SAVING: &str = Subject::Saving.heading();

/// npm's one-letter forms.
const SHORT_FORMS: [(char, &str); 4] = [('f', "force"), ('E', "save-exact"), ('S', "save"), ('y', "yes")];

impl<S> NpmSettings<S> {
    /// The settings by name.
    pub fn into_settings(self) -> IndexMap<String, Value> {
        self.0
    }

    /// Sets a setting.
    pub fn set(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    /// The same settings for another command.
    pub fn for_another<T>(self) -> NpmSettings<T> {
        NpmSettings(self.0, PhantomData)
    }
}

/// Parses the value of `--npm-setting`.
fn key_and_value(text: &str) -> (String, Value) {
    let (key, value) = text.split_once('=').unwrap_or((text, "true"));
    let value = match value {
        "true" => Value::Flag(true),
        "false" => Value::Flag(false),
        "null" => Value::Null,
        text => Value::Text(text.to_owned()),
    };
    (key.to_owned(), value)
}

/// Adds a setting. A repeated setting extends a list or replaces the earlier value, as in npm.
fn put(settings: &mut IndexMap<String, Value>, (key, value): (String, Value)) {
    let before = settings.get(&key).filter(|_| definitions::is_list(&key)).cloned();
    let value = match (before, value) {
        (Some(Value::List(mut items)), Value::Text(text)) => {
            items.push(text);
            Value::List(items)
        }
        (Some(Value::Text(first)), Value::Text(text)) => Value::List(vec![first, text]),
        (_, value) => value,
    };
    settings.insert(key, value);
}

fn argument(setting: &Setting) -> Arg {
    let argument = Arg::new(setting.name).long(setting.name);
    let argument = argument.help(setting.help()).help_heading(setting.subject.heading());
    let argument = match SHORT_FORMS.iter().find(|(_, name)| *name == setting.name) {
        Some((letter, _)) => argument.short(*letter),
        None => argument,
    };
    match setting.kind {
        // As in npm, the last value counts.
        Kind::Text(placeholder) => argument.value_name(placeholder).overrides_with(setting.name),
        Kind::Texts => argument.action(ArgAction::Append).value_name("TEXT"),
        Kind::Choices(choices) => argument.action(ArgAction::Append).value_parser(choices.to_vec()).value_name("KIND"),
        // `--force` and `--force=false` are valid. `--force x` doesn't consume the x.
        Kind::Switch => argument
            .action(ArgAction::Set)
            .overrides_with(setting.name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(clap::value_parser!(bool))
            .hide_possible_values(true)
            .value_name("BOOL"),
    }
}

fn given(setting: &Setting, matches: &ArgMatches) -> Option<Value> {
    match setting.kind {
        Kind::Text(_) => matches.get_one::<String>(setting.name).cloned().map(Value::Text),
        Kind::Texts | Kind::Choices(_) => {
            let given: Vec<String> = matches.get_many::<String>(setting.name)?.cloned().collect();
            Some(Value::List(given))
        }
        Kind::Switch => matches.get_one::<bool>(setting.name).copied().map(Value::Flag),
    }
}

fn shown<S: Shown>() -> impl Iterator<Item = &'static Setting> {
    options().filter(|setting| S::SETTINGS.contains(&setting.name))
}

impl<S: Shown> clap::Args for NpmSettings<S> {
    fn augment_args(command: Command) -> Command {
        let any = Arg::new(SETTING).long(SETTING).action(ArgAction::Append).hide(true);
        command.args(shown::<S>().map(argument)).arg(any)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Shown> clap::FromArgMatches for NpmSettings<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = shown::<S>().filter_map(|setting| Some((setting.name.to_owned(), given(setting, matches)?)));
        let mut settings = given.collect();
        for text in matches.get_many::<String>(SETTING).into_iter().flatten() {
            put(&mut settings, key_and_value(text));
        }
        Ok(Self(settings, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};
    use espalier_install::config::Value;

    use super::options;
    use crate::arguments::{Arguments, Command, as_npm};

    fn given(flags: &[&str]) -> Vec<(String, Value)> {
        let definition = Arguments::command();
        let words = as_npm::translated(["lock"].iter().chain(flags).map(Into::into).collect(), &definition);
        let matches = definition.get_matches_from(std::iter::once("espalier".into()).chain(words));
        let arguments = Arguments::from_arg_matches(&matches).expect("right arguments");
        let Command::Lock(arguments) = arguments.command else { panic!("another command") };
        arguments.lock.project.npm.into_settings().into_iter().collect()
    }

    #[test]
    fn switches_stand_alone_or_say_so() {
        assert_eq!(given(&["--force"]), [("force".to_owned(), Value::Flag(true))]);
        assert_eq!(given(&["--force=false"]), [("force".to_owned(), Value::Flag(false))]);
        assert_eq!(given(&["-f"]), [("force".to_owned(), Value::Flag(true))]);
        assert_eq!(given(&["--no-force"]), [("force".to_owned(), Value::Flag(false))]);
    }

    #[test]
    fn the_last_value_of_a_switch_counts() {
        assert_eq!(given(&["--force", "--no-force"]), [("force".to_owned(), Value::Flag(false))]);
        assert_eq!(given(&["--no-force", "-f"]), [("force".to_owned(), Value::Flag(true))]);
    }

    #[test]
    fn what_is_not_given_is_not_set() {
        assert_eq!(given(&[]), []);
    }

    #[test]
    fn kinds_add_up() {
        let expected = [("omit".to_owned(), Value::List(vec!["dev".into(), "peer".into()]))];
        assert_eq!(given(&["--omit", "dev", "--omit=peer"]), expected);
    }

    #[test]
    fn any_of_npms_settings_can_be_given() {
        let flags = ["--npm-setting=fund=false", "--npm-setting=ca=one", "--npm-setting=ca=two"];
        let list = Value::List(vec!["one".into(), "two".into()]);
        assert_eq!(given(&flags), [("fund".to_owned(), Value::Flag(false)), ("ca".to_owned(), list)]);
    }

    #[test]
    fn the_options_of_the_readme_are_options() {
        let readme =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).expect("a README");
        let definition = Arguments::command();
        let commands: Vec<_> = ["install", "add"].iter().filter_map(|name| definition.find_subcommand(name)).collect();
        let table = readme.split("| Option | Effect |").nth(1).expect("a table of options");
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let named = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2));
        let mut count = 0;
        for option in named {
            let name = option.trim_start_matches("--").split('=').next().unwrap_or_default();
            let is_option = |name: &str| {
                commands.iter().any(|command| command.get_arguments().any(|argument| argument.get_long() == Some(name)))
            };
            let is_setting = options().any(|setting| setting.name == name.trim_start_matches("no-"));
            // The registry of a scope is a key of its own.
            assert!(is_option(name) || is_setting || name.starts_with('@'), "--{name}");
            count += 1;
        }
        assert!(count > 20, "{count} were found");
    }

    #[test]
    fn texts_take_what_follows() {
        let expected = [("registry".to_owned(), Value::Text("http://registry.test".into()))];
        assert_eq!(given(&["--registry", "http://registry.test"]), expected);
    }
}
