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

    type Give = dyn Fn() -> Option<Box<str>> + Send + Sync;

    impl Source {
        /// A source that does this.
        pub fn new(give: impl Fn() -> Option<Box<str>> + Send + Sync + 'static) -> Self {
            Self(Box::new(give))
        }
    }

    impl fmt::Debug for Source {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("Source")
        }
    }

    pub struct Text {
        /// Nothing, once it was let go.
        whole: Mutex<Option<Box<str>>>,
        /// Parts that were read, by their beginnings.
        read: FrozenMap<usize, Box<str>>,
        source: OnceLock<Source>,
    }

    impl Text {
        pub fn new(text: &str) -> Self {
            Self { whole: Mutex::new(Some(text.into())), read: FrozenMap::new(), source: OnceLock::new() }
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
            let part = whole.as_deref().and_then(|text| text.get(range.clone())).unwrap_or_default();
            self.read.insert(range.start, part.into())
        }

        /// Lets the text go, which the source can give again. Only the first time.
        pub fn settle(&self, source: Source) {
            if self.source.set(source).is_ok() {
                *self.whole() = None;
            }
        }

        fn whole(&self) -> MutexGuard<'_, Option<Box<str>>> {
            self.whole.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl fmt::Debug for Text {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.debug_struct("Text").finish_non_exhaustive()
        }
    }
}
