//! Fields of JSON that came from outside. A value of a wrong type counts as missing.

use serde_json::Value;

/// A text field.
pub fn text<'a>(entry: &'a Value, field: &str) -> Option<&'a str> {
    entry.get(field)?.as_str()
}

/// A text field, owned.
pub fn owned(entry: &Value, field: &str) -> Option<String> {
    text(entry, field).map(str::to_owned)
}
