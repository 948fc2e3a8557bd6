//! Whether one range is a subset of another, by node-semver's rules.

use std::cmp::Ordering;

use super::alternative::Alternative;
use super::comparator::{Comparator, Operator};

/// How an alternative relates to one of the other range's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Inside,
    Outside,
    /// It allows nothing at all.
    Empty,
}

/// Whether each alternative of `inner` is inside one of `outer`. Empty ones don't count, unless all
/// are empty.
pub(super) fn is_subset(inner: &[Alternative], outer: &[Alternative], include_prerelease: bool) -> bool {
    let mut saw_inhabited = false;
    inner.iter().all(|inner| {
        for outer in outer {
            match relation(inner, outer, include_prerelease) {
                Relation::Inside => {
                    saw_inhabited = true;
                    return true;
                }
                Relation::Outside => saw_inhabited = true,
                Relation::Empty => {}
            }
        }
        !saw_inhabited
    })
}

fn relation(inner: &Alternative, outer: &Alternative, include_prerelease: bool) -> Relation {
    // node-semver asks whether they are the same object, which alternatives with the same text are.
    if inner == outer || (outer.is_any() && include_prerelease) {
        return Relation::Inside;
    }
    let everything = [Comparator::new(Operator::GreaterEqual, [0; 3], include_prerelease.then_some("0"))];
    let inner = if inner.is_any() { &everything } else { inner.comparators.as_slice() };
    let outer = if outer.is_any() { &everything } else { outer.comparators.as_slice() };
    comparator_relation(inner, outer, include_prerelease)
}

fn comparator_relation(inner: &[Comparator], outer: &[Comparator], include_prerelease: bool) -> Relation {
    let lower = tightest(inner.iter().filter(|comparator| comparator.operator.is_lower()));
    let upper = tightest(inner.iter().filter(|comparator| comparator.operator.is_upper()));
    let mut exact = inner.iter().filter(|comparator| comparator.operator == Operator::Equal);
    let (exact, another_exact) = (exact.next(), exact.next());
    if another_exact.is_some() {
        return Relation::Empty;
    }
    let mut is_one_version = false;
    if let (Some(lower), Some(upper)) = (lower, upper) {
        match lower.version().compare(upper.version()) {
            Ordering::Less => {}
            Ordering::Equal if lower.operator.is_inclusive() && upper.operator.is_inclusive() => is_one_version = true,
            Ordering::Equal | Ordering::Greater => return Relation::Empty,
        }
    }
    let bounds = || lower.into_iter().chain(upper);
    let is_inside = if let Some(exact) = exact {
        let is_allowed_by = |comparator: &Comparator| comparator.allows(exact.version(), include_prerelease);
        if !bounds().all(is_allowed_by) {
            return Relation::Empty;
        }
        outer.iter().all(is_allowed_by)
    } else {
        let has = |is_such: fn(Operator) -> bool| outer.iter().any(|comparator| is_such(comparator.operator));
        (is_one_version || !has(|operator| operator == Operator::Equal))
            && (upper.is_some() || !has(Operator::is_upper))
            && (lower.is_some() || !has(Operator::is_lower))
            && bounds().all(|bound| is_bound_within(bound, outer))
            && (include_prerelease || bounds().all(|bound| are_prereleases_within(bound, outer)))
    };
    if is_inside { Relation::Inside } else { Relation::Outside }
}

fn tightest<'range>(bounds: impl Iterator<Item = &'range Comparator>) -> Option<&'range Comparator> {
    bounds.reduce(|best, bound| if is_tighter(bound, best) { bound } else { best })
}

/// Whether a bound allows less than another one on the same side.
fn is_tighter(bound: &Comparator, other: &Comparator) -> bool {
    match bound.version().compare(other.version()) {
        Ordering::Less => bound.operator.is_upper(),
        Ordering::Equal => !bound.operator.is_inclusive() && other.operator.is_inclusive(),
        Ordering::Greater => bound.operator.is_lower(),
    }
}

fn is_bound_within(bound: &Comparator, outer: &[Comparator]) -> bool {
    outer.iter().all(|comparator| {
        let is_same_side = (bound.operator.is_lower() && comparator.operator.is_lower())
            || (bound.operator.is_upper() && comparator.operator.is_upper());
        if is_same_side {
            !is_tighter(comparator, bound)
        } else {
            !bound.operator.is_inclusive() || comparator.matches(bound.version())
        }
    })
}

/// Whether `outer` allows the prereleases that a bound with a prerelease allows. It has to name one
/// with the same numbers.
fn are_prereleases_within(bound: &Comparator, outer: &[Comparator]) -> bool {
    !bound.version().is_prerelease()
        || bound.is_below_prereleases()
        || outer.iter().any(|comparator| comparator.names_prerelease_of(bound.version()))
}
