//! Compresses texts of JSON that stay in this memory, with little code. Nothing else reads the
//! format, and a library with a common format would weigh three times as much.
//!
//! The format is LZ77 without entropy coding. A sequence is a number of literal bytes, these bytes,
//! the distance of a repetition, and its length. Numbers are LEB128.
//!
//! A repetition begins at a quotation mark. What repeats in a packument is names and values, and
//! this way, an eighth of the positions is looked up. Texts take a tenth more memory than with a
//! lookup at every position, and a third of the time.

/// The number of bytes that are looked up. A shorter repetition isn't worth its two numbers.
const SHORTEST: usize = size_of::<u64>();
const SLOTS_BITS: u32 = 12;

/// Compresses a text.
pub fn compress(text: &[u8]) -> Box<[u8]> {
    let mut packed = Vec::with_capacity(text.len() / 3);
    // The last position of a quotation mark with each hash. If there is none, the bytes at zero are
    // compared in vain.
    let mut seen = vec![0; 1 << SLOTS_BITS];
    let (mut at, mut plain) = (0, 0);
    while let Some(quote) = memchr::memchr(b'"', &text[at..]) {
        at += quote;
        let Some(next) = word(text, at) else { break };
        let before: usize = std::mem::replace(&mut seen[slot(next)], at);
        let length = if before < at { common(text, before, at) } else { 0 };
        if length < SHORTEST {
            at += 1;
            continue;
        }
        add(&mut packed, &text[plain..at], at - before, length);
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

/// The number of bytes that are equal from two positions on. It ignores up to seven bytes at the
/// end of the text.
fn common(text: &[u8], before: usize, at: usize) -> usize {
    let mut length = 0;
    while let Some((one, other)) = word(text, before + length).zip(word(text, at + length)) {
        let difference = one ^ other;
        if difference != 0 {
            return length + difference.trailing_zeros() as usize / 8;
        }
        length += size_of::<u64>();
    }
    length
}

fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

fn slot(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SLOTS_BITS)) as usize
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
            again(format!("\"{text}\"{text}\"").as_bytes());
        }
        for count in 0..40 {
            again("\"".repeat(count).as_bytes());
        }
        let mut random = 1u32;
        for range in [2, 3, 5, 256] {
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((random >> 8) % range).to_le_bytes()[0].wrapping_add(b'"')
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
