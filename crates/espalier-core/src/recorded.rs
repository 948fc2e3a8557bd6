//! Serde's functions for values in a record of an outcome whose types have no derived ones.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::tree::EdgeState;

/// Reads npm's name of an edge's error.
pub fn read_edge_error<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'static str>, D::Error> {
    let Some(name) = Option::<Cow<'de, str>>::deserialize(deserializer)? else { return Ok(None) };
    let known = EdgeState::ALL.into_iter().find_map(|state| state.error().filter(|error| **error == name));
    known.map(Some).ok_or_else(|| D::Error::custom("an unknown error of an edge"))
}

/// JSON values as JSON text, because the format of records needs a schema.
pub mod as_text {
    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};

    pub fn serialize<S: Serializer>(values: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(values).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        serde_json::from_str(&text).map_err(serde::de::Error::custom)
    }
}
