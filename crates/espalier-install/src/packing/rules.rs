//! Which files of a folder are packed: rules from npm, from package.json and from ignore files, each level of folders
//! with its own (`ignore-walk`, `npm-packlist`).

use std::sync::LazyLock;

use espalier_core::glob::{Manner, Pattern};

/// What is never packed, unless a package.json asks for it.
const USUALLY_LEFT_OUT: &[&str] = &[
    ".npmignore",
    ".gitignore",
    "**/.git",
    "**/.svn",
    "**/.hg",
    "**/CVS",
    "**/.git/**",
    "**/.svn/**",
    "**/.hg/**",
    "**/CVS/**",
    "/.lock-wscript",
    "/.wafpickle-*",
    "/build/config.gypi",
    "npm-debug.log",
    "**/.npmrc",
    ".*.swp",
    ".DS_Store",
    "**/.DS_Store/**",
    "._*",
    "**/._*/**",
    "*.orig",
    "/archived-packages/**",
];

/// What is packed or left out whatever anyone says.
const ALWAYS: &[&str] = &[
    "/.git",
    "!/package.json",
    "!/readme{,.*[^~$]}",
    "!/copying{,.*[^~$]}",
    "!/license{,.*[^~$]}",
    "!/licence{,.*[^~$]}",
    "/.git",
    "/node_modules",
    ".npmrc",
    "/package-lock.json",
    "/npm-shrinkwrap.json",
    "/yarn.lock",
    "/pnpm-lock.yaml",
    "/bun.lockb",
    "/bun.lock",
    "/.npm-extension.mjs",
    "/.npm-extension.cjs",
];

/// The rules of one folder, in the order in which they are applied.
#[derive(Debug, Default)]
pub(super) struct Rules {
    usual: &'static [Pattern],
    files: Option<Vec<Pattern>>,
    npm_ignore: Option<Vec<Pattern>>,
    git_ignore: Option<Vec<Pattern>>,
    strict: Vec<Pattern>,
}

impl Rules {
    /// Of any folder inside a package.
    pub fn of_folder() -> Self {
        Self { usual: usual(), strict: patterns(&["/.git"]), ..Self::default() }
    }

    /// Of a package's own folder: with its `files`, which were looked up on disk, and with what has to come along.
    pub fn of_package(files: Option<&[String]>, required: &[String]) -> Self {
        let mut strict = patterns(ALWAYS);
        strict.extend(patterns(required));
        let files = files.map(|files| {
            let everything = [pattern("*")];
            everything.into_iter().chain(patterns(files)).collect()
        });
        Self { usual: usual(), files, strict, ..Self::default() }
    }

    /// Without what is usually left out: a bundled package is packed as it was installed.
    pub fn without_usual(self) -> Self {
        Self { usual: &[], ..self }
    }

    /// The text of an `.npmignore`.
    pub fn npm_ignore(&mut self, text: &str) {
        self.npm_ignore = Some(of_text(text));
    }

    /// The text of a `.gitignore`.
    pub fn git_ignore(&mut self, text: &str) {
        self.git_ignore = Some(of_text(text));
    }

    /// `files` goes before `.npmignore`, and that before `.gitignore`; the others then don't count.
    fn all(&self) -> impl Iterator<Item = &Pattern> {
        let chosen = self.files.as_ref().or(self.npm_ignore.as_ref()).or(self.git_ignore.as_ref());
        self.usual.iter().chain(chosen.into_iter().flatten()).chain(&self.strict)
    }
}

/// A folder on the way down from the package's.
#[derive(Debug)]
pub(super) struct Level<'a> {
    /// The folder that it is in, and its name there.
    pub above: Option<(&'a Level<'a>, &'a str)>,
    pub rules: Rules,
    /// Whether it was taken in by itself, and not only because of what may be in it.
    pub exact: bool,
}

impl Level<'_> {
    /// Whether an entry is packed; with `as_folder`, whether anything in it may be.
    pub fn admits(&self, entry: &str, as_folder: bool) -> bool {
        self.admits_below(entry, as_folder, None)
    }

    /// `name` is that of the entry, where `entry` is more than a name.
    fn admits_below(&self, entry: &str, as_folder: bool, name: Option<&str>) -> bool {
        let mut included = true;
        if let Some((above, folder)) = self.above {
            included = above.admits_below(&format!("{folder}/{entry}"), as_folder, Some(name.unwrap_or(entry)));
            if !included && !self.exact {
                return false;
            }
        }
        // npm ignores case here.
        let (rooted, name) = (format!("/{entry}").to_lowercase(), name.map(str::to_lowercase));
        for rule in self.rules.all() {
            if rule.negated != included && applies(rule, &rooted, as_folder, name.as_deref()) {
                included = rule.negated;
            }
        }
        included
    }
}

fn applies(rule: &Pattern, rooted: &str, as_folder: bool, name: Option<&str>) -> bool {
    let either = |path: &str| rule.matches(path) || rule.matches(&path[1..]);
    let partly = |path: &str| rule.negated && (rule.matches_above(path) || rule.matches_above(&path[1..]));
    if either(rooted) {
        return true;
    }
    if !as_folder {
        return false;
    }
    let by_name = || {
        let name = name.filter(|_| rule.is_for_names()).map(|name| format!("/{name}"));
        name.is_some_and(|name| either(&format!("{name}/")) || partly(&name))
    };
    either(&format!("{rooted}/")) || partly(rooted) || by_name()
}

fn usual() -> &'static [Pattern] {
    static USUAL: LazyLock<Vec<Pattern>> = LazyLock::new(|| patterns(USUALLY_LEFT_OUT));
    &USUAL
}

/// The patterns in the text of an ignore file.
fn of_text(text: &str) -> Vec<Pattern> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(pattern).collect()
}

fn patterns<S: AsRef<str>>(texts: &[S]) -> Vec<Pattern> {
    texts.iter().map(|text| pattern(text.as_ref())).collect()
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(&text.to_lowercase(), Manner { by_name: true, dot: true, plain: false })
}
