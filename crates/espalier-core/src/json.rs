//! JSON as JavaScript reads it.
//!
//! The reader keeps positions for error messages, and the indentation and newline that npm
//! preserves (`json-parse-even-better-errors`).

use serde_json::{Map, Value};

use crate::cursor::{self, Malformed};
use crate::order;

/// Some fields of an object. If a field is repeated, the last one counts, as in JavaScript.
#[derive(Default)]
pub struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    /// Reads the wanted fields and skips the others, which aren't checked.
    pub fn read(text: &str, wanted: &[&'static str]) -> Result<Self, serde_json::Error> {
        let mut fields = Self::default();
        members(text, wanted, |key, value| {
            fields.set(key, serde_json::from_str(value)?);
            Ok(())
        })?;
        Ok(fields)
    }

    /// Adds a field.
    pub fn set(&mut self, key: &'static str, value: Value) {
        match self.0.iter_mut().find(|(other, _)| *other == key) {
            Some((_, there)) => *there = value,
            None => self.0.push((key, value)),
        }
    }

    /// A field. Null if it is missing.
    pub fn get(&self, key: &str) -> &Value {
        self.0.iter().find(|(other, _)| *other == key).map_or(&Value::Null, |(_, value)| value)
    }
}

/// Calls `read` for each wanted member of the object that is this text, in the order of the text.
/// The other members are skipped and not checked.
pub fn members<'a>(
    text: &'a str,
    wanted: &[&'static str],
    mut read: impl FnMut(&'static str, &'a str) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    each_member(text, &mut |key, value| match wanted.iter().find(|wanted| **wanted == key) {
        Some(key) => read(key, value),
        None => Ok(()),
    })
}

/// Calls `read` for each member of the object that is this text, in the order of the text. The
/// values aren't checked.
pub fn each_member<'a>(
    text: &'a str,
    read: &mut dyn FnMut(&str, &'a str) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    let mut unreadable = None;
    let walked = cursor::each_member(text, &mut |key, place| {
        if unreadable.is_none() {
            unreadable = read(&key, &text[place]).err();
        }
    });
    match (unreadable, walked) {
        (Some(error), _) => Err(error),
        (None, Err(Malformed)) => Err(cursor::complaint::<Map<String, Value>>(text)),
        (None, Ok(())) => Ok(()),
    }
}

/// The format of a file, so that it is written in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct Format {
    /// The indentation of one level. Empty if the file is a single line.
    pub indent: String,
    /// `\n`, `\r\n`, or whatever follows the first brace.
    pub newline: String,
}

impl Default for Format {
    fn default() -> Self {
        Self { indent: "  ".into(), newline: "\n".into() }
    }
}

/// Why a file isn't valid JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file} is not valid JSON: {message} at line {line}, column {column}")]
pub struct InvalidJson {
    /// The file, relative to the project.
    pub file: String,
    /// The parser's message without the position.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

/// Parses a file's text, which may begin with a byte order mark.
pub fn parse(file: &str, text: &str) -> Result<Value, InvalidJson> {
    serde_json::from_str(strip_byte_order_mark(text)).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        InvalidJson { file: file.into(), message, line: error.line(), column: error.column() }
    })
}

/// The text without the byte order mark that editors on Windows write.
pub fn strip_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The format of an object's or array's text. An object on a single line has no indentation.
pub fn format_of(text: &str) -> Format {
    let text = strip_byte_order_mark(text);
    if let Some(rest) = text.strip_prefix("{}").or_else(|| text.strip_prefix("[]")) {
        let newline = if rest.is_empty() || newlines(rest) != rest { "\n" } else { rest };
        return Format { newline: newline.into(), ..Format::default() };
    }
    let body = text.trim_start();
    let Some(body) = body.strip_prefix(['{', '[']) else {
        return Format { indent: String::new(), newline: String::new() };
    };
    let newline = newlines(body);
    if newline.is_empty() {
        return Format { indent: String::new(), newline: String::new() };
    }
    let rest = &body[newline.len()..];
    let indent = &rest[..rest.len() - rest.trim_start().len()];
    // JavaScript's writer uses at most ten characters.
    Format { indent: indent.chars().take(10).collect(), newline: newline.into() }
}

/// The line breaks at the start of a text.
fn newlines(text: &str) -> &str {
    let mut end = 0;
    let bytes = text.as_bytes();
    loop {
        if bytes.get(end) == Some(&b'\n') {
            end += 1;
        } else if bytes.get(end..end + 2) == Some(b"\r\n") {
            end += 2;
        } else {
            return &text[..end];
        }
    }
}

/// Whether a key is an array index, so that JavaScript iterates it before other keys.
pub fn is_array_index(key: &str) -> bool {
    array_index(key).is_some()
}

/// The value of a key that is an array index. JavaScript iterates these keys first.
fn array_index(key: &str) -> Option<u32> {
    let canonical = match key.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    canonical.then(|| key.parse::<u32>().ok()).flatten().filter(|&index| index != u32::MAX)
}

/// The entries of an object in JavaScript's order.
pub fn entries(object: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = object.iter().collect();
    in_javascript_order(&mut entries, |(key, _)| key);
    entries
}

/// Sorts keyed items from insertion order into JavaScript's order.
pub fn in_javascript_order<T>(entries: &mut [T], key: impl Fn(&T) -> &str) {
    if entries.iter().any(|entry| is_array_index(key(entry))) {
        order::sort_by_key(entries, |entry| javascript_rank(key(entry)));
    }
}

/// Array indices come first, by number. Other keys keep their order.
fn javascript_rank(key: &str) -> (bool, u32) {
    array_index(key).map_or((true, 0), |index| (false, index))
}

/// Whether a value is truthy in JavaScript.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Writes a whole number without a fraction, as JavaScript does.
pub fn javascript_number(number: &serde_json::Number) -> serde_json::Number {
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => (float as i64).into(),
        _ => number.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, format_of};

    #[test]
    fn formatting_is_read_from_the_first_line_break() {
        assert_eq!(format_of("{\n  \"a\": 1\n}\n"), Format::default());
        assert_eq!(format_of("{\r\n\t\"a\": 1}"), Format { indent: "\t".into(), newline: "\r\n".into() });
        assert_eq!(format_of("{\"a\": 1}"), Format { indent: String::new(), newline: String::new() });
        assert_eq!(format_of("{}"), Format::default());
    }
}
