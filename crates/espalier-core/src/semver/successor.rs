//! The number after a number, as JavaScript counts.

use std::fmt;

use super::grammar::{MAX_SAFE_INTEGER, safe_integer};

/// What `+digits + 1` is in JavaScript, as far as a version can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successor {
    /// A number a version may have.
    Safe(u64),
    /// A number that is printed in digits, so that it reads as a version, but one that is too large.
    TooLarge,
    /// A number printed with an exponent, which doesn't read as part of a version at all.
    Exponential,
}

impl Successor {
    /// The least integer whose nearest double is 10²¹, from where on JavaScript prints an exponent.
    const LEAST_EXPONENTIAL: &str = "999999999999999934464";

    pub fn of(digits: &str) -> Self {
        match safe_integer(digits) {
            Some(number) if number < MAX_SAFE_INTEGER => Self::Safe(number + 1),
            Some(_) => Self::TooLarge,
            None => {
                let significant = digits.trim_start_matches('0');
                let exponential =
                    (significant.len(), significant) >= (Self::LEAST_EXPONENTIAL.len(), Self::LEAST_EXPONENTIAL);
                if exponential { Self::Exponential } else { Self::TooLarge }
            }
        }
    }
}

impl fmt::Display for Successor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Safe(number) => number.fmt(formatter),
            // Which number it is makes no difference to what becomes of the range.
            Self::TooLarge => (MAX_SAFE_INTEGER + 1).fmt(formatter),
            Self::Exponential => formatter.write_str("1e21"),
        }
    }
}
