//! Picks a version of a package for a spec (`npm-pick-manifest`).

use rustc_hash::FxHashSet;
use serde_json::Value;
use std::rc::Rc;

use crate::decision::{Objection, PassedOver, Versions};
use crate::json::{self, Fields};
use crate::manifest::Manifest;
use crate::order;
use crate::packument::Packument;
use crate::request::Reason;
use crate::semver::{self, Range, Version};
use crate::spec::{Spec, SpecKind};

/// The maximum number of reported versions above the chosen one.
const MOST_PASSED_OVER: usize = 8;

/// The parts of the choice that don't depend on the packument.
pub struct Picker {
    node: Option<Version>,
    npm: Option<Version>,
    before: Option<i64>,
    default_tag: String,
    /// The ranges that don't suit and those that do, for each engine. There are few different ranges.
    judged: [[FxHashSet<String>; 2]; 2],
}

/// A key of `engines`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// `engines.node`
    Node,
    /// `engines.npm`
    Npm,
}

/// Whether the engines of a version are suitable, and whether it isn't deprecated, by its index.
type Judge<'a> = dyn FnMut(&mut Picker, usize) -> (bool, bool) + 'a;

/// Why no version was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPick {
    /// There are no versions (npm: ENOVERSIONS).
    NoVersions,
    /// No version matches (npm: ETARGET).
    NoMatch,
}

impl Picker {
    /// A picker for these versions of Node and npm. `before` is in milliseconds since the epoch.
    pub fn new(node: &str, npm: &str, before: Option<i64>, default_tag: &str) -> Self {
        Self {
            node: Version::parse(node),
            npm: Version::parse(npm),
            before,
            default_tag: default_tag.to_owned(),
            judged: Default::default(),
        }
    }

    /// The index of the version that npm chooses for a registry spec.
    pub fn pick(&mut self, packument: &Packument, spec: &Spec) -> Result<usize, NoPick> {
        self.pick_by(packument, spec, &mut |picker, index| picker.merits(packument.manifest(index)))
    }

    /// The same for a caller that parses manifests anyway. `read` gives the manifest at an index,
    /// if it can be parsed.
    pub fn pick_and_read(
        &mut self,
        packument: &Packument,
        spec: &Spec,
        read: &mut dyn FnMut(usize) -> Option<Rc<Manifest>>,
    ) -> Result<usize, NoPick> {
        self.pick_by(packument, spec, &mut |picker, index| {
            read(index).map_or((true, true), |manifest| {
                (manifest.field("engines").is_none_or(|engines| picker.suits(engines)), !manifest.is_deprecated)
            })
        })
    }

    fn pick_by(&mut self, packument: &Packument, spec: &Spec, merits: &mut Judge<'_>) -> Result<usize, NoPick> {
        match &spec.kind {
            SpecKind::Alias { spec, .. } => self.pick_by(packument, spec, merits),
            SpecKind::Tag(tag) => {
                let version = packument.tagged(tag).ok_or(NoPick::NoMatch)?;
                if self.is_early_enough(packument, version) {
                    return packument.find(version).ok_or(NoPick::NoMatch);
                }
                let up_to = Range::parse_loose(&format!("<={version}")).ok_or(NoPick::NoMatch)?;
                self.pick_in_range(packument, &up_to, false, merits)
            }
            SpecKind::Version { version, .. } => {
                let version = version.to_string();
                let known = packument.find(&version).filter(|_| self.is_early_enough(packument, &version));
                known.ok_or(NoPick::NoMatch)
            }
            SpecKind::Range { wanted, range } => {
                self.pick_in_range(packument, range, matches!(&**wanted, "" | "*"), merits)
            }
            _ => Err(NoPick::NoMatch),
        }
    }

    fn pick_in_range(
        &mut self,
        packument: &Packument,
        range: &Range,
        any: bool,
        merits: &mut Judge<'_>,
    ) -> Result<usize, NoPick> {
        let default = packument.tagged(&self.default_tag).and_then(|version| packument.find(version));
        if let Some(index) = default {
            // Most packuments need no other version, so the others aren't parsed.
            let version = || Version::parse_loose(packument.version(index));
            let fits = any || version().is_some_and(|version| range.satisfied_by(&version));
            if fits && self.is_early_enough(packument, packument.version(index)) && merits(self, index) == (true, true)
            {
                return Ok(index);
            }
        }
        // The highest version is usually chosen, so the others are neither kept nor sorted.
        if let Some(highest) = self.highest(packument, range)
            && merits(self, highest) == (true, true)
        {
            return Ok(highest);
        }
        let semver = packument.semver();
        let mut there_are_any = false;
        let mut fitting: Vec<usize> = (0..packument.len())
            .filter(|&index| {
                let is_early_enough = self.is_early_enough(packument, packument.version(index));
                there_are_any |= is_early_enough;
                is_early_enough && semver[index].as_ref().is_some_and(|version| range.satisfied_by(version))
            })
            .collect();
        if !there_are_any {
            return Err(NoPick::NoVersions);
        }
        order::sort_by(&mut fitting, |&a, &b| semver[b].cmp(&semver[a]));
        // The first version without an objection is the best. No more manifests are read than
        // necessary.
        let mut best: Option<((bool, bool), usize)> = None;
        for index in fitting {
            let (engine, current) = merits(self, index);
            if engine && current {
                return Ok(index);
            }
            if best.is_none_or(|(merits, _)| (engine, current) > merits) {
                best = Some(((engine, current), index));
            }
        }
        best.map(|(_, index)| index).ok_or(NoPick::NoMatch)
    }

    /// The index of the highest version in a range. Of equal versions, the first.
    fn highest(&self, packument: &Packument, range: &Range) -> Option<usize> {
        let mut highest: Option<(Version, usize)> = None;
        let (mut lowest_major, highest_major) = range.majors();
        // Registries list versions in the order of publication, so the highest are at the end.
        for index in (0..packument.len()).rev() {
            let text = packument.version(index);
            if semver::obvious_major(text).is_some_and(|major| major < lowest_major || major > highest_major) {
                continue;
            }
            let version = Version::release(text).or_else(|| {
                // Many versions are prereleases, and most ranges allow none of them.
                let release = text.split_once('-').and_then(|(release, _)| semver::release_numbers(release));
                let is_admitted = release.is_none_or(|numbers| range.admits_prereleases_of(numbers));
                is_admitted.then(|| Version::parse_loose(text)).flatten()
            });
            if let Some(version) = version
                && highest.as_ref().is_none_or(|(highest, _)| version >= *highest)
                && range.satisfied_by(&version)
                && self.is_early_enough(packument, text)
            {
                lowest_major = version.major;
                highest = Some((version, index));
            }
        }
        highest.map(|(_, index)| index)
    }

    /// The reason why a version was chosen for a spec.
    pub fn reason(&mut self, packument: &Packument, spec: &Spec, version: &str) -> Reason {
        match &spec.kind {
            SpecKind::Alias { spec, .. } => self.reason(packument, spec, version),
            SpecKind::Version { .. } => Reason::Exact,
            SpecKind::Tag(tag) if packument.tagged(tag) == Some(version) => Reason::Tag,
            _ if packument.tagged(&self.default_tag) == Some(version) => Reason::Latest,
            _ => match packument.find(version) {
                Some(index) if self.is_sound(packument.manifest(index)) => Reason::Highest,
                _ => Reason::Compromise,
            },
        }
    }

    /// The versions that were available when one was chosen, with the objections to the higher
    /// ones.
    pub fn versions(&mut self, packument: &Packument, spec: &Spec, chosen: &str) -> Versions {
        let spec = match &spec.kind {
            SpecKind::Alias { spec, .. } => spec,
            _ => spec,
        };
        let range = spec.range();
        let semver = packument.semver();
        let admits = |index: usize| match (range, &semver[index]) {
            (Some(range), Some(version)) => range.satisfied_by(version),
            _ => packument.version(index) == chosen,
        };
        let bar = packument.find(chosen).and_then(|index| semver[index].as_ref());
        let mut higher: Vec<usize> = (0..packument.len())
            .filter(|&index| matches!((&semver[index], bar), (Some(version), Some(bar)) if version > bar))
            .collect();
        order::sort_by(&mut higher, |&a, &b| semver[b].cmp(&semver[a]));
        let mut passed_over = Vec::new();
        for index in higher.into_iter().take(MOST_PASSED_OVER) {
            let version = packument.version(index);
            let (engines, current) = self.merits(packument.manifest(index));
            let why = if !admits(index) {
                Objection::OutOfRange
            } else if !self.is_early_enough(packument, version) {
                Objection::TooNew
            } else if !engines {
                Objection::Engines
            } else if !current {
                Objection::Deprecated
            } else {
                Objection::AboveLatest
            };
            passed_over.push(PassedOver { version: version.to_owned(), why });
        }
        Versions {
            total: packument.len(),
            fitting: (0..packument.len()).filter(|&index| admits(index)).count(),
            latest: packument.tagged("latest").map(str::to_owned),
            passed_over,
        }
    }

    fn is_early_enough(&self, packument: &Packument, version: &str) -> bool {
        self.before.is_none_or(|before| packument.is_published_by(version, before))
    }

    fn is_sound(&mut self, manifest: &str) -> bool {
        self.merits(manifest) == (true, true)
    }

    /// Whether the engines are suitable, and whether the version isn't deprecated.
    fn merits(&mut self, manifest: &str) -> (bool, bool) {
        let Ok(fields) = Fields::read(manifest, &["engines", "deprecated"]) else {
            return (true, true);
        };
        (self.suits(fields.get("engines")), !json::truthy(fields.get("deprecated")))
    }

    /// Whether this Node and npm are in the ranges of an `engines` field.
    pub fn suits(&mut self, engines: &Value) -> bool {
        self.suits_engine(engines, Engine::Node) && self.suits_engine(engines, Engine::Npm)
    }

    /// Whether this Node or this npm is.
    pub fn suits_engine(&mut self, engines: &Value, engine: Engine) -> bool {
        let (key, version) = match engine {
            Engine::Node => ("node", &self.node),
            Engine::Npm => ("npm", &self.npm),
        };
        let (Some(wanted), Some(version)) = (engines.get(key).filter(|value| json::truthy(value)), version) else {
            return true;
        };
        let Some(wanted) = wanted.as_str() else { return false };
        let judged = &mut self.judged[engine as usize];
        if let Some(known) = judged.iter().position(|ranges| ranges.contains(wanted)) {
            return known == 1;
        }
        let suits = semver::suits_engine(version, wanted);
        judged[usize::from(suits)].insert(wanted.to_owned());
        suits
    }

    /// The versions nearest to a spec, best first, for an error message.
    pub fn nearest(packument: &Packument, spec: &Spec) -> Vec<String> {
        let mut versions: Vec<&Version> = packument.semver().iter().flatten().collect();
        order::sort_by(&mut versions, Ord::cmp);
        let wanted = match &spec.kind {
            SpecKind::Alias { spec, .. } => spec.range(),
            _ => spec.range(),
        };
        let lower = wanted.and_then(crate::semver::min_version);
        let split = lower.map_or(versions.len(), |lower| versions.partition_point(|&version| *version < lower));
        let stable = |version: &&&Version| !version.is_prerelease();
        let below = versions[..split].iter().rev().filter(stable).take(2);
        let above = versions[split..].iter().filter(stable).take(1);
        let latest = packument.tagged("latest").map(str::to_owned);
        let mut nearest: Vec<String> = below.chain(above).map(ToString::to_string).collect();
        if let Some(latest) = latest.filter(|latest| !nearest.contains(latest)) {
            nearest.truncate(2);
            nearest.push(latest);
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Picker;
    use crate::order;
    use crate::packument::{Detail, Packument};
    use crate::semver::Range;

    fn packument(versions: &[String]) -> Packument {
        let versions: Vec<String> = versions.iter().map(|version| format!("\"{version}\":{{}}")).collect();
        let body = format!("{{\"versions\":{{{}}}}}", versions.join(","));
        Packument::parse(body.as_bytes(), Detail::Abbreviated).expect("a packument")
    }

    fn picker() -> Picker {
        Picker::new("20.0.0", "12.0.0", None, "latest")
    }

    #[test]
    fn of_equal_versions_the_first_is_the_highest() {
        let range = Range::parse_loose("*").expect("a range");
        for versions in [["1.0.0+b", "1.0.0+a"], ["1.0.0", "1.0.0+a"], ["1.0.0+a", "1.0.0"]] {
            let packument = packument(&versions.map(str::to_owned));
            assert_eq!(picker().highest(&packument, &range), Some(0), "{versions:?}");
        }
    }

    proptest! {
        #[test]
        fn the_highest_version_is_the_first_of_a_stable_sort(
            versions in prop::collection::vec("[0-2]\\.[0-2]\\.[0-2](-(a|b\\.1|2)|\\+x)?|v?[0-2]\\.0", 0..12),
            range in "[\\^~]?[0-2]\\.[0-2]\\.[0-2](-a)?|>=[0-2]|\\*|<[0-2]\\.[0-2]\\.0-b",
        ) {
            let packument = packument(&versions);
            let range = Range::parse_loose(&range).expect("a range");
            let semver = packument.semver();
            let satisfies = |index: &usize| semver[*index].as_ref().is_some_and(|version| range.satisfied_by(version));
            let mut fitting: Vec<usize> = (0..packument.len()).filter(satisfies).collect();
            order::sort_by(&mut fitting, |&a, &b| semver[b].cmp(&semver[a]));
            prop_assert_eq!(picker().highest(&packument, &range), fitting.first().copied());
        }
    }
}
