//! The part of a range between two `||`: its comparators, and the versions that satisfy all of
//! them.

use indexmap::IndexSet;
use std::fmt;
use std::iter;

use super::comparator::{Comparator, Comparators, Operator};
use super::desugar::{Desugaring, InvalidRange};
use super::notation;
use super::options::RangeOptions;
use super::precedence::Precedence;

/// Comparators that all have to hold. Without any, it is `*`, which allows everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    pub comparators: Comparators,
}

impl Alternative {
    /// Parses an alternative of a range whose white space is collapsed. `None` if the loose parser
    /// found only unreadable parts.
    pub fn parse(text: &str, options: RangeOptions) -> Result<Option<Self>, InvalidRange> {
        let mut desugaring = Desugaring::new(options);
        if notation::is_plain_word(text) {
            desugaring.read(iter::once(text))?;
        } else {
            let text = notation::expand_hyphen(notation::strip_build(text), options);
            desugaring.read(notation::close_up(text).split(' '))?;
        }
        let Desugaring { mut comparators, anything, .. } = desugaring;
        if comparators.is_empty() {
            return Ok(anything.then_some(Self { comparators }));
        }
        if let Some(index) = comparators.iter().position(Comparator::is_null_set) {
            comparators.swap(0, index);
            comparators.truncate(1);
        }
        remove_repeated(&mut comparators);
        Ok(Some(Self { comparators }))
    }

    pub fn is_any(&self) -> bool {
        self.comparators.is_empty()
    }

    pub fn is_null_set(&self) -> bool {
        self.comparators.first().is_some_and(Comparator::is_null_set)
    }

    /// The lowest and highest major number between its bounds.
    pub fn majors(&self) -> (u64, u64) {
        let (mut lowest, mut highest) = (0, u64::MAX);
        for comparator in &self.comparators {
            let [major, ..] = comparator.version().numbers;
            if !comparator.operator.is_upper() {
                lowest = lowest.max(major);
            }
            if !comparator.operator.is_lower() {
                highest = highest.min(major);
            }
        }
        (lowest, highest)
    }

    /// Whether a range of this alternative alone allows the version.
    pub fn allows(&self, version: Precedence, include_prerelease: bool) -> bool {
        self.comparators.iter().all(|comparator| comparator.matches(version))
            && (include_prerelease
                || !version.is_prerelease()
                || self.comparators.iter().any(|comparator| comparator.names_prerelease_of(version)))
    }

    /// Whether some version can satisfy both, by node-semver's rules, which compare pairs of
    /// comparators.
    pub fn intersects(&self, other: &Self, include_prerelease: bool) -> bool {
        if self.is_any() {
            return true;
        }
        if other.is_any() {
            let anything_meets = |comparator: &Comparator| {
                comparator.operator != Operator::Equal || include_prerelease || !comparator.version().is_prerelease()
            };
            return self.comparators.iter().all(anything_meets);
        }
        self.comparators
            .iter()
            .all(|left| other.comparators.iter().all(|right| left.intersects(right, include_prerelease)))
    }

    /// Whether no two of its own comparators exclude each other.
    pub fn is_satisfiable(&self, include_prerelease: bool) -> bool {
        self.comparators.iter().enumerate().all(|(index, later)| {
            self.comparators[..index].iter().all(|earlier| later.intersects(earlier, include_prerelease))
        })
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, comparator) in self.comparators.iter().enumerate() {
            let separator = if index > 0 { " " } else { "" };
            write!(formatter, "{separator}{comparator}")?;
        }
        Ok(())
    }
}

/// Keeps the first of each set of comparators with the same text, in linear time.
fn remove_repeated(comparators: &mut Comparators) {
    match comparators.as_slice() {
        [] | [_] => {}
        [first, second] => {
            if first == second {
                comparators.pop();
            }
        }
        _ => {
            let mut seen = IndexSet::new();
            comparators.retain(|comparator| seen.insert(comparator.to_string()));
        }
    }
}
