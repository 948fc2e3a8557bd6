//! An entry of a lockfile, as far as installing goes. What isn't of the type that it should be isn't there.
//!
//! Read from JSON by hand: what serde derives for so many fields weighs twenty kilobytes in wasm.

use serde_json::{Map, Value};

/// The entries of a lockfile by location, in its order; none for what isn't a lockfile.
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

/// A field that is a text.
pub fn text<'a>(entry: &'a Value, field: &str) -> Option<&'a str> {
    entry.get(field)?.as_str()
}

/// The same, to keep.
pub fn owned(entry: &Value, field: &str) -> Option<String> {
    text(entry, field).map(str::to_owned)
}

/// Whether a field is set.
pub fn flag(entry: &Value, field: &str) -> bool {
    entry.get(field).is_some_and(|value| *value == Value::Bool(true))
}
