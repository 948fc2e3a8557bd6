//! The values of fields that many manifests share, such as `"MIT"` and `{"node": ">=18"}`.
//!
//! Each distinct text is parsed once. In a lock of 5,000 packages, there are a few hundred.

use rustc_hash::FxHashMap;
use serde_json::{Error, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// All such values of a resolution. Like names, values are only ever added.
#[derive(Default)]
pub struct Values {
    index: RefCell<FxHashMap<Rc<str>, Rc<Value>>>,
}

impl Values {
    /// The value of a JSON text.
    pub fn parse(&self, text: &str) -> Result<Rc<Value>, Error> {
        if let Some(value) = self.index.borrow().get(text) {
            return Ok(value.clone());
        }
        let value: Rc<Value> = Rc::new(serde_json::from_str(text)?);
        self.index.borrow_mut().insert(text.into(), value.clone());
        Ok(value)
    }
}
