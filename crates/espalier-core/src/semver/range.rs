//! Ranges: alternatives joined by `||`.

use std::fmt;

use smallvec::SmallVec;

use super::alternative::Alternative;
use super::desugar::InvalidRange;
use super::notation;
use super::options::RangeOptions;
use super::precedence::Precedence;
use super::subset;
use super::version::Version;

/// A range like node-semver's `Range`, with the options that it was parsed with.
#[derive(Clone, Debug)]
pub struct Range {
    pub(super) alternatives: Alternatives,
    options: RangeOptions,
}

/// Most ranges have one alternative.
type Alternatives = SmallVec<[Alternative; 1]>;

impl Range {
    /// Parses a range like `new Range(text)`. The empty range means `*`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_with(text, RangeOptions::default())
    }

    /// Parses a range like `new Range(text, { loose: true })`, which npm does with nearly every
    /// range.
    pub fn parse_loose(text: &str) -> Option<Self> {
        Self::parse_with(text, RangeOptions { loose: true, ..RangeOptions::default() })
    }

    /// Parses a range like `new Range(text, options)`.
    pub fn parse_with(text: &str, options: RangeOptions) -> Option<Self> {
        let text = notation::collapse_whitespace(text);
        let mut alternatives = Alternatives::new();
        for part in notation::alternatives(&text) {
            match Alternative::parse(part, options) {
                Ok(Some(alternative)) => alternatives.push(alternative),
                Ok(None) => {}
                Err(InvalidRange) => return None,
            }
        }
        if alternatives.is_empty() {
            return None;
        }
        simplify(&mut alternatives);
        Some(Self { alternatives, options })
    }

    /// Whether the range allows the version, like `Range.test`.
    pub fn satisfied_by(&self, version: &Version) -> bool {
        self.allows(version.precedence())
    }

    pub(super) fn allows(&self, version: Precedence) -> bool {
        self.alternatives.iter().any(|alternative| alternative.allows(version, self.options.include_prerelease))
    }

    /// The lowest and highest major number that versions in the range can have. No version outside
    /// of them is in the range.
    pub fn majors(&self) -> (u64, u64) {
        let each = self.alternatives.iter().map(Alternative::majors);
        each.fold((u64::MAX, 0), |(lowest, highest), (low, high)| (lowest.min(low), highest.max(high)))
    }

    /// Whether the range can allow a prerelease of the release with these numbers.
    pub fn admits_prereleases_of(&self, numbers: [u64; 3]) -> bool {
        let release = Precedence { numbers, prerelease: &[] };
        let mut comparators = self.alternatives.iter().flat_map(|alternative| &alternative.comparators);
        self.options.include_prerelease || comparators.any(|comparator| comparator.names_prerelease_of(release))
    }

    /// Whether some version satisfies both ranges, like `semver.intersects` with this range's
    /// options.
    ///
    /// node-semver's answer isn't always right, because it compares bounds in pairs.
    pub fn intersects(&self, other: &Self) -> bool {
        let include_prerelease = self.options.include_prerelease;
        let others = other.satisfiable_alternatives(include_prerelease);
        self.satisfiable_alternatives(include_prerelease)
            .iter()
            .any(|ours| others.iter().any(|theirs| ours.intersects(theirs, include_prerelease)))
    }

    fn satisfiable_alternatives(&self, include_prerelease: bool) -> Vec<&Alternative> {
        self.alternatives.iter().filter(|alternative| alternative.is_satisfiable(include_prerelease)).collect()
    }

    /// Whether the other range allows every version that this one allows, like `semver.subset` with
    /// this range's options.
    pub fn is_subset_of(&self, other: &Self) -> bool {
        subset::is_subset(&self.alternatives, &other.alternatives, self.options.include_prerelease)
    }

    /// Whether the range is `*`, whose text is empty.
    pub fn is_any(&self) -> bool {
        self.alternatives.iter().all(Alternative::is_any)
    }
}

impl fmt::Display for Range {
    /// Writes the normal form, `Range.range`. That of `*` is empty.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, alternative) in self.alternatives.iter().enumerate() {
            let separator = if index > 0 { "||" } else { "" };
            write!(formatter, "{separator}{alternative}")?;
        }
        Ok(())
    }
}

/// Drops alternatives without effect: the null set beside others, and everything beside `*`.
fn simplify(alternatives: &mut Alternatives) {
    if alternatives.len() == 1 {
        return;
    }
    if alternatives.iter().all(Alternative::is_null_set) {
        alternatives.truncate(1);
        return;
    }
    alternatives.retain(|alternative| !alternative.is_null_set());
    if let Some(index) = alternatives.iter().position(Alternative::is_any) {
        alternatives.swap(0, index);
        alternatives.truncate(1);
    }
}
