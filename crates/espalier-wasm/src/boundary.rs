//! Converts values at the boundary by `serde-wasm-bindgen`: plain objects and arrays, without text
//! in between.
//!
//! A long text is one string. Large numeric data are typed arrays, which a field holds unchanged
//! (`preserve`).

use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

/// Serialises like JSON: plain objects and numbers, and `null` for `None`, unless the type leaves
/// the field out.
const SERIALIZER: Serializer = Serializer::json_compatible();

/// Converts a value for JavaScript.
pub fn to_javascript(value: &impl Serialize) -> Result<JsValue, JsValue> {
    value.serialize(&SERIALIZER).map_err(JsValue::from)
}

/// Converts a value from TypeScript, which has checked its shape.
pub fn from_javascript<T: for<'de> Deserialize<'de>>(value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(JsValue::from)
}
