//! Made-up registries of any size, to see how time and memory grow with a tree. A shape and a size
//! always give the same documents.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

/// The length of a chain in a deep registry.
const CHAIN: usize = 100;
/// The number of versions of each package in a registry of versions.
const VERSIONS: usize = 100;
/// The number of packages that many others disagree about.
const DISPUTED: usize = 10;
/// A framework and its plugins. Each plugin has the framework and the plugin before it as peers.
const FAMILY: usize = 10;

/// How the packages depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Chains of a hundred packages.
    Deep,
    /// The project depends on many packages, and each of them on as many others.
    Wide,
    /// Packages with a hundred versions. A few of them are needed by all others, in three versions
    /// that exclude each other.
    Versions,
    /// Presets of plugins that have a framework and each other as peers.
    Peers,
}

/// A registry of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// Its shape.
    pub shape: Shape,
    /// The number of its packages. A tree of the project has all of them.
    pub packages: usize,
}

/// Why a text names no synthetic registry.
#[derive(Debug, thiserror::Error)]
#[error("expected SHAPE:PACKAGES, such as deep:1000, with one of the shapes deep, wide, versions and peers")]
pub struct NotSynthetic;

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 4] = [Self::Deep, Self::Wide, Self::Versions, Self::Peers];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deep => "deep",
            Self::Wide => "wide",
            Self::Versions => "versions",
            Self::Peers => "peers",
        }
    }
}

impl fmt::Display for Synthetic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.shape.name(), self.packages)
    }
}

impl FromStr for Synthetic {
    type Err = NotSynthetic;

    fn from_str(text: &str) -> Result<Self, NotSynthetic> {
        let (shape, packages) = text.split_once(':').ok_or(NotSynthetic)?;
        let shape = Shape::ALL.into_iter().find(|known| known.name() == shape).ok_or(NotSynthetic)?;
        let packages = packages.parse().ok().filter(|&packages| packages > 0).ok_or(NotSynthetic)?;
        Ok(Self { shape, packages })
    }
}

/// The dependencies of a package.
#[derive(Default)]
struct Needs {
    dependencies: Map<String, Value>,
    peers: Map<String, Value>,
}

impl Needs {
    fn add(mut self, package: usize, range: &str) -> Self {
        self.dependencies.insert(name(package), range.into());
        self
    }

    fn add_peer(mut self, package: usize) -> Self {
        self.peers.insert(name(package), "^1.0.0".into());
        self
    }
}

fn name(package: usize) -> String {
    format!("package-{package}")
}

impl Synthetic {
    /// The names of all packages.
    pub fn names(self) -> impl Iterator<Item = String> {
        (0..self.packages).map(name)
    }

    /// The package.json of a project whose tree has every package.
    pub fn project(self) -> Value {
        let side = self.side();
        let is_direct = |package: usize| match self.shape {
            Shape::Deep => package.is_multiple_of(CHAIN),
            Shape::Wide => package < side,
            Shape::Versions => package == 0,
            Shape::Peers => package < self.presets(),
        };
        let direct = (0..self.packages).filter(|&package| is_direct(package));
        let dependencies: Map<String, Value> = direct.map(|package| (name(package), "^1.0.0".into())).collect();
        json!({ "name": "growth", "version": "1.0.0", "dependencies": dependencies })
    }

    /// The full packument of a package.
    pub(crate) fn packument(self, package: usize) -> Value {
        let name = name(package);
        let Needs { dependencies, peers } = self.needs(package);
        let minors = if self.shape == Shape::Versions { VERSIONS } else { 1 };
        let versions = (0..minors).map(|minor| {
            let version = format!("1.{minor}.0");
            let dist = json!({
                "tarball": format!("/{name}/-/{name}-{version}.tgz"),
                "integrity": integrity(package * VERSIONS + minor),
            });
            let manifest = json!({
                "name": name,
                "version": version,
                "license": "MIT",
                "dependencies": dependencies,
                "peerDependencies": peers,
                "dist": dist,
            });
            (version, manifest)
        });
        let versions: Map<String, Value> = versions.collect();
        json!({ "name": name, "dist-tags": { "latest": format!("1.{}.0", minors - 1) }, "versions": versions })
    }

    fn needs(self, package: usize) -> Needs {
        let needs = Needs::default();
        let exists = |package: usize| package < self.packages;
        match self.shape {
            Shape::Deep if exists(package + 1) && !(package + 1).is_multiple_of(CHAIN) => {
                needs.add(package + 1, "^1.0.0")
            }
            Shape::Wide if package < self.side() => {
                let first = self.side() * (package + 1);
                (first..first + self.side())
                    .filter(|&child| exists(child))
                    .fold(needs, |needs, child| needs.add(child, "^1.0.0"))
            }
            Shape::Versions => {
                let children = [2 * package + 1, 2 * package + 2].into_iter().filter(|&child| exists(child));
                let needs = children.fold(needs, |needs, child| needs.add(child, "^1.0.0"));
                let disputed = self.packages.saturating_sub(DISPUTED) + package % DISPUTED;
                if disputed <= package || !exists(disputed) || needs.dependencies.contains_key(&name(disputed)) {
                    return needs;
                }
                needs.add(disputed, &format!("~1.{}.0", package % 3 * 10))
            }
            Shape::Peers if package < self.presets() => {
                let families = (self.presets()..self.packages).step_by(FAMILY).skip(package).step_by(self.presets());
                let last_plugins = families.map(|framework| (framework + FAMILY).min(self.packages) - 1);
                last_plugins.fold(needs, |needs, plugin| needs.add(plugin, "^1.0.0"))
            }
            Shape::Peers => match (package - self.presets()) % FAMILY {
                0 => needs,
                1 => needs.add_peer(package - 1),
                position => needs.add_peer(package - position).add_peer(package - 1),
            },
            _ => needs,
        }
    }

    /// The number of packages that depend on plugins, about as many as each of them depends on.
    fn presets(self) -> usize {
        (self.packages / FAMILY).isqrt().max(1)
    }

    /// The number of direct dependencies of a wide project, and of the dependencies of each of
    /// those.
    fn side(self) -> usize {
        let side = self.packages.isqrt();
        if side + side * side < self.packages { side + 1 } else { side }
    }
}

/// The well-formed digest of a tarball that doesn't exist.
fn integrity(seed: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = seed as u64;
    let digits = (0..85).map(|_| {
        // The constants are those of Knuth's MMIX.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(ALPHABET[(state >> 58) as usize])
    });
    // The last digit has two significant bits.
    format!("sha512-{}A==", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::{Shape, Synthetic, name};

    #[test]
    fn a_project_needs_every_package() {
        for shape in Shape::ALL {
            for packages in [1, 7, 99, 100, 101, 250] {
                let synthetic = Synthetic { shape, packages };
                let mut found = BTreeSet::new();
                let mut open = vec![synthetic.project()];
                while let Some(manifest) = open.pop() {
                    let blocks =
                        ["dependencies", "peerDependencies"].iter().filter_map(|block| manifest[*block].as_object());
                    for name in blocks.flat_map(|block| block.keys()).cloned().collect::<Vec<_>>() {
                        let package: usize = name.trim_start_matches("package-").parse().expect("a number");
                        if found.insert(name) {
                            let packument = synthetic.packument(package);
                            open.push(packument["versions"]["1.0.0"].clone());
                        }
                    }
                }
                assert_eq!(found, synthetic.names().collect(), "{synthetic}");
            }
        }
    }

    #[test]
    fn dependents_disagree_about_few_packages() {
        let synthetic = Synthetic { shape: Shape::Versions, packages: 100 };
        let wanted = |package| synthetic.packument(package)["versions"]["1.0.0"]["dependencies"][name(90)].clone();
        assert_eq!([0, 10, 20].map(wanted), ["~1.0.0", "~1.10.0", "~1.20.0"].map(Value::from));
    }

    #[test]
    fn a_registry_is_named_by_shape_and_size() {
        let deep = "deep:20".parse::<Synthetic>().expect("a registry");
        assert_eq!((deep, deep.to_string().as_str()), (Synthetic { shape: Shape::Deep, packages: 20 }, "deep:20"));
        for text in ["", "deep", "deep:", "deep:0", "flat:3", "deep:x"] {
            assert!(text.parse::<Synthetic>().is_err(), "{text}");
        }
    }
}
