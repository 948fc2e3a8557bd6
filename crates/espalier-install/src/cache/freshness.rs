//! For how long a registry says that a document may be used without asking again.

use reqwest::header::{AGE, CACHE_CONTROL, HeaderMap};

/// The seconds that are left of a document's `max-age`; `None` where it must not be kept at all. A document without the
/// header is kept and asked about every time.
pub(crate) fn lifetime(headers: &HeaderMap) -> Option<u64> {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives = values.flat_map(|value| value.split(',')).map(|directive| directive.trim().to_ascii_lowercase());
    let mut max_age: u64 = 0;
    let mut ask_always = false;
    for directive in directives {
        match directive.split_once('=').map_or((directive.as_str(), ""), |(name, value)| (name, value.trim())) {
            ("no-store", _) => return None,
            ("no-cache", _) => ask_always = true,
            ("max-age", seconds) => max_age = seconds.trim_matches('"').parse().unwrap_or(0),
            _ => {}
        }
    }
    let age = headers.get(AGE).and_then(|value| value.to_str().ok()?.trim().parse().ok()).unwrap_or(0);
    Some(if ask_always { 0 } else { max_age.saturating_sub(age) })
}

#[cfg(test)]
mod tests {
    use reqwest::header::{AGE, CACHE_CONTROL, HeaderMap, HeaderValue};

    use super::lifetime;

    #[track_caller]
    fn check(cache_control: &'static str, age: &'static str, expected: Option<u64>) {
        let headers = HeaderMap::from_iter([
            (CACHE_CONTROL, HeaderValue::from_static(cache_control)),
            (AGE, HeaderValue::from_static(age)),
        ]);
        assert_eq!(lifetime(&headers), expected);
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
    fn without_the_header_it_is_kept_and_asked_about() {
        assert_eq!(lifetime(&HeaderMap::new()), Some(0));
    }
}
