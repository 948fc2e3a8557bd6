//! The serialised form of an outcome, for callers that cache it. The same resolution with the same
//! answers can return it.
//!
//! The caller knows the answers, and checks whether they are still the same. Outcomes that change a
//! package.json or a yarn.lock, or that have packages without a known source, have no record.

use std::borrow::Cow;
use std::io;

use serde::{Deserialize, Serialize};

use super::{Outcome, Statistics, Warning};
use crate::graph::Graph;
use crate::lockfile::PackageLock;

/// The version of the format.
const FORMAT: u8 = 2;

#[derive(Serialize, Deserialize)]
struct Record<'a> {
    format: u8,
    lockfile: Cow<'a, PackageLock>,
    is_saved: bool,
    graph: Cow<'a, Graph>,
    warnings: Cow<'a, [Warning]>,
    statistics: Statistics,
}

impl Outcome {
    /// Whether it can be recorded: it consists of a lockfile and a tree only.
    pub fn is_plain(&self) -> bool {
        self.yarn_lock.is_none() && self.changed_manifests.is_empty() && self.unknown_origins.is_empty()
    }

    /// Writes a plain outcome. That of a large tree takes several megabytes, so it is never in
    /// memory as a whole.
    ///
    /// # Errors
    ///
    /// Those of the writer, and one for an outcome that isn't plain.
    pub fn record(&self, to: impl io::Write) -> io::Result<()> {
        if !self.is_plain() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let record = Record {
            format: FORMAT,
            lockfile: Cow::Borrowed(&self.lockfile),
            is_saved: self.is_saved,
            graph: Cow::Borrowed(&self.graph),
            warnings: Cow::Borrowed(&self.warnings),
            statistics: self.statistics,
        };
        postcard::to_io(&record, to).map(|_| ()).map_err(io::Error::other)
    }

    /// Reads a record. `None` if this version doesn't write such records.
    pub fn from_record(bytes: &[u8]) -> Option<Self> {
        let record: Record<'_> =
            postcard::from_bytes(bytes).ok().filter(|record: &Record<'_>| record.format == FORMAT)?;
        Some(Self {
            lockfile: record.lockfile.into_owned(),
            is_saved: record.is_saved,
            yarn_lock: None,
            changed_manifests: Vec::new(),
            graph: record.graph.into_owned(),
            unknown_origins: Vec::new(),
            warnings: record.warnings.into_owned(),
            statistics: record.statistics,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{Answer, Detail, Options, Outcome, Packument, PackumentForm, Progress, Project, Request, Resolution};

    /// A tree with a deprecation, a command, and an unsuitable engine.
    fn outcome() -> Outcome {
        let manifest = r#"{"name":"app","version":"1.0.0","license":"MIT","dependencies":{"a":"1"},"x":{"é":[1.5]}}"#;
        let project = Project { manifest: manifest.to_owned(), path: "/app".to_owned(), ..Project::default() };
        let mut resolution = Resolution::new(project, Options::default());
        while resolution.advance() != Progress::Done {
            while let Some((request, _)) = resolution.next_request() {
                assert_eq!(request, Request::Packument { name: "a".to_owned(), form: PackumentForm::Any });
                let packument = r#"{"versions":{"1.0.0":{"name":"a","version":"1.0.0","deprecated":"é","bin":"x.js",
                    "engines":{"node":"1"},"dist":{"tarball":"http://registry.test/a.tgz"}}}}"#;
                let packument = Packument::parse(packument.as_bytes(), Detail::Whole).expect("a packument");
                resolution.supply(&request, Ok(Answer::Packument(Arc::new(packument))));
            }
        }
        resolution.finish().expect("a tree")
    }

    fn record(outcome: &Outcome) -> Vec<u8> {
        let mut bytes = Vec::new();
        outcome.record(&mut bytes).expect("a record");
        bytes
    }

    #[test]
    fn an_outcome_is_had_again_from_its_record() {
        let mut outcome = outcome();
        outcome.graph.edges[0].error = Some("MISSING");
        let again = Outcome::from_record(&record(&outcome)).expect("an outcome");
        assert_eq!(again.warnings.len(), 2, "{:?}", again.warnings);
        assert_eq!(again.lockfile.hidden(true, &|_| true), outcome.lockfile.hidden(true, &|_| true));
        assert_eq!(format!("{again:?}"), format!("{outcome:?}"));
    }

    #[test]
    fn what_is_no_record_is_none() {
        let whole = record(&outcome());
        for end in 0..whole.len() {
            assert!(Outcome::from_record(&whole[..end]).is_none(), "{end}");
        }
        let mut other = whole;
        other[0] += 1;
        assert!(Outcome::from_record(&other).is_none());
    }

    #[test]
    fn an_outcome_that_changes_files_has_no_record() {
        let changed = crate::ChangedManifest { folder: String::new(), text: "{}".to_owned() };
        assert!(Outcome { changed_manifests: vec![changed], ..outcome() }.record(Vec::new()).is_err());
        assert!(Outcome { yarn_lock: Some(String::new()), ..outcome() }.record(Vec::new()).is_err());
    }
}
