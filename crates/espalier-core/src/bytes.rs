//! Questions about all bytes of a short text.

/// Whether a text contains a byte of this kind. All bytes are looked at, even after the first one,
/// because a processor compares many at once.
pub fn contain(text: &str, is_such: impl Fn(u8) -> bool) -> bool {
    text.bytes().filter(|&byte| is_such(byte)).count() > 0
}
