//! When a request is repeated, and after which wait.
//!
//! Failures that may pass are retried: timeouts, broken connections and bodies, and statuses that
//! mean "later". A refusal (401, 403) and an absence (404) are answers. Every wait is bounded,
//! including one that the server asks for.

use std::time::Duration;

use http::StatusCode;

/// The maximum of a `Retry-After` that is obeyed.
const LONGEST_ASKED_WAIT: Duration = Duration::from_mins(1);

/// npm's rules for retries.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// The maximum number of retries.
    pub most: u32,
    /// The wait before the first retry.
    pub first: Duration,
    /// The maximum wait.
    pub longest: Duration,
    /// The factor by which each wait exceeds the one before.
    pub factor: u32,
}

impl Default for Retries {
    fn default() -> Self {
        Self { most: 2, first: Duration::from_millis(500), longest: Duration::from_mins(1), factor: 10 }
    }
}

impl Retries {
    /// The wait after the attempt with this number, counted from zero. `None` after the last
    /// attempt. `spread` is a number that differs between requests, so that requests that failed
    /// together aren't repeated together.
    pub fn wait(&self, attempt: u32, asked: Option<Duration>, spread: u64) -> Option<Duration> {
        if attempt >= self.most {
            return None;
        }
        if let Some(asked) = asked {
            return Some(asked.min(LONGEST_ASKED_WAIT));
        }
        let backoff = self.first.saturating_mul(self.factor.saturating_pow(attempt));
        let percent = u32::try_from(spread % 50).unwrap_or_default();
        Some((backoff.saturating_mul(100 + percent) / 100).min(self.longest))
    }
}

/// Whether the same request may succeed later, according to this status.
pub fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 420 | 429) || status.is_server_error()
}

/// Parses a `Retry-After`, in seconds or as a date. `now` and the result of `date` are times since
/// the epoch.
pub fn asked_wait(header: Option<&str>, now: Duration, date: fn(&str) -> Option<Duration>) -> Option<Duration> {
    let text = header?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    Some(date(text)?.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Retries, asked_wait};

    const RETRIES: Retries =
        Retries { most: 2, first: Duration::from_secs(1), longest: Duration::from_secs(3), factor: 4 };

    #[test]
    fn waits_grow_up_to_the_longest_and_end() {
        assert_eq!(RETRIES.wait(0, None, 0), Some(Duration::from_secs(1)));
        assert_eq!(RETRIES.wait(0, None, 149), Some(Duration::from_millis(1490)));
        for spread in [0, 49] {
            assert_eq!(RETRIES.wait(1, None, spread), Some(Duration::from_secs(3)));
        }
        assert_eq!(RETRIES.wait(2, None, 0), None);
    }

    #[test]
    fn a_server_that_asks_for_a_wait_gets_it_within_reason() {
        assert_eq!(RETRIES.wait(0, Some(Duration::from_secs(7)), 0), Some(Duration::from_secs(7)));
        assert_eq!(RETRIES.wait(0, Some(Duration::from_hours(24)), 0), Some(Duration::from_mins(1)));
        assert_eq!(RETRIES.wait(2, Some(Duration::from_secs(7)), 0), None);
    }

    #[test]
    fn the_wait_is_given_in_seconds_or_as_a_date() {
        let date = |text: &str| {
            let date = httpdate::parse_http_date(text).ok()?;
            date.duration_since(SystemTime::UNIX_EPOCH).ok()
        };
        let asked = |text| asked_wait(Some(text), Duration::from_secs(784_111_777 - 10), date);
        assert_eq!(asked("3"), Some(Duration::from_secs(3)));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(asked("Wed, 06 Nov 1974 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(asked("soon"), None);
        assert_eq!(asked_wait(None, Duration::ZERO, date), None);
    }
}
