//! A lockfile's text, which has several readers and is parsed for the first of them.

use std::sync::{Arc, OnceLock};

use super::ParsedLock;

/// The text of a lockfile, and what it says. Clones share both.
#[derive(Clone, Debug)]
pub struct LockfileText(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    text: Arc<String>,
    parsed: OnceLock<Option<ParsedLock<'static>>>,
}

impl LockfileText {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The text as it was parsed for its project, which is in this absolute folder. All readers have
    /// the same project. `None` if the text isn't JSON. If another thread parses it, this waits for
    /// the result.
    pub fn parsed(&self, project: &str) -> Option<&ParsedLock<'static>> {
        let parse = || ParsedLock::parse(Arc::clone(&self.0.text), project);
        self.0.parsed.get_or_init(parse).as_ref()
    }
}

impl From<String> for LockfileText {
    fn from(text: String) -> Self {
        Self(Arc::new(Shared { text: Arc::new(text), parsed: OnceLock::new() }))
    }
}
