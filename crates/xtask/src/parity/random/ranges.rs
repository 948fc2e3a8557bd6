//! Generates specs of all forms for a package of the registry.

use espalier_core::Packument;
use espalier_core::semver::Version;
use fastrand::Rng;

/// Generates a spec that some version of the package probably satisfies.
pub fn spec(random: &mut Rng, packument: &Packument) -> Option<String> {
    let versions = Versions::of(packument);
    let (text, version) = versions.any(random)?;
    let (other, second) = versions.any(random)?;
    let Version { major, minor, patch, .. } = version;
    let (low, high) = if version.compare(second).is_le() { (text, other) } else { (other, text) };
    Some(match random.u32(0..40) {
        0..=9 => format!("^{text}"),
        10..=12 => format!("~{text}"),
        13..=14 => text.to_owned(),
        15 => format!("{major}.{minor}.x"),
        16 => format!("{major}"),
        17 => format!("{major}.x.x"),
        18 => format!(">={low} <{high}"),
        19 => format!("{low} - {high}"),
        20 => format!("^{low} || ^{high}"),
        21 => "*".to_owned(),
        22 => String::new(),
        23 => "latest".to_owned(),
        24 => tag(random, packument).unwrap_or_else(|| "latest".to_owned()),
        25 => format!(">={text}"),
        26 => format!("<={text}"),
        27 => format!("{}{text}", ["=", "v", "= ", " "][random.usize(0..4)]),
        28 => format!("~{major}.{minor}"),
        29 => format!("^{major}.{minor}.{patch}-0"),
        30 => format!(">={text}-0 <{}.0.0-0", major + 1),
        31 => format!("~> {text}"),
        32 => format!(">= {low} < {}", major + 1),
        33 => ["x", "X.x", ">=0", ">*", "*||1", "^*"][random.usize(0..6)].to_owned(),
        34 => format!("{major}.{minor} - {}", major + 1),
        35 => format!("<{major} || >{major}.{minor}.{patch} || {low}"),
        36 => format!("^{text}+build.7"),
        37 => format!("^{low} ^{high}"),
        38 => ["not a range", "^^1", ">1 2.x.y"][random.usize(0..3)].to_owned(),
        _ => format!("^{major}.{minor}.{patch} || >={major}.{minor} <{}", major + 1),
    })
}

/// One exact version.
pub fn exact(random: &mut Rng, packument: &Packument) -> Option<String> {
    Some(Versions::of(packument).any(random)?.0.to_owned())
}

fn tag(random: &mut Rng, packument: &Packument) -> Option<String> {
    let tags: Vec<&String> = packument.dist_tags.iter().map(|(tag, _)| tag).collect();
    random.choice(tags).cloned()
}

/// Releases and prereleases, each sorted.
struct Versions<'a> {
    releases: Vec<(&'a str, &'a Version)>,
    prereleases: Vec<(&'a str, &'a Version)>,
}

impl<'a> Versions<'a> {
    fn of(packument: &'a Packument) -> Self {
        let all = (0..packument.len())
            .filter_map(|index| Some((packument.version(index), packument.semver()[index].as_ref()?)));
        let (mut releases, mut prereleases): (Vec<_>, Vec<_>) =
            all.partition(|(_, version)| version.prerelease.is_empty());
        releases.sort_by(|(_, one), (_, other)| one.compare(other));
        prereleases.sort_by(|(_, one), (_, other)| one.compare(other));
        Self { releases, prereleases }
    }

    /// Usually a recent release, as in real projects.
    fn any(&self, random: &mut Rng) -> Option<(&'a str, &'a Version)> {
        let prerelease = self.releases.is_empty() || (!self.prereleases.is_empty() && random.u32(0..20) == 0);
        let list = if prerelease { &self.prereleases } else { &self.releases };
        let recent = list.len().div_ceil(3);
        let list = if random.u32(0..3) > 0 { &list[list.len() - recent..] } else { &list[..] };
        random.choice(list).copied()
    }
}
