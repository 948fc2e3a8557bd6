//! Changes one setting in the text of an `.npmrc`.
//!
//! The other lines stay as they are, comments included. npm rewrites the whole file and loses its
//! comments.

use super::ini;

/// The text with this setting, or without it if `value` is `None`.
pub fn with_setting(text: &str, key: &str, value: Option<&str>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let written = value.map(|value| format!("{}={}", quoted(key), quoted(value)));
    let lines: Vec<&str> = text.lines().collect();
    // npm reads nothing after the heading of a section.
    let is_heading = |line: &&str| line.starts_with('[') && line.trim_end().ends_with(']');
    let end = lines.iter().position(is_heading).unwrap_or(lines.len());
    let sets = |line: &str| ini::parse(line).keys().any(|set| set == key);
    let last = lines[..end].iter().rposition(|line| sets(line));
    let mut kept: Vec<&str> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if index == end && last.is_none() {
            kept.extend(written.as_deref());
        }
        if index >= end || !sets(line) {
            kept.push(line);
        } else if Some(index) == last {
            kept.extend(written.as_deref());
        }
    }
    if last.is_none() && end == lines.len() {
        kept.extend(written.as_deref());
    }
    kept.into_iter().flat_map(|line| [line, newline]).collect()
}

/// Quotes a value as the `ini` package does: as JSON, if it would be read differently otherwise.
fn quoted(text: &str) -> String {
    let is_quoted = |quote| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
    if text.contains(['=', '\r', '\n'])
        || text.starts_with('[')
        || is_quoted('"')
        || is_quoted('\'')
        || text.trim() != text
    {
        return serde_json::Value::from(text).to_string();
    }
    text.replace(';', "\\;").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use super::with_setting;

    #[track_caller]
    fn check(before: &str, key: &str, value: Option<&str>, after: &str) {
        assert_eq!(with_setting(before, key, value), after);
    }

    #[test]
    fn a_setting_is_replaced_where_it_stands() {
        check(
            "; mine\nfund=true\naudit = false # no\n",
            "fund",
            Some("false"),
            "; mine\nfund=false\naudit = false # no\n",
        );
    }

    #[test]
    fn a_new_one_comes_last() {
        check("", "tag", Some("next"), "tag=next\n");
        check("a=1", "tag", Some("next"), "a=1\ntag=next\n");
    }

    #[test]
    fn all_lines_of_a_list_make_way_for_one_value() {
        check("omit[]=dev\nomit[]=peer\nx=1\n", "omit", Some("optional"), "omit=optional\nx=1\n");
        check("omit[]=dev\nomit[]=peer\nx=1\n", "omit", None, "x=1\n");
    }

    #[test]
    fn what_would_be_read_differently_is_quoted() {
        check("", "x", Some("a;b#c"), "x=a\\;b\\#c\n");
        check("", "//registry.test/:_auth", Some("dQ=="), "//registry.test/:_auth=\"dQ==\"\n");
        check("", "x", Some(" y "), "x=\" y \"\n");
    }

    #[test]
    fn sections_and_newlines_stay() {
        check("a=1\r\n[s]\r\na=2\r\n", "a", Some("3"), "a=3\r\n[s]\r\na=2\r\n");
    }
}
