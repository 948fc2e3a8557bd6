//! Compares two locks and describes the difference in a few lines.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// npm's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expected {
    /// A lock, with paths in place of the registry's origin in `resolved`.
    Lockfile(String),
    /// An error.
    Failure {
        /// npm's code. `None` if npm crashed; Espalier then has to fail, too, but may give a
        /// reason.
        code: Option<String>,
        /// In npm's words.
        message: String,
    },
    /// It took npm too long.
    Unanswered,
}

/// The codes of npm's network failures, apart from those that begin with `ERR_SOCKET_`.
const NETWORK_FAILURES: [&str; 11] = [
    "EAI_AGAIN",
    "ECONNABORTED",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "EIDLETIMEOUT",
    "ENETUNREACH",
    "ENOTFOUND",
    "EPIPE",
    "ERESPONSETIMEOUT",
    "ETIMEDOUT",
];

impl Expected {
    /// Whether npm could not reach the registry. Such a failure depends on the network, not on the
    /// project.
    pub fn is_network_failure(&self) -> bool {
        let Self::Failure { code: Some(code), .. } = self else { return false };
        code.starts_with("ERR_SOCKET_") || NETWORK_FAILURES.contains(&code.as_str())
    }
}

/// Espalier's result.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A lock.
    Lockfile(String),
    /// An error's code and message.
    Failure {
        /// npm's code.
        code: String,
        /// The message of the error.
        message: String,
    },
    /// A bug: the resolver panicked or didn't progress.
    Broken(String),
}

/// The outcome of a comparison.
#[derive(Debug)]
pub enum Verdict {
    /// The same bytes, or the same error.
    Identical(String),
    /// There is nothing to compare, because npm took too long or crashed.
    Unanswered,
    /// Two locks that differ.
    Differs(Difference),
    /// Only one of them wrote a lock, or their errors differ.
    Otherwise {
        /// npm's result.
        npm: String,
        /// Espalier's result.
        espalier: String,
    },
}

/// How two locks differ.
#[derive(Debug)]
pub struct Difference {
    /// The first line that differs, counted from 1.
    line: usize,
    /// The lines before it, from the last key of `packages` on.
    context: Vec<String>,
    npm: String,
    espalier: String,
    /// Keys of `packages` that only npm has.
    missing: Vec<String>,
    /// Keys that only Espalier has.
    added: Vec<String>,
    /// Keys with different values.
    changed: Vec<String>,
}

impl Verdict {
    /// The kind of the difference, as a text that similar differences share. `None` if there is
    /// none.
    pub fn kind(&self) -> Option<String> {
        let code = |outcome: &str| outcome.split(':').next().unwrap_or_default().to_owned();
        match self {
            Self::Identical(_) | Self::Unanswered => None,
            Self::Differs(_) => Some("two locks".into()),
            Self::Otherwise { npm, espalier } => Some(format!("{} and {}", code(npm), code(espalier))),
        }
    }

    /// Whether nothing differs.
    pub fn is_identical(&self) -> bool {
        matches!(self, Self::Identical(_))
    }

    /// Whether something differs.
    pub fn differs(&self) -> bool {
        matches!(self, Self::Differs(_) | Self::Otherwise { .. })
    }
}

/// Compares an answer with npm's.
pub fn verdict(npm: &Expected, espalier: &Answer) -> Verdict {
    match (npm, espalier) {
        (Expected::Unanswered, _) => Verdict::Unanswered,
        // npm crashed, and Espalier needn't.
        (Expected::Failure { code: None, message }, Answer::Lockfile(_)) if message.starts_with("TypeError") => {
            Verdict::Unanswered
        }
        (Expected::Lockfile(npm), Answer::Lockfile(espalier)) if npm == espalier => {
            Verdict::Identical(format!("identical, {} entries", packages(npm).len()))
        }
        (Expected::Lockfile(npm), Answer::Lockfile(espalier)) => Verdict::Differs(difference(npm, espalier)),
        (Expected::Failure { code: npm, .. }, Answer::Failure { code, .. })
            if npm.as_ref().is_none_or(|npm| npm == code) =>
        {
            Verdict::Identical(format!("identical, {code}"))
        }
        (npm, espalier) => {
            let npm = match npm {
                Expected::Lockfile(_) => "a lock".into(),
                Expected::Unanswered => "no answer".into(),
                Expected::Failure { code, message } => format!("{}: {message}", code.as_deref().unwrap_or("no code")),
            };
            let espalier = match espalier {
                Answer::Lockfile(_) => "a lock".into(),
                Answer::Failure { code, message } => format!("{code}: {message}"),
                Answer::Broken(reason) => reason.clone(),
            };
            Verdict::Otherwise { npm, espalier }
        }
    }
}

fn difference(npm: &str, espalier: &str) -> Difference {
    let (theirs, ours): (Vec<_>, Vec<_>) = (npm.split('\n').collect(), espalier.split('\n').collect());
    let line = theirs.iter().zip(&ours).take_while(|(theirs, ours)| theirs == ours).count();
    let entry = theirs[..line.min(theirs.len())].iter().rposition(|line| line.starts_with("    \"")).unwrap_or(0);
    let context = theirs[entry.max(line.saturating_sub(8))..line].iter();
    let context = std::iter::once(&theirs[entry]).filter(|_| entry + 8 < line).chain(context);
    let at = |lines: &[&str]| lines.get(line).map_or("(end of file)", |line| line).to_owned();
    let (npm, espalier) = (packages(npm), packages(espalier));
    let keys = |one: &Map<String, Value>, wanted: &dyn Fn(&str, &Value) -> bool| {
        one.iter().filter(|(key, value)| wanted(key, value)).map(|(key, _)| key.clone()).collect()
    };
    Difference {
        line: line + 1,
        context: context.map(|line| (*line).to_owned()).collect(),
        npm: at(&theirs),
        espalier: at(&ours),
        missing: keys(&npm, &|key, _| !espalier.contains_key(key)),
        added: keys(&espalier, &|key, _| !npm.contains_key(key)),
        changed: keys(&npm, &|key, value| espalier.get(key).is_some_and(|other| other != value)),
    }
}

fn packages(lockfile: &str) -> Map<String, Value> {
    match serde_json::from_str::<Value>(lockfile)
        .ok()
        .and_then(|mut lockfile| lockfile.get_mut("packages").map(Value::take))
    {
        Some(Value::Object(packages)) => packages,
        _ => Map::new(),
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identical(what) => formatter.write_str(what),
            Self::Unanswered => formatter.write_str("npm has no answer"),
            Self::Differs(difference) => difference.fmt(formatter),
            Self::Otherwise { npm, espalier } => {
                write!(formatter, "differs\n  npm:      {npm}\n  espalier: {espalier}")
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, context, npm, espalier, missing, added, changed } = self;
        let counts = [missing, added, changed].map(Vec::len);
        writeln!(formatter, "differs: {} missing, {} added, {} different", counts[0], counts[1], counts[2])?;
        writeln!(formatter, "  first at line {line}:")?;
        for line in context {
            writeln!(formatter, "      {line}")?;
        }
        writeln!(formatter, "    - {npm}\n    + {espalier}")?;
        for (what, keys) in [("missing", missing), ("added", added), ("different", changed)] {
            if !keys.is_empty() {
                let more = if keys.len() > SHOWN { ", …" } else { "" };
                writeln!(formatter, "  {what}: {}{more}", keys[..keys.len().min(SHOWN)].join(", "))?;
            }
        }
        Ok(())
    }
}

/// The maximum number of listed keys.
const SHOWN: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn lockfile(packages: &str) -> String {
        format!("{{\n  \"packages\": {{\n{packages}\n  }}\n}}\n")
    }

    #[test]
    fn equal_locks_and_equal_errors_are_identical() {
        let text = lockfile("    \"\": {}");
        assert!(verdict(&Expected::Lockfile(text.clone()), &Answer::Lockfile(text)).is_identical());
        let failure = Answer::Failure { code: "ERESOLVE".into(), message: String::new() };
        let npm = |code: Option<&str>| Expected::Failure { code: code.map(str::to_owned), message: String::new() };
        assert!(verdict(&npm(Some("ERESOLVE")), &failure).is_identical());
        assert!(!verdict(&npm(Some("ETARGET")), &failure).is_identical());
        assert!(verdict(&npm(None), &failure).is_identical(), "any failure will do where npm has no word for it");
        assert!(!verdict(&npm(None), &Answer::Lockfile(String::new())).is_identical());
    }

    #[test]
    fn a_difference_names_the_line_its_entry_and_the_keys() {
        let npm = lockfile("    \"node_modules/a\": {\n      \"version\": \"1\"\n    },\n    \"node_modules/b\": {}");
        let espalier =
            lockfile("    \"node_modules/a\": {\n      \"version\": \"2\"\n    },\n    \"node_modules/c\": {}");
        let Verdict::Differs(difference) = verdict(&Expected::Lockfile(npm), &Answer::Lockfile(espalier)) else {
            panic!("they differ");
        };
        assert_eq!(difference.line, 4);
        assert_eq!(difference.context, ["    \"node_modules/a\": {"]);
        assert_eq!((&*difference.npm, &*difference.espalier), ("      \"version\": \"1\"", "      \"version\": \"2\""));
        assert_eq!(difference.missing, ["node_modules/b"]);
        assert_eq!(difference.added, ["node_modules/c"]);
        assert_eq!(difference.changed, ["node_modules/a"]);
    }

    #[test]
    fn differences_beyond_the_parsed_content_are_found() {
        let text = lockfile("    \"\": {}");
        let shorter = text.trim_end().to_owned();
        assert!(!verdict(&Expected::Lockfile(text), &Answer::Lockfile(shorter)).is_identical());
    }
}
