//! The numbers in versions, as JavaScript counts and prints them.

use std::fmt;

/// The largest major, minor or patch number: JavaScript's `Number.MAX_SAFE_INTEGER`.
pub(super) const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;

/// A number in a bound, as far as a version can tell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// One that a version may have.
    Safe(u64),
    /// One that is printed in digits, so that it reads as a version's, but is too large.
    TooLarge,
    /// One that is printed with an exponent, and doesn't read as a number of a version at all.
    Exponential(f64),
}

impl Number {
    /// The number that stands in a text; digits are digits, however many.
    pub fn written(digits: &str) -> Self {
        safe_integer(digits).map_or(Self::TooLarge, Self::Safe)
    }

    /// `+digits + 1` in JavaScript.
    pub fn after(digits: &str) -> Self {
        match safe_integer(digits) {
            Some(number) if number < MAX_SAFE_INTEGER => Self::Safe(number + 1),
            _ => match digits.parse::<f64>().map_or(f64::INFINITY, |number| number + 1.0) {
                ..1e21 => Self::TooLarge,
                number => Self::Exponential(number),
            },
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Safe(number) => number.fmt(formatter),
            // Which number it is makes no difference to what becomes of the range.
            Self::TooLarge => (MAX_SAFE_INTEGER + 1).fmt(formatter),
            Self::Exponential(number) => formatter.write_str(&format!("{number:e}").replace('e', "e+")),
        }
    }
}

/// The number these digits write, if a version may have it.
pub(super) fn safe_integer(digits: &str) -> Option<u64> {
    let mut value = 0;
    for digit in digits.bytes() {
        value = value * 10 + u64::from(digit - b'0');
        if value > MAX_SAFE_INTEGER {
            return None;
        }
    }
    Some(value)
}
