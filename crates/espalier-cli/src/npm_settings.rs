//! npm's settings as flags, by npm's names and spellings.
//!
//! A flag is one more place where a setting can be made, so it isn't interpreted here: it becomes a name and a value and
//! goes where those of the .npmrc files go.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Command};
use espalier_install::config::{Value, definitions};
use indexmap::IndexMap;

use crate::arguments::as_npm::SETTING;

/// The settings that were given as flags to a command. All are understood everywhere; the help only has those that matter
/// to the command.
#[derive(Clone, Debug)]
pub struct NpmSettings<S>(IndexMap<String, Value>, PhantomData<S>);

/// Which settings the help of a command has.
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
    /// For commands that list what is installed.
    ForListing: ["omit", "include"];
    /// For commands that compare what is installed with the registry.
    ForOutdated: ["omit", "include", "before", "registry", "offline", "prefer-offline"];
    /// For commands about settings themselves.
    ForConfig: ["userconfig", "globalconfig"];
}

struct Setting {
    name: &'static str,
    kind: Kind,
    heading: &'static str,
    help: &'static str,
}

/// What a setting can be.
#[derive(Clone, Copy)]
enum Kind {
    /// Yes or no.
    Switch,
    /// Any text, with the placeholder for it.
    Text(&'static str),
    /// Some of these texts.
    Choices(&'static [&'static str]),
}

const fn switch(name: &'static str, heading: &'static str, help: &'static str) -> Setting {
    Setting { name, kind: Kind::Switch, heading, help }
}

const fn text(name: &'static str, value: &'static str, heading: &'static str, help: &'static str) -> Setting {
    Setting { name, kind: Kind::Text(value), heading, help }
}

const TREE: &str = "Tree";
const PLATFORM: &str = "Platform";
const SCRIPTS: &str = "Scripts";
const NETWORK: &str = "Network";
pub const SAVING: &str = "Saving";
const KINDS: Kind = Kind::Choices(&["dev", "optional", "peer"]);
const KINDS_TO_INCLUDE: Kind = Kind::Choices(&["prod", "dev", "optional", "peer"]);

/// npm's letters.
const SHORT_FORMS: [(char, &str); 4] = [('f', "force"), ('E', "save-exact"), ('S', "save"), ('y', "yes")];

const SETTINGS: &[Setting] = &[
    switch("legacy-peer-deps", TREE, "Neither install nor check peer dependencies, as npm 6 did"),
    switch("strict-peer-deps", TREE, "Fail on any peer conflict, also deep in the tree"),
    switch("force", TREE, "Keep going where peers conflict"),
    switch("prefer-dedupe", TREE, "Prefer a version that is already there to a newer one"),
    text("install-strategy", "STRATEGY", TREE, "How high packages may go: hoisted, nested or shallow"),
    switch("install-links", TREE, "Pack folders outside the project instead of linking them"),
    switch("engine-strict", TREE, "Fail on packages that do not support this Node"),
    Setting { name: "omit", kind: KINDS, heading: TREE, help: "Leave out a kind of dependencies" },
    Setting {
        name: "include",
        kind: KINDS_TO_INCLUDE,
        heading: TREE,
        help: "Don't leave out this kind, whatever else says so",
    },
    text("before", "DATE", TREE, "Only see versions that were published by then"),
    text("tag", "TAG", TREE, "The dist-tag for dependencies without a range [default: latest]"),
    text("allow-git", "WHO", TREE, "Who may depend on git repositories: all, root or none [default: none]"),
    text("allow-remote", "WHO", TREE, "Who may depend on tarballs by URL: all, root or none [default: none]"),
    text("allow-file", "WHO", TREE, "Who may depend on tarballs on disk: all, root or none [default: all]"),
    text("allow-directory", "WHO", TREE, "Who may depend on folders: all, root or none [default: all]"),
    switch("allow-unused-patches", TREE, "Accept patches for packages that are not there"),
    switch("ignore-extension", TREE, "Do without an .npm-extension script"),
    text(
        "lockfile-version",
        "VERSION",
        TREE,
        "The version of lockfile to write: 1, 2 or 3 [default: as it is, else 3]",
    ),
    switch("package-lock", TREE, "Start from package-lock.json and write it [default: true]"),
    switch("save", SAVING, "Save to package.json [default: true; false for update]"),
    switch("save-exact", SAVING, "Save the exact version, without a prefix"),
    text("save-prefix", "PREFIX", SAVING, "What to put before a version that is saved [default: ^]"),
    text("os", "OS", PLATFORM, "The system to resolve for, as in `process.platform` [default: this one]"),
    text("cpu", "CPU", PLATFORM, "The processor to resolve for, as in `process.arch` [default: this one]"),
    text("libc", "LIBC", PLATFORM, "The C library to resolve for, glibc or musl [default: this one]"),
    switch("ignore-scripts", SCRIPTS, "Run no scripts that weren't asked for by name"),
    switch("foreground-scripts", SCRIPTS, "Run install scripts one by one and show what they print"),
    text("script-shell", "PATH", SCRIPTS, "The shell that runs scripts [default: sh, or cmd on Windows]"),
    switch("strict-allow-scripts", SCRIPTS, "Fail where packages have install scripts that nobody has reviewed"),
    switch("dangerously-allow-all-scripts", SCRIPTS, "Let every package run its install scripts"),
    switch("yes", SCRIPTS, "Don't ask before a program is fetched; --no fetches none"),
    text("registry", "URL", NETWORK, "The registry to ask"),
    switch("offline", NETWORK, "Use the cache only"),
    switch("prefer-offline", NETWORK, "Use the cache however old it is, and the network for the rest"),
    switch("prefer-online", NETWORK, "Ask the registry even where the cache is fresh"),
    text("userconfig", "FILE", NETWORK, "The user's settings [default: ~/.npmrc]"),
    text("globalconfig", "FILE", NETWORK, "The machine's settings [default: etc/npmrc beside node]"),
];

impl<S> NpmSettings<S> {
    /// The settings by name.
    pub fn into_settings(self) -> IndexMap<String, Value> {
        self.0
    }

    /// Sets one of them.
    pub fn set(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    /// The same settings for another command.
    pub fn for_another<T>(self) -> NpmSettings<T> {
        NpmSettings(self.0, PhantomData)
    }
}

/// A setting as `--npm-setting` has it.
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

/// Puts a setting to the others. What is given again joins what there is where npm takes a list, and else takes its place.
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

impl Setting {
    fn argument(&self) -> Arg {
        let argument = Arg::new(self.name).long(self.name).help(self.help).help_heading(self.heading);
        let argument = match SHORT_FORMS.iter().find(|(_, name)| *name == self.name) {
            Some((letter, _)) => argument.short(*letter),
            None => argument,
        };
        match self.kind {
            // The last one counts, as with npm.
            Kind::Text(placeholder) => argument.value_name(placeholder).overrides_with(self.name),
            Kind::Choices(choices) => {
                argument.action(ArgAction::Append).value_parser(choices.to_vec()).value_name("KIND")
            }
            // `--force`, `--force=false`; and `--force x` does not swallow the x.
            Kind::Switch => argument
                .action(ArgAction::Set)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(clap::value_parser!(bool))
                .hide_possible_values(true)
                .value_name("BOOL"),
        }
    }

    /// `--no-force`, which npm has for every switch.
    fn negation(&self) -> Option<Arg> {
        let name = format!("no-{}", self.name);
        let argument = Arg::new(name.clone()).long(name).action(ArgAction::SetTrue).hide(true);
        matches!(self.kind, Kind::Switch).then(|| argument.overrides_with(self.name))
    }

    fn given(&self, matches: &ArgMatches) -> Option<Value> {
        match self.kind {
            Kind::Text(_) => matches.get_one::<String>(self.name).cloned().map(Value::Text),
            Kind::Choices(_) => {
                let given: Vec<String> = matches.get_many::<String>(self.name)?.cloned().collect();
                Some(Value::List(given))
            }
            Kind::Switch if matches.get_flag(&format!("no-{}", self.name)) => Some(Value::Flag(false)),
            Kind::Switch => matches.get_one::<bool>(self.name).copied().map(Value::Flag),
        }
    }
}

impl<S: Shown> clap::Args for NpmSettings<S> {
    fn augment_args(command: Command) -> Command {
        let shown = |setting: &Setting| setting.argument().hide(!S::SETTINGS.contains(&setting.name));
        let any = Arg::new(SETTING).long(SETTING).action(ArgAction::Append).hide(true);
        command.args(SETTINGS.iter().map(shown)).args(SETTINGS.iter().filter_map(Setting::negation)).arg(any)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Shown> clap::FromArgMatches for NpmSettings<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = SETTINGS.iter().filter_map(|setting| Some((setting.name.to_owned(), setting.given(matches)?)));
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
    use clap::Parser as _;
    use espalier_install::config::Value;

    use crate::arguments::{Arguments, Command};

    fn given(flags: &[&str]) -> Vec<(String, Value)> {
        let arguments = Arguments::parse_from(["espalier", "lock"].iter().chain(flags));
        let Command::Lock(arguments) = arguments.command else { panic!("another command") };
        arguments.lock.npm.into_settings().into_iter().collect()
    }

    #[test]
    fn switches_stand_alone_or_say_so() {
        assert_eq!(given(&["--force"]), [("force".to_owned(), Value::Flag(true))]);
        assert_eq!(given(&["--force=false"]), [("force".to_owned(), Value::Flag(false))]);
        assert_eq!(given(&["-f"]), [("force".to_owned(), Value::Flag(true))]);
        assert_eq!(given(&["--no-force"]), [("force".to_owned(), Value::Flag(false))]);
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
    fn texts_take_what_follows() {
        let expected = [("registry".to_owned(), Value::Text("http://registry.test".into()))];
        assert_eq!(given(&["--registry", "http://registry.test"]), expected);
    }
}
