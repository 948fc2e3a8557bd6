//! The order of ICU's `en` collation, which npm uses through JavaScript's `localeCompare(…, 'en')`.
//!
//! Strings are compared by the primary weights of all characters first, which ignore case, and only
//! then by case, lower before upper. The weights of ASCII were measured. Other letters are ordered
//! by code point after `z`; registry names never need them.

use std::cmp::Ordering;

/// ASCII in the order of primary weights. Both cases of a letter share a weight.
const ORDER: &[u8] = b"\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

const PRIMARY: [u8; 128] = {
    let mut table = [0u8; 128];
    let mut index = 0;
    while index < ORDER.len() {
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 128 weights")]
        let weight = index as u8 + 1;
        table[ORDER[index] as usize] = weight;
        index += 1;
    }
    let mut letter = b'a';
    while letter <= b'z' {
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 128 weights")]
        let weight = ORDER.len() as u8 + 1 + (letter - b'a');
        table[letter as usize] = weight;
        table[letter.to_ascii_uppercase() as usize] = weight;
        letter += 1;
    }
    table
};

/// The primary weight. It is 0 for control characters, which collation ignores.
fn primary(character: char) -> u32 {
    match u8::try_from(character) {
        Ok(byte) if byte < 128 => u32::from(PRIMARY[byte as usize]),
        _ => u32::from(character) + 128,
    }
}

/// Compares like `a.localeCompare(b, 'en')`.
pub fn compare(a: &str, b: &str) -> Ordering {
    // Paths have long common prefixes, which decide nothing, so they are skipped in pieces.
    let (left, right) = (a.as_bytes(), b.as_bytes());
    let same = 8 * left.as_chunks::<8>().0.iter().zip(right.as_chunks::<8>().0).take_while(|(x, y)| x == y).count();
    // Nearly always, the first different characters decide.
    let (x, y) = left[same..].iter().zip(&right[same..]).find(|(x, y)| x != y).unwrap_or((&0, &0));
    let weight = |byte: u8| PRIMARY.get(usize::from(byte)).copied().unwrap_or_default();
    let (x, y) = (weight(*x), weight(*y));
    if x != y && x != 0 && y != 0 {
        return x.cmp(&y);
    }
    if a.is_ascii() && b.is_ascii() {
        return weights(left).cmp(weights(right)).then_with(|| case(characters(left)).cmp(case(characters(right))));
    }
    let all = |text: &str| text.chars().map(primary).filter(|&weight| weight != 0).collect::<Vec<_>>();
    all(a).cmp(&all(b)).then_with(|| case(a.chars()).cmp(case(b.chars())))
}

/// A text whose place in the order is computed once, for long sorts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(Box<[u8]>);

impl Key {
    /// The key of a text. Keys have the order of their texts.
    pub fn of(text: &str) -> Self {
        let mut key = Vec::with_capacity(text.len() + 1);
        if text.is_ascii() {
            key.extend(text.bytes().map(|byte| PRIMARY[usize::from(byte & 0x7f)]));
            if key.contains(&0) {
                key.retain(|&weight| weight != 0);
            }
        } else {
            for weight in text.chars().map(primary).filter(|&weight| weight != 0) {
                match u8::try_from(weight) {
                    Ok(weight) if weight < WIDE => key.push(weight),
                    // Its first byte is above the weights of ASCII.
                    _ => key.extend((weight | u32::from(WIDE) << 24).to_be_bytes()),
                }
            }
        }
        // No weight is 0, so a text precedes those that continue it.
        key.push(0);
        // Lower case precedes upper case, so a text without the latter needs no mark. A look at every
        // byte is faster than one that can end early.
        let has_upper_case = text.bytes().fold(false, |found, byte| found | byte.is_ascii_uppercase());
        if has_upper_case || !text.is_ascii() {
            key.extend(case(text.chars()).map(u8::from));
        }
        Self(key.into())
    }
}

/// The first byte of weights that take four.
const WIDE: u8 = 0x80;

/// The primary weights of ASCII characters, without ignored ones.
fn weights(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter().map(|&byte| PRIMARY[byte as usize]).filter(|&weight| weight != 0)
}

fn characters(text: &[u8]) -> impl Iterator<Item = char> {
    text.iter().copied().map(char::from)
}

fn case(characters: impl Iterator<Item = char>) -> impl Iterator<Item = bool> {
    characters.filter(|&character| primary(character) != 0).map(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::{Key, compare};
    use proptest::prelude::*;
    use std::cmp::Ordering::{Equal, Greater, Less};

    proptest! {
        #[test]
        fn keys_have_the_order_of_their_texts(a in "[ -~\\x01é\\u{10ffff}]{0,6}", b in "[aAbéÉ\\x01/\\u{10ffff}-]{0,6}") {
            prop_assert_eq!(Key::of(&a).cmp(&Key::of(&b)), compare(&a, &b));
            prop_assert_eq!(Key::of(&b).cmp(&Key::of(&a)), compare(&b, &a));
        }

        #[test]
        fn what_both_begin_with_does_not_count(same in "[ -~\\x01]{0,40}", a in "[ -~\\x01]{0,9}", b in "[ -~\\x01]{0,9}") {
            prop_assert_eq!(compare(&format!("{same}{a}"), &format!("{same}{b}")), compare(&a, &b));
        }
    }

    #[test]
    fn punctuation_precedes_digits_and_digits_precede_letters() {
        assert_eq!(compare("_", "-"), Less);
        assert_eq!(compare("a/b", "a-b"), Greater);
        assert_eq!(compare("$", "0"), Less);
        assert_eq!(compare("9", "a"), Less);
    }

    #[test]
    fn case_decides_only_between_equal_letters() {
        assert_eq!(compare("a", "B"), Less);
        assert_eq!(compare("a", "A"), Less);
        assert_eq!(compare("ab", "Aa"), Greater);
        assert_eq!(compare("JSONStream", "jsonstream"), Greater);
        assert_eq!(compare("x", "x"), Equal);
    }

    #[test]
    fn a_prefix_comes_first() {
        assert_eq!(compare("node_modules/a", "node_modules/a-b"), Less);
        assert_eq!(compare("@babel/core", "@babel/core/node_modules/x"), Less);
    }
}
