//! A walk through a JSON text that skips most values.
//!
//! A resolution reads a hundredth of a packument's text. A parser that checks the rest spends more
//! time than all decisions together, so values are skipped by their brackets and quotes, 64 bytes
//! at once. Whoever reads a value checks it.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use wide::u8x16;

use crate::plain;

/// The text isn't JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

/// What a parser says is wrong with a malformed text, and where. `T` is the expected shape.
pub fn complaint<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Error {
    let error = serde_json::from_str::<T>(text).err();
    error.unwrap_or_else(|| serde::de::Error::custom("a value has an unexpected type"))
}

/// Reads a member of an object. It gets the key, and a cursor that stands before the value.
type ReadMember<'r, 'a> = dyn FnMut(&mut Cursor<'a>, Quoted) -> Result<(), Malformed> + 'r;

/// A string in a text.
#[derive(Clone, Debug)]
pub struct Quoted {
    /// Its place, with the quotes.
    pub place: Range<usize>,
    /// Whether it is valid and means what stands between the quotes.
    pub is_plain: bool,
}

impl Quoted {
    /// The place of what stands between the quotes.
    pub fn inside(&self) -> Range<usize> {
        self.place.start + 1..self.place.end - 1
    }

    /// Checks that the string is valid.
    pub fn check(&self, text: &str) -> Result<(), Malformed> {
        if self.is_plain { Ok(()) } else { self.read(text).map(drop) }
    }

    /// What the string means.
    pub fn read<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, Malformed> {
        if self.is_plain {
            return Ok(Cow::Borrowed(&text[self.inside()]));
        }
        serde_json::from_str(&text[self.place.clone()]).map(Cow::Owned).map_err(|_| Malformed)
    }
}

/// A position in a text.
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Memory for [`Self::check_brackets`].
    around: Vec<u8>,
}

/// Calls `read` for each member of the object that is this text, with the place of its value, in
/// the order of the text. The values aren't checked.
pub fn each_member<'a>(text: &'a str, read: &mut dyn FnMut(Cow<'a, str>, Range<usize>)) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(text);
    if !cursor.enter() {
        return Err(Malformed);
    }
    let mut is_first = true;
    while let Some(key) = cursor.key(is_first)? {
        let value = cursor.value()?;
        read(key, value);
        is_first = false;
    }
    cursor.end()
}

/// Bit `n` tells whether byte `n` of a block is such a character.
struct Block {
    quotes: u64,
    backslashes: u64,
    opening: u64,
    closing: u64,
}

const SIZE: usize = 64;

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, around: Vec::new() }
    }

    /// Enters an object. `false` if the next value is something else.
    pub fn enter(&mut self) -> bool {
        self.take(b'{')
    }

    /// The next key of the object that was entered, or nothing at its end. The cursor then stands
    /// before the value, or after the object. `is_first` is for the first key.
    pub fn key(&mut self, is_first: bool) -> Result<Option<Cow<'a, str>>, Malformed> {
        let key = self.quoted_key(is_first)?;
        key.map(|key| key.read(self.text)).transpose()
    }

    fn quoted_key(&mut self, is_first: bool) -> Result<Option<Quoted>, Malformed> {
        if self.take(b'}') {
            return Ok(None);
        }
        if !is_first && !self.take(b',') {
            return Err(Malformed);
        }
        self.skip_space();
        let key = self.string()?;
        if self.take(b':') { Ok(Some(key)) } else { Err(Malformed) }
    }

    /// Calls `read` for each member of the object that comes next. `read` has to take the value.
    pub fn members(&mut self, read: &mut ReadMember<'_, 'a>) -> Result<(), Malformed> {
        if !self.enter() {
            return Err(Malformed);
        }
        let mut is_first = true;
        while let Some(key) = self.quoted_key(is_first)? {
            read(self, key)?;
            is_first = false;
        }
        Ok(())
    }

    /// Whether the next value is an object.
    pub fn is_at_object(&mut self) -> bool {
        self.skip_space();
        self.next() == Some(b'{')
    }

    /// Checks a value, skips it, and returns its place in the text.
    pub fn checked(&mut self) -> Result<Range<usize>, Malformed> {
        self.skip_space();
        let start = self.at;
        match self.next() {
            Some(b'"') => self.string()?.check(self.text)?,
            Some(b'{' | b'[') => self.check_brackets()?,
            _ => {
                self.value()?;
            }
        }
        Ok(start..self.at)
    }

    /// Checks and skips the object or array that starts here.
    fn check_brackets(&mut self) -> Result<(), Malformed> {
        // The closing brackets of the objects and arrays around the next value.
        let mut around = std::mem::take(&mut self.around);
        around.clear();
        loop {
            let closing = match self.next() {
                Some(b'{') => Some(b'}'),
                Some(b'[') => Some(b']'),
                Some(b'"') => {
                    self.string()?.check(self.text)?;
                    None
                }
                _ => {
                    self.value()?;
                    None
                }
            };
            let mut is_first = closing.is_some();
            self.at += usize::from(is_first);
            around.extend(closing);
            loop {
                let Some(&closing) = around.last() else {
                    self.around = around;
                    return Ok(());
                };
                if !self.take(closing) {
                    break;
                }
                around.pop();
                is_first = false;
            }
            if !is_first && !self.take(b',') {
                return Err(Malformed);
            }
            self.skip_space();
            if around.last() == Some(&b'}') {
                self.string()?.check(self.text)?;
                if !self.take(b':') {
                    return Err(Malformed);
                }
                self.skip_space();
            }
        }
    }

    /// Skips a value and returns its place in the text.
    pub fn value(&mut self) -> Result<Range<usize>, Malformed> {
        self.skip_space();
        let start = self.at;
        match self.next() {
            Some(b'{' | b'[') => self.at = end_of_brackets(self.text.as_bytes(), start).ok_or(Malformed)?,
            Some(b'"') => {
                self.string()?;
            }
            _ => {
                let rest = &self.text[start..];
                // What follows is the caller's concern.
                if let Some(literal) = ["true", "false", "null"].into_iter().find(|literal| rest.starts_with(literal)) {
                    self.at += literal.len();
                    return Ok(start..self.at);
                }
                self.at += rest.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
                serde_json::from_str::<IgnoredAny>(&self.text[start..self.at]).map_err(|_| Malformed)?;
            }
        }
        Ok(start..self.at)
    }

    /// Checks that nothing but white space follows.
    pub fn end(mut self) -> Result<(), Malformed> {
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { Err(Malformed) }
    }

    /// Skips a string.
    fn string(&mut self) -> Result<Quoted, Malformed> {
        let start = self.at;
        if self.next() != Some(b'"') {
            return Err(Malformed);
        }
        let bytes = self.text.as_bytes();
        let unusual = plain::first_unusual(bytes, start + 1);
        let is_plain = bytes.get(unusual) == Some(&b'"');
        self.at = if is_plain { unusual + 1 } else { end_of_string(bytes, unusual).ok_or(Malformed)? };
        Ok(Quoted { place: start..self.at, is_plain })
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes this character if it is next, after white space.
    fn take(&mut self, wanted: u8) -> bool {
        self.skip_space();
        let is_next = self.next() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        // A text on one line has none in most places.
        if self.next().is_some_and(|next| next > b' ') {
            return;
        }
        while let Some(rest) = self.text.as_bytes().get(self.at..).filter(|rest| !rest.is_empty()) {
            let spaces = leading_spaces(rest);
            self.at += spaces;
            if spaces < 16 {
                return;
            }
        }
    }
}

impl Block {
    /// The blocks of a text from this place on, with their places. The last one is filled up with
    /// spaces.
    fn all(bytes: &[u8], start: usize) -> impl Iterator<Item = (usize, Self)> {
        (start..bytes.len()).step_by(SIZE).map(|at| match bytes[at..].first_chunk() {
            Some(block) => (at, Self::of(block)),
            None => {
                let mut last = [b' '; SIZE];
                last[..bytes.len() - at].copy_from_slice(&bytes[at..]);
                (at, Self::of(&last))
            }
        })
    }

    fn of(bytes: &[u8; SIZE]) -> Self {
        let mut block = Self { quotes: 0, backslashes: 0, opening: 0, closing: 0 };
        for (index, piece) in bytes.as_chunks::<16>().0.iter().enumerate() {
            let piece = u8x16::new(*piece);
            // This bit is the only difference between `[` and `{`, and between `]` and `}`.
            let braces = piece | u8x16::splat(b'{' ^ b'[');
            let those =
                |piece: u8x16, wanted| u64::from(piece.simd_eq(u8x16::splat(wanted)).to_bitmask()) << (16 * index);
            block.quotes |= those(piece, b'"');
            block.backslashes |= those(piece, b'\\');
            block.opening |= those(braces, b'{');
            block.closing |= those(braces, b'}');
        }
        block
    }

    /// The quotes that begin or end a string. `is_escaped` tells whether a backslash escapes the
    /// first character, and then whether one escapes the first character of the next block.
    fn bounds(&self, is_escaped: &mut bool) -> u64 {
        if self.backslashes == 0 && !*is_escaped {
            return self.quotes;
        }
        let mut escaped = 0;
        for index in 0..SIZE {
            escaped |= u64::from(*is_escaped) << index;
            *is_escaped = !*is_escaped && self.backslashes >> index & 1 == 1;
        }
        self.quotes & !escaped
    }
}

/// The number of leading white space characters, at most sixteen.
fn leading_spaces(text: &[u8]) -> usize {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let Some(piece) = text.first_chunk() else {
        return text.iter().take_while(|&&byte| is_space(byte)).count();
    };
    let piece = u8x16::new(*piece);
    let those = |wanted| piece.simd_eq(u8x16::splat(wanted));
    let spaces = those(b' ') | those(b'\t') | those(b'\n') | those(b'\r');
    (!spaces.to_bitmask()).trailing_zeros().min(16) as usize
}

/// The end of the string that this character, which isn't escaped, belongs to.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut is_escaped = false;
    Block::all(bytes, start).find_map(|(at, block)| {
        let bounds = block.bounds(&mut is_escaped);
        (bounds != 0).then(|| at + bounds.trailing_zeros() as usize + 1)
    })
}

/// The end of the array or object that starts here.
fn end_of_brackets(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0;
    // Whether the block before ended inside of a string (all bits or none), and whether it ended
    // with an escaping backslash.
    let (mut in_string, mut is_escaped) = (0, false);
    for (at, block) in Block::all(bytes, start) {
        let inside = up_to_each(block.bounds(&mut is_escaped)) ^ in_string;
        in_string = if inside >> (SIZE - 1) == 1 { u64::MAX } else { 0 };
        let (opening, closing) = (block.opening & !inside, block.closing & !inside);
        // Most blocks can't contain the end.
        if closing.count_ones() >= depth {
            let mut ends = closing;
            while ends != 0 {
                let before = (ends & ends.wrapping_neg()) - 1;
                if depth + (opening & before).count_ones() == (closing & before).count_ones() + 1 {
                    return Some(at + ends.trailing_zeros() as usize + 1);
                }
                ends &= ends - 1;
            }
        }
        depth = depth + opening.count_ones() - closing.count_ones();
    }
    None
}

/// Each bit is the parity of the bits up to and including it.
fn up_to_each(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, distance| bits ^ bits << distance)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{Cursor, Malformed};

    /// The members of the object that is the text, with the text of each value.
    fn members(text: &str) -> Result<Vec<(String, String)>, Malformed> {
        let mut cursor = Cursor::new(text);
        assert!(cursor.enter());
        let mut members = Vec::new();
        while let Some(key) = cursor.key(members.is_empty())? {
            members.push((key.into_owned(), text[cursor.value()?].to_owned()));
        }
        cursor.end()?;
        Ok(members)
    }

    fn values() -> impl Strategy<Value = Value> {
        let texts = prop_oneof![r#"[\\"{}\[\]a]{0,70}"#, ".{0,20}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            texts.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::hash_map(r#"[\\"{}a]{0,9}"#, inner, 0..8)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_end_where_a_parser_finds_their_end(
            list in prop::collection::vec((r#"[\\"{}a]{0,9}"#, values()), 0..6),
            pretty: bool,
        ) {
            let written = |value: &Value| {
                if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.expect("text")
            };
            let members_written: Vec<_> = list.iter().map(|(key, value)| (key.clone(), written(value))).collect();
            let space = if pretty { "\n " } else { "" };
            let join = |(key, value): &(String, String)| format!("{space}{}{space}:{space}{value}{space}", Value::from(key.as_str()));
            let text = format!("{{{}{space}}}{space}", members_written.iter().map(join).collect::<Vec<_>>().join(","));
            prop_assert_eq!(members(&text), Ok(members_written));
        }

        #[test]
        fn a_value_is_checked_as_a_parser_checks_it(
            value in values(),
            pretty: bool,
            at in 0..200_usize,
            with in prop_oneof![Just(None), r#"[{}\[\]",:\\u0 \x00-\x1f]{0,2}"#.prop_map(Some)],
        ) {
            let written = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let mut text = written.expect("text");
            let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
            let start = starts[at % starts.len()];
            text.replace_range(start..start, &with.unwrap_or_default());
            let mut cursor = Cursor::new(&text);
            let is_valid = cursor.checked().and_then(|_| cursor.end()).is_ok();
            prop_assert_eq!(is_valid, serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        }

        #[test]
        fn no_text_makes_a_panic(text in r#"\{[{}\[\]",:\\ a0é]{0,200}"#) {
            let _ = members(&text);
        }
    }

    #[test]
    fn a_text_that_ends_early_is_malformed() {
        let whole = format!(r#"{{"a":{{"b":"\\\"{}"}},"c":[1,{{}}],"d":null}}"#, "}".repeat(100));
        assert_eq!(members(&whole).map(|members| members.len()), Ok(3));
        for end in 1..whole.len() {
            assert_eq!(members(&whole[..end]), Err(Malformed), "{end}");
        }
    }

    #[test]
    fn members_without_separators_are_malformed() {
        for text in [r#"{"a"1}"#, r#"{"a":1 "b":2}"#, r#"{,"a":1}"#, r#"{"a":}"#, r#"{"a":1}}"#, r"{a:1}", r#"{"a":x}"#]
        {
            assert_eq!(members(text), Err(Malformed), "{text}");
        }
    }
}
