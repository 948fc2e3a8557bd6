//! Ranges: alternatives joined by `||`, and the versions they allow.

use std::fmt;

use smallvec::SmallVec;

use super::alternative::Alternative;
use super::desugar::InvalidRange;
use super::grammar::Grammar;
use super::notation;
use super::precedence::Precedence;
use super::subset;
use super::version::Version;

/// How a range is read, and what it then allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeOptions {
    /// Accept what strict reading doesn't, and pass over what can't be read as long as something can.
    pub loose: bool,
    /// Treat prereleases as any other version. This also moves bounds: `1.x` then begins at 1.0.0-0.
    pub include_prerelease: bool,
}

/// A range as node-semver's `Range` holds it, with the options it was read with.
#[derive(Clone, Debug)]
pub struct Range {
    pub(super) alternatives: Alternatives,
    options: RangeOptions,
}

/// Most ranges have one.
type Alternatives = SmallVec<[Alternative; 1]>;

impl RangeOptions {
    pub(super) fn grammar(self) -> Grammar {
        if self.loose { Grammar::Loose } else { Grammar::Strict }
    }
}

impl Range {
    /// Reads a range as `new Range(text)` does. The empty range means `*`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_with(text, RangeOptions::default())
    }

    /// Reads a range as `new Range(text, { loose: true })` does, and as npm reads nearly every range.
    pub fn parse_loose(text: &str) -> Option<Self> {
        Self::parse_with(text, RangeOptions { loose: true, ..RangeOptions::default() })
    }

    /// Reads a range as `new Range(text, options)` does.
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

    /// Whether the range allows the version, as `Range.test`, by the options the range was read with.
    pub fn satisfied_by(&self, version: &Version) -> bool {
        self.allows(version.precedence())
    }

    pub(super) fn allows(&self, version: Precedence) -> bool {
        self.alternatives.iter().any(|alternative| alternative.allows(version, self.options.include_prerelease))
    }

    /// Whether some version satisfies both ranges, as `semver.intersects` with this range's options.
    ///
    /// node-semver doesn't always know: it compares bounds in pairs.
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

    /// Whether every version this range allows is allowed by the other, as `semver.subset` with this range's options.
    pub fn is_subset_of(&self, other: &Self) -> bool {
        subset::is_subset(&self.alternatives, &other.alternatives, self.options.include_prerelease)
    }

    /// Whether the range is `*`, which prints as nothing.
    pub fn is_any(&self) -> bool {
        self.alternatives.iter().all(Alternative::is_any)
    }
}

impl fmt::Display for Range {
    /// The normal form, `Range.range`; that of `*` is the empty string.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, alternative) in self.alternatives.iter().enumerate() {
            let separator = if index > 0 { "||" } else { "" };
            write!(formatter, "{separator}{alternative}")?;
        }
        Ok(())
    }
}

/// Drops alternatives that say nothing: the null set beside others, and everything beside `*`.
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
