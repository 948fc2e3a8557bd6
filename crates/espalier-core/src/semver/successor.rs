//! The number after a number, as JavaScript counts.

use std::fmt;

use super::grammar::{MAX_SAFE_INTEGER, safe_integer};

/// What `+digits + 1` is in JavaScript, as far as a version can tell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Successor {
    /// A number a version may have.
    Safe(u64),
    /// A number that is printed in digits, so that it reads as a version, but one that is too large.
    TooLarge,
    /// A number printed with an exponent, which doesn't read as a number of a version at all.
    Exponential(f64),
}

impl Successor {
    pub fn of(digits: &str) -> Self {
        match safe_integer(digits) {
            Some(number) if number < MAX_SAFE_INTEGER => Self::Safe(number + 1),
            _ => match digits.parse::<f64>().map_or(f64::INFINITY, |number| number + 1.0) {
                ..1e21 => Self::TooLarge,
                number => Self::Exponential(number),
            },
        }
    }
}

impl fmt::Display for Successor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Safe(number) => number.fmt(formatter),
            // Which number it is makes no difference to what becomes of the range.
            Self::TooLarge => (MAX_SAFE_INTEGER + 1).fmt(formatter),
            Self::Exponential(number) => formatter.write_str(&format!("{number:e}").replace('e', "e+")),
        }
    }
}
