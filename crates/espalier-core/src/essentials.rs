//! The document of a version without what no resolution reads, for caches: it is short, so it is
//! neither inflated nor passed over field by field again.
//!
//! Where it is kept, and how damage to it is noticed, is not known here.

use crate::json;
use crate::manifest::READ;

/// Precedes every summary. It changes with the fields that are read, because a summary of other
/// fields may lack some.
const FORMAT: [u8; 4] = format(&READ).to_le_bytes();

/// The short form of a version's document, as JSON text behind a mark of its format.
///
/// # Errors
/// If the text isn't a JSON object.
pub fn summary(document: &str) -> Result<Vec<u8>, serde_json::Error> {
    let mut summary = FORMAT.to_vec();
    let mut before = b'{';
    json::members(document, &READ, |key, value| {
        summary.push(before);
        serde_json::to_writer(&mut summary, key)?;
        summary.push(b':');
        summary.extend_from_slice(value.as_bytes());
        before = b',';
        Ok(())
    })?;
    if before == b'{' {
        summary.push(before);
    }
    summary.push(b'}');
    Ok(summary)
}

/// The JSON text of a summary. `None` if this version of the crate makes no such summary.
pub fn document(summary: &[u8]) -> Option<String> {
    let text = summary.strip_prefix(&FORMAT)?;
    str::from_utf8(text).ok().map(str::to_owned)
}

/// A number that differs for other fields (FNV-1a).
const fn format(fields: &[&str]) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    let mut field = 0;
    while field < fields.len() {
        let bytes = fields[field].as_bytes();
        let mut at = 0;
        while at <= bytes.len() {
            // A zero ends each field.
            let byte = if at < bytes.len() { bytes[at] } else { 0 };
            hash = (hash ^ byte as u32).wrapping_mul(0x0100_0193);
            at += 1;
        }
        field += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::{document, summary};
    use crate::manifest::{Manifest, READ};
    use crate::vocabulary::Vocabulary;

    fn short(text: &str) -> String {
        document(&summary(text).expect("an object")).expect("a summary")
    }

    #[test]
    fn only_the_fields_that_are_read_are_kept() {
        let text = r#" {"readme":"{\"name\":1}", "name" : "a\u00e9", "x":[{"version":2}], "dist":{ "tarball" :"t"},
            "license":"MIT","license":{"type":"ISC"},"na\u006de":"b"} "#;
        let kept = r#"{"name":"a\u00e9","dist":{ "tarball" :"t"},"license":"MIT","license":{"type":"ISC"},"name":"b"}"#;
        assert_eq!(short(text), kept);
        assert_eq!(short("{}"), "{}");
        assert_eq!(short(r#"{"x":1}"#), "{}");
    }

    #[test]
    fn what_is_no_document_and_no_summary_is_refused() {
        for text in ["", "[]", "null", "{", "{}{}", r#"{"name":}"#, r#"{"x":[}"#] {
            assert!(summary(text).is_err(), "{text}");
        }
        for bytes in [b"".as_slice(), b"{}", b"\0\0\0\0{}"] {
            assert_eq!(document(bytes), None);
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f32>().prop_map(|number| json!(number)),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,4}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever a document says, its short form says the same to a resolution.
        #[test]
        fn a_manifest_is_the_same_from_both(fields in prop::collection::vec(
            (prop_oneof![prop::sample::select(READ.to_vec()).prop_map(str::to_owned), ".{0,6}"], value()), 0..12,
        )) {
            let text = Value::Object(fields.into_iter().collect::<Map<String, Value>>()).to_string();
            let read = |text: &str| {
                let vocabulary = Vocabulary::default();
                format!("{:?}", Manifest::from_registry(text, false, &vocabulary).expect("a manifest"))
            };
            prop_assert_eq!(read(&short(&text)), read(&text));
        }
    }
}
