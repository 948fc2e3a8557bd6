//! An installation as data: what is moved away, fetched, unpacked into place, linked and run. It can be printed; carrying it out
//! is [`reify`](crate::reify)'s business.

pub mod inspect;
pub mod verify;

use std::fmt;

use indexmap::IndexMap;

pub use espalier_package::{bins, layout, optional};

use crate::integrity::Integrity;
use crate::store::StoredPackage;
use bins::BinLink;
use inspect::{Condition, Findings, is_below};
use layout::{Layout, Origin, lies_in_node_modules, link_text};

/// Everything that is to be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// What is moved out of the way first, relative to the project.
    pub retire: Vec<Retirement>,
    /// Where packages come from; each once.
    pub sources: Vec<Source>,
    /// Packages that get a folder.
    pub place: Vec<Placement>,
    /// Packages that aren't there, and of which nobody can say where they come from.
    pub unknown: Vec<String>,
    /// Links to folders of the project.
    pub links: Vec<Link>,
    /// All commands, those that are there already too.
    pub bins: Vec<BinLink>,
    /// How many packages stay as they are.
    pub kept: usize,
}

/// Something that is moved out of the way, and later removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retirement {
    /// Relative to the project.
    pub path: String,
    /// Whether nothing takes its place.
    pub removed: bool,
}

/// A tarball, and the packages that are made of it.
#[derive(Debug)]
pub struct Source {
    /// The package's own name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// As the lock has it.
    pub resolved: String,
    /// What was promised.
    pub integrity: Option<Integrity>,
    /// Where it is in the store already.
    pub stored: Option<StoredPackage>,
}

/// A package that gets a folder.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Where.
    pub location: String,
    /// Of which source, by its number.
    pub source: usize,
    /// What this changes.
    pub change: Change,
    /// Whether its files must be its own, because scripts may change them.
    pub private: bool,
}

/// What a placement changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// There was nothing.
    Added,
    /// There was another version.
    Changed {
        /// Which, where that is known.
        from: Option<String>,
    },
    /// What was there was not as it should be.
    Repaired(String),
}

/// A link to a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where.
    pub location: String,
    /// What it says.
    pub text: String,
}

impl Plan {
    /// What leads from what was found to what shall be. `stored` finds packages in the store.
    pub fn new(
        layout: &Layout,
        findings: &Findings,
        bins: Vec<BinLink>,
        stored: impl Fn(&str) -> Option<StoredPackage>,
    ) -> Self {
        let mut plan = Self { bins, ..Self::default() };
        let retirement = |path: &String| Retirement { path: path.clone(), removed: true };
        plan.retire.extend(findings.extraneous.iter().map(retirement));
        let mut replaced: Vec<String> = Vec::new();
        let mut sources: IndexMap<(String, Option<String>), usize> = IndexMap::new();
        for (location, package) in layout.in_building_order() {
            let Some(condition) = findings.conditions.get(location) else { continue };
            // Below what is replaced nothing is left.
            let condition = if is_below(location, &replaced) { &Condition::Absent } else { condition };
            if *condition == Condition::Right {
                plan.kept += 1;
                continue;
            }
            if matches!(condition, Condition::Wrong(_)) {
                plan.retire.push(Retirement { path: location.to_owned(), removed: false });
                replaced.push(location.to_owned());
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
                    let change = match condition {
                        Condition::Wrong(_) if from != package.version && from.is_some() => Change::Changed { from },
                        Condition::Wrong(reason) => Change::Repaired(reason.clone()),
                        _ => Change::Added,
                    };
                    let private = package.has_install_script;
                    plan.place.push(Placement { location: location.to_owned(), source, change, private });
                }
                Origin::Unknown => plan.unknown.push(location.to_owned()),
                Origin::Bundle { .. } | Origin::Folder => {}
            }
        }
        plan
    }

    /// Whether everything is as it shall be.
    pub fn is_empty(&self) -> bool {
        self.retire.is_empty() && self.place.is_empty() && self.unknown.is_empty() && self.links.is_empty()
    }

    /// How many packages are added that weren't there.
    pub fn added(&self) -> usize {
        self.place.iter().filter(|placement| placement.change == Change::Added).count() + self.links.len()
    }

    /// How many packages are replaced.
    pub fn changed(&self) -> usize {
        self.place.len() + self.links.len() - self.added()
    }

    /// How many things are removed without anything in their place.
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
            let verb = match placement.change {
                Change::Added => "add",
                Change::Changed { .. } => "change",
                Change::Repaired(_) => "repair",
            };
            writeln!(formatter, "{verb:<8} {} {}@{version}", placement.location, source.name)?;
        }
        for link in &self.links {
            writeln!(formatter, "{:<8} {} -> {}", "link", link.location, link.text)?;
        }
        Ok(())
    }
}
