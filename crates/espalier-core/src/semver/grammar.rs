//! The grammar of versions and partial versions: where each part begins and ends.
//!
//! node-semver writes this grammar as regular expressions. The functions here accept the same
//! texts, including the effects of backtracking and of bounds on repetition, in one pass over the
//! bytes.

use std::ops::Range;

use super::number::safe_integer;

/// The maximum length of a version with the white space around it, in UTF-16 units.
pub(super) const MAX_LENGTH: usize = 256;

/// The maximum number of digits. It is one more where the first digit is matched separately.
const MAX_DIGITS: usize = 256;
/// The maximum length of what follows the first letter or hyphen of an identifier, and of a build
/// identifier.
const MAX_IDENTIFIER_TAIL: usize = 250;

/// One of node-semver's two grammars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    Strict,
    /// Also accepts leading zeros, any mixture of `v`, `=` and white space in front, and
    /// `1.2.3beta`.
    Loose,
}

/// The parts of a version, some of whose numbers may be missing or wildcards (`x`, `X`, `*`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Partial<'text> {
    /// The digits. `None` for a wildcard.
    pub major: Option<&'text str>,
    /// The digits. `None` for a wildcard or a missing number.
    pub minor: Option<&'text str>,
    /// The digits. `None` for a wildcard or a missing number.
    pub patch: Option<&'text str>,
    /// The text without the leading hyphen.
    pub prerelease: Option<&'text str>,
    /// The text without the leading plus sign.
    pub build: Option<&'text str>,
}

impl<'text> Partial<'text> {
    /// Splits `text`. `None` unless all of it is a partial version.
    pub fn scan(text: &'text str, grammar: Grammar) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut numbers = [None; 3];
        let mut start = 0;
        let mut end = 0;
        for (index, number) in numbers.iter_mut().enumerate() {
            if index > 0 {
                match bytes.get(end) {
                    Some(b'.') => start = end + 1,
                    Some(_) => return None,
                    None => break,
                }
            }
            end = number_or_wildcard_end(bytes, start, grammar)?;
            *number = bytes[start].is_ascii_digit().then(|| &text[start..end]);
        }
        let [major, minor, patch] = numbers;
        let mut partial = Self { major, minor, patch, prerelease: None, build: None };
        if end == bytes.len() {
            return Some(partial);
        }
        // In loose mode, `1.2.34.5` is 1.2.3-4.5: the regular expression can't continue after the
        // whole number, so it gives the last digit to the prerelease, which needs no hyphen.
        if grammar == Grammar::Loose && bytes[end] == b'.' && patch.is_some() && end - start > 1 {
            end -= 1;
            partial.patch = Some(&text[start..end]);
        }
        if let Some(prerelease) = prerelease(bytes, end, grammar) {
            end = prerelease.end;
            partial.prerelease = Some(&text[prerelease]);
        }
        if let Some(build) = build(bytes, end, MAX_IDENTIFIER_TAIL) {
            end = build.end;
            partial.build = Some(&text[build]);
        }
        (end == bytes.len()).then_some(partial)
    }

    /// The numbers. `None` if one is missing or too large.
    pub fn numbers(&self) -> Option<[u64; 3]> {
        Some([safe_integer(self.major?)?, safe_integer(self.minor?)?, safe_integer(self.patch?)?])
    }

    /// Whether major, minor and patch are all numbers.
    pub fn is_full(&self) -> bool {
        self.major.is_some() && self.minor.is_some() && self.patch.is_some()
    }
}

/// A number with this many digits is never too large.
const FEW_DIGITS: usize = 15;

/// The numbers of a version that consists of nothing else, as most do. Both grammars agree about
/// it. `None` for any other text.
pub(super) fn plain(text: &str) -> Option<[u64; 3]> {
    let bytes = text.as_bytes();
    let mut numbers = [0; 3];
    let mut at = 0;
    for (index, number) in numbers.iter_mut().enumerate() {
        if index > 0 {
            if bytes.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let start = at;
        while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            *number = *number * 10 + u64::from(digit);
            at += 1;
            if at - start > FEW_DIGITS {
                return None;
            }
        }
        if at == start || (at - start > 1 && bytes[start] == b'0') {
            return None;
        }
    }
    (at == bytes.len()).then_some(numbers)
}

/// The major number of a text that can only be a version with that number, if it is one at all.
/// `None` if more has to be read.
pub(super) fn leading_number(text: &str) -> Option<u64> {
    let mut number = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' if index < FEW_DIGITS => number = number * 10 + u64::from(byte - b'0'),
            b'.' if index == 1 || index > 1 && !text.starts_with('0') => return Some(number),
            _ => return None,
        }
    }
    None
}

/// Trims like JavaScript's `trim`.
pub(super) fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim_matches(is_whitespace),
    }
}

/// Whether JavaScript's `\s` and `trim` treat a character as white space. Unicode differs.
pub(super) fn is_whitespace(character: char) -> bool {
    match character {
        '\t'..='\r' | ' ' | '\u{feff}' => true,
        '\u{85}' => false,
        _ => !character.is_ascii() && character.is_whitespace(),
    }
}

/// Removes any mixture of `v`, `=` and white space in front of a version.
pub(super) fn strip_prefix(text: &str) -> &str {
    if text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return text;
    }
    text.trim_start_matches(|character| character == 'v' || character == '=' || is_whitespace(character))
}

/// The position of build metadata whose plus sign is at `at`, without the plus sign.
pub(super) fn build(bytes: &[u8], at: usize, max_identifier: usize) -> Option<Range<usize>> {
    if bytes.get(at) != Some(&b'+') {
        return None;
    }
    let identifier_end = |start: usize| {
        let length = run(bytes, start, max_identifier, is_identifier_byte);
        (length > 0).then_some(start + length)
    };
    Some(at + 1..dotted_end(bytes, at + 1, identifier_end)?)
}

/// The end of the longest version or partial version that begins at `start`, whatever follows it.
/// node-semver recognises it when it closes up `>= 1.2.3`. Build metadata isn't included.
pub(super) fn version_end(bytes: &[u8], start: usize) -> Option<usize> {
    loose_version_end(bytes, start).or_else(|| {
        let mut end = number_or_wildcard_end(bytes, start, Grammar::Strict)?;
        for _ in 0..2 {
            let next = (bytes.get(end) == Some(&b'.'))
                .then(|| number_or_wildcard_end(bytes, end + 1, Grammar::Strict))
                .flatten();
            match next {
                Some(next) => end = next,
                None => return Some(end),
            }
        }
        Some(prerelease(bytes, end, Grammar::Strict).map_or(end, |prerelease| prerelease.end))
    })
}

fn loose_version_end(bytes: &[u8], start: usize) -> Option<usize> {
    let number_end = |at: usize| {
        let length = run(bytes, at, MAX_DIGITS, |byte| byte.is_ascii_digit());
        (length > 0).then_some(at + length)
    };
    let dot = |at: usize| (bytes.get(at) == Some(&b'.')).then_some(at + 1);
    let patch_end = number_end(dot(number_end(dot(number_end(start)?)?)?)?)?;
    Some(prerelease(bytes, patch_end, Grammar::Loose).map_or(patch_end, |prerelease| prerelease.end))
}

fn number_or_wildcard_end(bytes: &[u8], start: usize, grammar: Grammar) -> Option<usize> {
    match (bytes.get(start)?, grammar) {
        (b'x' | b'X' | b'*', _) | (b'0', Grammar::Strict) => Some(start + 1),
        (b'0'..=b'9', _) => Some(start + digits(bytes, start, grammar)),
        _ => None,
    }
}

/// How many of the digits at `start`, of which there is at least one, the grammar takes for one
/// number.
fn digits(bytes: &[u8], start: usize, grammar: Grammar) -> usize {
    let bound = match grammar {
        Grammar::Strict => MAX_DIGITS + 1,
        Grammar::Loose => MAX_DIGITS,
    };
    run(bytes, start, bound, |byte| byte.is_ascii_digit())
}

/// The position of the prerelease that begins at `at`, without its hyphen.
fn prerelease(bytes: &[u8], at: usize, grammar: Grammar) -> Option<Range<usize>> {
    let hyphen = bytes.get(at) == Some(&b'-');
    if !hyphen && grammar == Grammar::Strict {
        return None;
    }
    let end_from = |start| dotted_end(bytes, start, |start| identifier_end(bytes, start, grammar));
    let after_hyphen = hyphen.then(|| end_from(at + 1).map(|end| at + 1..end)).flatten();
    match grammar {
        Grammar::Strict => after_hyphen,
        // The hyphen is optional, so a single one is the identifier itself: `1.2.3-` is 1.2.3--.
        Grammar::Loose => after_hyphen.or_else(|| end_from(at).map(|end| at..end)),
    }
}

/// The end of the prerelease identifier that begins at `start`.
fn identifier_end(bytes: &[u8], start: usize, grammar: Grammar) -> Option<usize> {
    let leading_digits = run(bytes, start, MAX_DIGITS, |byte| byte.is_ascii_digit());
    let letter = start + leading_digits;
    if bytes.get(letter).is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'-') {
        return Some(letter + 1 + run(bytes, letter + 1, MAX_IDENTIFIER_TAIL, is_identifier_byte));
    }
    match (bytes.get(start)?, grammar) {
        (b'0', Grammar::Strict) => Some(start + 1),
        (b'0'..=b'9', _) => Some(start + digits(bytes, start, grammar)),
        _ => None,
    }
}

/// The end of a list of at least one identifier, separated by dots.
fn dotted_end(bytes: &[u8], start: usize, identifier_end: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let mut end = identifier_end(start)?;
    while bytes.get(end) == Some(&b'.') {
        match identifier_end(end + 1) {
            Some(next) => end = next,
            None => break,
        }
    }
    Some(end)
}

/// The number of accepted bytes from `start` on, up to a maximum.
fn run(bytes: &[u8], start: usize, bound: usize, accepts: impl Fn(u8) -> bool) -> usize {
    let limit = bytes.len().min(start.saturating_add(bound));
    let mut end = start;
    while end < limit && accepts(bytes[end]) {
        end += 1;
    }
    end - start
}

fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
