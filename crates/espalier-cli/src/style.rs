//! The few styles of the terminal output. Colour only underlines what the words say already.
//!
//! Everything is printed through `anstream`, which takes the colours off where there is no terminal or where `NO_COLOR`
//! asks for none.

use std::fmt::{self, Display};

use anstyle::{AnsiColor, Style};

/// What went wrong.
pub const PROBLEM: Style = AnsiColor::Red.on_default().bold();
/// What deserves a look.
pub const CAUTION: Style = AnsiColor::Yellow.on_default();
/// What is alive or done.
pub const LIVING: Style = AnsiColor::Green.on_default();
/// Names, and what can be typed.
pub const STRONG: Style = Style::new().bold();
/// What only connects.
pub const QUIET: Style = Style::new().dimmed();

/// Something in a style.
pub struct Styled<T>(pub Style, pub T);

impl<T: Display> Display for Styled<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, content) = self;
        write!(formatter, "{style}{content}{style:#}")
    }
}

/// In bold.
pub fn strong<T: Display>(content: T) -> Styled<T> {
    Styled(STRONG, content)
}

/// Dimmed.
pub fn quiet<T: Display>(content: T) -> Styled<T> {
    Styled(QUIET, content)
}
