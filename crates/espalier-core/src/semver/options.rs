//! The options of ranges.

use super::grammar::Grammar;

/// How a range is parsed, and what it allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeOptions {
    /// Accepts what the strict parser doesn't, and skips unreadable parts if anything is readable.
    pub loose: bool,
    /// Treats prereleases like other versions. This also moves bounds: `1.x` then begins at
    /// 1.0.0-0.
    pub include_prerelease: bool,
}

impl RangeOptions {
    pub(super) fn grammar(self) -> Grammar {
        if self.loose { Grammar::Loose } else { Grammar::Strict }
    }
}
