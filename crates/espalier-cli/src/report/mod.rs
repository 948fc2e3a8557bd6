//! The output at the end of a command: one sentence after success, one screen after a failure, or
//! one JSON object.

mod chain;
mod conflict;
mod excerpt;
pub mod failure;
pub mod install;
pub mod machine;
pub mod success;

use std::path::Path;
use std::time::Duration;

use crate::style::{PROBLEM, Styled, strong};

/// An error message: the headline with its code, and the details below it.
pub fn screen(headline: &str, code: &str, details: &str, width: Option<usize>) -> String {
    const LABEL: &str = "error:";
    let indent = LABEL.len() + 1;
    let lines = wrapped(&format!("{headline} ({code})"), indent, width).join(&format!("\n{:indent$}", ""));
    let first = format!("{} {}\n", Styled(PROBLEM, LABEL), strong(lines));
    if details.is_empty() { first } else { format!("{first}\n{details}") }
}

/// The path, relative if it is below the current folder.
pub fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let relative =
        here.as_ref().and_then(|here| path.strip_prefix(here).ok()).filter(|path| !path.as_os_str().is_empty());
    relative.unwrap_or(path).display().to_string()
}

/// A duration in a suitable unit.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.1} s") }
}

/// A size in a suitable unit.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub fn bytes(count: u64) -> String {
    if count < 1_000_000 { format!("{:.0} kB", count as f64 / 1e3) } else { format!("{:.1} MB", count as f64 / 1e6) }
}

/// A number with its noun.
pub fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(count as u64))
}

/// A number with separators: `1,247`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The width of standard error, if it is a terminal.
pub fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0))
}

/// The width of standard output, if it is a terminal.
pub fn output_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// The text with at most `room` characters. An ellipsis marks the cut.
pub fn shortened(text: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if text.chars().count() > room => text.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        _ => text.to_owned(),
    }
}

/// The text without control characters, because messages and specs come from outside.
pub fn printable(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).collect()
}

/// The text in lines of at most `width` columns, including the indentation.
pub fn wrapped(text: &str, indent: usize, width: Option<usize>) -> Vec<String> {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(20));
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace().map(printable) {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("there is always one");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(&word);
        used += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{bytes, counted, duration, grouped, wrapped};

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1247), "1,247");
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(counted(1, "package"), "1 package");
        assert_eq!(counted(0, "package"), "0 packages");
        assert_eq!(bytes(12_345), "12 kB");
        assert_eq!(bytes(12_345_678), "12.3 MB");
        assert_eq!(duration(Duration::from_micros(41_700)), "42 ms");
        assert_eq!(duration(Duration::from_millis(1234)), "1.2 s");
    }

    #[test]
    fn long_texts_break_between_words() {
        assert_eq!(wrapped("one two three", 4, None), ["one two three"]);
        assert_eq!(wrapped("a text of many words that goes on", 4, Some(24)), ["a text of many words", "that goes on"]);
        assert_eq!(wrapped("\u{1b}[2Jerased \u{7}", 4, None), ["[2Jerased "]);
        assert_eq!(wrapped("indivisibleindivisibleindivisible", 4, Some(24)), ["indivisibleindivisibleindivisible"]);
    }
}
