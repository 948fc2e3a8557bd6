//! The spec that npm saves for a dependency that it has found (`saveIdealTree` in `reify.js`).

use crate::paths;
use crate::semver::Range;
use crate::spec::{Spec, SpecKind, Specs};

/// What was found for a dependency.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The package's own name, which isn't the dependency's for an alias.
    pub package: &'a str,
    /// Its version, where it has one.
    pub version: Option<&'a str>,
    /// Whether it is one of the project's workspaces.
    pub workspace: bool,
    /// The spec of the override that led to it: npm saves as if that had been asked for.
    pub overridden: Option<&'a str>,
}

pub(super) struct Saved {
    pub spec: String,
    /// Whether it leads to a folder or a file, whose versions can't be compared.
    pub local: bool,
}

/// What to save where `asked` has led to `found`.
pub(super) fn spec(name: &str, asked: &str, found: &Found<'_>, folder: &str, prefix: &str) -> Saved {
    let parsed = Specs::default().intern(asked);
    let exact_or_prefixed = || found.version.map_or_else(|| "*".to_owned(), |version| format!("{prefix}{version}"));
    let registry = |asked: &Spec| {
        let prefixed = exact_or_prefixed();
        let range = match &asked.kind {
            // A range that allows less than the prefix would is kept as it was asked for.
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

/// Whether both allow some version; what is no range allows none.
pub(super) fn intersect(one: &str, other: &str) -> bool {
    match (Range::parse(one), Range::parse(other)) {
        (Some(one), Some(other)) => one.intersects(&other),
        _ => false,
    }
}
