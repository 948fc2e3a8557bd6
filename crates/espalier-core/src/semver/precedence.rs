//! The precedence of versions.

use std::cmp::Ordering;
use std::fmt;

use super::number::{MAX_SAFE_INTEGER, nearest_double, safe_integer};

/// A dot-separated part of a prerelease.
///
/// Equal identifiers have the same text. Others can have the same precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identifier {
    /// A number below JavaScript's `Number.MAX_SAFE_INTEGER`.
    Numeric(u64),
    /// Any other text, including larger numbers.
    Text(Box<str>),
}

/// A version without its build metadata.
///
/// Equal values have the same text. Others can have the same precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Precedence<'version> {
    pub numbers: [u64; 3],
    pub prerelease: &'version [Identifier],
}

impl Precedence<'_> {
    pub fn is_prerelease(self) -> bool {
        !self.prerelease.is_empty()
    }

    /// The order of `semver.compare`; see [`Version::compare`](super::Version::compare).
    pub fn compare(self, other: Self) -> Ordering {
        self.compare_with(other, |left, right| {
            left.iter().zip(right).find(|(left, right)| left != right).map(|(left, right)| left.compare(right))
        })
    }

    /// The order of `semver.compare`, made consistent: where that stops too early, this continues.
    pub fn compare_consistently(self, other: Self) -> Ordering {
        self.compare_with(other, |left, right| {
            left.iter().zip(right).map(|(left, right)| left.compare(right)).find(|ordering| ordering.is_ne())
        })
    }

    /// Compares versions, with a function that compares prereleases apart from their lengths.
    fn compare_with(
        self,
        other: Self,
        by_identifier: impl FnOnce(&[Identifier], &[Identifier]) -> Option<Ordering>,
    ) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (self.prerelease, other.prerelease) {
            ([], []) => Ordering::Equal,
            ([], _) => Ordering::Greater,
            (_, []) => Ordering::Less,
            (left, right) => by_identifier(left, right).unwrap_or_else(|| left.len().cmp(&right.len())),
        })
    }
}

impl fmt::Display for Precedence<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(formatter, "{major}.{minor}.{patch}")?;
        for (index, identifier) in self.prerelease.iter().enumerate() {
            let separator = if index > 0 { '.' } else { '-' };
            write!(formatter, "{separator}{identifier}")?;
        }
        Ok(())
    }
}

impl Identifier {
    /// Parses one valid identifier.
    pub(super) fn new(text: &str) -> Self {
        match is_numeric(text).then(|| safe_integer(text)).flatten() {
            // node-semver leaves the largest safe integer a string.
            Some(number) if number < MAX_SAFE_INTEGER => Self::Numeric(number),
            _ => Self::Text(text.into()),
        }
    }

    /// Parses a valid prerelease without its hyphen.
    pub(super) fn list(prerelease: &str) -> Vec<Self> {
        let count = 1 + prerelease.bytes().filter(|&byte| byte == b'.').count();
        let mut identifiers = Vec::with_capacity(count);
        identifiers.extend(prerelease.split('.').map(Self::new));
        identifiers
    }

    /// Numbers precede words. Numbers compare like JavaScript's, and words by their bytes.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
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
            Self::Text(text) => is_numeric(text).then(|| nearest_double(text)),
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

fn is_numeric(identifier: &str) -> bool {
    identifier.bytes().all(|byte| byte.is_ascii_digit())
}
