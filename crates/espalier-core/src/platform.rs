//! Whether a package supports a platform (`npm-install-checks`).

use serde_json::Value;

use crate::manifest::Manifest;
use crate::options::Platform;

/// Whether `os`, `cpu` and `libc` of a manifest permit the platform.
pub fn suits(manifest: &Manifest, platform: &Platform) -> bool {
    let listed = |key: &str, value: Option<&str>| {
        manifest.field(key).is_none_or(|list| value.is_some_and(|value| allows(list, value)))
    };
    // Only Linux has a libc to compare.
    let libc = platform.libc.as_deref().filter(|_| platform.os == "linux");
    listed("os", Some(&platform.os)) && listed("cpu", Some(&platform.cpu)) && listed("libc", libc)
}

/// A list permits a value if no negated entry matches, and if a positive entry does or there are
/// none.
fn allows(list: &Value, value: &str) -> bool {
    let entries: Vec<&str> = match list {
        Value::String(entry) => vec![entry],
        Value::Array(entries) => entries.iter().filter_map(Value::as_str).collect(),
        // npm fails, which it overlooks for an optional package.
        _ => return false,
    };
    if entries == ["any"] {
        return true;
    }
    let negated = entries.iter().filter_map(|entry| entry.strip_prefix('!'));
    let (all_negated, excluded) =
        (negated.clone().count() == entries.len(), negated.clone().any(|entry| entry == value));
    !excluded && (all_negated || entries.contains(&value))
}

#[cfg(test)]
mod tests {
    use super::allows;
    use serde_json::json;

    #[test]
    fn lists_name_or_exclude_values() {
        assert!(allows(&json!(["linux", "darwin"]), "linux"));
        assert!(!allows(&json!(["darwin"]), "linux"));
        assert!(allows(&json!(["!win32"]), "linux"));
        assert!(!allows(&json!(["!linux"]), "linux"));
        assert!(allows(&json!("any"), "linux"));
        assert!(allows(&json!("linux"), "linux"));
        assert!(!allows(&json!({"linux": true}), "linux"));
    }
}
