//! Parses the dates of registries: `2026-10-01T12:30:00.000Z`.

/// Milliseconds since the epoch. `None` for anything but ISO 8601 in UTC, whose time of day may be
/// absent.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut time = time.trim_end_matches('Z').splitn(3, ':');
    let (hour, minute) = (time.next()?.parse::<i64>().ok()?, time.next()?.parse::<i64>().ok()?);
    let seconds = time.next().unwrap_or("0");
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let second = second.parse::<i64>().ok()?;
    let millisecond = format!("{fraction:0<3}").get(..3)?.parse::<i64>().ok()?;
    Some((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + millisecond)
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

    #[test]
    fn dates_are_milliseconds_since_the_epoch() {
        assert_eq!(parse("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(parse("2024-02-29T12:34:56.789Z"), Some(1_709_210_096_789));
        assert_eq!(parse("2000-01-01"), Some(946_684_800_000));
        assert_eq!(parse("2012-05-05T06:07:08Z"), Some(1_336_198_028_000));
        assert_eq!(parse("yesterday"), None);
    }
}
