//! An installation as data: what is moved away, fetched, placed, linked and run. It can be printed.
//! [`reify`](crate::reify) carries it out.

pub mod inspect;
pub mod verify;

use std::fmt;

use indexmap::IndexMap;

pub use espalier_package::{bins, layout, optional};

use crate::git::Repository;
use crate::integrity::Integrity;
use crate::store::StoredPackage;
use bins::BinLink;
use inspect::{Condition, Findings, Sweep};
use layout::{Layout, Origin, Package, lies_in_node_modules, link_text};

/// The steps of an installation.
#[derive(Debug, Default)]
pub struct Plan {
    /// What is moved away first, relative to the project.
    pub retire: Vec<Retirement>,
    /// The sources of packages, each once.
    pub sources: Vec<Source>,
    /// The packages to place.
    pub place: Vec<Placement>,
    /// Missing packages without a known source.
    pub unknown: Vec<String>,
    /// Links to folders of the project.
    pub links: Vec<Link>,
    /// All commands, including existing ones.
    pub bins: Vec<BinLink>,
    /// The `.bin` folders in which nothing else stays.
    pub swept: Vec<Sweep>,
    /// The number of packages that stay as they are.
    pub kept: usize,
}

/// Something that is moved away and removed at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retirement {
    /// The path, relative to the project.
    pub path: String,
    /// Whether nothing takes its place.
    pub removed: bool,
}

/// A tarball and the packages that are made of it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The package's own name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Its address in the lock.
    pub resolved: String,
    /// Its expected integrity.
    pub integrity: Option<Integrity>,
    /// The stored package, if the store has it already.
    pub stored: Option<StoredPackage>,
}

impl Source {
    /// Whether it is downloaded, and not read from the disk or cloned.
    pub fn is_download(&self) -> bool {
        !self.resolved.starts_with("file:") && Repository::of(&self.resolved).is_none()
    }
}

/// A package to place.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Its location.
    pub location: String,
    /// The index of its source.
    pub source: usize,
    /// The kind of change.
    pub kind: PlacementKind,
}

/// The kind of change that a placement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementKind {
    /// There was nothing before.
    Added,
    /// There was another version before.
    Changed {
        /// That version, if it is known.
        from: Option<String>,
    },
    /// The same version was there, with this difference.
    Repaired(String),
}

/// A link to a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its location.
    pub location: String,
    /// Its text.
    pub text: String,
}

impl Plan {
    /// Derives the steps from what was found and the target state. `stored` looks packages up in
    /// the store.
    pub fn new(
        layout: &Layout,
        findings: &Findings,
        bins: Vec<BinLink>,
        stored: impl Fn(&str) -> Option<StoredPackage>,
    ) -> Self {
        let mut plan = Self { bins, swept: findings.swept.clone(), ..Self::default() };
        let retirement = |path: &String| Retirement { path: path.clone(), removed: true };
        plan.retire.extend(findings.extraneous.iter().map(retirement));
        let mut sources: IndexMap<(String, Option<String>), usize> = IndexMap::new();
        let is_wrong = |location: &str| matches!(findings.conditions.get(location), Some(Condition::Wrong(_)));
        // Replacing a package leaves nothing below it.
        let is_below_replaced = |location: &str| location.match_indices('/').any(|(at, _)| is_wrong(&location[..at]));
        let condition = |location: &str| match findings.conditions.get(location) {
            Some(_) if is_below_replaced(location) => Some(&Condition::Absent),
            condition => condition,
        };
        let is_changed = |location: &str, _: &Package| !matches!(condition(location), None | Some(Condition::Right));
        let changed = layout.some_in_building_order(is_changed);
        plan.kept = findings.conditions.len() - changed.len();
        for (location, package) in changed {
            let Some(condition) = condition(location) else { continue };
            if matches!(condition, Condition::Wrong(_)) {
                plan.retire.push(Retirement { path: location.to_owned(), removed: false });
            }
            match &package.origin {
                Origin::Link(target) => {
                    plan.links.push(Link { location: location.to_owned(), text: link_text(location, target) });
                }
                Origin::Tarball { resolved, integrity } => {
                    let key = (resolved.clone(), integrity.clone());
                    let source = *sources.entry(key).or_insert_with(|| {
                        plan.sources.push(Source {
                            name: package.package_name.clone(),
                            version: package.version.clone(),
                            resolved: resolved.clone(),
                            integrity: integrity.as_deref().and_then(|text| text.parse().ok()),
                            stored: stored(location),
                        });
                        plan.sources.len() - 1
                    });
                    let from = findings.noted_versions.get(location).cloned();
                    let kind = match condition {
                        Condition::Wrong(_) if from != package.version && from.is_some() => {
                            PlacementKind::Changed { from }
                        }
                        Condition::Wrong(reason) => PlacementKind::Repaired(reason.clone()),
                        _ => PlacementKind::Added,
                    };
                    plan.place.push(Placement { location: location.to_owned(), source, kind });
                }
                Origin::Unknown => plan.unknown.push(location.to_owned()),
                Origin::Bundle { .. } | Origin::Folder => {}
            }
        }
        plan
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.retire.is_empty() && self.place.is_empty() && self.unknown.is_empty() && self.links.is_empty()
    }

    /// The number of added packages.
    pub fn added(&self) -> usize {
        self.place.iter().filter(|placement| placement.kind == PlacementKind::Added).count() + self.links.len()
    }

    /// The number of replaced packages.
    pub fn changed(&self) -> usize {
        self.place.len() + self.links.len() - self.added()
    }

    /// The number of paths that are removed without a replacement.
    pub fn removed(&self) -> usize {
        self.retire.iter().filter(|retirement| retirement.removed && lies_in_node_modules(&retirement.path)).count()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for retirement in &self.retire {
            let verb = if retirement.removed { "remove" } else { "retire" };
            writeln!(formatter, "{verb:<8} {}", retirement.path)?;
        }
        for source in self.sources.iter().filter(|source| source.stored.is_none()) {
            let version = source.version.as_deref().unwrap_or_default();
            writeln!(formatter, "{:<8} {}@{version}", "fetch", source.name)?;
        }
        for placement in &self.place {
            let source = &self.sources[placement.source];
            let version = source.version.as_deref().unwrap_or_default();
            let verb = match placement.kind {
                PlacementKind::Added => "add",
                PlacementKind::Changed { .. } => "change",
                PlacementKind::Repaired(_) => "repair",
            };
            writeln!(formatter, "{verb:<8} {} {}@{version}", placement.location, source.name)?;
        }
        for link in &self.links {
            writeln!(formatter, "{:<8} {} -> {}", "link", link.location, link.text)?;
        }
        Ok(())
    }
}
