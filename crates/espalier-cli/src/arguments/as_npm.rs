//! Translates a command line for npm into one for this program.
//!
//! npm has other spellings of commands, accepts options before the command, and takes every setting
//! as an option of every command. The definition of the arguments has none of this, because it
//! would clutter the help. Instead, the words are rewritten before they are parsed. A setting that
//! a command doesn't define becomes `--npm-setting key=value`. Unknown words stay as they are, and
//! the parser reports them.

use std::ffi::OsString;

use clap::{Arg, Command};
use espalier_install::config::definitions;

use crate::npm_settings::SETTING;

/// npm's names for a command with an option, or for a command with another name.
const COMMANDS: &[(&str, &[&str])] = &[
    ("ll", &["tree", "--long"]),
    ("la", &["tree", "--long"]),
    ("find-dupes", &["dedupe", "--dry-run"]),
    ("get", &["config", "get"]),
    ("set", &["config", "set"]),
    ("completion", &["completions"]),
];

/// The same for `npm install-scripts …`.
const INSTALL_SCRIPTS: &[(&str, &[&str])] = &[
    ("ls", &["approve", "--pending"]),
    ("list", &["approve", "--pending"]),
    ("approve", &["approve"]),
    ("deny", &["deny"]),
    ("prune", &["approve", "--prune"]),
];

/// npm's abbreviations of settings. Those of one letter apply unless the command defines the
/// letter.
const SHORTHANDS: &[(&str, &[&str])] = &[
    ("-s", &["--loglevel", "silent"]),
    ("--silent", &["--loglevel", "silent"]),
    ("-q", &["--loglevel", "warn"]),
    ("--quiet", &["--loglevel", "warn"]),
    ("-d", &["--loglevel", "info"]),
    ("-dd", &["--loglevel", "verbose"]),
    ("-ddd", &["--loglevel", "silly"]),
    ("--verbose", &["--loglevel", "verbose"]),
    ("--enjoy-by", &["--before"]),
    ("--reg", &["--registry"]),
    ("-v", &["--version"]),
    ("-f", &["--force"]),
    ("-y", &["--yes"]),
    ("-E", &["--save-exact"]),
    ("-S", &["--save"]),
    ("-n", &["--no-yes"]),
    ("--no", &["--no-yes"]),
    ("-ws", &["--workspaces"]),
    ("--ws", &["--workspaces"]),
    ("-iwr", &["--include-workspace-root"]),
    ("--iwr", &["--include-workspace-root"]),
    ("--porcelain", &["--parseable"]),
    ("--local", &["--no-global"]),
];

/// Rewrites the words after the program's name.
pub fn translated(words: Vec<OsString>, definition: &Command) -> Vec<OsString> {
    let mut words: Vec<Word> = words.into_iter().map(Word).collect();
    match words.iter().map(Word::text).collect::<Vec<_>>().as_slice() {
        ["-v"] => return version(),
        ["help" | "hlep"] => return vec!["--help".into()],
        ["help" | "hlep", command] => return vec![(*command).into(), "--help".into()],
        _ => {}
    }
    let Some(at) = command_position(&words) else { return words.into_iter().map(|word| word.0).collect() };
    let after = words.split_off(at);
    // Options before the command move behind it.
    let (command, rest) = renamed(after);
    let Some(known) = command.first().and_then(|name| find(definition, name.text())) else {
        return words.into_iter().chain(command).chain(rest).map(|word| word.0).collect();
    };
    let takes_settings = has_long(known, SETTING);
    let mut reader = Reader { known, takes_settings, settings: Vec::new(), rest: Vec::new(), asks_for_version: false };
    reader.read(words, false);
    reader.read(rest, known.get_name() == "exec");
    if reader.asks_for_version {
        return version();
    }
    let name = command.into_iter().chain(reader.settings).chain(reader.rest);
    name.map(|word| word.0).collect()
}

/// The words that print this program's version. As in npm, the option means that with every
/// command.
fn version() -> Vec<OsString> {
    vec!["--version".into()]
}

/// A word of the command line.
#[derive(Clone)]
struct Word(OsString);

impl Word {
    fn of(text: &str) -> Self {
        Self(text.into())
    }

    /// The word as text. A word that isn't Unicode is neither an option nor a command.
    fn text(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    fn is_option(&self) -> bool {
        self.text().starts_with('-') && self.text() != "-"
    }
}

/// The position of the command: the first word that is neither an option nor an option's value.
fn command_position(words: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.is_option() {
            return Some(at);
        }
        if matches!(word.text(), "--" | "-h" | "--help" | "-V" | "--version") {
            return None;
        }
        let takes_value = match word.text() {
            "-w" | "-C" => true,
            text => expansion(text)
                .map_or_else(|| Setting::of(text), |words| Setting::of(words[0]))
                .is_some_and(|setting| setting.value.is_none() && !setting.is_switch),
        };
        let has_value = expansion(word.text()).is_some_and(|words| words.len() > 1);
        at += if takes_value && !has_value { 2 } else { 1 };
    }
    None
}

fn expansion(text: &str) -> Option<&'static [&'static str]> {
    SHORTHANDS.iter().find(|(name, _)| *name == text).map(|(_, words)| *words)
}

/// This program's name of the command, and the words after it.
fn renamed(mut words: Vec<Word>) -> (Vec<Word>, Vec<Word>) {
    let rest = words.split_off(1);
    let of = |table: &[(&str, &[&str])], name: &str| {
        let found = table.iter().find(|(other, _)| *other == name)?;
        Some(found.1.iter().map(|word| Word::of(word)).collect::<Vec<_>>())
    };
    if words[0].text() == "install-scripts"
        && let Some(command) = rest.first().and_then(|action| of(INSTALL_SCRIPTS, action.text()))
    {
        return (command, rest[1..].to_vec());
    }
    match of(COMMANDS, words[0].text()) {
        Some(command) => (command, rest),
        None => (words, rest),
    }
}

fn find<'a>(definition: &'a Command, name: &str) -> Option<&'a Command> {
    definition
        .get_subcommands()
        .find(|command| command.get_name() == name || command.get_all_aliases().any(|alias| alias == name))
}

/// The options of a command and of its subcommands (`config set`).
fn options(command: &Command) -> Box<dyn Iterator<Item = &Arg> + '_> {
    Box::new(command.get_arguments().chain(command.get_subcommands().flat_map(options)))
}

fn has_long(command: &Command, name: &str) -> bool {
    options(command).any(|option| {
        option.get_long() == Some(name) || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    })
}

fn has_short(command: &Command, letter: char) -> bool {
    options(command).any(|option| {
        option.get_short() == Some(letter)
            || option.get_all_short_aliases().is_some_and(|aliases| aliases.contains(&letter))
    })
}

/// One of npm's settings, written as an option.
struct Setting<'a> {
    name: &'a str,
    is_switch: bool,
    is_negated: bool,
    value: Option<&'a str>,
}

impl<'a> Setting<'a> {
    fn of(word: &'a str) -> Option<Self> {
        let option = word.strip_prefix("--")?;
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let positive = name.strip_prefix("no-").filter(|name| definitions::is_switch(name));
        let name = positive.unwrap_or(name);
        let is_known = definitions::is_known(name) && !name.starts_with(['/', '@', '_']);
        is_known.then(|| Self { name, is_switch: definitions::is_switch(name), is_negated: positive.is_some(), value })
    }
}

/// Sorts the words after a command.
struct Reader<'a> {
    known: &'a Command,
    takes_settings: bool,
    settings: Vec<Word>,
    rest: Vec<Word>,
    asks_for_version: bool,
}

impl Reader<'_> {
    fn read(&mut self, words: Vec<Word>, until_positional: bool) {
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            if word.text() == "--" {
                self.rest.push(word);
                self.rest.extend(words);
                return;
            }
            if until_positional && !word.is_option() {
                // npm consumes the first `--`, wherever it is.
                let mut others: Vec<Word> = words.collect();
                if let Some(at) = others.iter().position(|word| word.text() == "--") {
                    others.remove(at);
                }
                self.rest.push(word);
                self.rest.extend(others);
                return;
            }
            let text = word.text().to_owned();
            let (name, given) = text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
            match expansion(name) {
                // The command prints less, and scripts see npm's setting.
                Some([setting, level]) if self.knows(name) => {
                    self.set(setting.trim_start_matches('-'), level);
                    self.option(word, &mut words);
                }
                Some(_) if self.knows(name) => self.option(word, &mut words),
                Some([name, value]) => self.option(Word::of(&format!("{name}={value}")), &mut words),
                Some([name]) if given.is_some() => {
                    self.option(Word::of(&format!("{name}={}", given.unwrap_or_default())), &mut words);
                }
                Some([name]) => self.option(Word::of(name), &mut words),
                _ => self.option(word, &mut words),
            }
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        if self.takes_settings {
            self.settings.push(Word::of(&format!("--{SETTING}={name}={value}")));
        }
    }

    /// Whether the command itself defines this option.
    fn knows(&self, word: &str) -> bool {
        match word.strip_prefix("--") {
            Some(long) => has_long(self.known, long.split('=').next().unwrap_or_default()),
            None => {
                word.chars().count() == 2 && word.chars().nth(1).is_some_and(|letter| has_short(self.known, letter))
            }
        }
    }

    /// Whether the word after a one-letter option is its value.
    fn takes_the_next(&self, word: &str) -> bool {
        let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else { return false };
        options(self.known).any(|argument| {
            argument.get_short() == Some(letter)
                && argument.get_action().takes_values()
                && !argument.is_require_equals_set()
        })
    }

    fn option(&mut self, word: Word, words: &mut std::iter::Peekable<std::vec::IntoIter<Word>>) {
        let text = word.text().to_owned();
        let Some(setting) = Setting::of(&text) else {
            self.rest.push(word.clone());
            if self.takes_the_next(&text) {
                self.rest.extend(words.next());
            }
            return;
        };
        // As in npm, `--force false` means `--force=false`.
        let follows = words.peek().map(|next| next.text().to_owned());
        let said = setting.value.map(str::to_owned).or_else(|| {
            let is_said = setting.is_switch && matches!(follows.as_deref(), Some("true" | "false"));
            is_said.then(|| words.next().map(|word| word.text().to_owned())).flatten()
        });
        if setting.name == "version" {
            self.asks_for_version = (said.as_deref() != Some("false")) != setting.is_negated;
            return;
        }
        if setting.name == "loglevel" && has_long(self.known, "quiet") {
            let level = said.clone().or_else(|| words.peek().map(|word| word.text().to_owned()));
            if level.as_deref() == Some("silent") {
                self.rest.push(Word::of("--quiet"));
            }
        }
        if self.knows(&format!("--{}", setting.name)) {
            self.own(&setting, said.as_deref(), word, words);
        } else if self.takes_settings {
            let value = match (setting.is_switch, said) {
                (true, said) => {
                    let is_set = said.as_deref() != Some("false");
                    if setting.is_negated { !is_set } else { is_set }.to_string()
                }
                (false, Some(said)) => said,
                (false, None) => words.next().map(|word| word.text().to_owned()).unwrap_or_default(),
            };
            self.set(setting.name, &value);
        } else {
            self.rest.push(word);
        }
    }

    /// Handles a setting that the command defines as an option.
    fn own(
        &mut self,
        setting: &Setting<'_>,
        said: Option<&str>,
        word: Word,
        words: &mut std::iter::Peekable<std::vec::IntoIter<Word>>,
    ) {
        if !setting.is_switch {
            self.rest.push(word);
            if setting.value.is_none() {
                self.rest.extend(words.next());
            }
            return;
        }
        let is_set = (said != Some("false")) != setting.is_negated;
        let takes_value = self
            .known
            .get_arguments()
            .any(|argument| argument.get_long() == Some(setting.name) && argument.get_action().takes_values());
        let text = match (takes_value, is_set) {
            (true, is_set) => format!("--{}={is_set}", setting.name),
            (false, true) => format!("--{}", setting.name),
            // An option that is off is left out.
            (false, false) => return,
        };
        self.rest.push(Word::of(&text));
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::translated;
    use crate::arguments::Arguments;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let words = line.split_whitespace().map(Into::into).collect();
        let words = translated(words, &Arguments::command());
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn settings_that_a_command_does_not_have_are_settings_all_the_same() {
        check("ci --no-audit --fund=false", "ci --npm-setting=audit=false --npm-setting=fund=false");
        check("install --fetch-retries 3 a", "install --npm-setting=fetch-retries=3 a");
        check("tree --production", "tree --npm-setting=production=true");
        check("install --progress false a", "install --npm-setting=progress=false a");
    }

    #[test]
    fn a_commands_own_options_are_its_own() {
        check("install --omit dev --tag next a", "install --omit dev --tag next a");
        check("install --package-lock false", "install --package-lock=false");
        check("install --no-package-lock -DE a", "install --package-lock=false -DE a");
        check("install --dry-run=false --json true", "install --json");
        check("tree -p -w ci", "tree -p -w ci");
    }

    #[test]
    fn what_stands_in_front_of_the_command_belongs_behind_it() {
        check("-C lib --offline install a", "install -C lib --offline=true a");
        check("--prefix lib run build", "run --prefix lib build");
        check(
            "-s --registry http://registry.test/ ci",
            "ci --npm-setting=loglevel=silent --quiet --registry http://registry.test/",
        );
        check("--help install", "--help install");
    }

    #[test]
    fn other_names_of_commands_are_understood() {
        check("ll a", "tree --long a");
        check("find-dupes", "dedupe --dry-run");
        check("get registry", "config get registry");
        check("config set fund false --location=project", "config set fund false --location=project");
        check("config list --json --no-audit", "config --npm-setting=audit=false list --json");
        check("install-scripts ls", "approve --pending");
        check("help ci", "ci --help");
        check("-v", "--version");
        check("isntall", "isntall");
    }

    #[test]
    fn the_version_is_printed_instead_of_running_the_command() {
        for line in ["install --version", "install -v", "i a --version --help", "run build --version", "-v ci"] {
            check(line, "--version");
        }
        check("install --version=false a", "install a");
        check("install --no-version a", "install a");
        check("exec tool --version", "exec tool --version");
        check("run build -- --version", "run build -- --version");
    }

    #[test]
    fn abbreviations_are_npms() {
        check("install -ws -iwr", "install --workspaces=true --include-workspace-root");
        check("run -s build", "run --npm-setting=loglevel=silent -s build");
        check("install --enjoy-by=2026-01-31", "install --before=2026-01-31");
        check("exec -y tool -y", "exec -y tool -y");
        check("exec --no tool", "exec --yes=false tool");
        check("ci -dd", "ci --npm-setting=loglevel=verbose");
        check("run -f build", "run --npm-setting=force=true build");
        check("install -f a", "install -f a");
    }

    #[test]
    fn what_is_not_the_command_lines_stays_as_it_is() {
        check("run build -- --no-audit", "run build -- --no-audit");
        check("exec tool --no-audit", "exec tool --no-audit");
        check("exec tool -- --help", "exec tool --help");
        check("exec -- tool -- --help", "exec -- tool -- --help");
        check("install --frobnicate", "install --frobnicate");
        check("publish --no-audit", "publish --no-audit");
    }
}
