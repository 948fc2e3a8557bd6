//! The spec that npm saves for a resolved dependency (`saveIdealTree` in `reify.js`).

use crate::paths;
use crate::semver::Range;
use crate::spec::{Spec, SpecKind, Specs};

/// The package that was found for a dependency.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The package's own name. For an alias, it isn't the dependency's name.
    pub package: &'a str,
    /// Its version, if it has one.
    pub version: Option<&'a str>,
    /// Whether it is a workspace of the project.
    pub workspace: bool,
    /// The spec of the override that led to it. npm saves as if this spec had been requested.
    pub overridden: Option<&'a str>,
}

pub(super) struct Saved {
    pub spec: String,
    /// Whether it leads to a folder or a file, which have no comparable versions.
    pub local: bool,
}

/// The spec to save if `asked` has led to `found`.
pub(super) fn spec(name: &str, asked: &str, found: &Found<'_>, folder: &str, prefix: &str, specs: &Specs) -> Saved {
    let parsed = specs.intern(asked);
    let exact_or_prefixed = || found.version.map_or_else(|| "*".to_owned(), |version| format!("{prefix}{version}"));
    let registry = |asked: &Spec| {
        let prefixed = exact_or_prefixed();
        let range = match &asked.kind {
            // A range that is narrower than the prefix is kept.
            SpecKind::Range { range, .. } if asked.raw.trim() != "*" && !within(&prefixed, range) => {
                asked.raw.to_string()
            }
            _ => prefixed,
        };
        if name == found.package { range } else { format!("npm:{}@{range}", found.package) }
    };
    let (spec, local) = match &parsed.kind {
        SpecKind::Alias { spec, .. } => (registry(spec), false),
        SpecKind::Version { .. } | SpecKind::Range { .. } | SpecKind::Tag(_) => (registry(&parsed), false),
        SpecKind::File(_) | SpecKind::Directory(_) if found.workspace => (exact_or_prefixed(), true),
        SpecKind::File(path) | SpecKind::Directory(path) => {
            (format!("file:{}", paths::relative(folder, &path.resolve(folder))), true)
        }
        SpecKind::Git(git) => {
            (git.hosted.as_ref().map_or_else(|| git.save.clone(), crate::hosted::HostedGit::to_saved), false)
        }
        SpecKind::Remote(_) | SpecKind::Invalid { .. } => (asked.to_owned(), false),
    };
    Saved { spec, local }
}

fn within(prefixed: &str, asked: &Range) -> bool {
    Range::parse_loose(prefixed).is_some_and(|range| range.is_subset_of(asked))
}

/// Whether both allow a common version. A text that isn't a range allows none.
pub(super) fn intersect(one: &str, other: &str) -> bool {
    match (Range::parse(one), Range::parse(other)) {
        (Some(one), Some(other)) => one.intersects(&other),
        _ => false,
    }
}
