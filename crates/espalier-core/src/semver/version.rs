//! A version: parsing, order and text.

use std::cmp::Ordering;
use std::fmt;

use super::grammar::{self, Grammar, MAX_LENGTH, Partial};
use super::precedence::{Identifier, Precedence};

/// A version like node-semver's `SemVer`.
///
/// Equality and order are those of precedence, which ignores build metadata. See
/// [`Version::compare_build`].
#[derive(Clone, Debug)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// The identifiers after the hyphen. Empty for a release.
    pub prerelease: Vec<Identifier>,
    /// The identifiers after the plus sign.
    pub build: Vec<Box<str>>,
}

impl Version {
    /// Parses a version like `new SemVer(text)`, which permits white space around it and one
    /// leading `v`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_by(text, Grammar::Strict)
    }

    /// Parses a version like `new SemVer(text, { loose: true })`.
    pub fn parse_loose(text: &str) -> Option<Self> {
        Self::parse_by(text, Grammar::Loose)
    }

    /// Parses a version that consists of three numbers, as most do. `None` for any other text.
    pub(crate) fn release(text: &str) -> Option<Self> {
        let [major, minor, patch] = grammar::plain(text)?;
        Some(Self { major, minor, patch, prerelease: Vec::new(), build: Vec::new() })
    }

    pub(super) fn parse_by(text: &str, grammar: Grammar) -> Option<Self> {
        if let Some(release) = Self::release(text) {
            return Some(release);
        }
        if text.len() > MAX_LENGTH && text.encode_utf16().count() > MAX_LENGTH {
            return None;
        }
        let text = grammar::trim(text);
        let core = match grammar {
            Grammar::Strict => text.strip_prefix('v').unwrap_or(text),
            Grammar::Loose => grammar::strip_prefix(text),
        };
        let partial = Partial::scan(core, grammar)?;
        let [major, minor, patch] = partial.numbers()?;
        Some(Self {
            major,
            minor,
            patch,
            prerelease: partial.prerelease.map(Identifier::list).unwrap_or_default(),
            build: partial.build.map(|build| build.split('.').map(Box::from).collect()).unwrap_or_default(),
        })
    }

    /// Whether the version has prerelease identifiers.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// The precedence exactly as `semver.compare` decides it, which [`Ord`] can't be.
    ///
    /// JavaScript compares numeric identifiers as doubles, so different numbers above 2⁵³ can be
    /// equal, and the comparison ends there: `1.0.0-9007199254740992.a` and
    /// `1.0.0-9007199254740993.b` are equal to each other, but not to the same versions.
    /// [`Ord`] goes on to the next identifier, so that sorting is safe.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.precedence().compare(other.precedence())
    }

    /// The order of `semver.compareBuild`: precedence, then build metadata.
    ///
    /// Like [`Ord`], it continues where node-semver ends at two spellings of one number (`+1.a`,
    /// `+01.b`).
    pub fn compare_build(&self, other: &Self) -> Ordering {
        let by_identifier = || {
            let pairs = self.build.iter().zip(&other.build);
            pairs
                .map(|(left, right)| Identifier::new(left).compare(&Identifier::new(right)))
                .find(|ordering| ordering.is_ne())
        };
        self.cmp(other).then_with(|| by_identifier().unwrap_or_else(|| self.build.len().cmp(&other.build.len())))
    }

    pub(super) fn precedence(&self) -> Precedence<'_> {
        Precedence { numbers: [self.major, self.minor, self.patch], prerelease: &self.prerelease }
    }
}

impl From<Precedence<'_>> for Version {
    fn from(Precedence { numbers: [major, minor, patch], prerelease }: Precedence<'_>) -> Self {
        Self { major, minor, patch, prerelease: prerelease.to_vec(), build: Vec::new() }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence().compare_consistently(other.precedence())
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
    /// Writes the normal form, `SemVer.version`, without build metadata.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.precedence().fmt(formatter)
    }
}
