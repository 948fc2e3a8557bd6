//! Strings that mean what stands between their quotes, as nearly all do.

use wide::u8x16;

/// The characters of a piece that a string can't contain as they are: quotation marks, backslashes
/// and control characters. Bit `n` stands for byte `n`.
fn unusual(piece: &[u8; 16]) -> u32 {
    let piece = u8x16::new(*piece);
    let is_control = piece.simd_eq(piece.min(u8x16::splat(b' ' - 1)));
    (is_control | piece.simd_eq(u8x16::splat(b'"')) | piece.simd_eq(u8x16::splat(b'\\'))).to_bitmask()
}

/// Whether a text between quotes is a JSON string.
pub fn needs_no_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes.last_chunk() {
        // The last piece overlaps the one before.
        Some(last) => bytes.as_chunks().0.iter().chain([last]).all(|piece| unusual(piece) == 0),
        None => {
            let mut piece = [b' '; 16];
            piece[..bytes.len()].copy_from_slice(bytes);
            unusual(&piece) == 0
        }
    }
}

/// The place of the first quotation mark, backslash or control character from `start` on, or the end
/// of the text.
pub fn first_unusual(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let (pieces, tail) = rest.as_chunks();
    for (index, piece) in pieces.iter().enumerate() {
        let unusual = unusual(piece);
        if unusual != 0 {
            return start + 16 * index + unusual.trailing_zeros() as usize;
        }
    }
    let length = match text.last_chunk() {
        // The last piece overlaps the one before.
        Some(last) => ((unusual(last) >> (16 - tail.len())).trailing_zeros() as usize).min(tail.len()),
        None => tail.iter().take_while(|&&byte| byte >= b' ' && byte != b'"' && byte != b'\\').count(),
    };
    text.len() - tail.len() + length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{first_unusual, needs_no_escapes};

    proptest! {
        #[test]
        fn all_characters_are_looked_at(text in "[a é\"\\\\\n]{0,40}|[a-f]{0,50}", start in 0..50_usize) {
            let start = (0..=start.min(text.len())).rev().find(|&start| text.is_char_boundary(start)).unwrap_or(0);
            let is_unusual = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
            let rest = text.as_bytes()[start..].iter();
            let expected = rest.clone().position(is_unusual).map_or(text.len(), |found| start + found);
            prop_assert_eq!(first_unusual(text.as_bytes(), start), expected);
            prop_assert_eq!(needs_no_escapes(&text[start..]), expected == text.len());
        }
    }
}
