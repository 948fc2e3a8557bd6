//! The lowest version that a range allows.

use super::comparator::{Comparator, Operator};
use super::precedence::{Identifier, Precedence};
use super::range::Range;
use super::version::Version;

/// The lowest version that the range allows, like `semver.minVersion`. At zero, a release is
/// preferred.
pub fn min_version(range: &Range) -> Option<Version> {
    for prerelease in [&[][..], &[Identifier::Numeric(0)]] {
        let zero = Precedence { numbers: [0; 3], prerelease };
        if range.allows(zero) {
            return Some(zero.into());
        }
    }
    let mut lowest: Option<Version> = None;
    for alternative in &range.alternatives {
        let highest_bound = alternative
            .comparators
            .iter()
            .filter_map(least_version)
            .reduce(|highest, bound| if bound.compare(&highest).is_gt() { bound } else { highest });
        if let Some(bound) = highest_bound
            && lowest.as_ref().is_none_or(|lowest| lowest.compare(&bound).is_gt())
        {
            lowest = Some(bound);
        }
    }
    lowest.filter(|version| range.satisfied_by(version))
}

/// The lowest version on the right side of a lower bound.
fn least_version(comparator: &Comparator) -> Option<Version> {
    let mut version = Version::from(comparator.version());
    match comparator.operator {
        Operator::Less | Operator::LessEqual => return None,
        Operator::Equal | Operator::GreaterEqual => {}
        Operator::Greater if version.is_prerelease() => version.prerelease.push(Identifier::Numeric(0)),
        Operator::Greater => version.patch += 1,
    }
    Some(version)
}
