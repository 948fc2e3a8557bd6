//! The text of a packument, of which little is ever read.
//!
//! With the feature `settling`, the text can be dropped. Parts that were read remain, and later
//! ones come from a source. Without the feature, there is nothing but the text.

#[cfg(not(feature = "settling"))]
pub(super) use lasting::Text;
#[cfg(feature = "summaries")]
pub(super) use settling::Parts;
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

        pub fn look(&self, range: &Range<usize>, look: &mut dyn FnMut(&str)) {
            look(self.part(range));
        }
    }
}

#[cfg(feature = "settling")]
mod settling {
    use std::fmt;
    use std::ops::Range;
    use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

    #[cfg(feature = "summaries")]
    use bytes::Bytes;
    use elsa::sync::FrozenMap;

    /// Gives a text again. The text is empty if it can't be obtained any more.
    pub struct Source(Box<Give>);

    type Give = dyn Fn() -> Option<Vec<u8>> + Send + Sync;

    impl Source {
        /// A source that calls this function.
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
        /// The text, until it is dropped. Whatever follows it in its memory is meaningless.
        whole: Mutex<Option<Vec<u8>>>,
        /// The parts that were read, by their positions.
        read: FrozenMap<usize, Box<str>>,
        source: OnceLock<Source>,
        /// The parts that an earlier run read.
        #[cfg(feature = "summaries")]
        former: Parts,
    }

    /// Parts of a text by their positions, in order.
    #[cfg(feature = "summaries")]
    #[derive(Default)]
    pub struct Parts(Vec<(usize, Bytes)>);

    #[cfg(feature = "summaries")]
    impl Parts {
        /// These parts, which are slices of `inside`.
        pub fn of(parts: &[(usize, &str)], inside: &Bytes) -> Self {
            let mut parts: Vec<_> =
                parts.iter().map(|&(start, part)| (start, inside.slice_ref(part.as_bytes()))).collect();
            crate::order::sort_by(&mut parts, |a, b| a.0.cmp(&b.0));
            Self(parts)
        }

        fn get(&self, position: usize) -> Option<&str> {
            let found = self.0.binary_search_by_key(&position, |&(start, _)| start).ok()?;
            str::from_utf8(&self.0[found].1).ok()
        }
    }

    impl Text {
        pub fn new(text: &str) -> Self {
            Self::inside(text.into())
        }

        /// A text at the beginning of this memory.
        pub fn inside(memory: Vec<u8>) -> Self {
            Self {
                whole: Mutex::new(Some(memory)),
                read: FrozenMap::new(),
                source: OnceLock::new(),
                #[cfg(feature = "summaries")]
                former: Parts::default(),
            }
        }

        /// A dropped text, with the parts that were read.
        #[cfg(feature = "summaries")]
        pub fn settled(parts: Parts, source: Source) -> Self {
            let (whole, read, source) = (Mutex::default(), FrozenMap::new(), OnceLock::from(source));
            Self { whole, read, source, former: parts }
        }

        pub fn part(&self, range: &Range<usize>) -> &str {
            #[cfg(feature = "summaries")]
            if let Some(part) = self.former.get(range.start) {
                return part;
            }
            if let Some(part) = self.read.get(&range.start) {
                return part;
            }
            let mut whole = self.whole();
            if whole.is_none() {
                // A part beyond those that were kept is needed, and others may follow, so the text
                // is obtained once and kept. If that fails, the text counts as empty, and nobody
                // tries again.
                *whole = Some(self.source.get().and_then(|source| (source.0)()).unwrap_or_default());
            }
            let part = whole.as_deref().and_then(|text| str::from_utf8(text.get(range.clone())?).ok());
            self.read.insert(range.start, part.unwrap_or_default().into())
        }

        /// Looks at a part without keeping it, unless the text was dropped.
        pub fn look(&self, range: &Range<usize>, look: &mut dyn FnMut(&str)) {
            let whole = self.whole();
            let part = whole.as_deref().and_then(|text| str::from_utf8(text.get(range.clone())?).ok());
            if let Some(part) = part {
                look(part);
            }
        }

        /// The parts that were read, with their positions, in order.
        #[cfg(feature = "summaries")]
        pub fn known(&self) -> Vec<(usize, &str)> {
            let mut starts = self.read.keys_cloned();
            starts.extend(self.former.0.iter().map(|&(start, _)| start));
            crate::order::sort_by(&mut starts, Ord::cmp);
            let part = |start| self.former.get(start).or_else(|| self.read.get(&start));
            starts.into_iter().filter_map(|start| Some((start, part(start)?))).collect()
        }

        /// The number of these parts.
        #[cfg(feature = "summaries")]
        pub fn known_count(&self) -> usize {
            self.read.len() + self.former.0.len()
        }

        /// Drops the text and returns its memory. The first time, this also makes the source that
        /// gives it again.
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
