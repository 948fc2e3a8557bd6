//! The rules that decide which files of a folder are packed: npm's own, those of package.json, and
//! those of the ignore files of each folder (`ignore-walk`, `npm-packlist`).

use std::sync::LazyLock;

use espalier_core::glob::{Manner, Pattern};

/// Files that aren't packed unless a package.json asks for them.
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

/// Files that are packed or left out in any case.
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

/// The rules of one folder, in the order of their application.
#[derive(Debug, Default)]
pub(super) struct Rules {
    usual: &'static [Pattern],
    files: Option<Vec<Pattern>>,
    npm_ignore: Option<Vec<Pattern>>,
    git_ignore: Option<Vec<Pattern>>,
    strict: Vec<Pattern>,
}

impl Rules {
    /// The rules of a folder inside a package.
    pub fn of_folder() -> Self {
        Self { usual: usual(), strict: patterns(&["/.git"]), ..Self::default() }
    }

    /// The rules of a package's own folder. `files` was looked up on disk; `required` are the rules
    /// for files that are always packed.
    pub fn of_package(files: Option<&[String]>, required: &[String]) -> Self {
        let mut strict = patterns(ALWAYS);
        strict.extend(patterns(required));
        let files = files.map(|files| {
            let everything = [pattern("*")];
            everything.into_iter().chain(patterns(files)).collect()
        });
        Self { usual: usual(), files, strict, ..Self::default() }
    }

    /// Drops the rules for files that are usually left out, because a bundled package is packed as
    /// it was installed.
    pub fn without_usual(self) -> Self {
        Self { usual: &[], ..self }
    }

    /// Adds the text of an `.npmignore`.
    pub fn npm_ignore(&mut self, text: &str) {
        self.npm_ignore = Some(of_text(text));
    }

    /// Adds the text of a `.gitignore`.
    pub fn git_ignore(&mut self, text: &str) {
        self.git_ignore = Some(of_text(text));
    }

    /// The rules that count. `files` precedes `.npmignore`, which precedes `.gitignore`; only the
    /// first of them counts.
    fn all(&self) -> impl Iterator<Item = &Pattern> {
        let chosen = self.files.as_ref().or(self.npm_ignore.as_ref()).or(self.git_ignore.as_ref());
        self.usual.iter().chain(chosen.into_iter().flatten()).chain(&self.strict)
    }
}

/// A folder on the way down from the package's folder.
#[derive(Debug)]
pub(super) struct Level<'a> {
    /// The folder that contains it, and its name there.
    pub above: Option<(&'a Level<'a>, &'a str)>,
    pub rules: Rules,
    /// Whether a rule includes the folder itself, and not only something in it.
    pub exact: bool,
}

impl Level<'_> {
    /// Whether an entry is packed. With `as_folder`, whether anything in it may be.
    pub fn admits(&self, entry: &str, as_folder: bool) -> bool {
        self.admits_below(entry, as_folder, None)
    }

    /// Whether an entry below is packed. `name` is its last component, if `entry` has several.
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

/// Parses the text of an ignore file.
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
