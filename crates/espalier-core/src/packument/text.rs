//! The text of a packument, of which little is ever read.
//!
//! Where memory is to be had back (the feature `settling`), the text can be let go. What was read of it stays, and what is
//! asked for later is read from where the text came from. Without the feature there is nothing but the text.

#[cfg(not(feature = "settling"))]
pub(super) use lasting::Text;
#[cfg(feature = "settling")]
pub use settling::Source;
#[cfg(feature = "settling")]
pub(super) use settling::Text;

#[cfg(not(feature = "settling"))]
mod lasting {
    use std::ops::Range;

    #[derive(Debug)]
    pub struct Text(Box<str>);

    impl Text {
        pub fn new(text: &str) -> Self {
            Self(text.into())
        }

        pub fn part(&self, range: &Range<usize>) -> &str {
            &self.0[range.clone()]
        }
    }
}

#[cfg(feature = "settling")]
mod settling {
    use std::fmt;
    use std::ops::Range;
    use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

    use elsa::sync::FrozenMap;

    /// Gives a text once more. One that can't be had any more has nothing in it.
    pub struct Source(Box<Give>);

    type Give = dyn Fn() -> Option<Vec<u8>> + Send + Sync;

    impl Source {
        /// A source that does this.
        pub fn new(give: impl Fn() -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
            Self(Box::new(give))
        }
    }

    impl fmt::Debug for Source {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("Source")
        }
    }

    pub struct Text {
        /// Nothing, once it was let go. What follows the text in its memory is of no meaning.
        whole: Mutex<Option<Vec<u8>>>,
        /// Parts that were read, by their beginnings.
        read: FrozenMap<usize, Box<str>>,
        source: OnceLock<Source>,
    }

    impl Text {
        pub fn new(text: &str) -> Self {
            Self::inside(text.into())
        }

        /// A text at the beginning of this memory.
        pub fn inside(memory: Vec<u8>) -> Self {
            Self { whole: Mutex::new(Some(memory)), read: FrozenMap::new(), source: OnceLock::new() }
        }

        /// A text that was let go, and what was read of it.
        #[cfg(feature = "summaries")]
        pub fn settled(parts: impl IntoIterator<Item = (usize, Box<str>)>, source: Source) -> Self {
            let read = FrozenMap::new();
            for (start, part) in parts {
                read.insert(start, part);
            }
            Self { whole: Mutex::default(), read, source: OnceLock::from(source) }
        }

        pub fn part(&self, range: &Range<usize>) -> &str {
            if let Some(part) = self.read.get(&range.start) {
                return part;
            }
            let mut whole = self.whole();
            if whole.is_none() {
                // Whoever looks for one part more than was thought may look for many: it stays now.
                *whole = self.source.get().and_then(|source| (source.0)());
            }
            let part = whole.as_deref().and_then(|text| str::from_utf8(text.get(range.clone())?).ok());
            self.read.insert(range.start, part.unwrap_or_default().into())
        }

        /// The part that begins there, if it was read.
        #[cfg(feature = "summaries")]
        pub fn known(&self, start: usize) -> Option<&str> {
            self.read.get(&start)
        }

        /// Lets the text go, and gives back its memory. A source that gives it again is made of it, the first time.
        pub fn let_go(&self, source: impl FnOnce(&[u8]) -> Source) -> Option<Vec<u8>> {
            let text = self.whole().take()?;
            self.source.get_or_init(|| source(&text));
            Some(text)
        }

        fn whole(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
            self.whole.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl fmt::Debug for Text {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.debug_struct("Text").finish_non_exhaustive()
        }
    }
}
