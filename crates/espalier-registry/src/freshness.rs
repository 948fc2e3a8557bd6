//! How long a document may be used without asking the registry again.

/// The remaining seconds of a document's `max-age`; `None` if the document must not be kept.
/// `unsaid` is the value for an answer without `Cache-Control`: zero if the client can revalidate
/// it, some minutes if it can't, as in browsers.
pub fn lifetime(header: &dyn Fn(&str) -> Option<String>, unsaid: u64) -> Option<u64> {
    let Some(directives) = header("cache-control").map(|text| text.to_ascii_lowercase()) else { return Some(unsaid) };
    let mut max_age: Option<u64> = None;
    let mut ask_always = false;
    for directive in directives.split(',').map(str::trim) {
        match directive.split_once('=').map_or((directive, ""), |(name, value)| (name.trim(), value.trim())) {
            ("no-store", _) => return None,
            ("no-cache", _) => ask_always = true,
            ("max-age", seconds) => max_age = Some(seconds.trim_matches('"').parse().unwrap_or(0)),
            _ => {}
        }
    }
    let age = header("age").and_then(|value| value.trim().parse().ok()).unwrap_or(0);
    Some(if ask_always { 0 } else { max_age.map_or(unsaid, |seconds| seconds.saturating_sub(age)) })
}

#[cfg(test)]
mod tests {
    use super::lifetime;

    #[track_caller]
    fn check(cache_control: &str, age: &str, expected: Option<u64>) {
        let header = |name: &str| match name {
            "cache-control" => Some(cache_control.to_owned()),
            _ => Some(age.to_owned()),
        };
        assert_eq!(lifetime(&header, 0), expected);
    }

    #[test]
    fn the_age_on_the_way_counts() {
        check("public, max-age=300", "120", Some(180));
        check("public, Max-Age=300", "400", Some(0));
    }

    #[test]
    fn servers_can_forbid_both_keeping_and_using() {
        check("no-store, max-age=300", "0", None);
        check("no-cache, max-age=300", "0", Some(0));
        check("private", "0", Some(0));
    }

    #[test]
    fn without_the_header_it_is_the_adapters_choice() {
        assert_eq!(lifetime(&|_| None, 0), Some(0));
        assert_eq!(lifetime(&|_| None, 300), Some(300));
        assert_eq!(lifetime(&|name| (name == "cache-control").then(|| "private".to_owned()), 300), Some(300));
    }
}
