//! Globs as `minimatch` interprets them, for workspaces, ignore files and the `files` of a
//! package.json.
//!
//! Patterns come from other people's packages. So a match costs at most the length of the pattern
//! times that of the path: matching keeps the set of reachable positions and never backtracks. To
//! ignore case, the caller lowers both sides.

/// The maximum number of patterns that braces expand to.
const MOST_ALTERNATIVES: usize = 10_000;
/// The maximum depth of groups. Deeper brackets are ordinary characters.
const DEEPEST_GROUP: usize = 16;

/// A pattern. Braces can make several alternatives of it.
#[derive(Clone, Debug)]
pub struct Pattern {
    alternatives: Vec<Vec<Part>>,
    /// Whether it began with an odd number of `!`. It then includes what it matches again.
    pub negated: bool,
    manner: Manner,
}

/// How patterns are interpreted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Whether a pattern without a slash matches names at any depth.
    pub by_name: bool,
    /// Whether wildcards match names that begin with a dot.
    pub dot: bool,
    /// Whether a leading `!` and groups such as `@(a|b)` are ordinary characters.
    pub plain: bool,
}

/// The part between two slashes.
#[derive(Clone, Debug)]
enum Part {
    /// `**`: any number of folders.
    Folders,
    /// A literal name.
    Name(String),
    /// A part with wildcards.
    Magic(Vec<Token>),
}

#[derive(Clone, Debug)]
enum Token {
    One(char),
    Any,
    Run,
    Class { negated: bool, ranges: Vec<(char, char)> },
    Group { kind: char, alternatives: Vec<Vec<Token>> },
}

impl Pattern {
    /// Parses a pattern.
    pub fn new(text: &str, manner: Manner) -> Self {
        let bare = if manner.plain { text } else { text.trim_start_matches('!') };
        let negated = (text.len() - bare.len()) % 2 == 1;
        let alternatives = expand_braces(bare).iter().map(|pattern| parts(pattern, manner)).collect();
        Self { alternatives, negated, manner }
    }

    /// Whether a path matches. A trailing slash marks a folder.
    pub fn matches(&self, path: &str) -> bool {
        self.matches_as(path, false, self.manner)
    }

    /// The same, with wildcards that match hidden names.
    pub fn matches_hidden(&self, path: &str) -> bool {
        self.matches_as(path, false, Manner { dot: true, ..self.manner })
    }

    /// Whether this path or something below it could match.
    pub fn matches_above(&self, path: &str) -> bool {
        self.matches_as(path, true, self.manner)
    }

    /// Whether something below this path could match.
    pub fn matches_below(&self, path: &str) -> bool {
        let steps = split(path);
        let leads_on = |parts: &[Part], count: usize| {
            let (above, below) = parts.split_at(count);
            let is_left = matches!(above.last(), Some(Part::Folders))
                || below.first().is_some_and(|part| !matches!(part, Part::Name(name) if name.is_empty()));
            is_left && self.manner.match_parts(above, &steps, false)
        };
        self.alternatives.iter().any(|parts| (0..=parts.len()).any(|count| leads_on(parts, count)))
    }

    /// Whether it matches names at any depth.
    pub fn is_for_names(&self) -> bool {
        self.alternatives.iter().any(|parts| {
            let ends_with_slash = matches!(parts.last(), Some(Part::Name(name)) if name.is_empty());
            parts.len() <= if ends_with_slash { 2 } else { 1 }
        })
    }

    fn matches_as(&self, path: &str, above: bool, manner: Manner) -> bool {
        let steps = split(path);
        self.alternatives.iter().any(|parts| {
            if manner.by_name && parts.len() == 1 {
                let name = steps.iter().rev().find(|step| !step.is_empty());
                return manner.match_parts(parts, name.map_or(&[""][..], std::slice::from_ref), above);
            }
            manner.match_parts(parts, &steps, above)
        })
    }
}

/// The components of a path. Repeated slashes count as one.
fn split(path: &str) -> Vec<&str> {
    let all: Vec<&str> = path.split('/').collect();
    let last = all.len() - 1;
    let is_step = |&(index, step): &(usize, &str)| !step.is_empty() || index == 0 || index == last;
    all.into_iter().enumerate().filter(is_step).map(|(_, step)| step).collect()
}

fn parts(pattern: &str, manner: Manner) -> Vec<Part> {
    let mut steps: Vec<&str> = Vec::new();
    for step in split(pattern) {
        // `a/..` is removed.
        let goes_back = step == ".." && steps.last().is_some_and(|last| !matches!(*last, "" | "." | ".." | "**"));
        if goes_back {
            steps.pop();
        } else if step != "**" || steps.last() != Some(&"**") {
            steps.push(step);
        }
    }
    steps.into_iter().map(|step| part(step, manner)).collect()
}

fn part(text: &str, manner: Manner) -> Part {
    if text == "**" {
        return Part::Folders;
    }
    let characters: Vec<char> = text.chars().collect();
    let tokens = tokens(&characters, if manner.plain { DEEPEST_GROUP } else { 0 });
    let names = tokens.iter().map(|token| match token {
        Token::One(character) => Some(*character),
        _ => None,
    });
    names.collect::<Option<String>>().map_or(Part::Magic(tokens), Part::Name)
}

fn tokens(text: &[char], depth: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some((token, length)) = group(&text[at..], depth).or_else(|| class(&text[at..])) {
            tokens.push(token);
            at += length;
            continue;
        }
        match text[at] {
            '\\' if at + 1 < text.len() => {
                at += 1;
                tokens.push(Token::One(text[at]));
            }
            '*' if matches!(tokens.last(), Some(Token::Run)) => {}
            '*' => tokens.push(Token::Run),
            '?' => tokens.push(Token::Any),
            character => tokens.push(Token::One(character)),
        }
        at += 1;
    }
    tokens
}

/// Parses a group such as `@(a|b)`. Returns its length as well.
fn group(text: &[char], depth: usize) -> Option<(Token, usize)> {
    let kind = *text.first().filter(|kind| matches!(kind, '@' | '?' | '*' | '+' | '!'))?;
    if text.get(1) != Some(&'(') || depth == DEEPEST_GROUP {
        return None;
    }
    let (mut open, mut start, mut at) = (1, 2, 2);
    let mut alternatives = Vec::new();
    while at < text.len() {
        match text[at] {
            '\\' => at += 1,
            '(' => open += 1,
            '|' if open == 1 => {
                alternatives.push(tokens(&text[start..at], depth + 1));
                start = at + 1;
            }
            ')' if open == 1 => {
                alternatives.push(tokens(&text[start..at], depth + 1));
                return Some((Token::Group { kind, alternatives }, at + 1));
            }
            ')' => open -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Parses a class such as `[a-z]`. Returns its length as well.
fn class(text: &[char]) -> Option<(Token, usize)> {
    if text.first() != Some(&'[') {
        return None;
    }
    let negated = matches!(text.get(1), Some('!' | '^'));
    let mut at = 1 + usize::from(negated);
    let first = at;
    let mut ranges = Vec::new();
    while let Some(&character) = text.get(at) {
        if character == ']' && at > first {
            let token = match ranges[..] {
                [(from, to)] if from == to && !negated => Token::One(from),
                _ => Token::Class { negated, ranges },
            };
            return Some((token, at + 1));
        }
        if let Some((named, length)) = named_class(&text[at..]) {
            ranges.extend(named);
            at += length;
            continue;
        }
        let (from, next) = if character == '\\' { (*text.get(at + 1)?, at + 2) } else { (character, at + 1) };
        match (text.get(next), text.get(next + 1)) {
            (Some('-'), Some(&to)) if to != ']' => {
                ranges.push((from, to));
                at = next + 2;
            }
            _ => {
                ranges.push((from, from));
                at = next;
            }
        }
    }
    None
}

fn named_class(text: &[char]) -> Option<(Vec<(char, char)>, usize)> {
    let [_, ':', name @ ..] = text else { return None };
    let end = name.windows(2).position(|pair| pair == [':', ']'])?;
    let ranges: &[(char, char)] = match name[..end].iter().collect::<String>().as_str() {
        "alpha" => &[('a', 'z'), ('A', 'Z')],
        "alnum" => &[('a', 'z'), ('A', 'Z'), ('0', '9')],
        "digit" => &[('0', '9')],
        "lower" => &[('a', 'z')],
        "upper" => &[('A', 'Z')],
        "space" => &[(' ', ' '), ('\t', '\r')],
        "word" => &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        "xdigit" => &[('a', 'f'), ('A', 'F'), ('0', '9')],
        _ => return None,
    };
    Some((ranges.to_vec(), end + 4))
}

impl Manner {
    /// Whether the parts match all components. With `above`, whether they could match if more
    /// components followed.
    fn match_parts(self, parts: &[Part], steps: &[&str], above: bool) -> bool {
        let end = steps.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        for part in parts {
            if above && reached[end] {
                return true;
            }
            let mut next = vec![false; end + 1];
            // A `**` at the end matches everything that is left, but at least one component.
            let mut inside = false;
            for at in 0..end {
                if matches!(part, Part::Folders) {
                    inside |= reached[at];
                    next[at] |= inside;
                    inside &= !matches!(steps[at], "." | "..") && !self.hides(steps[at]);
                    next[at + 1] = inside;
                } else if reached[at] {
                    next[at + 1] = self.match_part(part, steps[at]);
                }
            }
            reached = next;
        }
        reached[end] || end > 0 && steps[end - 1].is_empty() && reached[end - 1]
    }

    fn match_part(self, part: &Part, step: &str) -> bool {
        match part {
            Part::Folders => true,
            Part::Name(name) => name == step,
            Part::Magic(tokens) => {
                let hidden = self.hides(step);
                let text: Vec<char> = step.chars().collect();
                let mut start = vec![false; text.len() + 1];
                start[0] = true;
                !matches!(step, "" | "." | "..") && run(tokens, &text, hidden, start)[text.len()]
            }
        }
    }

    /// Whether the first character of a name needs a literal dot in the pattern.
    fn hides(self, name: &str) -> bool {
        !self.dot && name.starts_with('.')
    }
}

/// The positions in a text that the tokens lead to from these positions. At the start of a `hidden`
/// text, only a literal dot matches.
fn run(tokens: &[Token], text: &[char], hidden: bool, mut reached: Vec<bool>) -> Vec<bool> {
    for token in tokens {
        let may_begin_with_dot = match token {
            Token::One(_) => true,
            Token::Group { kind, .. } => *kind != '!',
            Token::Any | Token::Run | Token::Class { .. } => false,
        };
        reached[0] &= !hidden || may_begin_with_dot;
        reached = step(token, text, hidden, &reached);
    }
    reached
}

fn step(token: &Token, text: &[char], hidden: bool, reached: &[bool]) -> Vec<bool> {
    let mut next = vec![false; reached.len()];
    let mut shift = |fits: &dyn Fn(char) -> bool| {
        for (at, &character) in text.iter().enumerate() {
            next[at + 1] = reached[at] && fits(character);
        }
    };
    match token {
        Token::One(wanted) => shift(&|character| character == *wanted),
        Token::Any => shift(&|_| true),
        Token::Class { negated, ranges } => shift(&|character| {
            let covers = |character: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&character));
            covers(character) != *negated
        }),
        Token::Run => {
            let mut any = false;
            for (at, reached) in reached.iter().enumerate() {
                any |= reached;
                next[at] = any;
            }
        }
        Token::Group { kind: '!', alternatives } => {
            for start in (0..reached.len()).filter(|&at| reached[at]) {
                let mut from = vec![false; reached.len()];
                from[start] = true;
                let excluded = any_of(alternatives, text, hidden, &from);
                for at in start..reached.len() {
                    next[at] |= !excluded[at];
                }
            }
        }
        Token::Group { kind, alternatives } => {
            let mut all = any_of(alternatives, text, hidden, reached);
            if matches!(kind, '*' | '+') {
                let again = |all: &[bool]| union(all, &any_of(alternatives, text, hidden, all));
                let mut more = again(&all);
                while more != all {
                    all = more;
                    more = again(&all);
                }
            }
            return if matches!(kind, '*' | '?') { union(&all, reached) } else { all };
        }
    }
    next
}

fn any_of(alternatives: &[Vec<Token>], text: &[char], hidden: bool, from: &[bool]) -> Vec<bool> {
    let nothing = vec![false; from.len()];
    alternatives.iter().fold(nothing, |all, tokens| union(&all, &run(tokens, text, hidden, from.to_vec())))
}

fn union(one: &[bool], other: &[bool]) -> Vec<bool> {
    one.iter().zip(other).map(|(one, other)| *one || *other).collect()
}

/// Expands braces: `{a,b}` and `{1..3}`.
fn expand_braces(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![(String::new(), pattern.to_owned())];
    while let Some((before, rest)) = open.pop() {
        match first_braces(&rest) {
            Some((start, end, choices)) if done.len() + open.len() + choices.len() < MOST_ALTERNATIVES => {
                let before = format!("{before}{}", &rest[..start]);
                // An alternative can contain braces, so it is expanded again.
                let all = choices.into_iter().map(|choice| (before.clone(), format!("{choice}{}", &rest[end..])));
                open.extend(all.rev().collect::<Vec<_>>());
            }
            _ => done.push(before + &rest),
        }
    }
    done
}

/// The first braces that can be expanded: their beginning, end and alternatives.
fn first_braces(text: &str) -> Option<(usize, usize, Vec<String>)> {
    let bytes = text.as_bytes();
    for start in (0..bytes.len()).filter(|&at| bytes[at] == b'{' && (at == 0 || bytes[at - 1] != b'\\')) {
        let (mut depth, mut from, mut choices) = (0, start + 1, Vec::new());
        for (at, byte) in bytes.iter().enumerate().skip(start) {
            match byte {
                b'{' => depth += 1,
                b',' if depth == 1 => {
                    choices.push(text[from..at].to_owned());
                    from = at + 1;
                }
                b'}' if depth == 1 => {
                    let last = &text[from..at];
                    let sequence = choices.is_empty().then(|| sequence(last)).flatten();
                    if let Some(sequence) = sequence {
                        return Some((start, at + 1, sequence));
                    }
                    if choices.is_empty() {
                        break;
                    }
                    choices.push(last.to_owned());
                    return Some((start, at + 1, choices));
                }
                b'}' => depth -= 1,
                _ => {}
            }
        }
    }
    None
}

fn sequence(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once("..")?;
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let numbers = from.min(to)..=from.max(to);
        let count = numbers.end().abs_diff(*numbers.start());
        return (count < MOST_ALTERNATIVES as u64).then(|| numbers.map(|number| number.to_string()).collect());
    }
    let single = |text: &str| text.parse::<char>().ok().filter(char::is_ascii_alphabetic);
    let (from, to) = (single(from)?, single(to)?);
    Some((from.min(to)..=from.max(to)).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::{Manner, Pattern};

    const IGNORE_FILE: Manner = Manner { by_name: true, dot: true, plain: false };

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
        assert_eq!(Pattern::new(&pattern, IGNORE_FILE).matches(&path), expected, "{pattern} {path}");
    }

    /// The expected answers are those of `minimatch` with the options of `ignore-walk`.
    #[test]
    fn patterns_match_as_minimatch_says() {
        for (pattern, path, expected) in [
            ("a/**", "a", false),
            ("a/**", "a/", true),
            ("a/**/b", "a/b", true),
            ("**", "a", true),
            ("a/*", "a/", false),
            ("*", "/a", true),
            ("/x*", "/X/", true),
            ("./a", "a", false),
            ("/./a", "/a", false),
            ("/lib/../a", "/a", true),
            ("a/**/", "a/b/", true),
            ("a/**/", "a/", true),
            ("**/.git/**", ".git", false),
            ("**/.git/**", ".git/", true),
            ("**/.git/**", "/.git/", true),
            ("a{1..3}", "a2", true),
            ("[[:alpha:]]", "x", true),
            ("[a-", "[a-", true),
            ("a//b", "a/b", true),
            ("+(a|b)c", "abac", true),
            ("@(a", "@(a", true),
            ("foo/", "foo", false),
            ("foo/", "foo/", true),
            ("foo/", "x/foo/", false),
            ("/a/**/b/**", "/a/b/c", true),
            ("{a}", "{a}", true),
            ("{a,b", "{a,b", true),
            ("[!a]", "b", true),
            ("\\*", "*", true),
            ("*(a", "*(a", true),
            ("!(a|b)", "c", false),
            ("/readme{,.*[^~$]}", "/README.md", true),
            ("/readme{,.*[^~$]}", "/README", true),
            ("/readme{,.*[^~$]}", "/readme.md~", false),
            (".*.swp", "x/.a.swp", true),
            ("a!(b)c", "axc", true),
            ("a!(b)c", "abc", false),
        ] {
            check(pattern, path, expected);
        }
    }

    /// The expected answers are those of `minimatch` without options.
    #[test]
    fn wildcards_pass_over_hidden_names() {
        for (pattern, path, expected) in [
            ("*", ".a", false),
            ("*", "a", true),
            (".*", ".a", true),
            ("?a", ".a", false),
            ("[.]a", ".a", true),
            ("**", ".a/b", false),
            ("**/b", ".a/b", false),
            (".a/**", ".a/b", true),
            (".a/**", ".a/.b", false),
            ("packages/*", "packages/.x", false),
            ("packages/**", "packages/a/.x", false),
            ("packages/@(a|.b)", "packages/.b", true),
            ("!(a)", "b", true),
            ("packages/!(a)", "packages/b", true),
            ("packages/!(a)", "packages/.b", false),
            ("packages/!(a|b)", "packages/ab", true),
            ("packages/+(a|b)", "packages/ab", true),
            ("+(.a|*)", ".b", false),
            ("*(a).b", ".b", true),
            ("*.b", ".b", false),
            ("?(a).b", ".b", true),
            ("{packages,apps}/*", "apps/x", true),
            ("packages/[a-c]*", "packages/bx", true),
            ("packages/@(core|cli)-*", "packages/cli-x", true),
            ("packages/*/", "packages/a", false),
            ("packages/*", "packages/a/", true),
            ("packages/**", "packages", false),
            ("packages/**", "packages/a/b", true),
            ("**/x", "x", true),
            ("*/../x", "x", true),
            ("a/./b", "a/b", false),
            ("./a", "a", false),
            ("packages/!(*-test)", "packages/a-test", false),
            ("packages/!(*-test)", "packages/a", true),
            ("@(a|*)", ".b", false),
            ("!(a)b", ".b", true),
            ("x/!(a)b", "x/.b", false),
            ("x/!(a).b", "x/c.b", true),
            ("x/@(!(a))", "x/.b", false),
        ] {
            let glob = Pattern::new(pattern, Manner::default());
            assert_eq!(glob.matches(path) != glob.negated, expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_plain_pattern_has_neither_negation_nor_groups() {
        let plain = |pattern: &str, path: &str| {
            Pattern::new(pattern, Manner { plain: true, ..Manner::default() }).matches(path)
        };
        assert!(plain("@acme/*", "@acme/ui") && plain("@(a|b)", "@(a|b)") && plain("!a", "!a"));
        assert!(!plain("!a", "b") && !plain("!a", "a") && !plain("@(a|b)", "a"));
    }

    #[test]
    fn a_folder_may_hold_what_matches() {
        let pattern = Pattern::new("!/a/**/b", IGNORE_FILE);
        assert!(pattern.negated && pattern.matches_above("/a") && !pattern.matches_above("/c"));
        assert!(Pattern::new("x", IGNORE_FILE).is_for_names() && Pattern::new("x/", IGNORE_FILE).is_for_names());
        assert!(!Pattern::new("/x", IGNORE_FILE).is_for_names());
    }

    #[test]
    fn no_pattern_takes_long() {
        let nasty = format!("{}b", "*(a|*(a|aa))*".repeat(40));
        check(&nasty, &"a".repeat(400), false);
        check(&"{a,b}".repeat(60), "x", false);
    }
}
