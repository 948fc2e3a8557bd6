//! Reads an .npmrc for JavaScript: keys and values, with variables expanded.

use espalier_package::npmrc::{Value, expand, parse};
use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;

/// The settings of an .npmrc: an array of keys and values. A value is a text or, for `key[]`, an
/// array of texts.
#[wasm_bindgen(js_name = readNpmrc)]
pub fn read(text: &str, variable: &Function) -> Array {
    let variable = |name: &str| variable.call1(&JsValue::UNDEFINED, &name.into()).ok()?.as_string();
    let expanded = |text: &str| JsValue::from(expand(text, variable).0);
    let settings = parse(text).into_iter().filter_map(|(key, value)| {
        let value = match value {
            Value::Text(text) => expanded(&text),
            Value::Flag(flag) => flag.to_string().into(),
            Value::List(items) => items.iter().map(|item| expanded(item)).collect::<Array>().into(),
            Value::Null => return None,
        };
        Some(Array::of2(&expanded(&key), &value))
    });
    settings.collect()
}
