//! Decides which requests get a fault.
//!
//! The choice depends on the seed, the requested path, and the number of earlier requests for it,
//! not on the order of requests for different paths. So a run can be repeated. [`crate::spoil`]
//! implements the faults.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::route::Route;

/// The help of `--fault`.
pub const HELP: &str = "\
Let requests fail: KIND[,OPTION=VALUE]..., for instance 429,rate=0.2,retry-after=1 or truncate,of=tarballs,times=1.
May be repeated; the first that applies to a request is taken.

Kinds:
  400 to 599      that status, and nothing of use in the body
  reset           the connection (over h2: the stream) is cut without an answer
  stall           no answer, ever
  stall-body      half of the body, then nothing more
  truncate        half of the body, then the connection is cut
  unended         the whole body in chunks, then the connection is cut in place of the last one
  short-length    Content-Length names half of the body, and no more is sent
  corrupt         the right length, with one bit in the middle turned over
  wrong-hash      documents whose `dist.integrity` and `dist.shasum` are those of something else
  redirect        302 to the same path of another origin (localhost for 127.0.0.1, and back)

Options:
  rate=SHARE      of the requests, chosen by --fault-seed; default 1
  times=COUNT     only the first so many requests for the same path; default all
  of=WHAT         documents, abbreviated (documents asked for in that form), tarballs, or all; default all
  name=PACKAGE    only what belongs to this package
  retry-after=S   with a status: seconds, as Retry-After";

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An error status, with `Retry-After` in seconds if it is given.
    Status(u16, Option<u32>),
    /// No answer. The connection is cut.
    Reset,
    /// No answer. The connection stays open.
    Stall,
    /// Half of the body. The connection stays open.
    StallBody,
    /// Half of the body. The connection is cut.
    Truncate,
    /// The whole body without its length and its end. The connection is cut.
    Unended,
    /// Half of the body, with its length.
    ShortLength,
    /// A body with one inverted bit.
    Corrupt,
    /// A document with wrong hashes.
    WrongHash,
    /// A redirect to another name of this server.
    Redirect,
}

/// The requests that a fault applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultScope {
    /// All requests.
    All,
    /// Requests for packuments and version documents.
    Documents,
    /// Requests for abbreviated packuments.
    Abbreviated,
    /// Requests for tarballs.
    Tarballs,
}

/// A rule: a kind of fault, and the requests that it applies to. It is parsed from the text of
/// `--fault`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The kind of request.
    pub scope: FaultScope,
    /// The package, if it applies to one.
    pub name: Option<String>,
    /// The share of these requests that fail, from 0 to 1.
    pub rate: f64,
    /// The maximum number of failures of a path.
    pub times: Option<u64>,
}

/// An invalid fault.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FaultError(String);

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut parts = text.split(',');
        let kind = parts.next().unwrap_or_default();
        let mut fault = Self { kind: kind_of(kind)?, scope: FaultScope::All, name: None, rate: 1.0, times: None };
        for part in parts {
            let (option, value) = part.split_once('=').unwrap_or((part, ""));
            let wrong = || FaultError(format!("`{value}` is no value for `{option}` of a fault"));
            match option {
                "rate" => {
                    fault.rate = value.parse().ok().filter(|rate| (0.0..=1.0).contains(rate)).ok_or_else(wrong)?;
                }
                "times" => fault.times = Some(value.parse().map_err(|_| wrong())?),
                "name" if !value.is_empty() => fault.name = Some(value.to_owned()),
                "of" => fault.scope = scope_of(value).ok_or_else(wrong)?,
                "retry-after" => match &mut fault.kind {
                    FaultKind::Status(_, after) => *after = Some(value.parse().map_err(|_| wrong())?),
                    _ => return Err(FaultError("only a status has `retry-after`".into())),
                },
                _ => return Err(FaultError(format!("a fault has no option `{option}`"))),
            }
        }
        Ok(fault)
    }
}

fn kind_of(text: &str) -> Result<FaultKind, FaultError> {
    Ok(match text {
        "reset" => FaultKind::Reset,
        "stall" => FaultKind::Stall,
        "stall-body" => FaultKind::StallBody,
        "truncate" => FaultKind::Truncate,
        "unended" => FaultKind::Unended,
        "short-length" => FaultKind::ShortLength,
        "corrupt" => FaultKind::Corrupt,
        "wrong-hash" => FaultKind::WrongHash,
        "redirect" => FaultKind::Redirect,
        _ => match text.parse() {
            Ok(status @ 400..=599) => FaultKind::Status(status, None),
            _ => return Err(FaultError(format!("`{text}` is no kind of fault"))),
        },
    })
}

fn scope_of(text: &str) -> Option<FaultScope> {
    Some(match text {
        "all" => FaultScope::All,
        "documents" => FaultScope::Documents,
        "abbreviated" => FaultScope::Abbreviated,
        "tarballs" => FaultScope::Tarballs,
        _ => return None,
    })
}

/// The rules of a server, and the requests so far.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Vec<Fault>,
    seed: u64,
    /// The number of requests by path.
    asked: Mutex<HashMap<String, u64>>,
}

impl Faults {
    pub fn new(rules: Vec<Fault>, seed: u64) -> Self {
        Self { rules, seed, asked: Mutex::default() }
    }

    /// The fault of this request. Counts the request.
    pub fn strike(&self, path: &str, route: &Route, abbreviated: bool) -> Option<FaultKind> {
        if self.rules.is_empty() {
            return None;
        }
        let before = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let count = asked.entry(path.to_owned()).or_default();
            *count += 1;
            *count - 1
        };
        let struck = |(index, rule): &(usize, &Fault)| {
            rule.concerns(route, abbreviated)
                && rule.times.is_none_or(|times| before < times)
                && self.chance(*index, path, before) < rule.rate
        };
        self.rules.iter().enumerate().find(struck).map(|(_, rule)| rule.kind)
    }

    /// A number from 0 to below 1, which depends on the arguments only.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    fn chance(&self, rule: usize, path: &str, before: u64) -> f64 {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = write!(text, "{} {rule} {before} {path}", self.seed);
        let digest = Sha256::digest(text);
        let bits = digest[..8].iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Fault {
    fn concerns(&self, route: &Route, abbreviated: bool) -> bool {
        let (name, scope) = match route {
            Route::Packument { name } => (
                name,
                matches!(self.scope, FaultScope::Documents) || self.scope == FaultScope::Abbreviated && abbreviated,
            ),
            Route::Version { name, .. } => (name, self.scope == FaultScope::Documents),
            Route::Tarball { name, .. } => (name, self.scope == FaultScope::Tarballs),
            Route::Ping | Route::Statistics | Route::Unknown => return false,
        };
        (scope || self.scope == FaultScope::All) && self.name.as_ref().is_none_or(|wanted| wanted == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struck(rules: &[&str], seed: u64, requests: &[&str]) -> Vec<Option<FaultKind>> {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let faults = Faults::new(rules, seed);
        requests.iter().map(|path| faults.strike(path, &Route::of(path), true)).collect()
    }

    #[test]
    fn every_kind_and_option_is_read() {
        let fault: Fault = "429,rate=0.25,times=2,of=tarballs,name=@s/a,retry-after=3".parse().unwrap();
        assert_eq!(fault.kind, FaultKind::Status(429, Some(3)));
        assert_eq!((fault.scope, fault.name.as_deref()), (FaultScope::Tarballs, Some("@s/a")));
        assert_eq!((fault.rate, fault.times), (0.25, Some(2)));
        for kind in
            ["reset", "stall", "stall-body", "truncate", "unended", "short-length", "corrupt", "wrong-hash", "redirect"]
        {
            assert!(HELP.contains(&format!("\n  {kind} ")), "{kind} isn't in the help");
            kind.parse::<Fault>().unwrap();
        }
    }

    #[test]
    fn what_is_no_fault_is_named() {
        for (text, problem) in [
            ("", "`` is no kind of fault"),
            ("200", "`200` is no kind of fault"),
            ("reset,rate=2", "`2` is no value for `rate` of a fault"),
            ("reset,of=everything", "`everything` is no value for `of` of a fault"),
            ("reset,often", "a fault has no option `often`"),
            ("reset,retry-after=1", "only a status has `retry-after`"),
        ] {
            assert_eq!(text.parse::<Fault>().unwrap_err().to_string(), problem);
        }
    }

    #[test]
    fn a_rule_concerns_what_it_says() {
        let requests = ["/a", "/a/1.0.0", "/a/-/a-1.0.0.tgz", "/@s%2fb", "/-/ping", "/-/stats"];
        let count = |rule| struck(&[rule], 0, &requests).iter().flatten().count();
        assert_eq!(count("reset"), 4);
        assert_eq!(count("reset,of=documents"), 3);
        assert_eq!(count("reset,of=abbreviated"), 2);
        assert_eq!(count("reset,of=tarballs"), 1);
        assert_eq!(count("reset,name=@s/b"), 1);
    }

    #[test]
    fn the_first_requests_for_a_path_fail_and_the_first_rule_counts() {
        let (reset, stall) = (Some(FaultKind::Reset), Some(FaultKind::Stall));
        let answers = struck(&["reset,times=1,of=documents", "stall,times=2"], 0, &["/a", "/b", "/a", "/a", "/b"]);
        assert_eq!(answers, [reset, reset, stall, None, stall]);
    }

    #[test]
    fn chance_depends_on_the_seed_and_not_on_the_order() {
        let paths: Vec<String> = (0..200).map(|index| format!("/package-{index}")).collect();
        let forth: Vec<&str> = paths.iter().map(String::as_str).collect();
        let back: Vec<&str> = forth.iter().rev().copied().collect();
        let (first, mut again) = (struck(&["500,rate=0.3"], 7, &forth), struck(&["500,rate=0.3"], 7, &back));
        again.reverse();
        assert_eq!(first, again);
        assert_ne!(first, struck(&["500,rate=0.3"], 8, &forth));
        let share = first.iter().flatten().count();
        assert!((30..90).contains(&share), "{share} of 200");
    }
}
