//! One version: parsing, precedence and the normal form in which it is printed.

use std::cmp::Ordering;
use std::fmt;

use super::grammar::{self, Grammar, MAX_LENGTH, MAX_SAFE_INTEGER, Partial, safe_integer};

/// A version as node-semver's `SemVer` holds it.
///
/// Equality and order are those of precedence: build metadata doesn't count, see [`Version::compare_build`].
#[derive(Clone, Debug)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// The identifiers after the hyphen; none if this is a release.
    pub prerelease: Vec<Identifier>,
    /// The identifiers after the plus sign.
    pub build: Vec<Box<str>>,
}

/// One of the dot-separated parts of a prerelease.
///
/// Equality is that of the written form after normalisation; precedence is [`Version`]'s business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identifier {
    /// Digits that write a number below JavaScript's `Number.MAX_SAFE_INTEGER`.
    Numeric(u64),
    /// Anything else, including larger numbers.
    Text(Box<str>),
}

impl Version {
    /// Reads a version as `new SemVer(text)` does: whitespace around it and one leading `v` are allowed.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_by(text, Grammar::Strict)
    }

    /// Reads a version as `new SemVer(text, { loose: true })` does.
    pub fn parse_loose(text: &str) -> Option<Self> {
        Self::parse_by(text, Grammar::Loose)
    }

    pub(super) fn parse_by(text: &str, grammar: Grammar) -> Option<Self> {
        if text.len() > MAX_LENGTH && text.encode_utf16().count() > MAX_LENGTH {
            return None;
        }
        let text = text.trim_matches(grammar::is_whitespace);
        let text = match grammar {
            Grammar::Strict => text.strip_prefix('v').unwrap_or(text),
            Grammar::Loose => grammar::strip_prefix(text),
        };
        Self::from_partial(&Partial::scan(text, grammar)?)
    }

    /// The version a partial version writes, if all its numbers are there and none is too large.
    pub(super) fn from_partial(partial: &Partial) -> Option<Self> {
        Some(Self {
            major: safe_integer(partial.major?)?,
            minor: safe_integer(partial.minor?)?,
            patch: safe_integer(partial.patch?)?,
            prerelease: partial.prerelease.map(identifiers).unwrap_or_default(),
            build: partial.build.map(|build| build.split('.').map(Box::from).collect()).unwrap_or_default(),
        })
    }

    /// A version without prerelease or build metadata.
    pub(super) fn release(major: u64, minor: u64, patch: u64) -> Self {
        Self { major, minor, patch, prerelease: Vec::new(), build: Vec::new() }
    }

    /// Whether the version has prerelease identifiers.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Precedence exactly as `semver.compare` decides it, which [`Ord`] can't be.
    ///
    /// JavaScript compares numeric identifiers as doubles, so different numbers above 2⁵³ may be equal, and it looks
    /// no further then: `1.0.0-9007199254740992.a` and `1.0.0-9007199254740993.b` are equal to each other, yet not
    /// to the same versions. [`Ord`] goes on to the next identifier instead, so that sorting is safe.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.compare_numbers(other).then_with(|| {
            self.compare_prerelease(other, |left, right| {
                left.iter().zip(right).find(|(left, right)| left != right).map(|(left, right)| left.precedence(right))
            })
        })
    }

    /// The order of `semver.compareBuild`: precedence, then build metadata.
    ///
    /// Like [`Ord`], it looks further where node-semver stops at two spellings of one number (`+1.a`, `+01.b`).
    pub fn compare_build(&self, other: &Self) -> Ordering {
        let by_identifier = || {
            let mut pairs = self.build.iter().zip(&other.build).filter(|(left, right)| left != right);
            pairs.find_map(|(left, right)| unequal(Identifier::new(left).precedence(&Identifier::new(right))))
        };
        self.cmp(other).then_with(|| by_identifier().unwrap_or_else(|| self.build.len().cmp(&other.build.len())))
    }

    /// Whether major, minor and patch are the same.
    pub(super) fn has_numbers_of(&self, other: &Self) -> bool {
        self.compare_numbers(other).is_eq()
    }

    /// Whether both print alike, which is narrower than being equal in precedence.
    pub(super) fn prints_as(&self, other: &Self) -> bool {
        self.has_numbers_of(other) && self.prerelease == other.prerelease
    }

    fn compare_numbers(&self, other: &Self) -> Ordering {
        self.major
            .cmp(&other.major)
            .then_with(|| self.minor.cmp(&other.minor))
            .then_with(|| self.patch.cmp(&other.patch))
    }

    fn compare_prerelease(
        &self,
        other: &Self,
        by_identifier: impl FnOnce(&[Identifier], &[Identifier]) -> Option<Ordering>,
    ) -> Ordering {
        match (self.prerelease.as_slice(), other.prerelease.as_slice()) {
            ([], []) => Ordering::Equal,
            ([], _) => Ordering::Greater,
            (_, []) => Ordering::Less,
            (left, right) => by_identifier(left, right).unwrap_or_else(|| left.len().cmp(&right.len())),
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare_numbers(other).then_with(|| {
            self.compare_prerelease(other, |left, right| {
                left.iter().zip(right).find_map(|(left, right)| unequal(left.precedence(right)))
            })
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    /// The normal form, `SemVer.version`: without build metadata.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)?;
        let mut separator = '-';
        for identifier in &self.prerelease {
            write!(formatter, "{separator}{identifier}")?;
            separator = '.';
        }
        Ok(())
    }
}

impl Identifier {
    /// Takes one identifier, already known to be well-formed.
    fn new(text: &str) -> Self {
        match is_numeric(text).then(|| safe_integer(text)).flatten() {
            // node-semver leaves the largest safe integer itself a string.
            Some(number) if number < MAX_SAFE_INTEGER => Self::Numeric(number),
            _ => Self::Text(text.into()),
        }
    }

    /// Numbers come before words; numbers compare as JavaScript's, words as their bytes.
    fn precedence(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Numeric(left), Self::Numeric(right)) => left.cmp(right),
            (Self::Text(left), Self::Text(right)) if !is_numeric(left) && !is_numeric(right) => left.cmp(right),
            _ => match (self.as_double(), other.as_double()) {
                (Some(left), Some(right)) => left.total_cmp(&right),
                (left, right) => right.is_some().cmp(&left.is_some()),
            },
        }
    }

    fn as_double(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "it is below 2⁵³")]
            Self::Numeric(number) => Some(*number as f64),
            Self::Text(text) => is_numeric(text).then(|| text.parse().ok()).flatten(),
        }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numeric(number) => number.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
        }
    }
}

/// The identifiers of a prerelease written without its hyphen.
pub(super) fn identifiers(prerelease: &str) -> Vec<Identifier> {
    prerelease.split('.').map(Identifier::new).collect()
}

fn is_numeric(identifier: &str) -> bool {
    identifier.bytes().all(|byte| byte.is_ascii_digit())
}

fn unequal(ordering: Ordering) -> Option<Ordering> {
    ordering.is_ne().then_some(ordering)
}
