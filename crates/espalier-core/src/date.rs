//! Parses the dates of registries, such as `2026-10-01T12:30:00.000Z`.

/// Milliseconds since the epoch. The notation is ISO 8601 as `Date.parse` reads it, also with a space
/// before the time or before its zone. `None` for any other notation, although JavaScript knows more.
/// A time without a zone is in UTC here, while JavaScript takes the zone of the machine.
pub fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00Z"));
    let mut date = date.splitn(3, '-');
    let year = digits(date.next()?, 4)?;
    let mut date = date.map(|part| digits(part, 2));
    let (month, day) = (date.next().unwrap_or(Some(1))?, date.next().unwrap_or(Some(1))?);
    let (clock, offset) = split_zone(time)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut clock = clock.splitn(3, ':').map(|part| digits(part, 2));
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next().unwrap_or(Some(0))?);
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millisecond = digits(format!("{fraction:0<3}").get(..3)?, 3)?;
    // JavaScript lets a day be after the last one of its month, and 24 o'clock end a day.
    let is_time = hour < 24 || (hour, minute, second, millisecond) == (24, 0, 0, 0);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !(is_date && is_time && minute < 60 && second < 60) {
        return None;
    }
    Some((((days(year, month, day) * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + millisecond)
}

/// Splits a time of day from its offset to UTC in minutes: `Z`, `UTC`, `GMT`, `+01:30` or `+0130`.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = ["Z", "z", "UTC", "GMT"].iter().find_map(|zone| time.strip_suffix(zone)) {
        return Some((clock.trim_end(), 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let (clock, zone) = time.split_at(at);
    let (sign, zone) = zone.split_at(1);
    let (hours, minutes) = zone.split_once(':').or_else(|| zone.split_at_checked(2))?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    let offset = hours * 60 + minutes;
    (hours < 24 && minutes < 60).then_some((clock.trim_end(), if sign == "-" { -offset } else { offset }))
}

/// A number of this many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Days since the epoch. Years begin in March, so that leap days come last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// The numbers are those of `Date.parse`.
    #[test]
    fn dates_are_milliseconds_since_the_epoch() {
        for (text, expected) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2024-02-29T12:34:56.789Z", 1_709_210_096_789),
            ("2000-01-01", 946_684_800_000),
            ("2012-05-05T06:07:08Z", 1_336_198_028_000),
            ("2026-11-01T07:45:56+00:00", 1_793_519_156_000),
            ("2024-12-02T18:34:28.416000+00:00", 1_733_164_468_416),
            ("2024-12-02T18:34:28.416000+02:30", 1_733_155_468_416),
            ("2024-12-02T18:34+0100", 1_733_160_840_000),
            ("2024-12-02T17:04:28.4-01:30", 1_733_164_468_400),
            ("2024-12-02 18:34:28Z", 1_733_164_468_000),
            ("2024-12-02 18:34:28 +0000", 1_733_164_468_000),
            ("2024-12-02 18:34:28 UTC", 1_733_164_468_000),
            ("2024-12-02T18:34:28.00000000000000000000001Z", 1_733_164_468_000),
            ("2024-12-02T24:00:00z", 1_733_184_000_000),
            ("2024-02-30T00:00:00Z", 1_709_251_200_000),
            ("2024-12", 1_733_011_200_000),
            ("2024", 1_704_067_200_000),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "yesterday",
            "",
            "2024-13-01",
            "2024-12-02T18Z",
            "2024-12-02T18:34:60Z",
            "2024-12-02T24:00:01Z",
            "2024-12-02T18:34-01",
            "2024-12-02T18:34:28,4Z",
            "1733164468000",
            "2024-12-02T18:34:28.Z.Z",
            "2024-12-02T18:34:28+99:99",
            "2024-12-02T18:34:28+24:00",
            "2024-12-02T00:00+9223372036854775807:00",
            "2024-1-2T03:04:05Z",
            "2024-12-02T8:34:28Z",
            "2024-12-02T18:34:8Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
