//! Data across the boundary: as JSON, which both sides read faster than they set fields one by one, and which weighs
//! nothing here, because everything else is JSON already.

use serde::Serialize;
use wasm_bindgen::prelude::*;

/// Plain objects and arrays. What is `None` is `null`, unless the type leaves it out.
pub fn to_javascript(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let text = serde_json::to_string(value).map_err(|error| JsError::new(&error.to_string()))?;
    js_sys::JSON::parse(&text)
}

/// What TypeScript wrote, of a shape that it has checked.
pub fn from_javascript<T: for<'de> serde::Deserialize<'de>>(text: &str) -> Result<T, JsError> {
    serde_json::from_str(text).map_err(|error| JsError::new(&error.to_string()))
}
