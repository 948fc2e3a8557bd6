//! The entries of a lockfile that came from outside, as far as the installation needs them. A value
//! of a wrong type counts as missing.
//!
//! The entries stay generic JSON, because serde's derived code for this number of fields weighs 20
//! KB in wasm.

use serde_json::{Map, Value};

/// The entries of a lockfile by location, in its order. Empty if the text isn't a lockfile.
pub fn entries(lockfile: &str) -> Result<Map<String, Value>, serde_json::Error> {
    let document: Value = serde_json::from_str(lockfile.trim_start_matches('\u{feff}'))?;
    Ok(match document {
        Value::Object(mut document) => match document.remove("packages") {
            Some(Value::Object(packages)) => packages,
            _ => Map::new(),
        },
        _ => Map::new(),
    })
}

/// A text field.
pub fn text<'a>(entry: &'a Value, field: &str) -> Option<&'a str> {
    entry.get(field)?.as_str()
}

/// A text field, owned.
pub fn owned(entry: &Value, field: &str) -> Option<String> {
    text(entry, field).map(str::to_owned)
}

/// Whether a field is true.
pub fn flag(entry: &Value, field: &str) -> bool {
    entry.get(field).is_some_and(|value| *value == Value::Bool(true))
}
