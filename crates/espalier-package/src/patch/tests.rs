use serde_json::Value;

use super::{apply, parse};

/// The cases were recorded by `tests/oracle/patches.mjs`: a source, a patch, and the result of
/// `diff`, which is absent if the patch doesn't apply or can't be parsed.
#[test]
fn patches_apply_as_diff_says() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases.json")).expect("cases");
    let mut different = Vec::new();
    for case in cases {
        let text = |field: &str| case[field].as_str();
        let (source, patch) = (text("source").expect("a source"), text("patch").expect("a patch"));
        let files = parse::parse(patch).ok();
        let result = files.and_then(|files| apply::apply(source, &files.first()?.hunks));
        if result.as_deref() != text("result") {
            different.push(format!("{source:?}\n{patch:?}\nours {result:?}\nnpm's {:?}", text("result")));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
