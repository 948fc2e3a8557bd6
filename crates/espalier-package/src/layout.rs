//! The target state on disk: every package of a tree and its folder.
//!
//! It is a projection of the resolved tree. Names and locations can come from a lockfile, which is
//! hostile input. A location has to consist of `node_modules` folders inside the project, or of
//! existing folders of the project; anything else is refused before the disk is touched. Inert and
//! omitted packages aren't part of the layout, and neither are packages below them. This module
//! doesn't look at the disk.

use std::cmp::Ordering;
use std::iter::successors;

pub use espalier_core::Omit;
use espalier_core::graph::PatchFile;
use espalier_core::{Graph, GraphNode, Outcome, collate, order, paths};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::bin_field;

/// The packages by location, in the lockfile's order.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// By location: `node_modules/a/node_modules/b`.
    pub packages: IndexMap<String, Package, FxBuildHasher>,
    /// Locations of the tree that aren't installed.
    pub left_out: FxHashSet<String>,
    /// Omitted packages and links without a version. The lockfile doesn't list them.
    pub unlisted: FxHashSet<String>,
}

/// A package and its folder. It has a field for each fact that an installation needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The folder's name.
    pub name: String,
    /// The package's own name.
    pub package_name: String,
    /// Its version. Links have none.
    pub version: Option<String>,
    /// Its source.
    pub origin: Origin,
    /// Its normalised commands: the name, and the path in the package.
    pub bins: Vec<(String, String)>,
    /// Whether the lockfile says that it has install scripts.
    pub has_install_script: bool,
    /// Whether it has bundled packages.
    pub bundles: bool,
    /// Whether the installation continues without it.
    pub optional: bool,
    /// The number of packages on the way to it, including itself.
    pub depth: usize,
    /// The message of a deprecated version.
    pub deprecated: Option<String>,
    /// The patch for its files.
    pub patch: Option<PatchFile>,
}

/// The source of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A tarball, with `resolved` and `integrity` of the lock.
    Tarball {
        /// A URL, or `file:` and a path.
        resolved: String,
        /// The integrity in the lock.
        integrity: Option<String>,
    },
    /// The tarball of the package above.
    Bundle {
        /// Another source, in case the bundle lacks it.
        resolved: Option<String>,
        /// The integrity of that source.
        integrity: Option<String>,
    },
    /// A link to a folder, relative to the project.
    Link(String),
    /// Nothing states the source. The package may be in place already.
    Unknown,
    /// A folder of the project, a folder inside a package, or a package of unknown origin. It
    /// exists already, or is part of what contains it.
    Folder,
}

/// Why a lockfile can't be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// It has a location where nothing may be installed.
    #[error("the location `{0}` in the lockfile is not a folder for a package")]
    Location(String),
    /// A package has no source.
    #[error("the lockfile does not say where `{0}` comes from")]
    NoOrigin(String),
}

impl LayoutError {
    /// The code of the error. npm has none for it.
    pub fn code(&self) -> &'static str {
        "EINVALIDLOCK"
    }
}

impl Layout {
    /// The layout of a resolved tree. `omit` applies to selected packages only; the others stay as
    /// they are.
    pub fn new(outcome: &Outcome, omit: Omit, is_selected: &dyn Fn(&str) -> bool) -> Result<Self, LayoutError> {
        let graph = &outcome.graph;
        let links: FxHashSet<&str> = graph.nodes.iter().filter_map(|node| node.link.as_deref()).collect();
        let is_omitted = |node: &GraphNode| {
            is_omitted(node, graph, omit) && lies_in_node_modules(&node.location) && is_selected(&node.location)
        };
        let left_out = graph.nodes.iter().filter(|&node| node.inert || is_omitted(node));
        let left_out: FxHashSet<String> = left_out.map(|node| node.location.clone()).collect();
        let unknown: FxHashSet<&str> = outcome.unknown_origins.iter().map(|(location, _)| location.as_str()).collect();
        let packages = IndexMap::with_capacity_and_hasher(graph.nodes.len(), FxBuildHasher);
        let mut layout = Self { packages, left_out, unlisted: FxHashSet::default() };
        for node in &graph.nodes {
            let location = &node.location;
            if location.is_empty() || layout.is_below_left_out(location) {
                continue;
            }
            if layout.left_out.contains(location) {
                if node.version.is_none() && is_omitted(node) {
                    layout.unlisted.insert(location.clone());
                }
                continue;
            }
            if !is_harmless(location) && !lead_inside(&links, location) {
                return Err(LayoutError::Location(location.clone()));
            }
            let package = Package::new(node, graph);
            if package.origin == Origin::Unknown && !unknown.contains(location.as_str()) {
                return Err(LayoutError::NoOrigin(location.clone()));
            }
            layout.packages.insert(location.clone(), package);
        }
        Ok(layout)
    }

    /// Whether a location, or one that contains it, isn't installed.
    pub fn is_left_out(&self, location: &str) -> bool {
        self.left_out.contains(location) || self.is_below_left_out(location)
    }

    fn is_below_left_out(&self, location: &str) -> bool {
        !self.left_out.is_empty()
            && location.match_indices("/node_modules/").any(|(at, _)| self.left_out.contains(&location[..at]))
    }

    /// Removes these packages and everything below them.
    pub fn leave_out(&mut self, locations: impl IntoIterator<Item = String>) {
        self.left_out.extend(locations);
        let packages = std::mem::take(&mut self.packages);
        self.packages = packages.into_iter().filter(|(location, _)| !self.is_left_out(location)).collect();
    }

    /// The packages in npm's order of building: by depth, then by path.
    pub fn in_building_order(&self) -> Vec<(&str, &Package)> {
        self.some_in_building_order(|_, _| true)
    }

    /// Those of the packages that are wanted, in that order.
    pub fn some_in_building_order(&self, is_wanted: impl Fn(&str, &Package) -> bool) -> Vec<(&str, &Package)> {
        let packages = self.packages.iter().map(|(location, package)| (location.as_str(), package));
        let mut packages: Vec<_> = packages.filter(|(location, package)| is_wanted(location, package)).collect();
        // The paths usually are in order already, and comparing them takes long.
        order::sort_by_key(&mut packages, |(_, package)| package.depth);
        order::sort_by(&mut packages, |(a, x), (b, y)| -> Ordering {
            x.depth.cmp(&y.depth).then_with(|| collate(a, b))
        });
        packages
    }

    /// The `node_modules` folders, with the names in them.
    pub fn folders(&self) -> FxHashMap<&str, FxHashSet<&str>> {
        let mut folders: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        for location in self.packages.keys().filter(|location| lies_in_node_modules(location)) {
            let (folder, name) = split(location);
            folders.entry(folder).or_default().insert(name);
        }
        folders
    }
}

/// Whether a package or a link to it is of an omitted kind (`shouldOmit` of `node.js`). What belongs
/// to a linked folder that is no workspace is never omitted.
fn is_omitted(node: &GraphNode, graph: &Graph, omit: Omit) -> bool {
    let is_of_kind = node.peer && omit.peer
        || node.dev && omit.dev
        || node.optional && omit.optional
        || node.dev_optional && omit.dev && omit.optional;
    is_of_kind && {
        let parent = |node: &&GraphNode| node.parent.map(|parent| &graph.nodes[parent as usize]);
        let top = successors(Some(node), parent).last().unwrap_or(node);
        top.location.is_empty() || top.workspace
    }
}

/// The `resolved` of a package in the lockfile. The tree has absolute paths, the lockfile has paths
/// relative to the project.
pub fn resolved_in_lockfile(node: &GraphNode, graph: &Graph) -> Option<String> {
    let resolved = node.resolved.as_ref()?;
    Some(match resolved.strip_prefix("file:") {
        Some(path) => format!("file:{}", paths::relative(&graph.project, path)),
        None => resolved.clone(),
    })
}

impl Package {
    fn new(node: &GraphNode, graph: &Graph) -> Self {
        let name = split(&node.location).1.to_owned();
        let is_package = node.link.is_none();
        let package_name = node.package_name.as_ref().unwrap_or(&node.name).clone();
        let bins = node.contents.bins.iter().map(|(name, file)| (name.as_str(), file.as_str()));
        Self {
            origin: Origin::of(node, graph),
            bins: bin_field::secured(bins),
            package_name,
            name,
            version: node.version.clone().filter(|_| is_package),
            has_install_script: node.contents.has_install_script,
            bundles: node.contents.bundles,
            optional: node.optional && !node.extraneous && is_package,
            depth: depth(&node.location),
            deprecated: node.deprecated.clone().filter(|_| is_package),
            patch: node.contents.patch.clone(),
        }
    }

    /// Whether it is a link.
    pub fn is_link(&self) -> bool {
        self.link().is_some()
    }

    /// The folder that it leads to if it is a link, relative to the project.
    pub fn link(&self) -> Option<&str> {
        if let Origin::Link(target) = &self.origin { Some(target) } else { None }
    }

    /// Whether the lockfile says which bytes it consists of.
    pub fn has_integrity(&self) -> bool {
        matches!(self.origin, Origin::Tarball { integrity: Some(_), .. })
    }
}

impl Origin {
    fn of(node: &GraphNode, graph: &Graph) -> Self {
        if let Some(target) = &node.link {
            return Self::Link(target.clone());
        }
        if !lies_in_node_modules(&node.location) {
            return Self::Folder;
        }
        let (resolved, integrity) = (resolved_in_lockfile(node, graph), node.integrity.clone());
        match resolved {
            resolved if node.brought => Self::Bundle { resolved, integrity },
            Some(resolved) => Self::Tarball { resolved, integrity },
            None if node.on_disk => Self::Folder,
            None => Self::Unknown,
        }
    }
}

/// Whether a location is a linked folder inside a package, which is part of the package's tarball.
/// `links` are the targets of all links.
fn lead_inside(links: &FxHashSet<&str>, location: &str) -> bool {
    let is_plain = |step: &str| !matches!(step, "" | "." | "..") && !step.contains(['\\', '\0']);
    // Nothing is installed outside the project, but a link may lead there.
    let mut steps = location.split('/').skip_while(|step| *step == "..");
    outermost(location).is_some() && steps.all(is_plain) && links.contains(location)
}

const FOLDER: &str = "node_modules";

/// Whether a location is in a `node_modules`, and not a folder of the project or inside a package.
pub fn lies_in_node_modules(location: &str) -> bool {
    let (folder, name) = split(location);
    is_folder(folder) && name.matches('/').count() == usize::from(name.starts_with('@'))
}

/// The outermost `node_modules` folder on the way to a location, if there is one. What precedes it
/// is a folder of the project.
pub fn outermost(location: &str) -> Option<&str> {
    let ends = location.match_indices('/').map(|(at, _)| at).chain([location.len()]);
    ends.map(|end| &location[..end]).find(|path| is_folder(path))
}

/// Whether the last step of a path is `node_modules`.
fn is_folder(path: &str) -> bool {
    path.strip_suffix(FOLDER).is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// The `node_modules` folder of a location, and the name in it.
pub fn split(location: &str) -> (&str, &str) {
    // A search for a character is many times as fast as one for a text.
    let ends = location.rmatch_indices('/').map(|(at, _)| at);
    match ends.into_iter().find(|&at| location[..at].ends_with(FOLDER)) {
        Some(at) => (&location[..at], &location[at + 1..]),
        None => location.rsplit_once('/').unwrap_or(("", location)),
    }
}

/// The text of a link at a location that leads to a folder relative to the project.
pub fn link_text(location: &str, target: &str) -> String {
    let from: Vec<&str> = location.split('/').collect();
    let folder = &from[..from.len() - 1];
    let to: Vec<&str> = target.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    let shared = folder.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folder.len() - shared);
    let text = up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/");
    if text.is_empty() { ".".to_owned() } else { text }
}

fn depth(location: &str) -> usize {
    let folders = location.split('/').filter(|step| *step == FOLDER).count();
    folders - usize::from(is_folder(location))
}

/// Whether packages may be placed at a location. Below each `node_modules` there has to be one
/// name, with its scope.
fn is_harmless(location: &str) -> bool {
    let steps: Vec<&str> = location.split('/').collect();
    let is_name = |step: &str| {
        !matches!(step, "" | "." | ".." | "node_modules")
            && !step.contains(['\\', '\0', ':'])
            && !step.starts_with(['.', ' '])
            && !step.ends_with([' ', '.'])
    };
    // A folder outside the project can be linked to, but nothing is installed there.
    if !steps.contains(&"node_modules") {
        return !location.contains(['\\', '\0']);
    }
    let mut rest = steps.iter().copied().peekable();
    while let Some(step) = rest.next_if(|step| *step != "node_modules") {
        if matches!(step, "" | "." | "..") {
            return false;
        }
    }
    loop {
        match (rest.next(), rest.next()) {
            (Some("node_modules"), Some(scope)) if scope.len() > 1 && scope.starts_with('@') => {
                if !is_name(scope) || !rest.next().is_some_and(is_name) {
                    return false;
                }
            }
            (Some("node_modules"), Some(name)) if is_name(name) => {}
            _ => return false,
        }
        if rest.peek().is_none() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{depth, is_harmless, link_text, outermost, split};

    #[test]
    fn packages_go_into_node_modules_and_nowhere_else() {
        for location in [
            "node_modules/a",
            "node_modules/@s/a/node_modules/b",
            "packages/ui/node_modules/a",
            "packages/ui",
            "../outside",
        ] {
            assert!(is_harmless(location), "{location}");
        }
        for location in [
            "node_modules/..",
            "node_modules/../x",
            "node_modules/a/../../x",
            "node_modules/.bin",
            "node_modules/a/b",
            "node_modules/@s",
            "node_modules/@s/..",
            "../x/node_modules/a",
            "/node_modules/a",
            "a/../node_modules/b",
            "node_modules/a\\..\\..\\b",
            "node_modules/node_modules",
            "node_modules//a",
        ] {
            assert!(!is_harmless(location), "{location}");
        }
    }

    #[test]
    fn a_name_that_contains_the_word_is_no_folder_of_packages() {
        assert_eq!(outermost("node_modules/a/node_modules/b"), Some("node_modules"));
        assert_eq!(outermost("packages/ui-node_modules/node_modules/a"), Some("packages/ui-node_modules/node_modules"));
        assert_eq!(outermost("packages/node_modules-ui"), None);
        assert_eq!(outermost("node_modules"), Some("node_modules"));
    }

    #[test]
    fn links_are_relative_to_their_folder() {
        assert_eq!(link_text("node_modules/ui", "packages/ui"), "../packages/ui");
        assert_eq!(link_text("node_modules/@s/ui", "packages/ui"), "../../packages/ui");
        assert_eq!(link_text("node_modules/x", "../x"), "../../x");
        assert_eq!(link_text("packages/a/node_modules/b", "packages/b"), "../../b");
        assert_eq!(link_text("node_modules/a/node_modules/b", "node_modules/b"), "../../b");
    }

    #[test]
    fn locations_split_at_the_last_folder() {
        assert_eq!(split("node_modules/a/node_modules/@s/b"), ("node_modules/a/node_modules", "@s/b"));
        assert_eq!(split("packages/ui"), ("packages", "ui"));
        assert_eq!(
            [depth("packages/ui"), depth("node_modules/a"), depth("w/node_modules/a/node_modules/b")],
            [0, 1, 2]
        );
    }
}
