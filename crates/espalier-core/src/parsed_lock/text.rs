//! Text in memory, for one reader or for several.

use std::ops::Deref;
use std::sync::Arc;

/// A text with several readers, or one that a single reader borrows.
#[derive(Clone, Debug)]
pub enum Text<'t> {
    Borrowed(&'t str),
    Shared(Arc<String>),
}

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl Default for Text<'_> {
    fn default() -> Self {
        Self::Borrowed("")
    }
}

impl<'t> From<&'t str> for Text<'t> {
    fn from(text: &'t str) -> Self {
        Self::Borrowed(text)
    }
}

impl From<Arc<String>> for Text<'_> {
    fn from(text: Arc<String>) -> Self {
        Self::Shared(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self::Shared(Arc::new(text))
    }
}
