//! Compresses texts that stay in this memory, with little code. Nothing else reads the format, and
//! a library with a common format would weigh three times as much.
//!
//! The format is LZ77 without entropy coding. A sequence is a number of literal bytes, these bytes,
//! the distance of a repetition, and its length. Numbers are LEB128.

/// A shorter repetition isn't worth its two numbers.
const SHORTEST: usize = 5;
const SLOTS_BITS: u32 = 13;
/// After this number of bytes without a repetition, each step skips another byte, because hashes
/// and signatures have none.
const PATIENCE: usize = 16;

/// Compresses a text.
pub fn compress(text: &[u8]) -> Box<[u8]> {
    let mut packed = Vec::with_capacity(text.len() / 3);
    // The last position of bytes with each hash, counted from one.
    let mut seen = vec![0; 1 << SLOTS_BITS];
    let (mut at, mut plain) = (0, 0);
    while let Some(next) = text.get(at..at + SHORTEST) {
        let before: usize = std::mem::replace(&mut seen[slot(next)], at + 1);
        let Some(from) = before.checked_sub(1).filter(|&from| text[from..].starts_with(next)) else {
            at += 1 + (at - plain) / PATIENCE;
            continue;
        };
        let length = text[at..].iter().zip(&text[from..]).take_while(|(one, other)| one == other).count();
        add(&mut packed, &text[plain..at], at - from, length);
        at += length;
        plain = at;
    }
    add(&mut packed, &text[plain..], 0, 0);
    packed.into()
}

/// Restores a text of this length.
pub fn decompress(mut packed: &[u8], length: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(length);
    while !packed.is_empty() {
        let literals = number(&mut packed);
        let (plain, rest) = packed.split_at(literals);
        text.extend_from_slice(plain);
        packed = rest;
        let start = text.len() - number(&mut packed);
        let end = text.len() + number(&mut packed);
        // A repetition can overlap itself.
        while text.len() < end {
            text.extend_from_within(start..text.len().min(start + end - text.len()));
        }
    }
    text
}

fn slot(bytes: &[u8]) -> usize {
    let hash = bytes.iter().take(4).fold(0u32, |sum, byte| sum << 8 | u32::from(*byte)).wrapping_mul(0x9e37_79b1);
    (hash >> (u32::BITS - SLOTS_BITS)) as usize
}

fn add(packed: &mut Vec<u8>, plain: &[u8], back: usize, length: usize) {
    push(packed, plain.len());
    packed.extend_from_slice(plain);
    push(packed, back);
    push(packed, length);
}

fn push(packed: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        packed.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    packed.push(number.to_le_bytes()[0]);
}

fn number(packed: &mut &[u8]) -> usize {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let Some((&byte, rest)) = packed.split_first() else { break };
        *packed = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::{compress, decompress};

    fn again(text: &[u8]) -> usize {
        let packed = compress(text);
        assert_eq!(decompress(&packed, text.len()), text);
        packed.len()
    }

    #[test]
    fn a_text_is_had_again() {
        for text in ["", "a", "abcd", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abcabcabcabcabcabcab", "é{}é{}é{}é{}é{}"] {
            again(text.as_bytes());
        }
        let mut random = 1u32;
        for range in [2, 3, 5, 256] {
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((random >> 8) % range).to_le_bytes()[0]
            })
            .take(70_000)
            .collect();
            for length in [5, 127, 128, 129, 16_383, 16_384, 16_385, 70_000] {
                again(&bytes[..length]);
            }
        }
    }

    #[test]
    fn a_packument_takes_a_part_of_its_room() {
        let entry = |version: usize| {
            format!(
                r#""1.{version}.0":{{"name":"express","version":"1.{version}.0","dependencies":{{"qs":"6.{version}.0"}}}},"#
            )
        };
        let text: String = (0..400).map(entry).collect();
        assert!(again(text.as_bytes()) * 4 < text.len());
    }
}
