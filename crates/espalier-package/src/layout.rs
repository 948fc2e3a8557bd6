//! What shall be on disk: every package of a tree in its folder.
//!
//! Comes from the lockfile, which is hostile input: a location that isn't made of `node_modules` folders inside the project, or
//! of folders that the project has already, is refused before anything is touched. What is inert, omitted or below such a
//! package isn't part of it. Nothing here looks at the disk.

use std::cmp::Ordering;

pub use espalier_core::Omit;
use espalier_core::{Graph, GraphNode, Outcome, collate, order};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use crate::bins;
use crate::entry::{self, flag, owned, text};

/// The packages to be, by location, in the lockfile's order.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// By location: `node_modules/a/node_modules/b`.
    pub packages: IndexMap<String, Package>,
    /// Locations that are in the tree but not to be installed.
    pub left_out: FxHashSet<String>,
}

/// A package in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The folder's name.
    pub name: String,
    /// The package's own name.
    pub package_name: String,
    /// Its version; links have none.
    pub version: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// Its commands, as npm normalises them: name, and path in the package.
    pub bins: Vec<(String, String)>,
    /// Whether the lockfile says that it has install scripts.
    pub has_install_script: bool,
    /// Whether it brings packages in its own `node_modules`.
    pub bundles: bool,
    /// Whether the installation goes on without it.
    pub optional: bool,
    /// How many packages it lies in, and itself.
    pub depth: usize,
    /// The message of a deprecated version.
    pub deprecated: Option<String>,
}

/// Where a package comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A tarball: `resolved` and `integrity` of the lock.
    Tarball {
        /// A URL, or `file:` and a path.
        resolved: String,
        /// As the lock has it.
        integrity: Option<String>,
    },
    /// The tarball of the package above it.
    Bundle {
        /// Where else it can be had, if the bundle lacks it.
        resolved: Option<String>,
        /// Of that.
        integrity: Option<String>,
    },
    /// A link to a folder, relative to the project.
    Link(String),
    /// Nobody can say it now; it may be there already.
    Unknown,
    /// A folder of the project itself or inside a package, or a package of which nothing says where it came from: it is there
    /// already, or comes with what it is in.
    Folder,
}

/// Why a lockfile can't be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// It isn't one.
    #[error("the lockfile cannot be read: {0}")]
    Unreadable(String),
    /// It names a place where nothing may be installed.
    #[error("the lockfile names `{0}`, which is not a folder that a package can be installed in")]
    Location(String),
    /// Nothing says where a package comes from.
    #[error("the lockfile does not say where `{0}` comes from")]
    NoOrigin(String),
}

type Lockfile = Map<String, Value>;

impl Layout {
    /// The layout of a resolved tree.
    pub fn new(outcome: &Outcome, omit: Omit) -> Result<Self, LayoutError> {
        let lockfile =
            entry::entries(outcome.packages()).map_err(|error| LayoutError::Unreadable(error.to_string()))?;
        let mut left_out: FxHashSet<String> = inert(&outcome.graph).map(str::to_owned).collect();
        for (location, entry) in &lockfile {
            if is_omitted(entry, omit) && lies_in_node_modules(location) && of_project(location, &lockfile) {
                left_out.insert(location.clone());
            }
        }
        let unknown: FxHashSet<&str> = outcome.unknown_origins.iter().map(|(location, _)| location.as_str()).collect();
        let mut layout = Self { packages: IndexMap::with_capacity(lockfile.len()), left_out };
        let places: FxHashMap<&str, &GraphNode> =
            outcome.graph.nodes.iter().map(|node| (node.location.as_str(), node)).collect();
        for (location, entry) in &lockfile {
            if location.is_empty() || layout.is_left_out(location) {
                continue;
            }
            if !is_harmless(location) && !is_target_inside(location, &lockfile) {
                return Err(LayoutError::Location(location.clone()));
            }
            let package = Package::new(location, entry, &lockfile, places.get(location.as_str()).copied());
            if package.origin == Origin::Unknown && !unknown.contains(location.as_str()) {
                return Err(LayoutError::NoOrigin(location.clone()));
            }
            layout.packages.insert(location.clone(), package);
        }
        Ok(layout)
    }

    /// Whether a location, or one that it lies in, isn't to be installed.
    pub fn is_left_out(&self, location: &str) -> bool {
        let above = location.match_indices("/node_modules/").map(|(at, _)| &location[..at]);
        self.left_out.contains(location) || above.into_iter().any(|above| self.left_out.contains(above))
    }

    /// Takes packages out, and what lies in them.
    pub fn leave_out(&mut self, locations: impl IntoIterator<Item = String>) {
        self.left_out.extend(locations);
        let packages = std::mem::take(&mut self.packages);
        self.packages = packages.into_iter().filter(|(location, _)| !self.is_left_out(location)).collect();
    }

    /// The packages in npm's order of building: by depth, then by path.
    pub fn in_building_order(&self) -> Vec<(&str, &Package)> {
        let mut packages: Vec<_> =
            self.packages.iter().map(|(location, package)| (location.as_str(), package)).collect();
        order::sort_by(&mut packages, |(a, x), (b, y)| -> Ordering {
            x.depth.cmp(&y.depth).then_with(|| collate(a, b))
        });
        packages
    }

    /// The `node_modules` folders, each with the names in it.
    pub fn folders(&self) -> FxHashMap<&str, FxHashSet<&str>> {
        let mut folders: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
        for location in self.packages.keys().filter(|location| lies_in_node_modules(location)) {
            let (folder, name) = split(location);
            folders.entry(folder).or_default().insert(name);
        }
        folders
    }
}

fn is_omitted(entry: &Value, omit: Omit) -> bool {
    flag(entry, "peer") && omit.peer
        || flag(entry, "dev") && omit.dev
        || flag(entry, "optional") && omit.optional
        || flag(entry, "devOptional") && omit.dev && omit.optional
}

fn bundles(entry: &Value) -> bool {
    ["bundleDependencies", "bundledDependencies"].into_iter().any(|field| match entry.get(field) {
        Some(Value::Bool(all)) => *all,
        Some(Value::Array(names)) => !names.is_empty(),
        _ => false,
    })
}

impl Package {
    fn new(location: &str, entry: &Value, lockfile: &Lockfile, place: Option<&GraphNode>) -> Self {
        let name = split(location).1.to_owned();
        let (resolved, integrity) = (owned(entry, "resolved"), owned(entry, "integrity"));
        let origin = if flag(entry, "link") {
            let target = resolved.unwrap_or_default();
            Origin::Link(target.strip_prefix("file:").map_or(target.clone(), str::to_owned))
        } else if !lies_in_node_modules(location) {
            Origin::Folder
        } else if place.map_or_else(|| flag(entry, "inBundle"), |place| place.brought) {
            Origin::Bundle { resolved, integrity }
        } else if resolved.is_none() && place.is_some_and(|place| place.on_disk) {
            Origin::Folder
        } else {
            let found = || place.and_then(|place| place.resolved.clone());
            match resolved.or_else(found) {
                Some(resolved) => {
                    Origin::Tarball { resolved, integrity: integrity.or_else(|| place?.integrity.clone()) }
                }
                None => Origin::Unknown,
            }
        };
        // A link's commands are those of the folder that it leads to.
        let target = match &origin {
            Origin::Link(target) => lockfile.get(target.as_str()).unwrap_or(entry),
            _ => entry,
        };
        let package_name = owned(target, "name").unwrap_or_else(|| name.clone());
        Self {
            bins: bins::normalize(target.get("bin").unwrap_or(&Value::Null), &package_name),
            package_name,
            name,
            version: owned(entry, "version"),
            origin,
            has_install_script: flag(target, "hasInstallScript"),
            bundles: bundles(entry),
            optional: flag(entry, "optional"),
            depth: depth(location),
            deprecated: owned(entry, "deprecated"),
        }
    }

    /// Whether it is a link.
    pub fn is_link(&self) -> bool {
        matches!(self.origin, Origin::Link(_))
    }
}

fn inert(graph: &Graph) -> impl Iterator<Item = &str> {
    graph.nodes.iter().filter(|node| node.inert).map(|node| node.location.as_str())
}

/// Whether a package belongs to the project or one of its workspaces: what a folder outside brings is never omitted.
fn of_project(location: &str, lockfile: &Lockfile) -> bool {
    let top = location.find("node_modules/").map_or("", |at| location[..at].trim_end_matches('/'));
    let links_there = |(name, entry): (&String, &Value)| {
        flag(entry, "link") && depth(name) == 1 && text(entry, "resolved") == Some(top)
    };
    top.is_empty() || lockfile.iter().any(links_there)
}

/// Whether a location is that of a package in a `node_modules`, and not a folder of the project or inside a package.
pub fn lies_in_node_modules(location: &str) -> bool {
    let name = location.rsplit_once("node_modules/").filter(|(above, _)| above.is_empty() || above.ends_with('/'));
    name.is_some_and(|(_, name)| name.matches('/').count() == usize::from(name.starts_with('@')))
}

/// Whether a location is a folder inside a package, which comes in the package's tarball and is linked to.
fn is_target_inside(location: &str, lockfile: &Lockfile) -> bool {
    let steps = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let Some((_, name)) = location.rsplit_once("node_modules/") else { return false };
    let is_plain =
        steps(name).iter().all(|step| !matches!(step.as_str(), "" | "." | "..") && !step.contains(['\\', '\0']));
    let leads_there = |entry: &Value| flag(entry, "link") && text(entry, "resolved") == Some(location);
    is_plain && lockfile.values().any(leads_there)
}

/// The `node_modules` folder that a location is in, and the name there.
pub fn split(location: &str) -> (&str, &str) {
    const FOLDER: &str = "node_modules/";
    match location.rfind(FOLDER) {
        Some(at) => (&location[..at + FOLDER.len() - 1], &location[at + FOLDER.len()..]),
        None => location.rsplit_once('/').unwrap_or(("", location)),
    }
}

/// What a link at a location says, to lead to a folder relative to the project.
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
    format!("/{location}").matches("/node_modules/").count()
}

/// Whether packages may be put there: folders without tricks, and below each `node_modules` one name, with its scope.
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
    use super::{depth, is_harmless, link_text, split};

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
