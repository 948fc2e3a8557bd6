//! Numbers in versions, with JavaScript's arithmetic and notation.

use std::fmt;

/// The maximum of a major, minor or patch number: JavaScript's `Number.MAX_SAFE_INTEGER`.
pub(super) const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;

/// A number of a bound, as far as it makes a difference to a version.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// A number that a version can have.
    Safe(u64),
    /// A number that is printed in digits and too large for a version.
    TooLarge,
    /// A number that is printed with an exponent, so that it isn't one number of a version.
    Exponential(f64),
}

impl Number {
    /// The number with these digits, however many.
    pub fn written(digits: &str) -> Self {
        safe_integer(digits).map_or(Self::TooLarge, Self::Safe)
    }

    /// `+digits + 1` in JavaScript.
    pub fn after(digits: &str) -> Self {
        match safe_integer(digits) {
            Some(number) if number < MAX_SAFE_INTEGER => Self::Safe(number + 1),
            _ => match nearest_double(digits) + 1.0 {
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
            // The exact number makes no difference to the range.
            Self::TooLarge => (MAX_SAFE_INTEGER + 1).fmt(formatter),
            // This is JavaScript's notation. The standard library's printing of numbers would add 4
            // KB to the wasm.
            Self::Exponential(number) => match serde_json::Number::from_f64(*number) {
                Some(number) => number.fmt(formatter),
                None => formatter.write_str("Infinity"),
            },
        }
    }
}

/// The number with these digits, if a version can have it.
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

/// The double nearest to the number with these digits, like `+digits` in JavaScript. A tie goes to
/// the even one.
///
/// Parsing as `f64` would be right as well, but its tables for fractions and exponents are half as
/// large as all other code that reads versions.
pub(super) fn nearest_double(digits: &str) -> f64 {
    const LIMB_BITS: u32 = 32;
    const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;
    const LIMB_BASE: f64 = 4_294_967_296.0;
    const WINDOW: usize = 3;
    // The least significant limb comes first.
    let mut limbs = vec![0_u64; WINDOW];
    for digit in digits.bytes() {
        let mut carry = u64::from(digit - b'0');
        for limb in &mut limbs {
            carry += *limb * 10;
            *limb = carry & LIMB_MASK;
            carry >>= LIMB_BITS;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let (rest, window) = limbs.split_at(limbs.len() - WINDOW);
    let window = window.iter().rev().fold(0_u128, |bits, &limb| (bits << LIMB_BITS) | u128::from(limb));
    // If there is a rest, the window has more bits than a double, and the rounding depends only on
    // whether the rest is zero.
    let sticky = u128::from(rest.iter().any(|&limb| limb > 0));
    #[expect(clippy::cast_precision_loss, reason = "this is the rounding")]
    let double = (window | sticky) as f64;
    rest.iter().fold(double, |double, _| double * LIMB_BASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_double_is_the_one_that_parsing_finds() {
        let mut numbers: Vec<String> = (53..900).step_by(5).map(|power| power_of_two_plus(power, power - 53)).collect();
        numbers.extend((53..900).step_by(5).map(|power| power_of_two_plus(power, 0)));
        numbers.extend((1..256).map(|length| "9".repeat(length)));
        numbers.extend((0..255).map(|zeros| format!("1{}", "0".repeat(zeros))));
        numbers.extend(["0", "007", "9007199254740993", "9007199254740995", "999999999999999934463"].map(String::from));
        for digits in numbers {
            let parsed: f64 = digits.parse().expect("digits are a number");
            assert_eq!(nearest_double(&digits).to_bits(), parsed.to_bits(), "{digits}");
        }
    }

    /// 2^`power` + 2^`addend`, in decimal digits.
    fn power_of_two_plus(power: usize, addend: usize) -> String {
        let mut digits = vec![0_u8];
        for bit in (0..=power).rev() {
            let mut carry = u8::from(bit == power || bit == addend);
            for digit in &mut digits {
                carry += *digit * 2;
                *digit = carry % 10;
                carry /= 10;
            }
            if carry > 0 {
                digits.push(carry);
            }
        }
        digits.iter().rev().map(|&digit| char::from(b'0' + digit)).collect()
    }
}
