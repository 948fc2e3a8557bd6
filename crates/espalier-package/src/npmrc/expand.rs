//! Expands `${NAME}` in a setting, as npm does.
//!
//! An unknown name stays as it is, unless it is written as `${NAME?}`, which becomes empty. A
//! preceding backslash keeps the text literal.

/// The text with expanded variables, and whether there were any.
pub fn expand<V: AsRef<str>>(text: &str, variable: impl Fn(&str) -> Option<V>) -> (String, bool) {
    let mut result = String::with_capacity(text.len());
    let mut expanded = false;
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(reference) = Reference::parse(&rest[start..]) else {
            result.push_str(&rest[..start + 2]);
            rest = &rest[start + 2..];
            continue;
        };
        let before = rest[..start].trim_end_matches('\\');
        let backslashes = start - before.len();
        result.push_str(before);
        result.push_str(&"\\".repeat(backslashes / 2));
        let source = &rest[start..start + reference.length];
        if backslashes % 2 == 1 {
            result.push_str(source);
        } else if let Some(value) = variable(reference.name) {
            result.push_str(value.as_ref());
            expanded = true;
        } else if !reference.optional {
            result.push_str(source);
        }
        rest = &rest[start + reference.length..];
    }
    result.push_str(rest);
    (result, expanded)
}

struct Reference<'a> {
    name: &'a str,
    optional: bool,
    length: usize,
}

impl<'a> Reference<'a> {
    /// Parses `${NAME}` or `${NAME?}` at the start of a text.
    fn parse(text: &'a str) -> Option<Self> {
        let end = text.find('}')?;
        let inner = &text[2..end];
        let (name, optional) = inner.strip_suffix('?').map_or((inner, false), |name| (name, true));
        let plain = !name.is_empty() && !name.contains(['{', '?']);
        plain.then_some(Self { name, optional, length: end + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let variable = |name: &str| match name {
            "TOKEN" => Some("s3cret"),
            "HOST" => Some("registry.test"),
            _ => None,
        };
        assert_eq!(expand(text, variable).0, expected);
    }

    #[test]
    fn known_names_are_replaced() {
        check("http://${HOST}/x?${TOKEN}", "http://registry.test/x?s3cret");
    }

    #[test]
    fn unknown_names_stay_or_vanish_when_optional() {
        check("a${NOPE}b", "a${NOPE}b");
        check("a${NOPE?}b", "ab");
        check("a${TOKEN?}b", "as3cretb");
    }

    #[test]
    fn backslashes_in_front_keep_it_literal() {
        check(r"\${TOKEN}", "${TOKEN}");
        check(r"\\${TOKEN}", r"\s3cret");
        check(r"\\\${TOKEN}", r"\${TOKEN}");
    }

    #[test]
    fn what_is_no_reference_is_left_alone() {
        check("${}", "${}");
        check("${open", "${open");
        check("${a${TOKEN}", "${as3cret");
    }
}
