//! Data across the boundary, by `serde-wasm-bindgen`: plain objects and arrays, without a text in between.
//!
//! Long texts are one string, and large numeric data are typed arrays, which a field holds as they are (`preserve`).

use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

/// What JSON would hold: plain objects, numbers, and `null` for what is `None`, unless the type leaves it out.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// A value for JavaScript.
pub fn to_javascript(value: &impl Serialize) -> Result<JsValue, JsValue> {
    value.serialize(&SERIALIZER).map_err(JsValue::from)
}

/// What TypeScript gives, of a shape that it has checked.
pub fn from_javascript<T: for<'de> Deserialize<'de>>(value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(JsValue::from)
}
