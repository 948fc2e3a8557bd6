//! The line of a text that has an error, with a caret below the position.

use std::fmt::Write as _;

use crate::style::{PROBLEM, Styled, quiet};

/// The maximum width of a line. Longer lines are cut around the position.
const WIDEST: usize = 72;

/// The lines `line - 1` and `line` of a text, counted from 1, and a caret below `column`.
pub fn excerpt(text: &str, line: usize, column: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let gutter = line.to_string().len();
    let mut drawn = String::new();
    for number in line.saturating_sub(1).max(1)..=line {
        let content = number.checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or_default();
        let start = if number == line { window(content, column) } else { 0 };
        let _ = writeln!(drawn, "  {} {}", quiet(format!("{number:>gutter$} |")), visible(content, start));
        if number == line {
            let indent = column.saturating_sub(1).saturating_sub(start);
            let caret = Styled(PROBLEM, "^");
            let _ = writeln!(drawn, "  {} {:indent$}{caret}", quiet(format!("{:>gutter$} |", "")), "");
        }
    }
    drawn
}

/// The first visible column.
fn window(content: &str, column: usize) -> usize {
    if content.chars().count() <= WIDEST { 0 } else { column.saturating_sub(WIDEST / 2) }
}

/// A part of a line, with one column for each character.
fn visible(content: &str, start: usize) -> String {
    let one_column = |character: char| if character.is_control() { ' ' } else { character };
    content.chars().skip(start).take(WIDEST).map(one_column).collect()
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[track_caller]
    fn check(text: &str, line: usize, column: usize, expected: &str) {
        assert_eq!(anstream::adapter::strip_str(&excerpt(text, line, column)).to_string(), expected);
    }

    #[test]
    fn the_place_and_the_line_before_are_shown() {
        let text = "{\n  \"name\": \"a\"\n  \"version\": \"1.0.0\"\n}";
        let expected = "  2 |   \"name\": \"a\"\n  3 |   \"version\": \"1.0.0\"\n    |   ^\n";
        check(text, 3, 3, expected);
    }

    #[test]
    fn the_first_line_has_none_before_it() {
        check("oops", 1, 1, "  1 | oops\n    | ^\n");
    }

    #[test]
    fn an_end_without_a_line_is_shown_as_one() {
        check("{\n", 2, 1, "  1 | {\n  2 | \n    | ^\n");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}!{}", "a".repeat(200), "b".repeat(200));
        let drawn = anstream::adapter::strip_str(&excerpt(&text, 1, 201)).to_string();
        let mut lines = drawn.lines();
        let (content, caret) = (lines.next().expect("a line"), lines.next().expect("a caret"));
        assert_eq!(content.find('!'), caret.find('^'));
        assert!(content.len() < 80, "{content}");
    }

    #[test]
    fn tabs_take_one_column() {
        check("\t\tx", 1, 3, "  1 |   x\n    |   ^\n");
    }
}
