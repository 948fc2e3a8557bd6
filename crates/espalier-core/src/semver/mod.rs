//! Semantic versions and ranges, exactly as npm reads them.
//!
//! This is node-semver 7 in its own terms: what it accepts, strictly and loosely, what a range comes to and how that
//! prints, and which versions it allows, all follow node-semver where that differs from the specification or from
//! what its documentation says. npm reads nearly everything loosely, so `parse_loose` is the usual entrance.
//!
//! `grammar` finds the parts of a version in text, `notation` and `desugar` turn the ways to write a range into
//! `comparator`s, grouped by `alternative`. Which version of a package npm picks is not decided here.

mod alternative;
mod comparator;
mod desugar;
mod grammar;
mod minimum;
mod notation;
mod number;
mod precedence;
mod range;
mod subset;
mod version;

pub use minimum::min_version;
pub use precedence::Identifier;
pub use range::{Range, RangeOptions};
pub use version::Version;

/// Whether the version is valid and the range is valid and allows it, as `semver.satisfies`.
pub fn satisfies(version: &str, range: &str, loose: bool) -> bool {
    max_satisfying([version], range, loose).is_some()
}

/// The highest of the versions that the range allows, as it was written; as `semver.maxSatisfying`. Of equal ones it
/// is the first. Nothing is found with an invalid range, and invalid versions are passed over.
pub fn max_satisfying<'text>(
    versions: impl IntoIterator<Item = &'text str>,
    range: &str,
    loose: bool,
) -> Option<&'text str> {
    let options = RangeOptions { loose, ..RangeOptions::default() };
    let range = Range::parse_with(range, options)?;
    let mut highest: Option<(Version, &str)> = None;
    for text in versions {
        if let Some(version) = Version::parse_by(text, options.grammar())
            && range.satisfied_by(&version)
            && highest.as_ref().is_none_or(|(highest, _)| highest.compare(&version).is_lt())
        {
            highest = Some((version, text));
        }
    }
    highest.map(|(_, text)| text)
}

/// The normal form of a valid range, as `semver.validRange`: unlike [`Range`]'s own, that of `*` is `*`.
pub fn valid_range(text: &str, loose: bool) -> Option<String> {
    let range = Range::parse_with(text, RangeOptions { loose, ..RangeOptions::default() })?;
    Some(if range.is_any() { "*".to_owned() } else { range.to_string() })
}
