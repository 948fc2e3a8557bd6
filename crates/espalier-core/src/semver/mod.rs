//! Semantic versions and ranges, exactly as npm reads them.
//!
//! This is node-semver 7: what it accepts, strictly and loosely, the result and the text of a
//! range, and the versions that it allows follow node-semver, even where that differs from the
//! specification or from its documentation. npm reads nearly everything loosely, so `parse_loose`
//! is the usual entry.
//!
//! `grammar` finds the parts of a version in text. `notation` and `desugar` turn the notations of
//! ranges into `comparator`s, which `alternative` groups.

mod alternative;
mod comparator;
mod desugar;
mod grammar;
mod minimum;
mod notation;
mod number;
mod options;
mod precedence;
mod range;
mod subset;
mod version;

pub use minimum::min_version;
pub use options::RangeOptions;
pub use precedence::Identifier;
pub use range::Range;
pub use version::Version;

/// Whether version and range are valid and the range allows the version, like `semver.satisfies`.
pub fn satisfies(version: &str, range: &str, loose: bool) -> bool {
    max_satisfying([version], range, loose).is_some()
}

/// Whether an engine of this version is in a range of `engines`. Prereleases count
/// (`npm-install-checks`).
pub fn suits_engine(version: &Version, wanted: &str) -> bool {
    let options = RangeOptions { include_prerelease: true, ..RangeOptions::default() };
    Range::parse_with(wanted, options).is_some_and(|range| range.satisfied_by(version))
}

/// The highest of the versions that the range allows, as written, like `semver.maxSatisfying`. Of
/// equal versions, the first. `None` if the range is invalid. Invalid versions are skipped.
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

/// The numbers of a version without prerelease and build metadata, in its usual spelling. `None`
/// for any other text.
pub fn release_numbers(version: &str) -> Option<[u64; 3]> {
    grammar::plain(version)
}

/// The major number of a text, if it is obvious. Whether the text is a version remains to be seen.
pub fn obvious_major(version: &str) -> Option<u64> {
    grammar::leading_number(version)
}

/// The normal form of a valid range, like `semver.validRange`. Unlike [`Range`]'s own, that of `*`
/// is `*`.
pub fn valid_range(text: &str, loose: bool) -> Option<String> {
    let range = Range::parse_with(text, RangeOptions { loose, ..RangeOptions::default() })?;
    Some(if range.is_any() { "*".to_owned() } else { range.to_string() })
}
