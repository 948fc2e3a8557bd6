//! The properties of code that reads input from outside. For every input, it does not panic, it
//! ends, and no path leaves its folder. The fuzz targets and `hostile_input.rs` of
//! `espalier-install` call the same functions.

use std::collections::BTreeMap;
use std::convert::Infallible;

use espalier_core::hosted::HostedGit;
use espalier_core::semver::{Range, Version, min_version, valid_range};
use espalier_core::spec::{Specs, split_argument};
use espalier_core::{
    FetchFailure, FetchFailureKind, Omit, Options, Outcome, ParsedLock, Progress, Project, Reading, Resolution,
    ResolveError,
};
use espalier_package::agreement::{self, Declared};
use espalier_package::archive::{self, Limits, Reader, Receiver};
use espalier_package::layout::{Layout, lies_in_node_modules};
use espalier_package::noted::Noted;
use espalier_package::{bins, npmrc as settings};

/// The maximum size of an unpacked archive, which no seed exceeds.
const LIMITS: Limits = Limits { bytes: 1 << 22, ratio: 1000, entries: 10_000, header: 1 << 16 };

/// The files of an archive with their modes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Files {
    open: Option<String>,
    files: BTreeMap<String, (u32, Vec<u8>)>,
}

impl Receiver for Files {
    type Error = Infallible;

    fn begin(&mut self, path: &str, mode: u32) -> Result<(), Infallible> {
        let harmless = |step: &str| !matches!(step, "" | "." | "..") && !step.contains('\0');
        assert!(path.split('/').all(harmless) && !path.split('\\').any(|step| step == ".."), "{path} leads out");
        assert!(self.open.is_none(), "{path} begins in another file");
        self.files.insert(path.to_owned(), (mode, Vec::new()));
        self.open = Some(path.to_owned());
        Ok(())
    }

    fn content(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        let open = self.open.as_ref().expect("a file is open");
        self.files.get_mut(open).expect("it has begun").1.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Infallible> {
        assert!(self.open.take().is_some(), "a file ends that has not begun");
        Ok(())
    }
}

/// Checks a tarball: its files do not depend on how it is cut into pieces.
pub fn archive(bytes: &[u8]) {
    let mut whole = Files::default();
    let is_sound = archive::read(bytes, LIMITS, &mut whole).is_ok();
    let mut pieces = Files::default();
    let mut reader = Reader::new(bytes.len() as u64, LIMITS);
    let (mut rest, mut length, mut is_sound_in_pieces) = (bytes, 2, true);
    while !rest.is_empty() && is_sound_in_pieces {
        let (piece, others) = rest.split_at(length.min(rest.len()));
        is_sound_in_pieces = reader.push(piece, &mut pieces).is_ok();
        (rest, length) = (others, length % 700 + 97);
    }
    is_sound_in_pieces &= is_sound_in_pieces && reader.finish(&mut pieces).is_ok();
    assert_eq!(is_sound, is_sound_in_pieces);
    assert!(!is_sound || whole == pieces);
    let _ = archive::list(bytes, LIMITS);
}

/// Checks a lockfile: inspects it, resolves it with an empty registry, and derives the layout.
pub fn lockfile(text: &str) {
    let manifest = r#"{"name":"app","version":"1.0.0","dependencies":{"a":"^1.0.0"},"workspaces":["packages/*"]}"#;
    let project = Project {
        manifest: manifest.to_owned(),
        lockfile: Some(text.to_owned().into()),
        path: "/project".to_owned(),
        folder_name: "project".to_owned(),
        ..Project::default()
    };
    let _ = ended(Resolution::inspect(project.clone(), Options::default(), Reading::Lockfile));
    if let Ok(outcome) = ended(Resolution::new(project, Options::default())) {
        laid_out(&outcome);
        if let Some(parsed) = ParsedLock::parse(text, &outcome.graph.project) {
            let _ = agreement::disagreements(&parsed, &outcome.graph, &[]);
            let manifest = r#"{"packageExtensions":{"a":{},"a@1":{}}}"#.to_owned();
            let _ = agreement::stale(&parsed, &Declared { manifest, ..Declared::default() }, &outcome.graph);
        }
        let hidden = Noted::read(&outcome.lockfile.hidden(true, &|_| true)).expect("the hidden lockfile is JSON");
        assert_eq!(hidden.locations().count(), outcome.statistics.packages);
    }
    let _ = Noted::read(text);
}

fn laid_out(outcome: &Outcome) {
    let Ok(layout) = Layout::new(outcome, Omit::default(), &|_| true) else { return };
    for location in layout.packages.keys().filter(|location| lies_in_node_modules(location)) {
        assert!(!location.split('/').any(|step| matches!(step, "" | "." | "..")), "{location} leads out");
    }
    for link in bins::links(&layout) {
        let command = link.location.rsplit_once("/.bin/").expect("it is in .bin").1;
        assert!(!command.contains('/') && command != "..", "{command} leads out");
        assert!(!link.file.split('/').any(|step| step == ".."), "{} leads out", link.file);
    }
}

/// The result of a resolution with an empty registry and an empty project.
fn ended(mut resolution: Resolution) -> Result<Outcome, ResolveError> {
    for _ in 0..10_000 {
        if resolution.advance() == Progress::Done {
            return resolution.finish();
        }
        while let Some((request, _)) = resolution.next_request() {
            let (kind, url) = (FetchFailureKind::NotFound, String::new());
            resolution.supply(&request, Err(FetchFailure { kind, message: "it is not there".to_owned(), url }));
        }
    }
    panic!("the resolution does not end");
}

/// Checks a spec, as in a package.json or on the command line.
pub fn spec(text: &str) {
    let specs = Specs::default();
    let spec = specs.intern(text);
    let _ = (spec.is_registry(), spec.range());
    let _ = (split_argument(text), specs.argument(text));
    if let Some(hosted) = HostedGit::parse(text) {
        let _ = (hosted.fetch_urls(), hosted.resolved(), hosted.to_saved(), hosted.to_spec());
    }
}

/// Checks a version (the first line) against ranges (the other lines).
pub fn semver(text: &str) {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let versions = [Version::parse(first), Version::parse_loose(first)];
    for version in versions.iter().flatten() {
        assert_eq!(Version::parse(&version.to_string()).as_ref(), Some(version), "{first:?} is read otherwise again");
    }
    let ranges: Vec<Range> = lines.filter_map(Range::parse_loose).collect();
    for range in &ranges {
        assert!(range.is_subset_of(range));
        assert!(min_version(range).is_none_or(|lowest| range.satisfied_by(&lowest)));
        for version in versions.iter().flatten() {
            range.satisfied_by(version);
        }
        for other in &ranges {
            // Neither is symmetric, as in node-semver.
            let _ = (range.intersects(other), range.is_subset_of(other));
        }
    }
    let _ = valid_range(text, true);
}

/// Checks an `.npmrc`, with variables whose values contain the syntax of variables.
pub fn npmrc(text: &str) {
    let _ = settings::parse(text);
    let (expanded, _) = settings::expand(text, |name| (name.len() % 3 > 0).then(|| format!("${{{name}}}")));
    assert!(text.contains("${") || expanded == text, "what has no variables was changed");
}
