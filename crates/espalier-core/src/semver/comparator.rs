//! A bound of a range, such as `>=1.2.3`, compared with a version or another bound.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use smallvec::SmallVec;

use super::precedence::{Identifier, Precedence};

/// `-0`, the lowest prerelease of a version.
const LOWEST_PRERELEASE: &[Identifier] = &[Identifier::Numeric(0)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
}

/// A bound that excludes some versions. An alternative without comparators allows everything.
///
/// It contains no [`Version`](super::Version), so that the many bounds that end in `-0` or have no
/// prerelease need no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparator {
    pub operator: Operator,
    numbers: [u64; 3],
    prerelease: Cow<'static, [Identifier]>,
}

/// Most alternatives are one version, or a lower and an upper bound.
pub(super) type Comparators = SmallVec<[Comparator; 2]>;

impl Operator {
    /// Takes the operator from the front of `text`. Without one, it is equality.
    pub fn strip(text: &str) -> (Self, &str) {
        let (operator, length) = match text.as_bytes() {
            [b'<', b'=', ..] => (Self::LessEqual, 2),
            [b'<', ..] => (Self::Less, 1),
            [b'>', b'=', ..] => (Self::GreaterEqual, 2),
            [b'>', ..] => (Self::Greater, 1),
            [b'=', ..] => (Self::Equal, 1),
            _ => (Self::Equal, 0),
        };
        (operator, &text[length..])
    }

    pub fn is_upper(self) -> bool {
        matches!(self, Self::Less | Self::LessEqual)
    }

    pub fn is_lower(self) -> bool {
        matches!(self, Self::Greater | Self::GreaterEqual)
    }

    pub fn is_inclusive(self) -> bool {
        matches!(self, Self::LessEqual | Self::GreaterEqual)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Equal => "",
            Self::GreaterEqual => ">=",
            Self::Greater => ">",
        })
    }
}

impl Comparator {
    /// A bound at a version with a valid prerelease, if it has one.
    pub fn new(operator: Operator, numbers: [u64; 3], prerelease: Option<&str>) -> Self {
        let prerelease = match prerelease {
            None => Cow::Borrowed(&[][..]),
            Some("0") => Cow::Borrowed(LOWEST_PRERELEASE),
            Some(prerelease) => Cow::Owned(Identifier::list(prerelease)),
        };
        Self { operator, numbers, prerelease }
    }

    /// The version of the bound.
    pub fn version(&self) -> Precedence<'_> {
        Precedence { numbers: self.numbers, prerelease: &self.prerelease }
    }

    /// Whether the version is on the right side of this bound, prerelease or not.
    pub fn matches(&self, version: Precedence) -> bool {
        let ordering = version.compare(self.version());
        match self.operator {
            Operator::Less => ordering == Ordering::Less,
            Operator::LessEqual => ordering != Ordering::Greater,
            Operator::Equal => ordering == Ordering::Equal,
            Operator::GreaterEqual => ordering != Ordering::Less,
            Operator::Greater => ordering == Ordering::Greater,
        }
    }

    /// Whether this bound names a prerelease with the same numbers as `version`, and so allows such
    /// prereleases.
    pub fn names_prerelease_of(&self, version: Precedence) -> bool {
        !self.prerelease.is_empty() && self.numbers == version.numbers
    }

    /// Whether a range of this bound alone allows the version.
    pub fn allows(&self, version: Precedence, include_prerelease: bool) -> bool {
        self.matches(version) && (include_prerelease || !version.is_prerelease() || self.names_prerelease_of(version))
    }

    /// Whether this is an exclusive upper bound below all versions with its numbers, such as
    /// `<2.0.0-0`.
    pub fn is_below_prereleases(&self) -> bool {
        self.operator == Operator::Less && *self.prerelease == *LOWEST_PRERELEASE
    }

    /// Whether this is `<0.0.0-0`, which no version satisfies. node-semver writes the empty set in
    /// this way.
    pub fn is_null_set(&self) -> bool {
        self.is_below_prereleases() && self.numbers == [0; 3]
    }

    /// Whether some version can satisfy both bounds, by node-semver's rules.
    pub fn intersects(&self, other: &Self, include_prerelease: bool) -> bool {
        if self.operator == Operator::Equal {
            return other.allows(self.version(), include_prerelease);
        }
        if other.operator == Operator::Equal {
            return self.allows(other.version(), include_prerelease);
        }
        let nothing_below = |bound: &Self| {
            if include_prerelease {
                bound.is_null_set()
            } else {
                bound.operator == Operator::Less && bound.numbers == [0; 3]
            }
        };
        if nothing_below(self) || nothing_below(other) {
            return false;
        }
        if self.operator.is_lower() == other.operator.is_lower() {
            return true;
        }
        if self.operator.is_inclusive() && other.operator.is_inclusive() && self.version() == other.version() {
            return true;
        }
        let ordering = self.version().compare(other.version());
        ordering == if self.operator.is_lower() { Ordering::Less } else { Ordering::Greater }
    }
}

impl fmt::Display for Comparator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.operator, self.version())
    }
}
