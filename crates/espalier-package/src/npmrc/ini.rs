//! The dialect of INI that npm uses for its configuration.
//!
//! It differs from others: an unescaped `;` or `#` ends a value anywhere, a quoted value is JSON, a
//! key without `=` is true, `key[]` adds to a list, and an invalid line is skipped. The format has
//! sections, but npm has no setting in one, so their content is dropped. The caller interprets the
//! keys and expands `${NAME}`.

use indexmap::IndexMap;
use serde_json::Value as Json;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Any other text, unquoted and unescaped.
    Text(String),
    /// `true`, `false`, or a key without a value.
    Flag(bool),
    /// The word `null`, which removes a setting.
    Null,
    /// The values of `key[] = …`.
    List(Vec<String>),
}

/// The settings of a text, in its order. If a key is set twice, the last value counts.
pub fn parse(text: &str) -> IndexMap<String, Value> {
    let mut settings = IndexMap::new();
    // Windows editors begin a file with a byte order mark. npm's reader drops it, too.
    for line in text.trim_start_matches('\u{feff}').split(['\r', '\n']) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with([';', '#']) {
            continue;
        }
        if is_section(line) {
            break;
        }
        let (key, value) = match line.split_once('=') {
            Some(("", _)) => continue,
            Some((key, value)) => (key, classify(unquote(value))),
            None => (line, Value::Flag(true)),
        };
        insert(&mut settings, &literal(unquote(key)), value);
    }
    settings
}

/// `[name]` alone on its line. As in npm's pattern, it has to start the line.
fn is_section(line: &str) -> bool {
    line.strip_prefix('[').and_then(|rest| rest.trim_end().strip_suffix(']')).is_some_and(|name| !name.contains(']'))
}

fn insert(settings: &mut IndexMap<String, Value>, key: &str, value: Value) {
    let listed = key.len() > 2 && key.ends_with("[]");
    let name = if listed { &key[..key.len() - 2] } else { key };
    match settings.get_mut(name) {
        Some(Value::List(items)) => items.extend(value.into_items()),
        Some(present) if listed => {
            let mut items = std::mem::replace(present, Value::Null).into_items();
            items.extend(value.into_items());
            *present = Value::List(items);
        }
        _ if listed => {
            settings.insert(name.to_owned(), Value::List(value.into_items()));
        }
        _ => {
            settings.insert(name.to_owned(), value);
        }
    }
}

impl Value {
    fn into_items(self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text],
            Self::Flag(flag) => vec![flag.to_string()],
            Self::Null => Vec::new(),
            Self::List(items) => items,
        }
    }
}

fn classify(value: Json) -> Value {
    match value {
        Json::Bool(flag) => Value::Flag(flag),
        Json::Null => Value::Null,
        Json::String(text) => match text.as_str() {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            "null" => Value::Null,
            _ => Value::Text(text),
        },
        other => Value::Text(other.to_string()),
    }
}

fn literal(value: Json) -> String {
    match value {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// A quoted text is read as JSON. Single quotes are removed first, so `'1'` is a number. Any other
/// text ends at a comment sign; a backslash escapes that sign or itself.
fn unquote(text: &str) -> Json {
    let text = text.trim();
    let quoted_by = |quote| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
    if quoted_by('"') {
        return serde_json::from_str(text).unwrap_or_else(|_| text.into());
    }
    if quoted_by('\'') {
        let inner = &text[1..text.len() - 1];
        return serde_json::from_str(inner).unwrap_or_else(|_| inner.into());
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ';' | '#' => break,
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ';' | '#')) => plain.push(escaped),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            },
            other => plain.push(other),
        }
    }
    plain.trim().into()
}

#[cfg(test)]
mod tests {
    use super::{Value, parse};

    fn one(text: &str) -> Value {
        let settings = parse(text);
        assert_eq!(settings.len(), 1, "{settings:?}");
        settings.into_values().next().expect("one setting")
    }

    #[test]
    fn plain_values_end_at_a_comment_sign_unless_it_is_escaped() {
        assert_eq!(one("token = abc ; the old one"), Value::Text("abc".into()));
        assert_eq!(one(r"token = a\;b\#c\\d\n"), Value::Text(r"a;b#c\d\n".into()));
    }

    #[test]
    fn words_become_flags_and_null() {
        assert_eq!(one("force"), Value::Flag(true));
        assert_eq!(one("force = false"), Value::Flag(false));
        assert_eq!(one("proxy = null"), Value::Null);
        assert_eq!(one("force ="), Value::Text(String::new()));
    }

    #[test]
    fn quoted_values_are_json() {
        assert_eq!(one(r#"ca = "one\ntwo # three""#), Value::Text("one\ntwo # three".into()));
        assert_eq!(one("tag = 'next'"), Value::Text("next".into()));
        assert_eq!(one("maxsockets = '12'"), Value::Text("12".into()));
    }

    #[test]
    fn a_value_keeps_its_equal_signs() {
        assert_eq!(one("//registry.test/:_auth=dXNlcjpwYXNz=="), Value::Text("dXNlcjpwYXNz==".into()));
    }

    #[test]
    fn brackets_gather_a_list() {
        let expected = Value::List(vec!["a".into(), "b".into()]);
        assert_eq!(one("noproxy[] = a\nnoproxy[] = b"), expected);
        assert_eq!(one("noproxy = a\nnoproxy[] = b"), expected);
        assert_eq!(one("noproxy[] = a\nnoproxy = b"), expected);
    }

    #[test]
    fn the_last_of_two_counts() {
        assert_eq!(one("tag = a\r\ntag = b"), Value::Text("b".into()));
    }

    #[test]
    fn sections_and_nonsense_are_passed_over() {
        assert_eq!(one("= nothing\ntag = next\n[elsewhere]\ntag = other"), Value::Text("next".into()));
    }
}
