//! A summary of a packument for caches, which saves inflating and parsing the body.
//!
//! It holds the versions, the tags, and the manifests that a resolution has read or is likely to
//! need. Any other manifest comes from the source, which has to give exactly the packument's text.
//! The cache stores the summary and detects damage.

use std::sync::OnceLock;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::text::Parts;
use super::{Detail, Entry, Packument, Source, Text, Versions};

/// The version of the format. It also changes if a packument gives another summary than before.
const FORMAT: u8 = 3;

type Pairs<'a> = Vec<(&'a str, &'a str)>;

#[derive(Serialize, Deserialize)]
struct Summary<'a> {
    format: u8,
    detail: Detail,
    #[serde(borrow)]
    dist_tags: Pairs<'a>,
    #[serde(borrow)]
    time: Pairs<'a>,
    names: &'a str,
    /// For each version, the length of its name, the distance of its manifest from the one before,
    /// and the length of the manifest. These numbers are small, and small numbers are short.
    entries: Vec<(u32, u32, u32)>,
    /// Manifests, by their positions.
    #[serde(borrow)]
    manifests: Vec<(usize, &'a str)>,
}

impl Packument {
    /// The summary. Empty if it can't be written.
    pub fn summary(&self) -> Vec<u8> {
        let mut before = Entry { name_end: 0, start: 0, end: 0 };
        let entries = self.versions.entries.iter().map(|entry| {
            let Entry { name_end, end, .. } = std::mem::replace(&mut before, *entry);
            (entry.name_end - name_end, entry.start - end, entry.end - entry.start)
        });
        let summary = Summary {
            format: FORMAT,
            detail: self.detail,
            dist_tags: borrowed(&self.dist_tags),
            time: borrowed(&self.time),
            names: &self.versions.names,
            entries: entries.collect(),
            manifests: self.text.known(),
        };
        postcard::to_allocvec(&summary).unwrap_or_default()
    }

    /// The packument of a summary. `None` if this version of the program didn't write it.
    pub fn from_summary(bytes: &Bytes, source: Source) -> Option<Self> {
        let summary: Summary<'_> =
            postcard::from_bytes(bytes).ok().filter(|summary: &Summary<'_>| summary.format == FORMAT)?;
        let mut before = Entry { name_end: 0, start: 0, end: 0 };
        let entries = summary.entries.into_iter().map(|(name_length, distance, length)| {
            let name_end = before.name_end.checked_add(name_length)?;
            let start = before.end.checked_add(distance)?;
            before = Entry { name_end, start, end: start.checked_add(length)? };
            summary.names.is_char_boundary(name_end as usize).then_some(before)
        });
        let entries = entries.collect::<Option<Vec<Entry>>>()?;
        Some(Self {
            dist_tags: owned(&summary.dist_tags),
            time: owned(&summary.time),
            detail: summary.detail,
            versions: Versions { names: summary.names.to_owned(), entries },
            text: Text::settled(Parts::of(&summary.manifests, bytes), source),
            length: 0,
            semver: OnceLock::new(),
        })
    }
}

fn borrowed(pairs: &[(String, String)]) -> Pairs<'_> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

fn owned(pairs: &Pairs<'_>) -> Vec<(String, String)> {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;

    use crate::packument::{Detail, Packument, Source};

    const BODY: &str = r#"{"dist-tags":{"latest":"2.0.0"},"time":{"1.0.0":"2020"},
        "versions":{"1.0.0":{"a":"é"},"1.1.0":{"a":2},"2.0.0-x":{"a":3},"x":{"a":4}}}"#;

    /// A source of that text, and a count of its uses.
    fn source() -> (Source, Arc<AtomicUsize>) {
        let asked = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&asked);
        let give = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Some(BODY.into())
        };
        (Source::new(give), asked)
    }

    fn summary() -> Vec<u8> {
        let packument = Packument::parse(BODY.as_bytes(), Detail::Abbreviated).expect("a packument");
        packument.manifest(2);
        packument.settle(source().0);
        packument.summary()
    }

    #[test]
    fn a_packument_is_had_again_from_its_summary() {
        let (source, asked) = source();
        let packument = Packument::from_summary(&summary().into(), source).expect("a summary");
        let versions: Vec<&str> = (0..packument.len()).map(|index| packument.version(index)).collect();
        assert_eq!(versions, ["1.0.0", "1.1.0", "2.0.0-x", "x"]);
        assert_eq!(packument.tagged("latest"), Some("2.0.0"));
        assert_eq!(packument.time, [("1.0.0".to_owned(), "2020".to_owned())]);
        assert_eq!(packument.detail, Detail::Abbreviated);
        // This is the highest version of its line, and a manifest that was read.
        assert_eq!((packument.manifest(1), packument.manifest(2)), (r#"{"a":2}"#, r#"{"a":3}"#));
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        assert_eq!((packument.manifest(0), packument.manifest(3)), (r#"{"a":"é"}"#, r#"{"a":4}"#));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_no_summary_is_none() {
        let whole = summary();
        for end in 0..whole.len() {
            assert!(Packument::from_summary(&Bytes::copy_from_slice(&whole[..end]), source().0).is_none(), "{end}");
        }
        let mut other = whole;
        other[0] += 1;
        assert!(Packument::from_summary(&other.into(), source().0).is_none());
    }

    #[test]
    fn no_change_to_a_summary_makes_a_panic() {
        let whole = summary();
        for place in 0..whole.len() {
            for bits in [1, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[place] ^= bits;
                if let Some(packument) = Packument::from_summary(&changed.into(), source().0) {
                    for index in 0..packument.len() {
                        std::hint::black_box((packument.version(index), packument.manifest(index)));
                    }
                }
            }
        }
    }
}
