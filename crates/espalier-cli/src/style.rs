//! The styles of the terminal output. Colour only emphasises what the text says.
//!
//! Everything is printed through `anstream`, which removes colours if there is no terminal or
//! `NO_COLOR` is set.

use std::fmt::{self, Display};

use anstyle::{AnsiColor, Style};

/// Errors.
pub const PROBLEM: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub const CAUTION: Style = AnsiColor::Yellow.on_default();
/// Success.
pub const LIVING: Style = AnsiColor::Green.on_default();
/// Names, and text to type.
pub const STRONG: Style = Style::new().bold();
/// Connecting lines and labels.
pub const QUIET: Style = Style::new().dimmed();

/// A value with a style.
pub struct Styled<T>(pub Style, pub T);

impl<T: Display> Display for Styled<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, content) = self;
        write!(formatter, "{style}{content}{style:#}")
    }
}

/// The value in bold.
pub fn strong<T: Display>(content: T) -> Styled<T> {
    Styled(STRONG, content)
}

/// The value dimmed.
pub fn quiet<T: Display>(content: T) -> Styled<T> {
    Styled(QUIET, content)
}
